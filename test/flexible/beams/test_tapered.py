# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tapered beams: Ritz's method against finite elements written here."""

from __future__ import annotations

import warnings
from math import nan
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

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


def finite_element_frequencies(
    section: BeamSection, root: str, tip: tuple[float, float], elements: int = 65
) -> np.ndarray:
    """Cubic elements with exact integrals; 65 of them have a node at each station."""
    nodes = np.linspace(0, section.length, elements + 1)
    h = nodes[1]
    M, K = np.zeros((2, 2 * elements + 2, 2 * elements + 2))
    u, w = np.polynomial.legendre.leggauss(5)
    u, w = (1 + u) / 2, w / 2
    shape = np.array(
        [
            1 - 3 * u**2 + 2 * u**3,
            h * (u - 2 * u**2 + u**3),
            3 * u**2 - 2 * u**3,
            h * (u**3 - u**2),
        ]
    )
    bend = np.array([12 * u - 6, h * (6 * u - 4), 6 - 12 * u, h * (6 * u - 2)]) / h**2
    for k, start in enumerate(nodes[:-1]):
        x = start + h * u
        rho = np.interp(x, section.stations, section.mass_per_length)
        EI = np.interp(x, section.stations, section.bending_stiffness)
        place = slice(2 * k, 2 * k + 4)
        M[place, place] += (shape * (h * w * rho)) @ shape.T
        K[place, place] += (bend * (h * w * EI)) @ bend.T
    M[-2, -2] += tip[0]
    M[-1, -1] += tip[1]
    free = np.delete(np.arange(len(M)), HELD[root])
    lowest = 0 if root == 'clamped' else 1  # after the rigid motion
    squares = eigh(
        K[np.ix_(free, free)],
        M[np.ix_(free, free)],
        eigvals_only=True,
        subset_by_index=[lowest, lowest + 3],
    )
    return np.sqrt(squares)


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
        for trial in (6, 12, 24, 48)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[3] < 4e-6


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
