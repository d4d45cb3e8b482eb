# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""From a tree and a description of constraints to a checked `ClosedLoopModel`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kron_dynamics.closed_loops.closed_loop_model import ClosedLoopModel
from kron_dynamics.constraints import read_constraints
from kron_dynamics.constraints.closing import close_positions
from kron_dynamics.constraints.constraint import ConstraintTerms
from kron_dynamics.constraints.description import ConstraintDescription
from kron_dynamics.constraints.rank import generic_rank
from kron_dynamics.constraints.reducible import refuse_what_moves
from kron_dynamics.constraints.state_arguments import joint_numbers
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ConstraintError, KronDynamicsError
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import FloatArray


def close_loops(model: RobotModel, source: str | Path | Mapping[str, object]) -> ClosedLoopModel:
    """Return the model of a tree whose loops are closed, in the coordinates of its drives.

    Args:
        model: the tree, of rigid bodies.
        source: the description of the constraints: a file or what one holds. It names the joints
            with a drive (`actuated`), as many as there are degrees of freedom.

    Raises:
        ModelError: the description is broken, or links of the model bend; the message names the
            file where that is one.
        ConstraintError: the loops cannot be closed; a constraint is not one of positions; the
            drives do not determine where the mechanism is, or several move one joint together.
        UnknownFrameError: a constraint names a link that the model does not have.
    """
    tree = rigid_tree(model)
    found = read_constraints(source, tree)
    try:
        return _closed(tree, found)
    except KronDynamicsError as error:
        if isinstance(source, Mapping):
            raise
        raise type(error)(f'{clipped(str(source))}: {error}') from error.__cause__


def _closed(tree: RobotModel, found: ConstraintDescription) -> ClosedLoopModel:
    tree = rigid_tree(tree)
    system = ConstraintSystem(tree, found.constraints)
    for constraint in found.constraints:
        refuse_what_moves(constraint)
        if not constraint.is_holonomic:
            raise constraint.refuse(
                'is one of rates: positions of the drives do not say where the robot is; '
                'ConstrainedRobot takes it'
            )

    def terms(q: FloatArray, qd: FloatArray, t: float) -> ConstraintTerms:
        return system.terms(q, qd, t)

    joint_numbers(found.start, 'start', tree.joint_names)
    guess = np.array([found.start.get(joint, 0.0) for joint in tree.joint_names])
    held = joint_numbers(found.hold, 'hold', tree.joint_names)
    start = close_positions(system, terms, guess, 0.0, held)
    freedom = tree.n - generic_rank(system, terms, start, 0.0)
    names = tree.joint_names if found.actuated is None else found.actuated
    drives = joint_numbers(names, 'actuated', tree.joint_names)
    if len(drives) != freedom:
        raise ConstraintError(
            f'actuated names {len(drives)} joints, {listed(map(repr, names))}, and the robot has '
            f'{freedom} degrees of freedom, expected as many; ConstrainedRobot takes any number'
        )
    return ClosedLoopModel.assembled(tree, system, start, drives)
