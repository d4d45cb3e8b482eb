# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mass and bending stiffness along the Euler-Bernoulli beam of a flexible link.

y and z of a section are the directions of the deflections v and w: the bending stiffness is
E int y^2 dA for v and E int z^2 dA for w.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from kron_dynamics.model.beam_shapes import DIMENSIONS, CrossSections, cross_sections
from kron_dynamics.model.entries import POSITIVE, Entries
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.typing import FloatArray

PLANES = ('v', 'w')
# Limit of stations along a beam; modes and integrals take time in proportion to them.
MOST_STATIONS = 1000


class BeamTable(NamedTuple):
    """Mass and stiffness along a beam, linear between its stations.

    Attributes:
        stations: distances from the root, shape (k,), m.
        mass_per_length: rho A, shape (k,), kg/m; None if it is left out.
        bending_stiffness: E I by plane, each of shape (k,), N m^2.
    """

    stations: FloatArray
    mass_per_length: FloatArray | None
    bending_stiffness: dict[str, FloatArray]


def beam_properties(link: Entries, stations: FloatArray, planes: Collection[str]) -> BeamTable:
    """Return mass per length and bending stiffness of a described beam.

    They are given as `mass_per_length` and `bending_stiffness`, or by `section` and `material`.
    Where the dimensions of a section vary, the table has more stations than the description.

    Args:
        link: entries of the link.
        stations: distances from the root at which lists are given, shape (k,), m.
        planes: the planes that need a stiffness, of 'v' and 'w'.

    Raises:
        ModelError: an entry is wrong, missing, or given both ways.
    """
    given, count = link.values, len(stations)
    if 'section' not in given:
        if 'material' in given:
            raise link.error('material', "needs 'section'")
        if 'bending_stiffness' not in given:
            raise link.error('bending_stiffness', "is missing: give it, or 'section', 'material'")
        mass = None
        if 'mass_per_length' in given:
            mass = link.spread('mass_per_length', count, POSITIVE)
        stiffness = _by_plane(link, 'bending_stiffness', count, planes)
        return BeamTable(stations, mass, stiffness)
    for key in ('bending_stiffness', 'mass_per_length'):
        if key in given:
            raise link.error(key, "is given beside 'section', expected one of the two")
    section, material = link.below('section'), link.below('material')
    material.allow('young', 'density')
    young = material.number('young', POSITIVE)
    with_area = 'density' in material.values
    with np.errstate(over='ignore', invalid='ignore'):
        found = _section(section, stations, planes, with_area)
        stiffness = {plane: read_only(young * found.moments[plane]) for plane in planes}
        mass = None
        if with_area:
            mass = read_only(material.number('density', POSITIVE) * found.area)
    for name, values in [('mass', mass), *(('stiffness', stiffness[plane]) for plane in planes)]:
        # With a very thin wall, outline minus hollow is lost to rounding.
        if values is not None and not ((values > 0) & np.isfinite(values)).all():
            raise link.error('section', f'gives a {name} that is {values.tolist()}')
    return BeamTable(read_only(found.stations), mass, stiffness)


def _by_plane(
    entries: Entries, key: str, count: int, planes: Collection[str]
) -> dict[str, FloatArray]:
    """Return checked values by plane, from a list for both planes or a mapping of planes."""
    if not isinstance(entries.get(key), Mapping):
        return dict.fromkeys(planes, entries.spread(key, count, POSITIVE))
    tables = entries.below(key)
    tables.allow(*PLANES)
    named = [plane for plane in PLANES if plane in planes or plane in tables.values]
    found = {plane: tables.spread(plane, count, POSITIVE) for plane in named}
    return {plane: found[plane] for plane in planes}


def _section(
    section: Entries, stations: FloatArray, planes: Collection[str], with_area: bool
) -> CrossSections:
    """Return the cross-sections of a described section, at the given stations or at more.

    The area may be missing if it is not needed; it is then 0.
    """
    count = len(stations)
    if 'shape' not in section.values:
        section.allow('shape', 'area', 'second_moment')
        needs_area = with_area or 'area' in section.values
        area = section.spread('area', count, POSITIVE) if needs_area else np.zeros(count)
        return CrossSections(stations, area, _by_plane(section, 'second_moment', count, planes))
    shape = section.values['shape']
    if not isinstance(shape, str) or shape not in DIMENSIONS:
        raise section.wrong('shape', f'one of {", ".join(DIMENSIONS)}')
    section.allow('shape', *DIMENSIONS[shape])
    sizes = {key: section.spread(key, count, POSITIVE) for key in DIMENSIONS[shape]}
    outline = [values for key, values in sizes.items() if key != 'wall']
    if 'wall' in sizes and not (2 * sizes['wall'] < np.minimum.reduce(outline)).all():
        raise section.wrong('wall', f'less than half of {" and ".join(DIMENSIONS[shape][:-1])}')
    return cross_sections(stations, sizes, MOST_STATIONS)
