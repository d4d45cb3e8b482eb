# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The part of `kron_dynamics info --constraints` about closed loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints.rank import ConstraintReport
from kron_dynamics.messages import clipped, listed
from kron_dynamics.reduced import ReducedRobot
from kron_dynamics.robot import Robot


def closed_loops(
    robot: Robot, path: Path, xacro_args: Mapping[str, str]
) -> tuple[Sequence[tuple[str, ...]], list[str], ReducedRobot | None]:
    """Return a table of a file's constraints, lines about freedoms, and the compiled robot.

    The robot is None if it has no degree of freedom.

    Raises:
        KronDynamicsError: the file or a constraint is unusable, or the loops cannot be closed.
    """
    closed = ConstrainedRobot.described(robot, path, xacro_args=xacro_args)
    reduced = ReducedRobot(closed) if closed.degrees_of_freedom else None
    if reduced is not None:
        reduced.prepare()
    report = closed.report(closed.start)
    return _constraint_rows(closed, report), _freedom(closed, report), reduced


def _constraint_rows(
    closed: ConstrainedRobot, report: ConstraintReport
) -> Sequence[tuple[str, ...]]:
    return [('constraint', 'kind', 'conditions', 'redundant')] + [
        (
            clipped(constraint.name),
            type(constraint).__name__,
            str(constraint.size),
            str(report.redundant.get(constraint.name, 0)),
        )
        for constraint in closed.constraints
    ]


def _freedom(closed: ConstrainedRobot, report: ConstraintReport) -> list[str]:
    start = (
        f'{name} {value:.6g}' for name, value in zip(closed.joint_names, closed.start, strict=True)
    )
    return [
        f'freedom  {closed.degrees_of_freedom} of {closed.n} coordinates: '
        f'{report.conditions} conditions, {closed.rank} of them independent',
        f'speeds   {listed(closed.independent)}',
        f'drives   {listed(closed.actuated)}',
        f'closed   {", ".join(start)}',
        f'         distance to a singularity there {report.singular_value:.3g}',
    ]
