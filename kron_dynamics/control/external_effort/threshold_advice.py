# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How far thresholds for collisions must be from what ordinary motion shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.external_effort.momentum_observer import noise_of_estimate
from kron_dynamics.control.poses import poses_within_limits
from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Standard deviations of the noise: at 1 kHz a joint passes seven once in 12 years.
_DEVIATIONS = 7.0


def advised_thresholds(
    robot: Robot,
    *,
    bandwidth: float,
    period: float,
    velocity_noise: FloatArray,
    effort_noise: FloatArray,
    velocity: FloatArray,
    acceleration: FloatArray,
    mass_error: float = 0.05,
    friction_error: float = 0.3,
) -> FloatArray:
    """Return the least thresholds that ordinary motion does not reach, shape (n,), N m or N.

    Seven standard deviations of the noise, and what errors of the model show: a share of the
    greatest efforts of its motions, and a share of its friction. All for the worst of 500 poses
    within the position limits. A push of three times as much is seen within 1.1 time constants
    of the observer and two periods, wherever noise and model errors stand then.

    Args:
        robot: the machine with rigid links.
        bandwidth: of the observer, Hz.
        period: time between states, s.
        velocity_noise: standard deviations, shape (n,), rad/s or m/s.
        effort_noise: standard deviations, shape (n,), N m or N.
        velocity: greatest of ordinary motions, shape (n,), rad/s or m/s.
        acceleration: greatest of ordinary motions, shape (n,), per s.
        mass_error: relative, of masses and inertias.
        friction_error: relative, of the friction.
    """
    q = poses_within_limits(robot)
    noise = noise_of_estimate(robot, q, bandwidth, period, velocity_noise, effort_noise)
    # Signs of all joints' motions at random: two of each pose.
    signs = np.sign(np.random.default_rng(1).uniform(-1.0, 1.0, (2, 2, *q.shape)))
    efforts = [
        np.abs(robot.inverse_dynamics(q, rates * velocity, rates_of_rates * acceleration))
        for rates, rates_of_rates in signs
    ]
    viscous, coulomb = friction_coefficients(robot.model)[:, :2].T
    friction = coulomb + viscous * velocity
    return np.asarray(
        _DEVIATIONS * noise.max(axis=0)
        + mass_error * np.max(efforts, axis=(0, 1))
        + friction_error * friction
    )
