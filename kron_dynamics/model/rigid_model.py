# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A robot of rigid bodies: the tree that the equations go through."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import cast

import numpy as np

from kron_dynamics.exceptions import ArgumentTypeError, ModelError
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.traversal import Traversal


@dataclass(frozen=True, slots=True, eq=False)
class RigidModel(RobotModel, Traversal):
    """A tree of rigid bodies on a fixed base."""

    @property
    def fingerprint(self) -> str:
        """Hex digest of all numbers and names that the equations depend on."""
        digest = hashlib.sha256()
        for joint, body in zip(self.joints, self.bodies, strict=True):
            digest.update(
                f'{joint.name} {joint.kind} {joint.parent} {joint.coordinate} '
                f'{joint.multiplier!r} {joint.offset!r} {body.mass!r}'.encode()
            )
            if joint.pitch:
                digest.update(f'{joint.pitch!r}'.encode())
            for array in (
                joint.rotation,
                joint.translation,
                joint.axis,
                body.center_of_mass,
                body.inertia,
            ):
                digest.update(np.ascontiguousarray(array).tobytes())
        for name, frame in self.frames.items():
            digest.update(f'{name} {frame.body}'.encode())
            digest.update(frame.rotation.tobytes() + frame.translation.tobytes())
        digest.update(self.gravity.tobytes() + self.damping.tobytes() + self.friction.tobytes())
        digest.update(self.velocity_limit.tobytes() + self.armature.tobytes())
        return digest.hexdigest()


def rigid_tree(model: RobotModel) -> RigidModel:
    """Return a model as the tree of rigid bodies that it is, or that stands for one in a record.

    Equations that are for both, and have one of their own for robots with flexible links, begin
    so; and those that are for rigid robots alone.

    Raises:
        ArgumentTypeError: it is no model, but a robot, perhaps.
        ModelError: a link of it is flexible, or it has closed loops.
    """
    if not hasattr(model, 'has_closed_loops'):
        raise ArgumentTypeError(
            f'model is a {type(model).__name__}, expected a model, such as robot.model'
        )
    if model.has_closed_loops:
        raise ModelError(f"this quantity is for trees, and model '{model.name}' has closed loops")
    if model.is_flexible:
        links = ', '.join(f"'{link}'" for link in model.flexible_link_names)
        raise ModelError(
            f"this quantity is for rigid robots, and of model '{model.name}' {links} is flexible"
        )
    return cast(RigidModel, model)
