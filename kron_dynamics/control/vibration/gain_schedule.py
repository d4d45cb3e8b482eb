# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gain schedule of vibration damping, designed from the usual settings of a controller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kron_dynamics.control.vibration.damper import GainSchedule
from kron_dynamics.control.vibration.delayed_loop import check_delay
from kron_dynamics.control.vibration.lqg import DampingGains, LqrWeights
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Gains are recomputed after a joint has moved by this share of its range.
_SAME_POSE = 0.02
_TURN = 2.0 * np.pi
# Factor on the default drift of the disturbance effort. With more drift, joints held by friction
# hunt; with less, errors of the gravity model are compensated more slowly.
_DRIFT = 0.1


def damping_schedule(
    flexible: Robot,
    kp: FloatArray,
    effort_limit: FloatArray,
    resolution: FloatArray,
    period: float,
) -> GainSchedule:
    """Return the gains of vibration damping as a function of the pose.

    For a pose in which they are unstable with efforts one period late, `GainSchedule.at` raises
    a `ParameterError`.

    The weights give the joints the stiffness they have under computed torque: a deviation dq is
    weighted like the effort ``M_jj kp dq``, and a rate like that of the deviation rate / sqrt(kp).
    Modes are weighted as in `LqrWeights.of`.

    Args:
        flexible: the robot with its modal coordinates.
        kp: position gains, shape (n_j,), 1/s^2, above 0.
        effort_limit: effort limits of the drives, shape (n_j,), N m or N.
        resolution: resolution of the measured positions, shape (n_j,), rad or m.
        period: control period, s.
    """
    model = flexible.model
    count = model.joint_count
    reach = model.position_upper[:count] - model.position_lower[:count]
    tolerance = _SAME_POSE * np.where(np.isfinite(reach) & (reach > 0.0), reach, _TURN)

    def linearize(q: FloatArray) -> LinearizedModel:
        return flexible.linearize(
            quasi_static_equilibrium(flexible, q), *np.zeros((2, flexible.n))
        )

    def design(linear: LinearizedModel) -> DampingGains:
        softness = effort_limit / linear.mass.diagonal()[:count]
        scales = replace(
            LqrWeights.of(linear, effort_limit),
            position=softness / kp,
            rate=softness / np.sqrt(kp),
        )
        noise_model = scales.noise_model(linear, resolution)
        noise_model = replace(noise_model, drift=_DRIFT * noise_model.drift)

        def sampled(period: float) -> DampingGains:
            return DampingGains.of(linear, period, scales, noise_model)

        gains = sampled(period)
        check_delay(gains, sampled)
        return gains

    return GainSchedule(linearize, design, tolerance, flexible.inertial_parameters)
