# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tapered beams: Ritz's method against finite elements written here."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigvalsh

from kron_dynamics.exceptions import ModelError, ParameterError, ShapeError
from kron_dynamics.flexible import (
    Beam,
    BeamSection,
    CarriedBody,
    TrialFunctions,
    section_matrices,
    tapered_modes,
)

STATIONS = np.array([0.0, 0.5, 1.3])
KINKED = BeamSection(STATIONS, [20.0, 10.0, 4.0], [1.2, 0.8, 0.5])
WEDGE = BeamSection([0.0, 1.3], [20.0, 10.0], [1.2, 0.7])
ROOTS = ('clamped', 'pinned', 'guided')
TIPS = [(0.0, 0.0), (0.3, 0.0), (0.3, 0.02)]
HELD = {'clamped': [0, 1], 'pinned': [0], 'guided': [1]}  # degrees of freedom of the first node


def element_nodes(
    section: BeamSection, carried: Sequence[CarriedBody], elements: int
) -> np.ndarray:
    """Nodes at stations and bodies, and with 1.25 times the stiffness from one to the next."""
    EI, x = section.bending_stiffness, section.stations
    kept = [x, [body.x for body in carried]]
    for k, change in enumerate(np.diff(EI)):
        pieces = 1 + int(abs(np.log(EI[k + 1] / EI[k])) / np.log(1.25))
        between = np.geomspace(EI[k], EI[k + 1], pieces + 1)[1:-1]
        kept.append(x[k] + (x[k + 1] - x[k]) * (between - EI[k]) / (change or 1))
    nodes = np.linspace(0, section.length, elements + 1)
    apart = np.abs(nodes[:, None] - np.concatenate(kept)).min(axis=1) > 0.3 * nodes[1]
    return np.unique(np.concatenate([nodes[apart], *kept]))


def finite_element_frequencies(
    section: BeamSection,
    root: str = 'clamped',
    tip: tuple[float, float] = (0.0, 0.0),
    carried: Sequence[CarriedBody] = (),
    elements: int = 65,
) -> np.ndarray:
    """The lowest four by cubic elements with exact integrals."""
    nodes = element_nodes(section, carried, elements)
    # Short elements cost digits: have 19 of them.
    M, K = np.zeros((2, 2 * len(nodes), 2 * len(nodes)), dtype=np.longdouble)
    u, w = np.polynomial.legendre.leggauss(5)
    u, w = (1 + np.longdouble(u)) / 2, np.longdouble(w) / 2
    for k, (start, h) in enumerate(zip(nodes[:-1], np.diff(nodes), strict=True)):
        shape = np.array(
            [
                1 - 3 * u**2 + 2 * u**3,
                h * (u - 2 * u**2 + u**3),
                3 * u**2 - 2 * u**3,
                h * (u**3 - u**2),
            ]
        )
        bend = np.array([12 * u - 6, h * (6 * u - 4), 6 - 12 * u, h * (6 * u - 2)]) / h**2
        x = np.float64(start + h * u)
        rho = np.interp(x, section.stations, section.mass_per_length)
        EI = np.interp(x, section.stations, section.bending_stiffness)
        place = slice(2 * k, 2 * k + 4)
        M[place, place] += (shape * (h * w * rho)) @ shape.T
        K[place, place] += (bend * (h * w * EI)) @ bend.T
    for x, mass, first, inertia in (*carried, (section.length, tip[0], 0.0, tip[1])):
        node = 2 * int(np.abs(nodes - x).argmin())
        M[node : node + 2, node : node + 2] += [[mass, first], [first, inertia]]
    free = np.delete(np.arange(len(M)), HELD[root])
    M, K = M[np.ix_(free, free)], K[np.ix_(free, free)]
    # The largest eigenvalues 1/(omega^2 + 1) keep their digits; that of a rigid motion is first.
    rows, L = M.copy(), K + M
    for k in range(len(L)):
        near = slice(k + 1, k + 4)
        L[k] /= np.sqrt(L[k, k])
        rows[k] /= L[k, k]
        L[near] -= np.outer(L[k, near], L[k])
        rows[near] -= np.outer(L[k, near], rows[k])
    rows = np.ascontiguousarray(rows.T)
    for k in range(len(L)):
        near = slice(k + 1, k + 4)
        rows[k] /= L[k, k]
        rows[near] -= np.outer(L[k, near], rows[k])
    inverse = eigvalsh(np.float64(rows))[::-1][0 if root == 'clamped' else 1 :][:4]
    return np.sqrt(1 / inverse - 1)


def ritz(section: BeamSection, root: str, tip: tuple[float, float], trial: int | None) -> Any:
    return tapered_modes(
        section, 4, tip_mass=tip[0], tip_inertia=tip[1], root=root, trial_count=trial
    )


@pytest.mark.parametrize('root', ROOTS)
@pytest.mark.parametrize('tip', TIPS, ids=str)
def test_frequencies_converge_to_the_finite_elements(root: str, tip: tuple[float, float]) -> None:
    expected = finite_element_frequencies(KINKED, root, tip)
    errors = [
        np.abs(ritz(KINKED, root, tip, trial).natural_frequencies / expected - 1).max()
        for trial in (4, 6, 24)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 2e-6


@pytest.mark.parametrize('root', ROOTS)
def test_frequencies_of_a_smooth_taper(root: str) -> None:
    tip = (0.3, 0.02)
    expected = finite_element_frequencies(WEDGE, root, tip)
    actual = ritz(WEDGE, root, tip, None).natural_frequencies
    np.testing.assert_allclose(actual, expected, rtol=3e-6)


@pytest.mark.parametrize('root', ROOTS)
def test_frequencies_fall_as_trial_functions_are_added(root: str) -> None:
    """Rayleigh-Ritz: every estimate lies above the truth."""
    few, more = (ritz(KINKED, root, TIPS[2], trial).natural_frequencies for trial in (5, 10))
    assert (more < few).all()


# Beams of length 1 with jumps in stiffness and mass, as steep ramps, and with strong tapers.
HALF = [0.0, 0.5, 0.51, 1.0]
THIRDS = [0.0, 0.33, 0.34, 0.66, 0.67, 1.0]
UNEVEN = {
    'step 4:1': BeamSection(HALF, [1, 1, 0.25, 0.25], [1, 1, 0.5, 0.5]),
    'step 10:1': BeamSection(HALF, [1, 1, 0.1, 0.1], [1, 1, 0.3, 0.3]),
    'step 100:1': BeamSection(HALF, [1, 1, 0.01, 0.01], [1, 1, 0.1, 0.1]),
    'telescope': BeamSection(THIRDS, [1, 1, 0.4, 0.4, 0.12, 0.12], [1, 1, 0.7, 0.7, 0.4, 0.4]),
    'soft piece': BeamSection([0, 0.1, 0.11, 0.15, 0.16, 1], [1, 1, 0.01, 0.01, 1, 1], [1] * 6),
    'taper 30:1': BeamSection([0, 1], [1, 1 / 30], [1, 0.2]),
    'taper 1000:1': BeamSection([0, 1], [1, 0.001], [1, 0.05]),
    'growing 1:1000': BeamSection([0, 1], [0.001, 1], [0.1, 1]),
}


@pytest.mark.parametrize('loads', [(), (0.3, 0.98)], ids=str)
@pytest.mark.parametrize('name', UNEVEN)
def test_frequencies_of_uneven_beams(name: str, loads: tuple[float, ...]) -> None:
    """The curvature of a mode jumps where the stiffness does; that of finite elements can, too."""
    section, carried = UNEVEN[name], [CarriedBody(x, 1.0, 0.05, 0.01) for x in loads]
    expected = finite_element_frequencies(section, carried=carried, elements=40)[:3]
    few, found, many = (
        tapered_modes(section, 3, carried=carried, trial_count=size).natural_frequencies
        for size in (3, None, 30)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    # Ritz's values fall to the true ones.
    assert (few / found > 1 - 1e-10).all()
    np.testing.assert_allclose(found, many, rtol=1e-6)
    first = tapered_modes(section, 1, carried=carried).natural_frequencies
    np.testing.assert_allclose(first, many[:1], rtol=1e-6)


@pytest.mark.parametrize('name', ['step 100:1', 'uniform'])
@pytest.mark.parametrize('bodies', [2, 4])
@pytest.mark.parametrize('place', [0.5, 1.0])
def test_bodies_side_by_side_are_as_one(name: str, bodies: int, place: float) -> None:
    section = UNEVEN.get(name, BeamSection([0, 1], [1, 1], [1, 1]))
    one = tapered_modes(section, 3, carried=[CarriedBody(place, 2.0, 0.1, 0.03)])
    shares = np.array([2.0, 0.1, 0.03]) / bodies
    for apart in (1e-4, 1e-6, 1e-7, 1e-9, 1e-10, 1e-16):
        carried = [CarriedBody(place - k * apart, *shares) for k in range(bodies)]
        found = tapered_modes(section, 3, carried=carried).natural_frequencies
        error = 1e-9 + 10 * bodies * apart
        np.testing.assert_allclose(found, one.natural_frequencies, rtol=error)


@pytest.mark.parametrize('root', ROOTS)
@pytest.mark.parametrize('tip', TIPS, ids=str)
def test_a_table_of_equal_sections_is_the_uniform_beam(
    root: str, tip: tuple[float, float]
) -> None:
    section = BeamSection(STATIONS, [14.0] * 3, [0.9] * 3)
    uniform = Beam(1.3, 14.0, 0.9, *tip, root).modes(4)
    modes = ritz(section, root, tip, None)
    np.testing.assert_allclose(modes.natural_frequencies, uniform.natural_frequencies, rtol=1e-13)
    x = np.linspace(0, 1.3, 11)
    for order in range(4):
        actual, expected = modes.shapes(x, order), uniform.shapes(x, order)
        # Another normalisation: each row is a multiple of the other's.
        factors = np.sum(actual * expected, axis=1) / np.sum(expected**2, axis=1)
        scale = np.abs(actual).max(axis=1)[:, None]
        np.testing.assert_allclose(actual / scale, factors[:, None] * expected / scale, atol=1e-10)


@pytest.mark.parametrize('root', ROOTS)
def test_modes_have_unit_mass_and_point_up_at_the_tip(root: str) -> None:
    modes = ritz(KINKED, root, TIPS[2], None)
    M, K = section_matrices(KINKED, modes.trial)
    assert M.shape == K.shape == (modes.weights.shape[1],) * 2
    np.testing.assert_allclose(modes.weights @ M @ modes.weights.T, np.eye(4), atol=1e-12)
    squares = np.diag(modes.natural_frequencies**2)
    np.testing.assert_allclose(modes.weights @ K @ modes.weights.T, squares, atol=1e-6)
    assert (modes.shapes([1.3])[:, 0] > 0).all()


def test_the_table_is_linear_between_stations_and_read_only() -> None:
    x = [0.0, 0.25, 0.9, 1.3]
    np.testing.assert_allclose(KINKED.bending_stiffness_at(x), [20.0, 15.0, 7.0, 4.0])
    np.testing.assert_allclose(KINKED.mass_per_length_at(x), [1.2, 1.0, 0.65, 0.5])
    assert KINKED.length == 1.3
    with pytest.raises(ValueError, match='read-only'):
        KINKED.stations[0] = 1.0


@pytest.mark.parametrize(
    ('table', 'error', 'message'),
    [
        (([0.0], [1.0], [1.0]), ShapeError, r'stations has shape \(1,\), expected \(k,\)'),
        (([0.0, 1.0], [1.0], [1.0, 1.0]), ShapeError, r'bending_stiffness .* expected \(2,\)'),
        (([0.0, 1.0], [1.0, 1.0], [1.0]), ShapeError, r'mass_per_length .* expected \(2,\)'),
        (([0.0, 1.0], [1.0, 0.0], [1.0, 1.0]), ModelError, r'bending_stiffness is \[1.0, 0.0\]'),
        (([0.0, 1.0], [1.0, 1.0], [nan, 1.0]), ModelError, r'mass_per_length is \[nan, 1.0\]'),
        (([0.1, 1.0], [1.0, 1.0], [1.0, 1.0]), ModelError, 'expected 0 first, then increasing'),
        (([0.0, 1.0, 0.5], [1.0] * 3, [1.0] * 3), ModelError, r'stations is \[0.0, 1.0, 0.5\]'),
        (([0.0, nan], [1.0, 1.0], [1.0, 1.0]), ModelError, r'stations is \[0.0, nan\]'),
    ],
)
def test_impossible_tables_are_refused(table: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        BeamSection(*table)


def test_impossible_requests_are_refused() -> None:
    with pytest.raises(ParameterError, match='count is 0, expected a whole number'):
        tapered_modes(WEDGE, 0)
    with pytest.raises(ParameterError, match='trial_count is 3, expected 4 or more'):
        tapered_modes(WEDGE, 4, trial_count=3)
    with pytest.raises(ModelError, match="root is 'free'"):
        tapered_modes(WEDGE, 1, root='free')
    with pytest.raises(ParameterError, match='trial.length is 1.0, expected 1.3'):
        section_matrices(WEDGE, TrialFunctions(Beam(1.0, 1.0, 1.0).modes(2)))


@pytest.mark.parametrize('mass', [1e3, 1e5, 1e7])
def test_heavy_loads_make_no_noise(mass: float) -> None:
    """The first frequency tends to sqrt(3 EI/m l^3), the second to a beam's that is held there."""
    section = BeamSection(np.array([0.0, 1.0]), np.ones(2), np.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        carried = [CarriedBody(1.0, mass, 0.0, 0.0)]
        found = tapered_modes(section, 2, carried=carried).natural_frequencies
    np.testing.assert_allclose(found, [np.sqrt(3 / mass), 3.92660**2], rtol=1e-3)


def test_modes_that_rounding_hides_are_refused() -> None:
    section = BeamSection(np.array([0.0, 1.0]), np.ones(2), np.ones(2))
    with pytest.raises(ModelError, match='too heavy for 5 modes'):
        tapered_modes(section, 5, carried=[CarriedBody(1.0, 1e8, 0.0, 0.0)])
