# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A robot's model with exact numbers or symbols instead of floats.

The equations are evaluated on it just as on the model of floats.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.model.robot_model import Body, Frame, Joint
from kron_dynamics.symbolic.exact import (
    exact_array,
    exact_direction,
    exact_number,
    exact_rotation,
    frozen,
)
from kron_dynamics.symbolic.naming import Naming
from kron_dynamics.typing import FloatArray, ScalarArray

_AXES = ('x', 'y', 'z')
_TURN = 2 * np.pi  # rad; descriptions give the pitch of a screw in m per turn


class Parameters:
    """Replaces the numbers of a model by exact numbers or by symbols.

    Attributes:
        values: the number that each symbol stands for; empty without symbols.
    """

    def __init__(self, naming: Naming | None) -> None:
        """Start with the naming of the symbols; None keeps exact numbers."""
        self._naming = naming
        self.values: dict[Any, Any] = {}

    def of(self, value: Any, letter: str, owner: str = '', component: str = '') -> Any:
        """Return a new symbol for an exact number, or the number itself; always 0 for 0."""
        if self._naming is None or value == 0:
            return value
        symbol = self._naming.quantity(letter, owner, component)
        self.values[symbol] = value
        return symbol

    def vector(self, numbers: ScalarArray, letter: str, owner: str) -> ScalarArray:
        """Return numbers or symbols for an exact vector, shape (3,)."""
        entries = [self.of(x, letter, owner, axis) for x, axis in zip(numbers, _AXES, strict=True)]
        return frozen(entries, (3,))

    def each(self, values: FloatArray, letter: str, owners: Sequence[str]) -> ScalarArray:
        """Return a number or symbol for the value of each joint, same shape."""
        entries = [
            self.of(exact_number(float(x)), letter, owner)
            for x, owner in zip(values, owners, strict=True)
        ]
        return frozen(entries, values.shape)

    def inertia(self, numbers: ScalarArray, owner: str) -> ScalarArray:
        """Return numbers or symbols for an exact inertia tensor, shape (3, 3), symmetric."""
        upper = {
            (i, j): self.of(numbers[i, j], 'I', owner, _AXES[i] + _AXES[j])
            for i in range(3)
            for j in range(i, 3)
        }
        entries = [upper[min(i, j), max(i, j)] for i in range(3) for j in range(3)]
        return frozen(entries, (3, 3))

    def gravity(self, gravity: FloatArray) -> ScalarArray:
        """Return gravity, shape (3,): plus or minus g along an axis, or else three components."""
        numbers = exact_array(gravity)
        if np.count_nonzero(numbers) != 1:
            return self.vector(numbers, 'g', '')
        along = int(np.flatnonzero(numbers)[0])
        strength = self.of(abs(numbers[along]), 'g')
        entries = [sympy.Integer(0)] * 3
        entries[along] = int(sympy.sign(numbers[along])) * strength
        return frozen(entries, (3,))


def exact_model(
    model: RigidModel,
    parameters: Parameters,
    links: Container[str] | None = None,
    kept: Container[int] = (),
) -> RigidModel:
    """Return a model of SymPy numbers and symbols.

    Rotations, axes, mimic ratios, limits and everything that is 0 stay numbers. Symbols, named
    after their link or joint, are: mass m, mass centre c, inertia I about it, joint origin l in
    the parent body, link origin p in its body, pitch h of a screw, armature a, viscous friction d,
    Coulomb friction f; gravity is g. Single links of a body of several stay numbers.

    Args:
        model: model of floats.
        parameters: makes numbers or symbols, and records the symbols' values.
        links: links that bodies of several links are preferably named after; None for all.
        kept: indices of joints that are left unchanged.
    """
    movers = [moved_link(model, k, links) for k in range(len(model.joints))]
    return replace(
        model,
        joints=tuple(
            joint if k in kept else _joint(joint, parameters)
            for k, joint in enumerate(model.joints)
        ),
        bodies=tuple(
            _body(body, link, parameters) for body, link in zip(model.bodies, movers, strict=True)
        ),
        frames={link: _frame(frame, link, parameters) for link, frame in model.frames.items()},
        gravity=parameters.gravity(model.gravity),
        armature=parameters.each(model.armature, 'a', model.joint_names),
        damping=parameters.each(model.damping, 'd', model.joint_names),
        friction=parameters.each(model.friction, 'f', model.joint_names),
    )


def moved_link(model: RigidModel, body: int, links: Container[str] | None = None) -> str:
    """Return the link that names a body: the link that its joint moves, or a preferred one.

    Args:
        model: the robot.
        body: index of the body.
        links: preferred links; the first one fixed to the body is returned. None for all.
    """
    found = [link for link, frame in model.frames.items() if frame.body == body]
    return next((link for link in found if links is None or link in links), found[0])


def _joint(joint: Joint, parameters: Parameters) -> Joint:
    return replace(
        joint,
        rotation=exact_rotation(joint.rotation),
        translation=parameters.vector(exact_array(joint.translation), 'l', joint.name),
        axis=exact_direction(joint.axis),
        multiplier=exact_number(joint.multiplier),
        offset=exact_number(joint.offset),
        pitch=parameters.of(exact_number(joint.pitch * _TURN) / (2 * sympy.pi), 'h', joint.name),
    )


def _body(body: Body, link: str, parameters: Parameters) -> Body:
    mass = exact_number(body.mass)
    center, inertia = exact_array(body.center_of_mass), exact_array(body.inertia)
    if len(body.links) > 1 and mass != 0:
        # Several links were lumped: their moments about the origin are decimals, but the mass
        # centre, a quotient, is not. So start from the moments.
        center = exact_array(body.first_moment) / mass
        second = exact_array(body.second_moment) - mass * np.outer(center, center)
        inertia = np.trace(second) * np.eye(3, dtype=int) - second
    return replace(
        body,
        mass=parameters.of(mass, 'm', link),
        center_of_mass=parameters.vector(center, 'c', link),
        inertia=parameters.inertia(inertia, link),
        parts=tuple(
            replace(
                part,
                mass=exact_number(part.mass),
                center_of_mass=exact_array(part.center_of_mass),
                inertia=exact_array(part.inertia),
            )
            for part in body.parts
        ),
    )


def _frame(frame: Frame, link: str, parameters: Parameters) -> Frame:
    return replace(
        frame,
        rotation=exact_rotation(frame.rotation),
        translation=parameters.vector(exact_array(frame.translation), 'p', link),
    )
