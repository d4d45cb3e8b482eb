# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A robot as plain numbers, extracted from Pinocchio's model; input of the other peers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from benchmarks.robots import State
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class Link:
    """A moving body and its parent joint.

    Attributes:
        parent: index of the parent link, -1 for the fixed base.
        revolute: whether the joint is revolute; otherwise it is prismatic.
        axis: axis of the joint in the link's axes.
        rotation: rotation from the link's to the parent's axes at zero position.
        translation: the link's origin in the parent's frame at zero position, m.
        mass: kg.
        center: centre of mass in the link's frame, m.
        inertia: inertia about the centre of mass in the link's axes, kg m^2.
    """

    parent: int
    revolute: bool
    axis: FloatArray
    rotation: FloatArray
    translation: FloatArray
    mass: float
    center: FloatArray
    inertia: FloatArray


def links(model: pin.Model) -> list[Link]:
    """Return the bodies of a model with revolute and prismatic joints, parents first."""
    found = []
    for index in range(1, model.njoints):
        joint, placement, body = (
            model.joints[index],
            model.jointPlacements[index],
            model.inertias[index],
        )
        kind = joint.shortname().removeprefix('JointModel')
        aligned = kind[-1] in 'XYZ'
        axis = np.eye(3)['XYZ'.index(kind[-1])] if aligned else np.array(joint.extract().axis)
        found.append(
            Link(
                model.parents[index] - 1,
                kind.startswith('R'),
                axis,
                # Pinocchio's rotations have rounding errors from rpy angles, such as 6e-17 for 0.
                np.round(placement.rotation, 15),
                np.round(placement.translation, 15),
                float(body.mass),
                np.array(body.lever),
                np.array(body.inertia),
            )
        )
    return found


def as_text(model: pin.Model, state: State) -> str:
    """Return gravity, bodies and a state in the text format of our C++ program."""
    lines = [_numbers(model.gravity.linear), str(model.njoints - 1)]
    for link in links(model):
        inertia = link.inertia[np.tril_indices(3)]
        values = (link.axis, link.translation, link.rotation, [link.mass], link.center, inertia)
        text = ' '.join(_numbers(value) for value in values)
        lines.append(f'{link.parent + 1} {"R" if link.revolute else "P"} {text}')
    lines.extend(_numbers(value) for value in (state.q, state.qd, state.qdd))
    return '\n'.join(lines) + '\n'


def _numbers(values: object) -> str:
    return ' '.join(repr(float(value)) for value in np.ravel(np.asarray(values)))
