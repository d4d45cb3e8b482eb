# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A robot as bare numbers, from Pinocchio's model: what the other peers are built from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from benchmarks.robots import State
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class Link:
    """A moving body and the joint before it.

    Attributes:
        parent: index of the link before, -1 for the fixed base.
        revolute: or else prismatic.
        axis: of the joint in the link's axes.
        rotation: of the link's axes in the parent's at zero.
        translation: of the link's origin in the parent's axes at zero, m.
        mass: kg.
        center: centre of mass in the link's axes, m.
        inertia: about the centre of mass in the link's axes, kg m^2.
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
                # Pinocchio's rotations carry the rounding of rpy angles: 6e-17 is a zero.
                np.round(placement.rotation, 15),
                np.round(placement.translation, 15),
                float(body.mass),
                np.array(body.lever),
                np.array(body.inertia),
            )
        )
    return found


def as_text(model: pin.Model, state: State) -> str:
    """Return gravity, bodies and a state as the text that our C++ program reads."""
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
