# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Constraint descriptions in YAML, which complement a URDF, as a URDF can only be a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.couplings import Coupling, PolynomialCoupling, PrescribedMotion
from kron_dynamics.constraints.loops import (
    Attachment,
    DistanceLoop,
    HingeLoop,
    PlanarLoop,
    PointLoop,
    SliderLoop,
    WeldLoop,
)
from kron_dynamics.constraints.rolling import BladeConstraint, RollingWheel
from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import named, shown
from kron_dynamics.model.entries import POSITIVE, Entries, described_entries

# Key with the path of another description that this one complements.
FROM = 'from'
_UNITS = ('rad', 'm', '1')


@dataclass(frozen=True)
class ConstraintDescription:
    """Contents of a constraint description.

    Attributes:
        constraints: the constraints, in the order of the description.
        start: initial guess for closing the loops, coordinates by joint name, rad or m.
        hold: joints that keep their `start` position while the loops are closed.
        independent: joints whose rates are the independent speeds, or None.
        actuated: joints with an actuator, or None for all.
    """

    constraints: tuple[Constraint, ...]
    start: Mapping[str, float]
    hold: tuple[str, ...]
    independent: tuple[str, ...] | None
    actuated: tuple[str, ...] | None


def described_constraints(file: str, values: object) -> ConstraintDescription:
    """Return the constraints of a description in this package's own format.

    Args:
        file: name of the description, for messages.
        values: contents of the description.

    Raises:
        ModelError: an entry is unknown, missing or wrong; the message names file, constraint and
            key.
        ConstraintError: the values of a constraint are invalid; the message names it.
    """
    keys = FROM, 'start', 'hold', 'independent', 'actuated'
    if isinstance(values, Mapping) and FROM in values and 'constraints' not in values:
        document, entries = Entries(file, '', values), Entries(file, '', {})
        document.allow('constraints', *keys)
    else:
        document, entries = described_entries(file, values, 'constraints', *keys)
    start = document.below('start') if 'start' in document.values else None
    return ConstraintDescription(
        tuple(_constraint(entries, name) for name in entries.values),
        MappingProxyType({joint: start.number(joint) for joint in start.values} if start else {}),
        document.names('hold') or (),
        document.names('independent'),
        document.names('actuated'),
    )


def _constraint(entries: Entries, name: str) -> Constraint:
    where = f'{entries.where}: {named("constraint", name)}'
    values = entries.values[name]
    if not isinstance(values, Mapping):
        raise ModelError(f'{where} is {shown(values)}, expected a mapping of its keys')
    own = Entries(where, '', values)
    kind = own.get('type')
    if not isinstance(kind, str) or kind not in _KINDS:
        close = get_close_matches(kind, _KINDS, 1) if isinstance(kind, str) else []
        guess = f", did you mean '{close[0]}'?" if close else ''
        raise own.error('type', f'is {shown(kind)}{guess}, expected one of {", ".join(_KINDS)}')
    keys, make = _KINDS[kind]
    own.allow('type', *keys)
    return make(own, name)


def _attachment(own: Entries, key: str) -> Attachment:
    value = own.get(key)
    if isinstance(value, str):
        return Attachment(value)
    frame = own.below(key)
    frame.allow('link', 'point', 'axis', 'rpy')
    return Attachment(
        _text(frame, 'link'),
        _triple(frame, 'point', (0.0, 0.0, 0.0)),
        _triple(frame, 'axis', (0.0, 0.0, 1.0)),
        _triple(frame, 'rpy', None),
    )


def _triple(own: Entries, key: str, default: tuple[float, float, float] | None) -> Any:
    return tuple(own.vector(key, 3).tolist()) if key in own.values else default


def _text(own: Entries, key: str, default: str | None = None) -> str:
    value = own.get(key) if default is None else own.values.get(key, default)
    if not isinstance(value, str):
        raise own.wrong(key, 'text')
    return value


def _number(own: Entries, key: str) -> float:
    return own.number(key) if key in own.values else 0.0


def _loop(make: Callable[..., Constraint]) -> Callable[[Entries, str], Constraint]:
    return lambda own, name: make(name, _attachment(own, 'a'), _attachment(own, 'b'))


def _point(own: Entries, name: str) -> Constraint:
    components = _text(own, 'components', 'xyz')
    return PointLoop(name, _attachment(own, 'a'), _attachment(own, 'b'), components=components)


def _distance(own: Entries, name: str) -> Constraint:
    length = own.number('length', POSITIVE)
    return DistanceLoop(name, _attachment(own, 'a'), _attachment(own, 'b'), length=length)


def _coupling(own: Entries, name: str) -> Constraint:
    ratios = own.below('ratios')
    factors = {joint: ratios.number(joint) for joint in ratios.values}
    return Coupling(name, factors, signal=_number(own, 'offset'), unit=_unit(own))


def _polynomial(own: Entries, name: str) -> Constraint:
    return PolynomialCoupling(
        name,
        _text(own, 'joint'),
        _text(own, 'driver'),
        tuple(own.vector('coefficients').tolist()),
        about=_number(own, 'about'),
        unit=_unit(own),
    )


def _unit(own: Entries) -> str | None:
    unit = _text(own, 'unit') if 'unit' in own.values else None
    if unit is not None and unit not in _UNITS:
        raise own.wrong('unit', ', '.join(map(repr, _UNITS)))
    return unit


def _lock(own: Entries, name: str) -> Constraint:
    return PrescribedMotion(name, _text(own, 'joint'), own.number('position'), unit=_unit(own))


def _blade(own: Entries, name: str) -> Constraint:
    direction = tuple(own.vector('direction', 3).tolist())
    return BladeConstraint(
        name, _text(own, 'link'), direction, _triple(own, 'point', (0.0, 0.0, 0.0))
    )


def _wheel(own: Entries, name: str) -> Constraint:
    normal = _triple(own, 'normal', (0.0, 0.0, 1.0))
    return RollingWheel(name, _text(own, 'link'), own.number('radius', POSITIVE), normal)


# Keys and constructor of each type.
_KINDS: dict[str, tuple[tuple[str, ...], Callable[[Entries, str], Constraint]]] = {
    'point': (('a', 'b', 'components'), _point),
    'hinge': (('a', 'b'), _loop(HingeLoop)),
    'planar': (('a', 'b'), _loop(PlanarLoop)),
    'slider': (('a', 'b'), _loop(SliderLoop)),
    'weld': (('a', 'b'), _loop(WeldLoop)),
    'distance': (('a', 'b', 'length'), _distance),
    'coupling': (('ratios', 'offset', 'unit'), _coupling),
    'polynomial': (('joint', 'driver', 'coefficients', 'about', 'unit'), _polynomial),
    'lock': (('joint', 'position', 'unit'), _lock),
    'blade': (('link', 'direction', 'point'), _blade),
    'wheel': (('link', 'radius', 'normal'), _wheel),
}
