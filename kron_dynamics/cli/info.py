# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics info`: the model that results from a URDF."""

from __future__ import annotations

import argparse
import math
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from kron_dynamics.cli.options import add_flexible, add_gravity, add_urdf, description_options
from kron_dynamics.cli.tree_options import tree_options
from kron_dynamics.exceptions import ModelError, ModelWarning
from kron_dynamics.flexible import FlexibleModel
from kron_dynamics.kernels.compiled import compiled_methods
from kron_dynamics.kernels.timing import seconds_per_call
from kron_dynamics.loading import load
from kron_dynamics.messages import clipped
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.model.robot_model import Joint, RobotModel
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

_WARNINGS = 5


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = (
        'Print the model that results from a URDF: rigid bodies (links with everything fixed '
        'to them), coordinates, limits, and the compiled kernels.'
    )
    add_urdf(parser)
    add_flexible(parser)
    add_gravity(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the model, its kernels and a check of the mass matrix.

    Raises:
        ModelError: the robot is unusable, or its mass matrix is not positive definite.
        ConstraintError: a constraint does not fit the robot, or loops cannot be closed.
    """
    options = tree_options(arguments)  # the tree; constraints are shown separately
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)  # they are shown below
        robot = load(
            arguments.urdf, gravity=arguments.gravity, flexible=arguments.flexible, **options
        )
    model = robot.model
    robot.prepare(model.tip_link)
    closed: list[list[str]] = []
    owners: list[Any] = [robot, robot.frame(model.tip_link)]
    if arguments.constraints is not None:
        # Imported only here, because most robots are trees.
        from kron_dynamics.cli.constrained_info import closed_loops

        values = description_options(arguments)['xacro_args']
        rows, freedom, reduced = closed_loops(robot, arguments.constraints, values)
        closed = [_columns(rows), freedom]
        owners += [] if reduced is None else [reduced]
    sections = (
        _summary(model),
        _warnings(model),
        _tree(model),
        _coordinates(model),
        [f'mimic    {text}' for text in _mimics(model)],
        _flexible_links(model),
        *closed,
        _kernels(robot, owners),
    )
    print('\n\n'.join('\n'.join(section) for section in sections if section))
    print(f'\n{_check_mass_matrix(robot)}')
    return 0


def _summary(model: RobotModel) -> list[str]:
    gravity = ' '.join(f'{value:g}' for value in model.gravity)
    return [
        f'robot    {model.name}: {model.n} coordinates, {len(model.link_names)} links',
        f'mass     {model.total_mass:.6g} kg moving',
        f'gravity  {gravity} m/s^2 in the axes of {model.root_link}',
        f'tip      {model.tip_link}',
        f'model    {model.fingerprint}',
    ]


def _warnings(model: RobotModel) -> list[str]:
    """Return lines with the first warnings, and the number of further findings."""
    found = [warning for warning in model.warnings if warning.severity == 'warning']
    lines = [f'warning  {warning.subject}: {warning.finding}' for warning in found[:_WARNINGS]]
    more = len(model.warnings) - len(lines)
    if more:
        lines.append(f'warning  {more} more findings: kron_dynamics check shows them all')
    return lines


def _tree(model: RobotModel) -> list[str]:
    links: list[list[str]] = [[] for _ in range(len(model.joints) + 1)]  # the base's are the last
    for name, frame in model.frames.items():
        links[frame.body].append(clipped(name))
    children: list[list[int]] = [[] for _ in links]
    for k, joint in enumerate(model.joints):
        children[joint.parent].append(k)
    lines = [', '.join(links[-1])]
    waiting = [(k, '') for k in reversed(children[-1])]
    while waiting:
        k, indent = waiting.pop()
        joint, body = model.joints[k], model.bodies[k]
        is_last = k == children[joint.parent][-1]
        lines.append(
            f'{indent}{"`" if is_last else "|"}- {clipped(joint.name)} ({_kind(joint)}): '
            f'{", ".join(links[k])}; {body.mass:.6g} kg'
        )
        indent += '   ' if is_last else '|  '
        waiting.extend((child, indent) for child in reversed(children[k]))
    return lines


def _kind(joint: Joint) -> str:
    kind = f'{joint.kind}, {2 * math.pi * joint.pitch:.6g} m a turn' if joint.pitch else joint.kind
    return f'{kind}, mimics {joint.mimics}' if joint.mimics else kind


def _coordinates(model: RobotModel) -> list[str]:
    titles = ('coordinate', 'type', 'position', 'velocity', 'effort', 'damping', 'friction')
    rows = [titles]
    for k, name in enumerate(model.joint_names):
        kind = model.joint_types[k]
        length, force = joint_kind(kind).unit('position'), joint_kind(kind).unit('effort')
        lower, upper = model.position_lower[k], model.position_upper[k]
        bounded = math.isfinite(lower) or math.isfinite(upper)
        rows.append(
            (
                name,
                kind,
                f'{lower:.6g} .. {upper:.6g} {length}' if bounded else 'no limit',
                _limit(model.velocity_limit[k], f'{length}/s'),
                _limit(model.effort_limit[k], force),
                f'{model.damping[k]:.6g} {force} s/{length}',
                f'{model.friction[k]:.6g} {force}',
            )
        )
    return _columns(rows)


def _limit(value: float, unit: str) -> str:
    return f'{value:.6g} {unit}' if math.isfinite(value) else 'no limit'


def _mimics(model: RobotModel) -> list[str]:
    return [
        f'{name} = {multiplier:g} * {master} {"-" if offset < 0 else "+"} {abs(offset):g}'
        for name, master, multiplier, offset in model.mimics
    ]


def _flexible_links(model: RobotModel) -> list[str]:
    if not isinstance(model, FlexibleModel):
        return []
    lines = []
    for link in model.flexible_links:
        modes = [
            f'{name.rpartition("/")[2]} {frequency / (2 * math.pi):.4g} Hz'
            for name, frequency in zip(
                (model.joint_names[k] for k in link.coordinates),
                link.natural_frequencies,
                strict=True,
            )
        ]
        lines.append(
            f'flexible {link.link}: {link.length:g} m, {link.shape_integrals[0, 0]:.6g} kg along '
            f'it, modes of the clamped link {", ".join(modes)}'
        )
    return lines


def _kernels(robot: Robot, owners: Sequence[Any]) -> list[str]:
    rows = [('kernel', 'operations', 'code', 'made', 'one call')]
    methods = {
        method.specification(owner).name: (owner, name, method.specification(owner))
        for owner in owners
        for name, method in compiled_methods(type(owner)).items()
    }
    rng = np.random.default_rng(0)
    for report in robot.kernel_report():
        if report.name not in methods:  # constraint geometry, which has other owners
            continue
        owner, name, specification = methods[report.name]
        values = [rng.uniform(-1, 1, length) for _, length in specification.lengths(robot.model)]
        made = 'found in the cache' if report.cached else f'in {report.build_seconds:.2g} s'
        seconds = seconds_per_call(getattr(owner, name), values)
        rows.append(
            (
                re.sub(r'^reduced\.\w+', 'reduced', report.name),
                str(report.operations),
                report.source,
                made,
                f'{1e9 * seconds:.0f} ns',
            )
        )
    return _columns(rows)


def _check_mass_matrix(robot: Robot) -> str:
    if robot.singular_mass is not None:
        return f'check    mass matrix: singular, no forward dynamics: {robot.singular_mass}'
    q = _middle_of_range(robot.model)
    mass = robot.mass_matrix(q)
    if not np.isfinite(mass).all():
        raise ModelError('the mass matrix at the middle of the range is not finite')
    eigenvalues = np.linalg.eigvalsh(mass)
    if not eigenvalues[0] > 0.0:
        raise ModelError(
            'the mass matrix at the middle of the range is not positive definite: smallest '
            f'eigenvalue {eigenvalues[0]:.3g}'
        )
    condition = eigenvalues[-1] / eigenvalues[0]
    return (
        f'check    mass matrix at the middle of the range: positive definite, condition '
        f'{condition:.3g}'
    )


def _middle_of_range(model: RobotModel) -> FloatArray:
    """Return the middles of the position ranges, zero where a limit is missing; shape (n,)."""
    bounded = np.isfinite(model.position_lower) & np.isfinite(model.position_upper)
    middle = np.zeros(model.n)
    middle[bounded] = 0.5 * (model.position_lower[bounded] + model.position_upper[bounded])
    return middle


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        '  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
