# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Prior of the parameters from the robot's description."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.identification.consistent_fit import Prior
from kron_dynamics.identification.friction import TERMS
from kron_dynamics.identification.pseudo_inertia import (
    is_consistent,
    made_consistent,
    pseudo_inertia,
)
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Expected effort of a positive term that the description omits, as a share of the joint's effort.
UNSAID = 1e-2
# Standard deviation of coefficients of either sign, as a multiple of the joint's effort.
FREE = 0.1
# Standard deviation of gravity across the described one, m/s^2: a base that is level to 1 degree.
TILT = 0.17
# Lower bounds: mass as a share of the lightest body's, and extent (standard deviation of the mass
# along each axis), m. They make inconsistent bodies possible; the prior of thinner ones, such as
# of a placeholder of an inertia, would fix the centre of mass as closely as the extent.
LEAST_MASS = 1e-3
LEAST_RADIUS = 5e-3


def body_parameters(robot: Robot) -> FloatArray:
    """Return the ten parameters of every body, made consistent and no thinner, shape (b, 10)."""
    bodies = _described(robot)
    masses = bodies[:, 0]
    least = LEAST_MASS * (masses[masses > 0.0].min() if (masses > 0.0).any() else 1.0)
    return np.array([made_consistent(own, least, LEAST_RADIUS) for own in bodies])


def thin_notes(robot: Robot) -> list[str]:
    """Return a note on possible bodies that are thinner than the prior's."""
    pairs = zip(robot.model.bodies, _described(robot), body_parameters(robot), strict=True)
    thin = [
        f"'{body.links[0]}'"
        for body, own, used in pairs
        if is_consistent(own) and not np.array_equal(own, used)
    ]
    if not thin:
        return []
    return [
        f'links {", ".join(thin)} are thinner than can be identified: the prior has '
        f'{1e3 * LEAST_RADIUS:g} mm for the standard deviation of their mass along each axis'
    ]


def _described(robot: Robot) -> FloatArray:
    """Return the ten parameters of every body as described, shape (b, 10)."""
    ten = robot.inertial_parameters()[: PARAMETERS_PER_BODY * len(robot.model.bodies)]
    return np.asarray(ten).reshape(-1, PARAMETERS_PER_BODY)


def prior_of(
    robot: Robot,
    terms: Sequence[str],
    effort: FloatArray,
    speed: FloatArray,
    tilt: bool = False,
) -> Prior:
    """Return the prior of a robot's parameters: bodies, armatures, friction by joint and term.

    Args:
        robot: the robot as described.
        terms: friction terms, names of `friction.TERMS`.
        effort: RMS efforts of the joints, shape (n,), N m or N, above zero.
        speed: RMS speeds, shape (n,), rad/s or m/s, above zero.
        tilt: whether the two components of gravity across the described one come last.
    """
    model = robot.model
    described = {'coulomb': model.friction, 'viscous': model.damping}
    per_speed = {'viscous': 1.0 / speed, 'cubic': 1.0 / speed**3, 'load': 1.0 / effort}
    positive, location, scale, weight = [], [], [], []

    def add(said: float, usual: float, above_zero: bool) -> None:
        positive.append(above_zero)
        location.append((said if said > 0.0 else UNSAID * usual) if above_zero else 0.0)
        scale.append(FREE * usual)
        # A described number may be a dummy that only stabilises a simulator, so values of the size
        # of the efforts must not be unlikely: a small described value gets a small weight, just
        # enough to stay above zero.
        weight.append(min(1.0, location[-1] / usual) if above_zero else 1.0)

    for joint in range(model.n):
        add(model.armature[joint], effort[joint] / speed[joint], True)
    for joint in range(model.n):
        for term in terms:
            said = float(described[term][joint]) if term in described else 0.0
            usual = effort[joint] * float(np.asarray(per_speed.get(term, np.ones(model.n)))[joint])
            add(said, usual, TERMS[term])
    for _ in range(2 * tilt):
        add(0.0, TILT / FREE, False)
    return Prior(
        np.array([pseudo_inertia(own) for own in body_parameters(robot)]),
        np.array(positive, dtype=bool),
        np.array(location),
        np.array(scale),
        np.array(weight),
        # The weights of armatures scale with the strength, as those of bodies do: efforts that
        # both can explain are attributed to the bodies, which a URDF can represent.
        np.arange(len(weight)) < model.n,
    )
