# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint reactions: the full wrench transmitted by each joint, for sizing its bearings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from kron_dynamics.dynamics.kane import kane_bodies
from kron_dynamics.dynamics.wrenches import Wrench, body_wrenches
from kron_dynamics.kinematics.forward import body_placements
from kron_dynamics.kinematics.motion import rate_vectors
from kron_dynamics.kinematics.scalars import number_vector, widest, zeros_like
from kron_dynamics.kronecker import cross
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@singledispatch
def joint_reactions(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Sequence[Wrench] = (),
) -> ScalarArray:
    """Return the wrench that each joint's parent exerts on its body, shape (joints, 6), N, N m.

    Rows [force; moment] in base axes, in the order of `model.joints`, with the moment about the
    origin of the joint's link: the Newton-Euler equations, [P] eq. (33), of the joint's subtree.
    Its power along the joint's axis (of a screw: moment plus force times pitch), times the joint's
    multiplier and summed over the joints of a coordinate (one and its mimic joints), is the
    coordinate's effort without its rotor's inertia.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        qdd: their second derivatives, shape (n,).
        wrenches: external wrenches on links, without gravity.

    Raises:
        ArgumentTypeError: wrenches is no list, or an item is not a `Wrench`.
        UnknownFrameError: the model has no such link.
        ModelError: a wrench without a point acts on a flexible link.
    """
    tree, q = rigid_tree(model), number_vector(q, 'q', model.n)
    qd, qdd = rate_vectors(qd, qdd, length=tree.n)
    placements = body_placements(tree, q)
    n_ex, f_ex = body_wrenches(tree, q, wrenches)
    carried = zeros_like(widest(q, qd, qdd, n_ex), (len(tree.joints), 6))
    for k, body in enumerate(kane_bodies(tree, q, qd)):
        R, own = body.rotation, tree.bodies[k]
        moment, force = np.split(body.inertia_wrench(qd, qdd), 2)
        force = force - own.mass * tree.gravity - R @ f_ex[k]
        carried[k, :3] = force
        carried[k, 3:] = R @ (moment - n_ex[k]) + cross(R @ own.center_of_mass, force)
    for k in reversed(range(len(tree.joints))):
        parent = tree.joints[k].parent
        if parent >= 0:
            force = carried[k, :3]
            carried[parent, :3] = carried[parent, :3] + force
            arm = cross(placements[k].offset, force)
            carried[parent, 3:] = carried[parent, 3:] + carried[k, 3:] + arm
    return carried
