# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reactions in constraints and joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.dynamics.reactions import joint_reactions
from kron_dynamics.dynamics.wrenches import Wrench
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import FloatArray


class Reactions(NamedTuple):
    """Reactions in constraints and joints in one state of motion.

    Attributes:
        multipliers: multipliers of each constraint's conditions in order, by name, N or N m.
        wrenches: [force; moment] on link a at the point of a, by constraint, base axes, shape
            (6,), N and N m; not for couplings and user functions.
        joints: [force; moment] from the parent on each joint's link, about its origin, base axes,
            by joint name, shape (6,), N and N m; mimic joints included.
    """

    multipliers: Mapping[str, FloatArray]
    wrenches: Mapping[str, FloatArray]
    joints: Mapping[str, FloatArray]


def constraint_reactions(
    system: ConstraintSystem,
    model: RobotModel,
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    lam: FloatArray,
) -> Reactions:
    """Return the reactions in constraints and joints, by name; wrenches have shape (6,).

    Args:
        system: the constraints.
        model: the robot, with payloads.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        qdd: their second derivatives, shape (n,).
        lam: multipliers, shape (k,), N or N m.
    """
    outside = list[Wrench]()
    found, wrenches = dict[str, FloatArray](), dict[str, FloatArray]()
    for constraint, rows in system.rows():
        found[constraint.name] = lam[rows]
        acting = _acting(constraint, model, q, qd, lam[rows])
        if acting:
            wrenches[constraint.name] = np.concatenate([acting[0].force, acting[0].moment])
            outside += acting
    joints = joint_reactions(model, q, qd, qdd, outside)
    carried = {
        joint.name: np.asarray(row, dtype=np.float64)
        for joint, row in zip(model.joints, joints, strict=True)
    }
    return Reactions(found, wrenches, carried)


def _acting(
    constraint: Constraint, model: RobotModel, q: FloatArray, qd: FloatArray, lam: FloatArray
) -> list[Wrench]:
    """Return the wrenches of a constraint on its link a and on link b, if there are any."""
    links = constraint.links()
    if links is None:
        return []
    N = np.asarray(constraint.geometry(model, q, qd).N, dtype=np.float64)
    force, moment = np.split(N.T @ lam, 2)
    acting = [Wrench(links[0], force, moment, constraint.point(), model.root_link)]
    if links[1]:
        place = constraint.point_on_b(model, q)
        acting.append(Wrench(links[1], -force, -moment, place, model.root_link))
    return acting
