# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Description of flexible links, a YAML file beside the URDF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import named, shown
from kron_dynamics.model.beam_properties import MOST_STATIONS, PLANES, beam_properties
from kron_dynamics.model.entries import Entries, FileContent, Kind, read_description
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.reproducible import inner, norm
from kron_dynamics.typing import FloatArray

_MODE_SHAPES = ('loaded', 'clamped_free')
_DAMPINGS = ('modal', 'stiffness_proportional')
_TITLE, _CONTENT = 'flexible description', 'flexible_links'
_KEYS = (
    'length',
    'axis',
    'lateral',
    'origin',
    'stations',
    'mass_per_length',
    'bending_stiffness',
    'section',
    'material',
    'modes',
    'damping_ratio',
    'damping',
    'mode_shapes',
    'attachments',
    'geometric_stiffness',
)
# Directions whose perpendicular component is below this share of their length count as parallel.
_ALONG = 1e-6
# Allowed lengths of a beam, m: others are probably in a wrong unit, and their powers may overflow.
_LENGTH = Kind('number from 1e-6 to 1e6', lambda value: 1e-6 <= value <= 1e6)
# Limit of modes per plane: far more than a beam model is valid for; bounds the computing time.
MOST_MODES = 20
_DAMPING = Kind('number from 0 to less than 1', lambda value: 0 <= value < 1)


@dataclass(frozen=True, slots=True, eq=False)
class FlexibleLinkDescription:
    """A flexible link, modelled as a beam that is clamped at its root in the link's frame.

    Its axes are x along the beam, y = lateral and z = x cross y; it deflects by v along y and by
    w along z. Plane 'v' is the plane of v, plane 'w' the plane of w.

    Attributes:
        link: name in the URDF.
        length: length of the beam, m.
        axis: direction of the beam from its root, unit vector, shape (3,), link axes.
        lateral: direction of v, unit vector orthogonal to the axis, shape (3,), link axes.
        origin: root of the beam, shape (3,), link frame, m.
        stations: distances from the root of the values of mass and stiffness, from 0 to the
            length, with linear interpolation between, shape (k,) with k >= 2, m; those of the
            file, and more where the dimensions of a section vary.
        mass_per_length: at the stations, shape (k,), kg/m; None distributes the mass of the
            URDF's link uniformly.
        bending_stiffness: E I at the stations by plane, each of shape (k,), N m^2.
        modes: number of modes by plane, 'v' before 'w'; planes without modes are left out.
        damping_ratio: damping ratios of the modes by plane, each of shape (modes,); only of the
            first mode, shape (1,), if damping is proportional to stiffness.
        damping: 'modal', each mode has its own ratio, or 'stiffness_proportional', ratios grow in
            proportion to the frequency from the ratio of the plane's first mode.
        mode_shapes: 'loaded', modes of the beam with the links that it carries at the zero pose,
            or 'clamped_free', modes of the beam alone.
        attachments: distance from the root, m, at which a child link is mounted on the beam, by
            the child's name, if it differs from the position of the child's joint.
        geometric_stiffness: whether bending shortens the link, so that axial forces change its
            stiffness.
    """

    link: str
    length: float
    axis: FloatArray
    lateral: FloatArray
    origin: FloatArray
    stations: FloatArray
    mass_per_length: FloatArray | None
    bending_stiffness: Mapping[str, FloatArray]
    modes: Mapping[str, int]
    damping_ratio: Mapping[str, FloatArray]
    damping: str
    mode_shapes: str
    attachments: Mapping[str, float]
    geometric_stiffness: bool


def read_flexible(
    source: str | Path | Mapping[str, object],
) -> tuple[FlexibleLinkDescription, ...]:
    """Return the flexible links of a description, in its order.

    Args:
        source: path of a YAML file, or the mapping that such a file would hold.

    Raises:
        ModelError: the file cannot be read or is not YAML, or an entry is unknown, missing or
            wrong; the message names file, link and key.
    """
    _, links = read_description(source, _TITLE, _CONTENT)
    return tuple(_read_link(links, name) for name in links.values)


def flexible_content(source: str | Path | Mapping[str, object]) -> Mapping[str, object]:
    """Return the mapping of a description, read once for several uses; a mapping is returned.

    Raises:
        ModelError: the file cannot be read, or does not hold flexible links.
    """
    if isinstance(source, Mapping):
        return source
    document, _ = read_description(source, _TITLE, _CONTENT)
    return FileContent(document.where, document.values)


def _read_link(links: Entries, name: str) -> FlexibleLinkDescription:
    link = Entries(f'{links.where}: {named("link", name)}', '', _mapping(links, name))
    link.allow(*_KEYS)
    length = link.number('length', _LENGTH)
    axis, lateral = _directions(link)
    modes = _modes(link)
    damping = _one_of(link, 'damping', _DAMPINGS)
    beam = beam_properties(link, _stations(link, length), modes)
    return FlexibleLinkDescription(
        link=name,
        length=length,
        axis=axis,
        lateral=lateral,
        origin=link.vector('origin', 3) if 'origin' in link.values else read_only(np.zeros(3)),
        stations=beam.stations,
        mass_per_length=beam.mass_per_length,
        bending_stiffness=MappingProxyType(beam.bending_stiffness),
        modes=MappingProxyType(modes),
        damping_ratio=MappingProxyType(_damping_ratio(link, modes, damping)),
        damping=damping,
        mode_shapes=_one_of(link, 'mode_shapes', _MODE_SHAPES),
        attachments=MappingProxyType(_attachments(link, length)),
        geometric_stiffness=_geometric_stiffness(link),
    )


def _mapping(links: Entries, name: str) -> Mapping[str, object]:
    entries = links.values[name]
    if not isinstance(entries, Mapping):
        raise ModelError(
            f'{links.where}: {named("link", name)} is {shown(entries)}, expected a mapping of its '
            f'keys'
        )
    return entries


def _directions(link: Entries) -> tuple[FloatArray, FloatArray]:
    """Return axis and lateral direction as orthogonal unit vectors, shape (3,) each."""
    axis = _unit(link, 'axis') if 'axis' in link.values else np.array([1.0, 0.0, 0.0])
    if 'lateral' in link.values:
        lateral = _unit(link, 'lateral')
    else:
        along_x = norm(axis[1:]) < _ALONG
        lateral = np.array([0.0, 1.0, 0.0] if along_x else [1.0, 0.0, 0.0])
    lateral = lateral - inner(lateral, axis) * axis
    across = norm(lateral)
    if across < _ALONG:
        raise link.wrong('lateral', f'a direction across the axis {axis.tolist()}')
    return read_only(axis), read_only(lateral / across)


def _unit(link: Entries, key: str) -> FloatArray:
    vector = link.vector(key, 3)
    largest = np.abs(vector).max()
    if largest == 0:
        raise link.wrong(key, 'a direction')
    # Scaled first, since squares of very large or small numbers over- or underflow.
    return np.asarray(vector / largest / norm(vector / largest))


def _modes(link: Entries) -> dict[str, int]:
    counts = link.below('modes')
    counts.allow(*PLANES)
    modes = {}
    for plane in PLANES:
        count = counts.values.get(plane, 0)
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)):
            raise counts.wrong(plane, 'a whole number, 0 or more')
        if not 0 <= count <= MOST_MODES:
            raise counts.wrong(plane, f'a whole number, 0 or more, at most {MOST_MODES}')
        if count:
            modes[plane] = int(count)
    if not modes:
        raise link.wrong('modes', 'at least one mode')
    return modes


def _stations(link: Entries, length: float) -> FloatArray:
    if 'stations' not in link.values:
        return read_only([0.0, length])
    x = link.vector('stations')
    if len(x) > MOST_STATIONS:
        raise link.error('stations', f'has {len(x)} numbers, expected at most {MOST_STATIONS}')
    if len(x) < 2 or x[0] != 0 or x[-1] != length or not (np.diff(x) > 0).all():
        raise link.wrong('stations', f'increasing numbers from 0 to the length {length}')
    return x


def _damping_ratio(link: Entries, modes: Mapping[str, int], damping: str) -> dict[str, FloatArray]:
    own = damping == _DAMPINGS[0]
    counts = {plane: count if own else 1 for plane, count in modes.items()}
    none = {plane: read_only(np.zeros(count)) for plane, count in counts.items()}
    if 'damping_ratio' not in link.values:
        return none
    if not isinstance(link.values['damping_ratio'], Mapping):
        ratio = link.number('damping_ratio', _DAMPING)
        return {plane: read_only(np.full(count, ratio)) for plane, count in counts.items()}
    given = link.below('damping_ratio')
    given.allow(*PLANES)
    ratios = {plane: given.spread(plane, counts.get(plane, 0), _DAMPING) for plane in given.values}
    return {plane: ratios.get(plane, none[plane]) for plane in modes}


def _one_of(link: Entries, key: str, names: tuple[str, ...]) -> str:
    """Return the value of a key, which must be one of `names`; by default the first."""
    name = link.values.get(key, names[0])
    if not isinstance(name, str) or name not in names:
        raise link.wrong(key, ' or '.join(map(repr, names)))
    return name


def _attachments(link: Entries, length: float) -> dict[str, float]:
    if 'attachments' not in link.values:
        return {}
    children = link.below('attachments')
    on_beam = Kind(f'number from 0 to the length {length}', lambda x: 0 <= x <= length)
    return {child: children.number(child, on_beam) for child in children.values}


def _geometric_stiffness(link: Entries) -> bool:
    counts = link.values.get('geometric_stiffness', True)
    if not isinstance(counts, bool):
        raise link.wrong('geometric_stiffness', 'true or false')
    return counts
