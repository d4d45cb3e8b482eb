# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vibration damping whose efforts act late is refused where it is unstable, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from kron_dynamics.control import DampingGains, LqrWeights, VibrationDamper
from kron_dynamics.control.vibration.delayed_loop import (
    check_delay,
    delay_warning,
    spectral_radius,
)
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.linearized import LinearizedModel

# Two drives that a boom with a mode at 5 rad/s couples: one without, one with a spring.
M = np.array([[6e8, 2e6, 3.2e6], [2e6, 4e8, 1e6], [3.2e6, 1e6, 6e4]])
D, K = np.diag([0.0, 0.0, 6e3]), np.diag([0.0, 2e8, 1.5e6])
MODEL = LinearizedModel(('slew', 'luff', 'boom/w1'), M, D, K, *np.zeros((4, 3)))
LIMIT = np.array([5e6, 5e6])


def gains_of(period):
    scales = LqrWeights.of(MODEL, LIMIT, bandwidth=1.0)
    return DampingGains.of(MODEL, period, scales, scales.noise_model(MODEL, [6e-6, 6e-6]))


def growth(gains, delay):
    """Return the factor by which deviations grow per period after a kick, cycle by cycle."""
    inverse, zero = np.linalg.inv(M), np.zeros(2)
    rates = np.zeros((8, 8))
    rates[:3, 3:6] = np.eye(3)
    rates[3:6] = -inverse @ np.hstack((K, D, -np.eye(3)[:, :2]))
    moved = expm(rates * gains.period)[:6]
    damper = VibrationDamper(gains, np.full(2, np.inf))
    x = np.concatenate((np.zeros(3), LIMIT / np.diag(M)[:2], [0.0]))
    efforts, sizes = [zero] * delay, []
    for _ in range(400):
        efforts.append(damper.update(x[:2], None, zero, zero, np.zeros(1), zero))
        x = moved @ np.concatenate((x, efforts.pop(0)))
        sizes.append(np.abs(x[:2]).max())
    return (max(sizes[300:]) / max(sizes[100:200])) ** (1.0 / 200.0)


@pytest.mark.parametrize(
    ('delay', 'period', 'stable'),
    [(0, 0.3, True), (1, 0.1, True), (1, 0.2, False), (2, 0.05, True), (2, 0.1, False)],
)
def test_a_late_loop_grows_by_its_spectral_radius(delay, period, stable):
    """What decays last is a slow filter, which a kick hardly stirs: its rate is not compared."""
    gains = gains_of(period)
    radius, factor = spectral_radius(gains, delay), growth(gains, delay)
    assert stable == (radius < 1.0) == (factor < 1.0)
    if not stable:
        assert radius == pytest.approx(factor, abs=1e-3)


def test_the_period_that_would_do_is_told_and_does():
    with pytest.raises(
        ParameterError, match='unstable with states 0.3 s apart and one'
    ) as refusal:
        check_delay(gains_of(0.3), gains_of)
    longest = float(str(refusal.value).split('at most ')[1].split()[0])
    check_delay(gains_of(0.99 * longest), gains_of)
    assert spectral_radius(gains_of(1.03 * longest), 1) > 1.0


def test_what_two_periods_would_make_unstable_is_a_warning():
    # Stable with two periods of delay, not with three.
    assert delay_warning(gains_of(0.09)) is None
    near = gains_of(0.1)
    check_delay(near, gains_of)
    assert 'two periods of 0.1 s late' in delay_warning(near)
