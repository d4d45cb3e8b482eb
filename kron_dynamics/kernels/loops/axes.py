# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rotation of a robot's body axes so that the equations take fewer operations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.model.robot_model import Body, Frame, read_only
from kron_dynamics.reproducible import inner, norm, product
from kron_dynamics.typing import FloatArray


def with_axes_along_z(model: RigidModel) -> RigidModel:
    """Return the same robot with body and joint frames rotated so that every joint axis is z.

    Joint rotations, inertias and frames are expressed in the rotated axes of their bodies. All
    quantities that are not in axes of bodies or joints stay the same.
    """
    turns = [_turn_to_z(joint.axis) for joint in model.joints]
    joints, bodies = [], []
    for joint, body, turn in zip(model.joints, model.bodies, turns, strict=True):
        before = turns[joint.parent].T if joint.parent >= 0 else np.eye(3)
        joints.append(
            replace(
                joint,
                rotation=read_only(product(product(before, joint.rotation), turn)),
                translation=read_only(product(before, joint.translation)),
                axis=read_only([0.0, 0.0, 1.0]),
            )
        )
        inertia = product(product(turn.T, body.inertia), turn)
        center = product(turn.T, body.center_of_mass)
        bodies.append(Body(body.mass, read_only(center), read_only(inertia), body.links))
    frames = dict(model.frames)
    for name, frame in model.frames.items():
        if frame.body >= 0:
            turn = turns[frame.body]
            rotation = read_only(product(turn.T, frame.rotation))
            translation = read_only(product(turn.T, frame.translation))
            frames[name] = Frame(frame.body, rotation, translation)
    return replace(model, joints=tuple(joints), bodies=tuple(bodies), frames=frames)


def _turn_to_z(axis: FloatArray) -> FloatArray:
    """Return a rotation whose third column is the axis, with entries 0 and 1 if possible."""
    k = int(np.argmax(np.abs(axis)))
    first = np.eye(3)[(k + 1) % 3]
    first = first - inner(first, axis) * axis
    first /= norm(first)
    return np.column_stack([first, np.cross(axis, first), axis])
