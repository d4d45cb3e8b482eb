# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stretches of recorded motion: accelerations, delays and the noise of efforts."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.exceptions import NonFiniteError, ParameterError, ShapeError
from kron_dynamics.identification.motion import Motion

STEP = 0.004
TIME = 3.0 + STEP * np.arange(2001)


def motion(qd=None, effort=None) -> Motion:
    some = np.zeros((len(TIME), 2))
    return Motion(TIME, some, some if qd is None else qd, some if effort is None else effort)


def both(values: np.ndarray) -> np.ndarray:
    return np.column_stack([values, -2.0 * values])


def test_quadratic_velocities_have_their_exact_slopes() -> None:
    t = TIME - TIME[0]
    found = motion(qd=both(1.0 - t + 0.5 * t**2))
    assert found.step == pytest.approx(STEP)
    np.testing.assert_allclose(found.qdd, both(t - 1.0), atol=1e-9)


@pytest.mark.parametrize('delay', [0.01, -0.01])
def test_late_efforts_are_moved_to_when_they_acted(delay: float) -> None:
    late = motion(effort=both(TIME - delay))
    found = late.shifted(delay).effort
    inside = (TIME + delay >= TIME[0]) & (TIME + delay <= TIME[-1])
    np.testing.assert_allclose(found[inside], both(TIME)[inside], rtol=1e-12)
    assert np.isnan(found[~inside]).all() and (~inside).any()
    assert late.shifted(0.0) is late


@pytest.mark.parametrize('delay', [0.3 * STEP, -1.5 * STEP])
def test_moving_efforts_does_not_attenuate_them(delay: float) -> None:
    # Ten samples a period, of which lines would take 5 %.
    rate = 2.0 * np.pi / (10.0 * STEP)
    late = motion(effort=both(np.sin(rate * (TIME - delay))))
    found = late.shifted(delay).effort[5:-5]
    np.testing.assert_allclose(found, both(np.sin(rate * TIME))[5:-5], atol=0.01)
    late.effort[1000] = np.nan
    lost = np.isnan(late.shifted(delay).effort[5:-5]).sum()
    assert lost == 2 * 2  # neighbours alone


def test_white_noise_is_told_from_a_smooth_effort(rng: np.random.Generator) -> None:
    t, spread = TIME - TIME[0], np.array([0.3, 5.0])
    smooth = both(10.0 + t - 3.0 * t**2)
    np.testing.assert_allclose(motion(effort=smooth).effort_noise(), 0.0, atol=1e-9)
    noisy = motion(effort=smooth + spread * rng.standard_normal(smooth.shape))
    np.testing.assert_allclose(noisy.effort_noise(), spread, rtol=0.08)
    half = noisy.effort.copy()
    half[:, 1] = np.nan
    found = motion(effort=half).effort_noise()
    assert found[0] == noisy.effort_noise()[0] and found[1] == 0.0


def test_a_part_has_its_samples() -> None:
    whole = motion(qd=both(TIME), effort=both(np.sqrt(TIME)))
    part = whole.part(5, 10)
    for name in ('time', 'q', 'qd', 'effort'):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[5:10])


def test_what_does_not_fit_is_told_by_name() -> None:
    some = np.zeros((5, 2))
    for name, shape in (('q', (5,)), ('q', (6, 2)), ('qd', (5, 3)), ('effort', (5,))):
        states = {'q': some, 'qd': some, 'effort': some} | {name: np.zeros(shape)}
        with pytest.raises(ShapeError, match='has shape'):
            Motion(TIME[:5], **states)
    with pytest.raises(ShapeError, match='q of motion'):
        Motion(TIME[:6], some, some, some)
    for name in ('q', 'qd'):
        states = {'q': some, 'qd': some, 'effort': some} | {name: np.full((5, 2), np.inf)}
        with pytest.raises(NonFiniteError, match=f'^{name} of'):
            Motion(TIME[:5], **states)
    Motion(TIME[:5], some, some, np.full((5, 2), np.nan))


def test_times_are_evenly_spaced_and_enough() -> None:
    some = np.zeros((5, 2))
    gap, jitter = TIME[[0, 1, 2, 3, 5]], 0.02 * STEP * np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    for times in (gap, TIME[:5] + jitter, TIME[4::-1], np.full(5, 1.0), TIME[[0, 1, 1, 3, 4]]):
        with pytest.raises(ParameterError, match='times of motion .* expected evenly spaced'):
            Motion(times, some, some, some)
    with pytest.raises(ParameterError, match='4 samples, expected 5'):
        Motion(TIME[:4], some[:4], some[:4], some[:4])
    # Rounding of stamps in seconds since 1970 is no gap.
    Motion(1.7e9 + 1e-4 * np.arange(5), some, some, some)
