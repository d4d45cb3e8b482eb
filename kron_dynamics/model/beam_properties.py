# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mass and bending stiffness along the Euler-Bernoulli beam of a flexible link.

y and z of a section are the directions of the deflections v and w: the bending stiffness is
E int y^2 dA for v and E int z^2 dA for w.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from kron_dynamics.model.entries import POSITIVE, Entries
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.reproducible import power
from kron_dynamics.typing import FloatArray

PLANES = ('v', 'w')
_DIMENSIONS = {
    'rectangle': ('width', 'height'),
    'box': ('width', 'height', 'wall'),
    'circle': ('diameter',),
    'tube': ('diameter', 'wall'),
}


def beam_properties(
    link: Entries, count: int, planes: Collection[str]
) -> tuple[FloatArray | None, dict[str, FloatArray]]:
    """Return mass per length and bending stiffness of a described beam at its stations.

    They are given as `mass_per_length` and `bending_stiffness`, or by `section` and `material`.

    Args:
        link: entries of the link.
        count: number of stations.
        planes: the planes that need a stiffness, of 'v' and 'w'.

    Returns:
        rho A, shape (count,), kg/m, or None if it is left out; E I by plane, each of shape
        (count,), N m^2.

    Raises:
        ModelError: an entry is wrong, missing, or given both ways.
    """
    given = link.values
    if 'section' not in given:
        if 'material' in given:
            raise link.error('material', "needs 'section'")
        if 'bending_stiffness' not in given:
            raise link.error('bending_stiffness', "is missing: give it, or 'section', 'material'")
        mass = None
        if 'mass_per_length' in given:
            mass = link.spread('mass_per_length', count, POSITIVE)
        return mass, _by_plane(link, 'bending_stiffness', count, planes)
    for key in ('bending_stiffness', 'mass_per_length'):
        if key in given:
            raise link.error(key, "is given beside 'section', expected one of the two")
    section, material = link.below('section'), link.below('material')
    material.allow('young', 'density')
    young = material.number('young', POSITIVE)
    with_area = 'density' in material.values
    with np.errstate(over='ignore', invalid='ignore'):
        area, moments = _section(section, count, planes, with_area)
        stiffness = {plane: read_only(young * moments[plane]) for plane in planes}
        mass = read_only(material.number('density', POSITIVE) * area) if with_area else None
    for name, values in [('mass', mass), *(('stiffness', stiffness[plane]) for plane in planes)]:
        # With a very thin wall, outline minus hollow is lost to rounding.
        if values is not None and not ((values > 0) & np.isfinite(values)).all():
            raise link.error('section', f'gives a {name} that is {values.tolist()}')
    return mass, stiffness


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
    section: Entries, count: int, planes: Collection[str], with_area: bool
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return the area, m^2, and the second moments of area by plane, m^4.

    The area may be missing if it is not needed; it is then 0.
    """
    if 'shape' not in section.values:
        section.allow('shape', 'area', 'second_moment')
        needs_area = with_area or 'area' in section.values
        area = section.spread('area', count, POSITIVE) if needs_area else np.zeros(count)
        return area, _by_plane(section, 'second_moment', count, planes)
    shape = section.values['shape']
    if not isinstance(shape, str) or shape not in _DIMENSIONS:
        raise section.wrong('shape', f'one of {", ".join(_DIMENSIONS)}')
    section.allow('shape', *_DIMENSIONS[shape])
    size = {key: section.spread(key, count, POSITIVE) for key in _DIMENSIONS[shape]}
    outline = [values for key, values in size.items() if key != 'wall']
    solid = _disc if 'diameter' in size else _rectangle
    area, *moments = solid(*outline)
    if 'wall' in size:
        if not (2 * size['wall'] < np.minimum.reduce(outline)).all():
            raise section.wrong(
                'wall', f'less than half of {" and ".join(_DIMENSIONS[shape][:-1])}'
            )
        inner_area, *inner_moments = solid(*(edge - 2 * size['wall'] for edge in outline))
        area = area - inner_area
        moments = [outer - inner for outer, inner in zip(moments, inner_moments, strict=True)]
    return area, dict(zip(PLANES, moments, strict=True))


def _rectangle(width: FloatArray, height: FloatArray) -> list[FloatArray]:
    """Return area, int y^2 dA and int z^2 dA; the width is along y, the height along z."""
    return [width * height, power(width, 3) * height / 12, width * power(height, 3) / 12]


def _disc(diameter: FloatArray) -> list[FloatArray]:
    """Return area, int y^2 dA and int z^2 dA."""
    moment = np.pi * power(diameter, 4) / 64
    return [np.pi * diameter**2 / 4, moment, moment]
