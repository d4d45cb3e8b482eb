# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Analyses of periodic systems: a nonlinear pendulum agrees, what is no system is refused."""

from __future__ import annotations

from math import inf, nan, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest
from long_runs import some_of
from scipy.integrate import solve_ivp

from kron_dynamics.exceptions import (
    ArgumentTypeError,
    ModelError,
    NonFiniteError,
    ParameterError,
    ShapeError,
)
from kron_dynamics.stability import (
    FloquetAnalysis,
    floquet_analysis,
    monodromy_matrix,
    stability_map,
)

ONE = np.eye(1)
ZERO = np.zeros((1, 1))


@pytest.mark.parametrize('period', [1.0, pi / 2, 4.0])
def test_a_stiff_mode_beside_it_does_not_hide_a_wrong_period(period: float) -> None:
    def stiffness(t: float) -> Any:
        return np.diag([1.0 - 0.6 * np.cos(2.0 * t), 2000.0**2])

    system = np.eye(2), np.diag([0.0, 400.0]), stiffness
    with pytest.raises(ParameterError, match=r'A\[2, 0\] .* one period later differ'):
        monodromy_matrix(system, period)
    assert not floquet_analysis(system, pi).is_stable()


def test_numbers_of_another_kind_are_refused() -> None:
    right = FloquetAnalysis(0.5 * ONE, 1.0)
    calls = {
        'monodromy': [
            lambda: FloquetAnalysis(np.diag([0.5, 2j]), 1.0),  # type: ignore[arg-type]
            lambda: FloquetAnalysis('abc', 1.0),  # type: ignore[arg-type]
        ],
        'tolerance': [lambda: right.is_stable('x')],  # type: ignore[arg-type]
        'xs': [lambda: stability_map(lambda x, y: right, ['a'], [1.0])],  # type: ignore[list-item]
        'family': [lambda: stability_map(lambda x, y: x, [1.0], [1.0])],  # type: ignore[arg-type, return-value]
    }
    for name, wrong in calls.items():
        for call in wrong:
            with pytest.raises(ArgumentTypeError, match=name):
                call()


@pytest.mark.parametrize(
    ('ratio', 'stable'),
    some_of([(1.7, True), (0.85, False), (3.0, True)], [(1.7, True), (0.85, False)]),
    ids=['held', 'falls', 'fast'],
)
def test_kapitzas_pendulum_grows_and_decays_by_its_largest_multiplier(
    ratio: float, stable: bool
) -> None:
    g_l, amplitude, c = 10.0, 0.1, 0.2  # g/l in 1/s^2, of the pivot over l, damping in 1/s
    drive = ratio * sqrt(2 * g_l) / amplitude  # ratio 1: Kapitza's bound for weak gravity
    period = 2 * pi / drive

    def lift(t: Any) -> Any:
        return g_l - amplitude * drive**2 * np.cos(drive * t)

    found = floquet_analysis((ONE, c * ONE, lambda t: [[-lift(t)]]), period)
    assert found.is_stable() == stable

    # Upright is angle 0. Decaying, it swings: the peaks of windows of several swings, far apart.
    count, lag, window = (1200, 800, 400) if stable else (50, 20, 1)
    start = 1e-3 if stable else 1e-9
    run = solve_ivp(
        lambda t, x: [x[1], lift(t) * sin(x[0]) - c * x[1]],
        (0, count * period),
        [start, 0.0],
        'DOP853',
        t_eval=period * np.arange(count),
        rtol=1e-8,
        atol=1e-8 * start,
    )
    size = np.abs(run.y[0])
    assert size.max() < 0.05
    late = size[-window:].max()
    rate = (late / size[-window - lag :][:window].max()) ** (1 / lag)
    assert (rate > 1) != stable
    assert rate == pytest.approx(found.spectral_radius, rel=0.01)
    # The rate itself is much smaller than 1: it too is right.
    assert np.log(rate) == pytest.approx(np.log(found.spectral_radius), rel=0.05)


@pytest.mark.parametrize(
    ('system', 'options', 'error', 'message'),
    [
        (lambda t: ONE, {'period': 0.0}, ParameterError, 'period is 0.0, expected a positive'),
        (lambda t: ONE, {'period': nan}, ParameterError, 'period is nan'),
        (lambda t: ONE, {'period': inf}, ParameterError, 'period is inf'),
        (lambda t: sin(t) * ONE, {'period': 3.0}, ParameterError, 'one period later differ'),
        (lambda t: ONE, {'tolerance': 0.0}, ParameterError, 'tolerance is 0.0'),
        (lambda t: ONE, {'max_steps': 1}, ParameterError, 'max_steps is 1, expected 32'),
        (lambda t: ONE, {'breaks': [nan]}, ParameterError, 'expected finite times'),
        (lambda t: ONE, {'start': inf}, ParameterError, 'start is inf'),
        (lambda t: 1.0, {}, ShapeError, r'A has shape \(\), expected \(m, m\)'),
        (lambda t: np.ones((2, 3)), {}, ShapeError, r'A has shape \(2, 3\)'),
        (lambda t: np.eye(1 + (t > 0.5)), {}, ShapeError, 'A has shapes .* expected one'),
        (lambda t: ONE, {'vectorized': True}, ShapeError, r'\(1, 1\), expected \(k, m, m\)'),
        (lambda t: [ONE], {'vectorized': True}, ShapeError, r'expected \(48, m, m\)'),
        (lambda t: nan * ONE, {}, NonFiniteError, 'A holds a NaN'),
        (lambda t: 1000 * ONE, {}, NonFiniteError, 'overflows'),
        ((ONE, ZERO), {}, ParameterError, r'expected a function A or a tuple \(M, D, K\)'),
        ((ONE, ZERO, np.eye(2)), {}, ShapeError, r'shapes \(1, 1\), \(1, 1\), \(2, 2\)'),
        ((ONE, [1.0], ONE), {}, ShapeError, r'D has shape \(1,\)'),
        ((ZERO, ZERO, ONE), {}, ModelError, 'M is singular'),
    ],
)
def test_systems_that_are_refused(system: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        monodromy_matrix(system, **{'period': 1.0, **options})


def test_analysis_of_a_matrix() -> None:
    given = np.diag([0.5, -2.0, 0.0])
    found = FloquetAnalysis(given, 2.0)
    given[0, 0] = 9.0
    np.testing.assert_array_equal(found.multipliers, [-2.0, 0.5, 0.0])
    assert found.multipliers.dtype == complex
    assert found.spectral_radius == 2.0
    np.testing.assert_allclose(found.exponents[:2], np.log([-2 + 0j, 0.5]) / 2)
    assert found.exponents[2].real == -inf
    assert found.stability_margin == pytest.approx(-np.log(2) / 2)
    assert FloquetAnalysis(ZERO, 1.0).stability_margin == inf
    # A free body drifts, and its multipliers are 1.
    assert floquet_analysis((ONE, ZERO, ZERO), 1.0).is_stable()
    with pytest.raises(ValueError, match='read-only'):
        found.monodromy[0, 0] = 1.0
    with pytest.raises(ShapeError, match='monodromy has shape'):
        FloquetAnalysis(np.ones(3), 1.0)
    with pytest.raises(NonFiniteError, match='monodromy'):
        FloquetAnalysis(nan * ONE, 1.0)
    with pytest.raises(ParameterError, match='period is -1'):
        FloquetAnalysis(ONE, -1.0)
