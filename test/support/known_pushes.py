# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robots that follow a motion while a known force starts to act at their tip."""

from __future__ import annotations

import numpy as np
from sampled_runs import PERIOD, POSE, SampledRun, Swing

from benchmarks.robots import description
from kron_dynamics.control import ComputedTorque
from kron_dynamics.control.external_effort.momentum_observer import MomentumObserver
from kron_dynamics.control.external_effort.tip_wrench import TipWrench

BANDWIDTH = 5.0
PUSH = 2.0  # s, start of the force
FORCE = {
    'stacker': np.array([2e4, 3e4, -5e4, 0.0, 0.0, 0.0]),
    'ur5': np.array([20.0, -15.0, 10.0, 1.0, -2.0, 1.5]),
    'panda': np.array([15.0, -10.0, 12.0, 1.0, 2.0, -1.5]),
}


def controlled(name, model, robot, **changes):
    """Return a run of a robot with computed torque of a model, and the swing it follows."""
    kp, damping = (1.0, 2.0) if name == 'stacker' else (100.0, 20.0)
    law = ComputedTorque(model, np.full(model.n, kp), np.full(model.n, damping))
    run = SampledRun(
        robot, law, PERIOD[name], POSE[name], limit=model.model.effort_limit, **changes
    )
    return run, Swing.within(model, POSE[name], 0.2)


def pushed(name, model, robot, commanded=False, duration=3.0):
    """Return estimated and true external efforts of a run with a force at the tip from `PUSH` on.

    Returns:
        times (N,), estimates (N, n), true efforts (N, n), wrenches (N, 6).
    """
    frame = robot.frame(description(name).tip)

    def force(t, q):
        return frame.jacobian(q).T @ FORCE[name] * (t >= PUSH - 1e-9)

    run, swing = controlled(name, model, robot, external=force)
    observer = MomentumObserver(model, BANDWIDTH)
    tip = TipWrench(model, description(name).tip)
    rows = []
    while run.time < duration:
        sample = run.step(swing(run.time))
        effort = sample.command if commanded else sample.effort
        estimate = observer.update(sample.time, sample.q, sample.qd, effort)
        if estimate is not None:
            true = force(sample.time - run.period, sample.q)
            rows.append((sample.time, estimate, true, tip.wrench(sample.q, estimate)))
    return tuple(map(np.array, zip(*rows, strict=True)))


def error(name, model, robot, **options):
    """Return the largest errors of efforts after and before the push, and of the wrench after it.

    Shapes (n,), (n,), (6,). "After" begins four time constants after the push. The first errors
    are relative to the largest true effort (of each joint, where units differ).
    """
    time, estimate, true, wrench = pushed(name, model, robot, **options)
    found = time > PUSH + 4.0 / (2.0 * np.pi * BANDWIDTH) + PERIOD[name]
    scale = np.abs(true[found]).max(axis=0)
    if name != 'stacker':
        scale = scale.max()
    late = np.abs(estimate - true)[found].max(axis=0) / scale
    return late, np.abs(estimate[time < PUSH]).max(axis=0), np.abs(wrench[found] - FORCE[name])
