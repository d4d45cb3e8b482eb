# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint reactions of robots with flexible links.

Importing this module registers `joint_reactions` of the `FlexibleModel`. The wrench through a
joint balances the inertia, gravity and external forces of its subtree, including vibrating beams;
elastic forces are internal to a beam and pass through no joint.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.dynamics.composite import Wrench as BodyWrench
from kron_dynamics.dynamics.composite import body_inertias
from kron_dynamics.dynamics.reactions import joint_reactions
from kron_dynamics.dynamics.wrenches import Wrench, checked_wrenches, on_body
from kron_dynamics.exceptions import ModelError
from kron_dynamics.flexible.flexible_dynamics import carried_wrenches
from kron_dynamics.flexible.flexible_model import FlexibleModel
from kron_dynamics.kinematics.scalars import as_scalars
from kron_dynamics.kronecker import cross
from kron_dynamics.messages import listed, named
from kron_dynamics.typing import ArrayLike, ScalarArray


@joint_reactions.register
def _flexible_joint_reactions(
    model: FlexibleModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Sequence[Wrench] = (),
) -> ScalarArray:
    q, qd, qdd = as_scalars(q), as_scalars(qd), as_scalars(qdd)
    skeleton = model.skeleton
    outside = dict[int, BodyWrench]()
    for wrench in checked_wrenches(wrenches):
        k, force, moment, place = on_body(model, skeleton, q, wrench)
        if wrench.point is None:
            _refuse_bending_centre(model, wrench.link, k)
        if k >= 0:
            acting = BodyWrench(force, moment + cross(place, force))
            outside[k] = outside[k] + acting if k in outside else acting
    inertias = skeleton.per_body(body_inertias)
    found = carried_wrenches(model, q, qd, qdd, model.gravity, inertias, outside)
    axes = skeleton.table(np.eye(3, dtype=int))
    rows = dict[str, ScalarArray]()
    for k, joint in skeleton.outward():
        axes[k] = axes[joint.parent] @ found.where.placements[k].rotation
        own = found.wrenches[k]
        rows[joint.name] = np.concatenate([axes[k] @ own.force, axes[k] @ own.moment])
    return np.array([rows[joint.name] for joint in model.joints])


def _refuse_bending_centre(model: FlexibleModel, link: str, k: int) -> None:
    """Refuse the mass centre of a link on body k as a point if it moves as the link bends."""
    if link in model.flexible_link_names:
        raise ModelError(
            f'a wrench on {named("flexible link", link)} has no point, expected one: its mass '
            'centre is not fixed to its root; on the beam, name a link attached there'
        )
    bending = [flexible.link for flexible in model.flexible_links if flexible.body == k >= 0]
    if bending and link not in model.skeleton.bodies[k].links:
        raise ModelError(
            f'a wrench on {named("link", link)} has no point, expected one: the link has no '
            f'inertia, and the mass centre of its body moves as {listed(map(repr, bending))} bends'
        )
