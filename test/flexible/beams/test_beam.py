# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes of uniform beams: frequency equation, shapes, integrals, each against another route."""

from __future__ import annotations

from math import cos, cosh, inf, nan, sin, sinh
from typing import Any

import mpmath
import numpy as np
import pytest

from kron_dynamics.exceptions import ModelError, NonFiniteError, ParameterError, ShapeError
from kron_dynamics.flexible import Beam, beam_integrals, beam_quadrature
from kron_dynamics.flexible.beams.frequency import frequency_parameters

LENGTH, STIFFNESS, MASS = 1.3, 14.0, 0.9
ROOTS = ('clamped', 'pinned', 'guided')
# Mass and inertia of the tip over those of the beam.
TIPS = [(0.0, 0.0), (0.385, 0.0), (0.385, 0.0152), (0.0, 0.2), (50.0, 30.0)]
everywhere = pytest.mark.parametrize('root', ROOTS)
with_tips = pytest.mark.parametrize('tip', TIPS, ids=str)
N_MODES = 20


def beam(root: str = 'clamped', tip: tuple[float, float] = (0.0, 0.0)) -> Beam:
    mass, inertia = tip[0] * MASS * LENGTH, tip[1] * MASS * LENGTH**3
    return Beam(LENGTH, STIFFNESS, MASS, mass, inertia, root)


def boundary_determinant(root: str, alpha: float, gamma: float) -> Any:
    """The 4 x 4 determinant of the boundary conditions in cosh, sinh, cos, sin, in 80 digits."""
    rows = {'clamped': (0, 1), 'pinned': (0, 2), 'guided': (1, 3)}[root]

    def derivatives(b: Any, order: int) -> list[Any]:
        """Of the four functions at the tip, over beta^order."""
        hyperbolic = [mpmath.cosh(b), mpmath.sinh(b)]
        turn = order * mpmath.pi / 2
        return hyperbolic[:: 1 if order % 2 == 0 else -1] + [
            mpmath.cos(b + turn),
            mpmath.sin(b + turn),
        ]

    def determinant(b: Any) -> Any:
        X, X1, X2, X3 = (derivatives(b, order) for order in range(4))
        tip = [
            [x3 + alpha * b * x for x, x3 in zip(X, X3, strict=True)],
            [x2 - gamma * b**3 * x1 for x1, x2 in zip(X1, X2, strict=True)],
        ]
        zero = mpmath.mpf(0)
        return mpmath.det(mpmath.matrix([derivatives(zero, order) for order in rows] + tip))

    return determinant


@everywhere
@with_tips
def test_roots_are_exact(root: str, tip: tuple[float, float]) -> None:
    roots = frequency_parameters(N_MODES, *tip, root)
    assert roots.shape == (N_MODES,)
    assert (np.diff(roots) > 0.3).all()
    with mpmath.workdps(80):
        determinant = boundary_determinant(root, *tip)
        for beta_l in roots[[0, 1, 2, 5, 11, 19]]:
            exact = mpmath.findroot(determinant, (beta_l, beta_l * (1 + 1e-9)), tol=1e-90)
            assert abs(beta_l - float(exact)) < 2e-14 * beta_l


@everywhere
@pytest.mark.parametrize('tip', [*TIPS, (1e6, 1e6), (1e6, 0.0), (1e-6, 1e3)], ids=str)
def test_no_root_is_missed(root: str, tip: tuple[float, float]) -> None:
    """Rayleigh: a body at the tip lowers every root, and each of its two at most by one place."""
    free = frequency_parameters(N_MODES, 0.0, 0.0, root)
    loaded = frequency_parameters(N_MODES, *tip, root)
    assert len(loaded) == N_MODES
    assert (loaded <= free * (1 + 1e-12)).all()
    assert (loaded[2:] >= free[:-2] * (1 - 1e-12)).all()


def test_first_roots_are_the_tabulated_ones() -> None:
    tables = {
        'clamped': [1.8751040687119611, 4.694091132974175, 7.854757438237613],
        'pinned': [3.9266023120479185, 7.0685827456287321, 10.210176122813031],
        'guided': [2.3650203724313521, 5.4978039190008361, 8.6393798286997411],
    }
    for root, expected in tables.items():
        np.testing.assert_allclose(beam(root).modes(3).beta_l, expected, rtol=1e-15)


@pytest.mark.parametrize('tip', [(1e308, 0.0), (0.0, 1e308), (1e200, 1e200)])
def test_a_tip_too_heavy_for_numbers_is_refused(tip: tuple[float, float]) -> None:
    for root in ('clamped', 'pinned', 'guided'):
        with pytest.raises(ParameterError, match='tip is too heavy for the beam'):
            frequency_parameters(2, *tip, root)


def test_natural_frequencies_of_a_light_beam_are_those_of_its_spring() -> None:
    tip = Beam(LENGTH, STIFFNESS, 1e-6, tip_mass=2.0).modes(1).natural_frequencies
    assert tip == pytest.approx([np.sqrt(3 * STIFFNESS / (2.0 * LENGTH**3))], rel=1e-6)


@pytest.mark.parametrize('tip', TIPS, ids=str)
def test_shapes_of_low_modes_are_khangs(tip: tuple[float, float]) -> None:
    modes = beam('clamped', tip).modes(4)
    x = np.linspace(0, LENGTH, 7)
    for mode in range(4):
        b, sigma = modes.beta_l[mode] / LENGTH, modes.sigma[mode]
        expected = [cosh(b * v) - cos(b * v) - sigma * (sinh(b * v) - sin(b * v)) for v in x]
        np.testing.assert_allclose(modes.shapes(x)[mode], expected, atol=2e-11)


@pytest.mark.parametrize(
    ('root', 'hyperbolic', 'circular'), [('pinned', np.sinh, np.sin), ('guided', np.cosh, np.cos)]
)
def test_shapes_of_the_other_roots(root: str, hyperbolic: Any, circular: Any) -> None:
    modes = beam(root, TIPS[2]).modes(3)
    x = np.linspace(0, LENGTH, 7)
    z = np.outer(modes.beta_l / LENGTH, x)
    expected = circular(z) + modes.sigma[:, None] * hyperbolic(z)
    np.testing.assert_allclose(modes.shapes(x), expected, atol=1e-12)


@everywhere
@with_tips
def test_shapes_are_exact_along_the_whole_beam(root: str, tip: tuple[float, float]) -> None:
    """Modes 1, 12 and 20 with their derivatives, against 80 digits."""
    modes = beam(root, tip).modes(N_MODES)
    x = np.linspace(0, LENGTH, 9)
    with mpmath.workdps(80):
        determinant = boundary_determinant(root, *tip)
        for mode in (0, 11, 19):
            start = modes.beta_l[mode]
            b = mpmath.findroot(determinant, (start, start * (1 + 1e-9)), tol=1e-90)
            shape = exact_shape(root, tip[0], b)
            for order in range(4):
                exact = [float(shape(b * v / LENGTH, order)) for v in map(mpmath.mpf, x)]
                actual = modes.shapes(x, order)[mode] * (LENGTH / start) ** order
                np.testing.assert_allclose(actual, exact, rtol=0, atol=5e-13)


def exact_shape(root: str, alpha: float, b: Any) -> Any:
    """The shape and its derivatives over beta^order, as a function of beta x."""
    c, s, ch, sh = mpmath.cos(b), mpmath.sin(b), mpmath.cosh(b), mpmath.sinh(b)
    a = alpha * b
    if root == 'clamped':
        sigma = (sh - s + a * (ch - c)) / (ch + c + a * (sh - s))
        factors = (1, -sigma, -1, sigma)
    elif root == 'pinned':
        factors = (0, (c - a * s) / (ch + a * sh), 0, 1)
    else:
        factors = (-(s + a * c) / (sh + a * ch), 0, 1, 0)

    def shape(z: Any, order: int) -> Any:
        hyperbolic = [mpmath.cosh(z), mpmath.sinh(z)][:: 1 if order % 2 == 0 else -1]
        turn = order * mpmath.pi / 2
        values = [*hyperbolic, mpmath.cos(z + turn), mpmath.sin(z + turn)]
        return sum(f * v for f, v in zip(factors, values, strict=True))

    return shape


@everywhere
@with_tips
def test_boundary_conditions_hold(root: str, tip: tuple[float, float]) -> None:
    modes = beam(root, tip).modes(N_MODES)
    beta = modes.beta_l / LENGTH
    at = [modes.shapes([0.0, LENGTH], k) / beta[:, None] ** k for k in range(4)]
    for order in {'clamped': (0, 1), 'pinned': (0, 2), 'guided': (1, 3)}[root]:
        np.testing.assert_allclose(at[order][:, 0], 0, atol=1e-13)
    X, X1, X2, X3 = (values[:, 1] for values in at)
    a, g = tip[0] * modes.beta_l, tip[1] * modes.beta_l**3
    np.testing.assert_allclose((X3 + a * X) / (1 + a), 0, atol=1e-13)
    np.testing.assert_allclose((X2 - g * X1) / (1 + g), 0, atol=1e-12)


def test_closed_forms_of_the_integrals() -> None:
    """Of a clamped-free beam, all 20 modes."""
    modes = beam().modes(N_MODES)
    of, beta = beam_integrals(modes), modes.beta_l / LENGTH
    np.testing.assert_allclose(of.m, LENGTH * np.eye(N_MODES), atol=1e-13)
    scale = np.outer(beta**2, beta**2)
    np.testing.assert_allclose(of.k / scale, LENGTH * np.eye(N_MODES), atol=1e-13)
    np.testing.assert_allclose(of.D, 2 / beta**2, atol=1e-13)
    np.testing.assert_allclose(of.C, 2 * modes.sigma / beta, atol=1e-13)
    signs = (-1.0) ** np.arange(N_MODES)
    np.testing.assert_allclose(of.tip_deflection, 2 * signs, rtol=1e-13)
    np.testing.assert_allclose(of.tip_slope, 2 * signs * beta * modes.sigma, rtol=1e-13)
    assert of.S[0, 0] / of.m[0, 0] == pytest.approx(1.1933363741, abs=1e-10)


@everywhere
@with_tips
def test_modes_are_orthogonal_with_their_tip(root: str, tip: tuple[float, float]) -> None:
    """In mass and in stiffness, and their quotient is the frequency: an energy balance."""
    body = beam(root, tip)
    modes = body.modes(N_MODES)
    of = beam_integrals(modes)
    M = MASS * of.m + body.tip_mass * np.outer(of.tip_deflection, of.tip_deflection)
    M += body.tip_inertia * np.outer(of.tip_slope, of.tip_slope)
    K = STIFFNESS * of.k
    for A in (M, K):
        unit = np.sqrt(np.diag(A))
        np.testing.assert_allclose(A / np.outer(unit, unit), np.eye(N_MODES), atol=1e-11)
    square = np.diag(K) / np.diag(M)
    np.testing.assert_allclose(np.sqrt(square), modes.natural_frequencies, rtol=1e-12)


@everywhere
def test_quadrature_is_exact_to_rounding(root: str) -> None:
    """Four times as many points change nothing."""
    modes = beam(root, TIPS[2]).modes(N_MODES)
    of = beam_integrals(modes)
    x, w = beam_quadrature(np.linspace(0, LENGTH, 5), 4 * N_MODES)
    X, X1 = modes.shapes(x), modes.shapes(x, 1)
    assert len(x) > 3 * (24 + 4 * N_MODES)
    for actual, A, weight in (
        (of.m, X, w),
        (of.N, X1, w),
        (of.T, X1, w * (LENGTH - x)),
        (of.S, X1, w * (LENGTH**2 - x**2) / 2),
    ):
        expected = (A * weight) @ A.T
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    np.testing.assert_allclose(of.D, X @ (w * x), atol=1e-14)
    np.testing.assert_allclose(of.C, X @ w, atol=1e-14)


@pytest.mark.parametrize('name', ['length', 'bending_stiffness', 'mass_per_length'])
@pytest.mark.parametrize('value', [0.0, -1.0, inf, nan])
def test_impossible_beams_are_refused(name: str, value: float) -> None:
    given = {'length': 1.0, 'bending_stiffness': 1.0, 'mass_per_length': 1.0, name: value}
    with pytest.raises(ModelError, match=f'{name} is {value}, expected a positive number'):
        Beam(**given)


def test_impossible_tips_roots_and_requests_are_refused() -> None:
    with pytest.raises(ModelError, match='tip_mass is -1.0, expected 0 or a positive'):
        Beam(1.0, 1.0, 1.0, -1.0)
    with pytest.raises(ModelError, match='tip_inertia is nan'):
        Beam(1.0, 1.0, 1.0, 0.0, nan)
    with pytest.raises(ModelError, match="root is 'free', expected one of 'clamped', 'pinned'"):
        Beam(1.0, 1.0, 1.0, root='free')
    for count in (0, 1.5):
        with pytest.raises(ParameterError, match=f'count is {count}, expected a whole number'):
            beam().modes(count)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match='order is 4, expected 0, 1, 2 or 3'):
        beam().modes(1).shapes([0.0], 4)
    with pytest.raises(ShapeError, match=r'x has shape \(\), expected \(k,\)'):
        beam().modes(1).shapes(0.0)
    with pytest.raises(ModelError, match='x reaches from 0.0 to 1.4, expected 0 to 1.3'):
        beam().modes(1).shapes([0.0, 1.4])
    with pytest.raises(NonFiniteError, match='x holds a NaN'):
        beam().modes(1).shapes([nan])
    with pytest.raises(ParameterError, match='stations has length 1'):
        beam_quadrature([0.0], 1)
