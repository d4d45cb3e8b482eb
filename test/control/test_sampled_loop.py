# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gains are refused where a sampled, late loop is unstable, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from sampled_runs import POSE, machine

from kron_dynamics.control import ProportionalDerivative
from kron_dynamics.control.sampled_loop import check_coupled, check_decoupled
from kron_dynamics.exceptions import ParameterError

NAME = ('elbow',)


def one(*values):
    return tuple(np.array([value]) for value in values)


def grows(kp, kd, ki, period, duration=400):
    """Whether an error grows: a mass under effort that acts a period late, step by step."""
    e, ed, z, late, errors = 1.0, 0.0, 0.0, 0.0, []
    for _ in range(duration):
        z += period * ki * e
        now = kp * e + kd * ed + z
        e, ed = e + period * ed - period**2 / 2.0 * late, ed - period * late
        late = now
        errors.append(abs(e))
    return max(errors[-50:]) > max(errors[150:200])


@pytest.mark.parametrize('period', [0.002, 0.02, 0.1])
@pytest.mark.parametrize('seed', range(3))
def test_the_bound_is_where_a_simulated_loop_begins_to_grow(period, seed):
    rng = np.random.default_rng(seed)
    agree = {True: 0, False: 0}
    for _ in range(60):
        rate = rng.uniform(0.02, 0.6) / period
        kp, kd, ki = rate**2, rng.uniform(0.8, 3.0) * rate, rng.uniform(0.0, 1.2) * rate**3
        unstable = grows(kp, kd, ki, period)
        # Too near the bound to see growth in so short a time.
        if grows(1.03 * kp, 1.03 * kd, 1.03 * ki, period) != grows(
            0.97 * kp, 0.97 * kd, 0.97 * ki, period
        ):
            continue
        try:
            check_decoupled(*one(kp, kd, ki), period, NAME)
            refused = False
        except ParameterError:
            refused = True
        assert refused == unstable, (kp, kd, ki)
        agree[unstable] += 1
    assert min(agree.values()) > 5


def test_a_delay_is_counted():
    """Without it kd T could be near 2."""
    check_decoupled(*one(1.0, 0.9 / 0.02, 0.0), 0.02, NAME)
    with pytest.raises(ParameterError, match="joint 'elbow' with kp 1, kd 55, ki 0 is unstable"):
        check_decoupled(*one(1.0, 1.1 / 0.02, 0.0), 0.02, NAME)


def test_the_period_that_would_do_is_told_and_does():
    gains = one(400.0, 60.0, 0.0)
    with pytest.raises(ParameterError) as refusal:
        check_decoupled(*gains, 0.05, NAME)
    longest = float(str(refusal.value).split('at most ')[1].split()[0])
    check_decoupled(*gains, 0.99 * longest, NAME)
    with pytest.raises(ParameterError):
        check_decoupled(*gains, 1.03 * longest, NAME)


def test_an_integral_that_no_period_makes_stable_is_refused_as_such():
    with pytest.raises(ParameterError, match='expected other gains: ki below kp kd'):
        check_decoupled(*one(100.0, 20.0, 2100.0), 0.001, NAME)
    check_decoupled(*one(100.0, 20.0, 900.0), 0.001, NAME)


def test_little_margin_is_told():
    assert check_decoupled(*one(100.0, 20.0, 0.0), 0.002, NAME) == []
    (near,) = check_decoupled(*one(100.0, 20.0, 0.0), 0.03, NAME)
    assert "joint 'elbow' with kp 100, kd 20, ki 0 is near instability" in near
    (near,) = check_decoupled(*one(100.0, 20.0, 1500.0), 0.001, NAME)
    assert 'gain margin is below 2' in near


def test_coupling_decides_where_the_law_has_no_model(kernel_cache):
    """Gains that every joint of a Panda could take alone."""
    for name, period, kp, kd, stable in (
        ('panda', 0.004, 100.0, 20.0, False),
        ('panda', 0.0005, 100.0, 20.0, True),
        ('ur5', 0.02, 100.0, 20.0, False),
        ('ur5', 0.002, 100.0, 20.0, True),
        ('stacker', 0.02, 1.0, 2.0, True),
    ):
        robot = machine(name)
        gains = [np.full(robot.n, gain) for gain in (kp, kd, 0.0)]
        check_decoupled(*gains, period, robot.joint_names)
        inertia = ProportionalDerivative(robot, *gains[:2], POSE[name]).inertia
        if stable:
            check_coupled(robot, inertia, *gains, period)
            continue
        with pytest.raises(ParameterError, match=r"'pd' .* in the pose .* unstable") as refusal:
            check_coupled(robot, inertia, *gains, period)
        assert 'states at most' in str(refusal.value)
