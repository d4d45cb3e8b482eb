# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A robot of rigid bodies: the tree that the equations traverse."""

from __future__ import annotations

import hashlib
from typing import cast

import numpy as np

from kron_dynamics.exceptions import ArgumentTypeError, ModelError
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.traversal import Traversal


class RigidModel(RobotModel, Traversal):
    """A tree of rigid bodies on a fixed base."""

    __slots__ = ()

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
        digest.update(self.own_numbers)
        return digest.hexdigest()


def checked_model(model: RobotModel) -> RobotModel:
    """Return the model itself, which may have flexible links or closed loops.

    Raises:
        ArgumentTypeError: `model` is not a model, for example a Robot.
    """
    if not hasattr(model, 'has_closed_loops'):
        raise ArgumentTypeError(
            f'model is a {type(model).__name__}, expected a model, such as robot.model'
        )
    return model


def rigid_tree(model: RobotModel) -> RigidModel:
    """Return the model as a tree of rigid bodies, or refuse it.

    Functions for rigid robots begin with this check; those with another implementation for
    flexible links do in the rigid one. The symbolic model that kernels are recorded with passes.

    Raises:
        ArgumentTypeError: `model` is not a model, for example a Robot.
        ModelError: a link is flexible, or the model has closed loops.
    """
    if checked_model(model).has_closed_loops:
        raise ModelError(f"this quantity is for trees, and model '{model.name}' has closed loops")
    if model.is_flexible:
        links = ', '.join(f"'{link}'" for link in model.flexible_link_names)
        raise ModelError(
            f"this quantity is for rigid robots, and of model '{model.name}' {links} is flexible"
        )
    return cast(RigidModel, model)
