# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What `kron_dynamics info --constraints` says of closed loops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.messages import clipped, listed
from kron_dynamics.reduced import ReducedRobot
from kron_dynamics.robot import Robot


def closed_robot(robot: Robot, path: Path) -> tuple[ConstrainedRobot, ReducedRobot | None]:
    """Return a robot with the constraints of a file, and its compiled equations where it moves.

    Raises:
        KronDynamicsError: the file or a constraint is unusable, or the loops cannot be closed.
    """
    closed = ConstrainedRobot.described(robot, path)
    if not closed.degrees_of_freedom:
        return closed, None
    reduced = ReducedRobot(closed)
    reduced.prepare()
    return closed, reduced


def constraint_rows(closed: ConstrainedRobot) -> Sequence[tuple[str, ...]]:
    """Return a table of the constraints."""
    redundant = closed.report(closed.start).redundant
    return [('constraint', 'kind', 'conditions', 'redundant')] + [
        (
            clipped(constraint.name),
            type(constraint).__name__,
            str(constraint.size),
            str(redundant.get(constraint.name, 0)),
        )
        for constraint in closed.constraints
    ]


def freedom(closed: ConstrainedRobot) -> list[str]:
    """Return lines about degrees of freedom, drives, the closed start and singularities."""
    report = closed.report(closed.start)
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
