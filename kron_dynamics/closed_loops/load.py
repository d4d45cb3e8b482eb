# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Loading a checked `ClosedLoopModel` from a tree and a description of constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from kron_dynamics.closed_loops.closed_loop_model import ClosedLoopModel
from kron_dynamics.constraints import read_constraints
from kron_dynamics.constraints.description import ConstraintDescription
from kron_dynamics.constraints.projection import close_positions
from kron_dynamics.constraints.rank import generic_rank
from kron_dynamics.constraints.reducible import refuse_what_moves
from kron_dynamics.constraints.state_arguments import joint_numbers
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ConstraintError, KronDynamicsError, ModelError
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.reproducible import rounded
from kron_dynamics.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from kron_dynamics.flexible import FlexibleModel

# Dimensionless rate of a condition's residual per modal coordinate above which it blocks bending.
# The start, where it is computed, is rounded to nine decimals.
_BLOCKED = 1e-8


def close_loops(
    model: RobotModel,
    source: str | Path | Mapping[str, object],
    xacro_args: Mapping[str, str] | None = None,
) -> ClosedLoopModel:
    """Return the model of a tree with closed loops, in the coordinates of its drives.

    Args:
        model: the tree; its links may be flexible.
        source: description of the constraints: a file or its contents as a mapping. It names the
            joints with a drive (`actuated`), as many as there are degrees of freedom with rigid
            links. Modal coordinates may be among them, but are coordinates in any case.
        xacro_args: values of xacro arguments of the description by name.

    Raises:
        ModelError: the description is invalid; the message names the file if there is one.
        ConstraintError: the loops cannot be closed, or prevent a link from bending; a constraint
            is nonholonomic; the drives do not determine the configuration, or several drives move
            the same joint.
        UnknownFrameError: a constraint names a link that the model does not have.
    """
    found = read_constraints(source, model, xacro_args)
    try:
        if not model.is_flexible:
            return _closed(rigid_tree(model), found)
        stiff = _closed(cast('FlexibleModel', model).rigid, _without_modes(found, model))
        return _closed(model, found, stiff)
    except KronDynamicsError as error:
        if isinstance(source, Mapping):
            raise
        raise type(error)(f'{clipped(str(source))}: {error}') from error.__cause__


def _without_modes(found: ConstraintDescription, model: RobotModel) -> ConstraintDescription:
    """Return the description for rigid links: without entries of modal coordinates."""
    modal = model.joint_names[model.joint_count :]

    def joints(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if names is None else tuple(name for name in names if name not in modal)

    return replace(
        found,
        start={name: place for name, place in found.start.items() if name not in modal},
        hold=joints(found.hold) or (),
        independent=joints(found.independent),
        actuated=joints(found.actuated),
    )


def _closed(
    tree: RobotModel, found: ConstraintDescription, stiff: ClosedLoopModel | None = None
) -> ClosedLoopModel:
    if not found.constraints:
        raise ModelError(
            'description of constraints has no constraint, expected one or more, such as a closed '
            'loop or an <equality> that is active'
        )
    system = ConstraintSystem(tree, found.constraints)
    for constraint in found.constraints:
        refuse_what_moves(constraint)
        if not constraint.is_holonomic:
            raise constraint.refuse(
                'is one of rates: positions of the drives do not determine the configuration; '
                'ConstrainedRobot accepts it'
            )

    if stiff is not None:  # its loops are closed with undeformed links
        start = np.concatenate([stiff.closing.start, np.zeros(tree.n - tree.joint_count)])
        _refuse_blocked_modes(system, system.conditions(start, 0.0)[1])
        drives = stiff.closing.choice.independent
        return ClosedLoopModel.assembled(tree, system, start, drives, stiff)
    joint_numbers(found.start, 'start', tree.joint_names)
    guess = np.array([found.start.get(joint, 0.0) for joint in tree.joint_names])
    held = joint_numbers(found.hold, 'hold', tree.joint_names)
    start = close_positions(system, system.conditions, guess, 0.0, held)
    # Rounded to be the same on every machine; the kernels' Newton steps remove the error.
    start = rounded(start, system.column_scale)
    freedom = tree.n - generic_rank(system, system.conditions, start, 0.0)
    names = tree.joint_names if found.actuated is None else found.actuated
    drives = joint_numbers(names, 'actuated', tree.joint_names)
    if len(drives) != freedom:
        raise ConstraintError(
            f'actuated names {len(drives)} joints, {listed(map(repr, names))}, and the robot has '
            f'{freedom} degrees of freedom, expected as many; ConstrainedRobot takes any number'
        )
    return ClosedLoopModel.assembled(tree, system, start, drives)


def _refuse_blocked_modes(system: ConstraintSystem, A: FloatArray) -> None:
    """Refuse conditions A, shape (k, n), that no joint motion can satisfy when a link bends."""
    model, scaled = system.model, system.scaled(A)
    modal = slice(model.joint_count, model.n)
    held, rows = _not_compensated(scaled, modal)
    if not held.any():
        return
    # A constraint blocks bending by itself, or together with others.
    names = [c.name for c, own in system.rows() if _not_compensated(scaled[own], modal)[0].any()]
    names = names or list(dict.fromkeys(system.row_names[k] for k in np.flatnonzero(rows)))
    modes = [model.joint_names[modal.start + k] for k in np.flatnonzero(held)]
    raise ConstraintError(
        f'constraints {listed(map(repr, names))} keep {listed(map(repr, modes))} from bending: no '
        'motion of the joints meets their conditions then. A hinge holds a beam across the plane '
        'of its loop: keep only its conditions in that plane, type: point with components: xy; '
        'or omit these modes from the flexible description'
    )


def _not_compensated(A: FloatArray, modal: slice) -> tuple[BoolArray, BoolArray]:
    """Return which modes, (m,), and conditions, (k,), joint motions cannot compensate.

    Args:
        A: dimensionless conditions, shape (k, n).
        modal: the m modal coordinates.
    """
    of_joints, of_modes = A[:, : modal.start], A[:, modal]
    left = of_modes - of_joints @ np.linalg.lstsq(of_joints, of_modes, rcond=1e-10)[0]
    counts = np.abs(left) > _BLOCKED * max(1.0, float(np.abs(A).max(initial=0.0)))
    return np.asarray(counts.any(axis=0)), np.asarray(counts.any(axis=1))
