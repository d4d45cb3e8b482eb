# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mass and stiffness of a described beam, against sums over small squares of its section."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kron_dynamics import ModelError
from kron_dynamics.model.beam_properties import beam_properties
from kron_dynamics.model.entries import Entries
from kron_dynamics.model.flexible_description import read_flexible

YOUNG, DENSITY = 2.1e11, 7850.0
MATERIAL = {'young': YOUNG, 'density': DENSITY}
Inside = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.bool_]]
SHAPES: dict[str, tuple[dict[str, Any], Inside]] = {
    'rectangle': (
        {'width': 0.4, 'height': 0.3},
        lambda y, z: (abs(y) < 0.2) & (abs(z) < 0.15),
    ),
    'box': (
        {'width': 0.4, 'height': 0.3, 'wall': 0.05},
        lambda y, z: (abs(y) < 0.2) & (abs(z) < 0.15) & ~((abs(y) < 0.15) & (abs(z) < 0.1)),
    ),
    'circle': ({'diameter': 0.4}, lambda y, z: np.hypot(y, z) < 0.2),
    'tube': (
        {'diameter': 0.4, 'wall': 0.05},
        lambda y, z: (np.hypot(y, z) < 0.2) & (np.hypot(y, z) > 0.15),
    ),
}


def properties(
    entries: Mapping[str, object], count: int = 2, planes: str = 'vw'
) -> tuple[Any, dict[str, Any]]:
    stations = np.linspace(0.0, 1.0, count)
    return beam_properties(Entries('f.yaml: link x', '', entries), stations, list(planes))[1:]


@pytest.mark.parametrize('shape', SHAPES)
def test_section_against_a_sum_over_its_area(shape: str) -> None:
    sizes, inside = SHAPES[shape]
    edge = 0.4 / 1600
    middles = -0.2 + edge * (np.arange(1600) + 0.5)
    y, z = np.meshgrid(middles, middles)
    y, z = y[inside(y, z)], z[inside(y, z)]

    mass, stiffness = properties({'section': {'shape': shape, **sizes}, 'material': MATERIAL})

    np.testing.assert_allclose(mass, DENSITY * edge**2 * len(y), rtol=1e-3)
    # A deflection v, along y, strains the fibres away from the z axis.
    np.testing.assert_allclose(stiffness['v'], YOUNG * edge**2 * (y**2).sum(), rtol=1e-3)
    np.testing.assert_allclose(stiffness['w'], YOUNG * edge**2 * (z**2).sum(), rtol=1e-3)


def test_flat_bar_is_softer_across_its_flat_side() -> None:
    section = {'shape': 'rectangle', 'width': 0.1, 'height': 0.01}
    _, stiffness = properties({'section': section, 'material': MATERIAL})
    np.testing.assert_allclose(stiffness['v'] / stiffness['w'], 100)


def test_section_in_numbers() -> None:
    section = {'area': 0.01, 'second_moment': {'v': 2e-5, 'w': 3e-5}}
    mass, stiffness = properties({'section': section, 'material': MATERIAL})
    np.testing.assert_allclose(mass, [78.5, 78.5])
    np.testing.assert_allclose(stiffness['v'], [4.2e6, 4.2e6])
    np.testing.assert_allclose(stiffness['w'], [6.3e6, 6.3e6])


TAPERS: dict[str, dict[str, Any]] = {
    'rectangle': {'width': [0.4, 0.4, 0.1], 'height': [0.3, 0.2, 0.25]},
    'box': {'width': 0.3, 'height': [0.5, 0.2, 0.2], 'wall': [0.01, 0.02, 0.01]},
    'circle': {'diameter': [0.4, 0.2, 0.02]},
    'tube': {'diameter': [0.1, 0.4, 0.1], 'wall': 0.01},
}


@pytest.mark.parametrize('shape', TAPERS)
def test_dimensions_are_linear_between_stations(shape: str) -> None:
    given = [0.0, 1.0, 4.0]
    link = {
        'length': 4.0,
        'stations': given,
        'section': {'shape': shape, **TAPERS[shape]},
        'material': MATERIAL,
        'modes': {'v': 1, 'w': 1},
    }
    (beam,) = read_flexible({'flexible_links': {'boom': link}})
    for x in np.random.default_rng(3).uniform(0.0, 4.0, 20):
        here = {
            key: float(np.interp(x, given, np.broadcast_to(value, 3)))
            for key, value in TAPERS[shape].items()
        }
        mass, stiffness = properties({'section': {'shape': shape, **here}, 'material': MATERIAL})
        assert beam.mass_per_length is not None
        found = np.interp(x, beam.stations, beam.mass_per_length)
        np.testing.assert_allclose(found, mass[0], rtol=4e-4)
        for plane in 'vw':
            found = np.interp(x, beam.stations, beam.bending_stiffness[plane])
            np.testing.assert_allclose(found, stiffness[plane][0], rtol=4e-4)


def test_a_step_needs_no_further_stations() -> None:
    section = {'shape': 'circle', 'diameter': [0.4, 0.4, 0.1, 0.1]}
    link = {'length': 4, 'stations': [0, 1, 1.001, 4], 'section': section, 'material': MATERIAL}
    (beam,) = read_flexible({'flexible_links': {'boom': {**link, 'modes': {'v': 1}}}})
    assert beam.stations.tolist() == [0, 1, 1.001, 4]


def test_a_rough_outline_stays_within_the_limit_of_stations() -> None:
    x = np.linspace(0.0, 4.0, 800)
    section = {'shape': 'circle', 'diameter': list(0.2 + 0.1 * (-1.0) ** np.arange(800))}
    link = {'length': 4, 'stations': list(x), 'section': section, 'material': MATERIAL}
    (beam,) = read_flexible({'flexible_links': {'boom': {**link, 'modes': {'v': 1}}}})
    assert 800 < len(beam.stations) <= 1000
    assert set(x) <= set(beam.stations)
    assert np.diff(beam.stations).min() > 0


@pytest.mark.parametrize(
    'section', [{'shape': 'circle', 'diameter': 0.1}, {'second_moment': {'w': 1e-5}}]
)
def test_without_density_the_mass_is_left_to_the_urdf(section: dict[str, object]) -> None:
    mass, stiffness = properties({'section': section, 'material': {'young': 1.0}}, planes='w')
    assert mass is None
    assert list(stiffness) == ['w']


def test_given_directly() -> None:
    mass, stiffness = properties({'mass_per_length': [2, 1], 'bending_stiffness': 5.0})
    assert mass.tolist() == [2, 1]
    assert {plane: table.tolist() for plane, table in stiffness.items()} == {
        'v': [5, 5],
        'w': [5, 5],
    }
    mass, stiffness = properties({'bending_stiffness': {'v': 1, 'w': [3, 4]}}, planes='w')
    assert mass is None
    assert {plane: table.tolist() for plane, table in stiffness.items()} == {'w': [3, 4]}


BOX = {'shape': 'box', 'width': 0.4, 'height': 0.3, 'wall': 0.05}


@pytest.mark.parametrize(
    ('entries', 'words'),
    [
        ({}, "'bending_stiffness' is missing: give it, or 'section', 'material'"),
        ({'material': MATERIAL}, "'material' needs 'section'"),
        ({'section': BOX}, "'material' is missing"),
        ({'section': BOX, 'material': {}}, "'material.young' is missing"),
        ({'section': BOX, 'material': {'youngs': 1}}, "did you mean 'young'"),
        ({'section': BOX, 'material': {'young': 0}}, "'material.young' is 0"),
        ({'section': BOX, 'material': {'young': 1, 'density': -1}}, "'material.density' is -1"),
        ({'section': 3, 'material': MATERIAL}, "'section' is 3, expected a mapping"),
        (
            {'section': BOX, 'bending_stiffness': 1},
            "'bending_stiffness' is given beside",
        ),
        ({'section': BOX, 'mass_per_length': 1}, "'mass_per_length' is given beside"),
        ({'bending_stiffness': {'v': 1}}, "'bending_stiffness.w' is missing"),
        ({'bending_stiffness': {'v': 1, 'w': 1, 'u': 1}}, "'bending_stiffness.u' is unknown"),
        ({'bending_stiffness': {'v': 1, 'w': 0}}, "'bending_stiffness.w' is 0"),
        (
            {'bending_stiffness': [1, 2, 3]},
            "'bending_stiffness' is [1, 2, 3], expected a list",
        ),
        ({'bending_stiffness': True}, "'bending_stiffness' is True"),
        ({'bending_stiffness': 1, 'mass_per_length': 0}, "'mass_per_length' is 0"),
    ],
)
def test_refused(entries: dict[str, object], words: str) -> None:
    with pytest.raises(ModelError) as caught:
        properties(entries)
    assert str(caught.value).startswith('f.yaml: link x: key ')
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ('section', 'words'),
    [
        ({'shape': 'triangle'}, "'section.shape' is 'triangle', expected one of rectangle, box"),
        ({'shape': ['box']}, "'section.shape' is ['box'], expected one of"),
        ({**BOX, 'diameter': 1}, "'section.diameter' is unknown, allowed: shape, width"),
        ({'shape': 'box', 'width': 1, 'height': 1}, "'section.wall' is missing"),
        ({'shape': 'tube', 'wall': 1}, "'section.diameter' is missing"),
        ({**BOX, 'wall': 0.15}, "'section.wall' is 0.15, expected less than half of width and h"),
        ({'shape': 'tube', 'diameter': [1, 0.2], 'wall': 0.1}, "'section.wall' is 0.1, expected"),
        ({**BOX, 'width': -0.4}, "'section.width' is -0.4"),
        ({**BOX, 'wall': 1e-30}, "'section' gives a mass that is [0.0, 0.0]"),
        ({'shape': 'circle', 'diameter': 1e200}, "'section' gives a mass that is [inf, inf]"),
        ({'second_moment': 1}, "'section.area' is missing"),
        ({'area': 1}, "'section.second_moment' is missing"),
        ({'area': 1, 'second_moment': {'v': 1}}, "'section.second_moment.w' is missing"),
        ({'area': 1, 'second_moment': 1, 'width': 3}, "'section.width' is unknown"),
    ],
)
def test_refused_section(section: dict[str, object], words: str) -> None:
    with pytest.raises(ModelError) as caught:
        properties({'section': section, 'material': MATERIAL})
    assert words in str(caught.value)


def test_an_area_that_cannot_be_is_refused_also_where_no_mass_needs_it() -> None:
    section = {'area': -0.01, 'second_moment': 1e-5}
    with pytest.raises(ModelError, match="'section.area' is -0.01"):
        properties({'section': section, 'material': {'young': YOUNG}})
