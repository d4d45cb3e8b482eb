# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recommended collision thresholds, above the external efforts estimated in ordinary motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.external_effort.momentum_observer import noise_of_estimate
from kron_dynamics.control.sample_poses import poses_within_limits
from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Margin in standard deviations of the noise: at 1 kHz a joint exceeds seven once in 12 years.
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
    """Return the lowest thresholds that ordinary motion does not reach, shape (n,), N m or N.

    A threshold is the sum of seven standard deviations of the noise, a share of the largest
    efforts of motions (model errors) and a share of the friction, in the worst of 500 poses within
    the position limits. A push of three times the threshold is detected within 1.1 time constants
    of the observer plus two periods, for any noise and model errors at that time.

    Args:
        robot: the machine with rigid links.
        bandwidth: bandwidth of the observer, Hz.
        period: time between states, s.
        velocity_noise: standard deviations, shape (n,), rad/s or m/s.
        effort_noise: standard deviations, shape (n,), N m or N.
        velocity: largest velocities of ordinary motions, shape (n,), rad/s or m/s.
        acceleration: largest accelerations of ordinary motions, shape (n,), rad/s^2 or m/s^2.
        mass_error: relative error of masses and inertias.
        friction_error: relative error of the friction.
    """
    q = poses_within_limits(robot)
    noise = noise_of_estimate(robot, q, bandwidth, period, velocity_noise, effort_noise)
    # Random signs of the velocities and accelerations of all joints, two draws per pose.
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
