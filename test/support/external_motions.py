# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Ordinary motion with noise and model errors, and the advised collision thresholds for it."""

from __future__ import annotations

import numpy as np
from sampled_runs import PERIOD, POSE, SampledRun, Swing, machine

from kron_dynamics.control import ComputedTorque
from kron_dynamics.control.external_effort.monitor import ExternalEffortMonitor
from kron_dynamics.control.external_effort.threshold_advice import advised_thresholds

BANDWIDTH = 5.0
# Standard deviations as fractions of the velocity and effort limits.
VELOCITY_NOISE, EFFORT_NOISE = 1e-3, 2e-3
# The descriptions of the arms have no friction: Coulomb friction of 2 % of the effort limits.
COULOMB = {'stacker': None, 'ur5': 0.02, 'panda': 0.02}


def ordinary_motion(name):
    """Return model, run of the real machine, swing, monitor, and its advised thresholds."""
    model = machine(name, coulomb=COULOMB[name])
    real = machine(name, mass=1.05, coulomb=COULOMB[name], friction=1.3)
    limits, period = model.model, PERIOD[name]
    swing = Swing.within(model, POSE[name], 0.2)
    noise = VELOCITY_NOISE * limits.velocity_limit, EFFORT_NOISE * limits.effort_limit
    speed = swing.amplitude * (1.0 + 2.0 * np.pi * swing.frequency)
    thresholds = advised_thresholds(
        model,
        bandwidth=BANDWIDTH,
        period=period,
        velocity_noise=noise[0],
        effort_noise=noise[1],
        velocity=speed,
        acceleration=2.0 * np.pi * swing.frequency * speed + speed,
    )
    kp, damping = (1.0, 2.0) if name == 'stacker' else (100.0, 20.0)
    law = ComputedTorque(model, np.full(model.n, kp), np.full(model.n, damping))
    run = SampledRun(
        real,
        law,
        period,
        POSE[name],
        limit=limits.effort_limit,
        velocity_noise=noise[0],
        effort_noise=noise[1],
    )
    return run, swing, ExternalEffortMonitor(model, BANDWIDTH, thresholds=thresholds), thresholds
