# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a description says before any data, and how far it may be off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.identification.consistent_fit import Prior
from kron_dynamics.identification.friction import TERMS
from kron_dynamics.identification.pseudo_inertia import made_consistent, pseudo_inertia
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# What the description leaves out is expected to be this share of the efforts: next to nothing.
UNSAID = 1e-2
# Standard deviation of coefficients of either sign, as a multiple of the joint's effort.
FREE = 0.1
# Standard deviation of gravity across that of the description, m/s^2: a base level to 1 degree.
TILT = 0.17
# Least mass as a share of the lightest body's, and least extent, m, of a body that no matter has.
LEAST_MASS = 1e-3
LEAST_RADIUS = 5e-3


def body_parameters(robot: Robot) -> FloatArray:
    """Return the ten parameters of every body, raised to what matter can have, shape (b, 10)."""
    ten = robot.inertial_parameters()[: PARAMETERS_PER_BODY * len(robot.model.bodies)]
    bodies = ten.reshape(-1, PARAMETERS_PER_BODY)
    masses = bodies[:, 0]
    least = LEAST_MASS * (masses[masses > 0.0].min() if (masses > 0.0).any() else 1.0)
    return np.array([made_consistent(own, least, LEAST_RADIUS) for own in bodies])


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
        effort: usual efforts of the joints, shape (n,), N m or N.
        speed: usual speeds, shape (n,), rad/s or m/s, above zero.
        tilt: whether gravity across that of the description comes last, twice.
    """
    model = robot.model
    described = {'coulomb': model.friction, 'viscous': model.damping}
    per_speed = {'viscous': 1.0 / speed, 'cubic': 1.0 / speed**3, 'load': 1.0 / effort}
    positive, location, scale, weight = [], [], [], []

    def add(said: float, usual: float, above_zero: bool) -> None:
        positive.append(above_zero)
        location.append((said if said > 0.0 else UNSAID * usual) if above_zero else 0.0)
        scale.append(FREE * usual)
        # A described number may be a dummy that only keeps a simulator quiet: what is of the size
        # of the efforts is never unlikely. Next to nothing counts as little, enough to stay
        # above zero.
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
        # What bodies can explain as well is theirs: a URDF can say it.
        np.arange(len(weight)) < model.n,
    )
