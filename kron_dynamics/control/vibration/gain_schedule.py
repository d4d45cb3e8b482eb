# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vibration damping for a robot, made from what a controller is given anyway."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kron_dynamics.control.vibration.damper import GainSchedule
from kron_dynamics.control.vibration.lqg import DampingGains, LqrWeights
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# A joint that moves by this part of its range asks for new gains.
_SAME_POSE = 0.02
_TURN = 2.0 * np.pi
# Drift of the unknown effort, against the usual. Where friction holds a joint, more of it makes
# the joint hunt; where the model's weight is wrong, less takes longer to carry it.
_DRIFT = 0.1


def damping_schedule(
    flexible: Robot,
    kp: FloatArray,
    effort_limit: FloatArray,
    resolution: FloatArray,
    period: float,
) -> GainSchedule:
    """Return the gains of vibration damping by pose.

    Joints are as stiff as the position gains make them under computed torque: a deviation counts
    as much as the effort that kp answers it with, ``M_jj kp dq``, and a rate as that deviation
    times sqrt(kp). Modes count as in `LqrWeights.of`.

    Args:
        flexible: the robot with its modal coordinates.
        kp: position gains, shape (n_j,), 1/s^2, above 0.
        effort_limit: of the drives, shape (n_j,), N m or N.
        resolution: smallest step of the measured positions, shape (n_j,), rad or m.
        period: of control, s.
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
        return DampingGains.of(linear, period, scales, noise_model)

    return GainSchedule(linearize, design, tolerance, flexible.inertial_parameters)
