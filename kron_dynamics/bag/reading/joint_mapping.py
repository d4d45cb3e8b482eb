# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mapping of recorded joint names, units and signs to those of the model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain

import numpy as np

from kron_dynamics.exceptions import BagError, ParameterError
from kron_dynamics.typing import FloatArray

QUANTITIES = ('position', 'velocity', 'effort')
# Factor to SI units, and the quantities that are measured in the unit.
UNITS: dict[str, tuple[float, tuple[str, ...]]] = {
    'deg': (math.pi / 180.0, ('position', 'velocity')),
    'rev': (2.0 * math.pi, ('position', 'velocity')),
    'rpm': (2.0 * math.pi / 60.0, ('velocity',)),
    'mm': (1e-3, ('position', 'velocity')),
    'kN': (1e3, ('effort',)),
    'mN': (1e-3, ('effort',)),
}


class NamesError(BagError):
    """Names given by the user do not fit the recorded names."""


class JointMapping:
    """Rules that rename recorded joints and scale their values."""

    def __init__(
        self,
        rename: Mapping[str, str] | None = None,
        scale: Mapping[str, float | str] | None = None,
    ) -> None:
        """Check the rules; a name may contain one ``*``, which stands for any text.

        Args:
            rename: names of the model by names in the bag.
            scale: factor or unit by name of the model, or by name and quantity,
                ``'luff:effort'``. A number scales position, velocity and effort, a unit
                (deg, rev, rpm, mm, kN or mN) only the quantities measured in it.

        Raises:
            ParameterError: a rule is invalid.
        """
        self._rename = dict(rename or {})
        for old, new in self._rename.items():
            if not old or not new or old.count('*') > 1 or new.count('*') > old.count('*'):
                raise ParameterError(
                    f"rename '{old}={new}': expected two names, with one * in both for a pattern"
                )
        self._scale = [_factor(name, value) for name, value in (scale or {}).items()]
        self._unmet = {('rename', rule) for rule in self._rename}
        self._unmet |= {('scale', rule) for rule, *_ in self._scale}
        self._recorded: dict[str, None] = {}
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}

    def names(self, recorded: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the model for the names in a message.

        Args:
            recorded: the names in the message.

        Raises:
            BagError: two joints get the same name.
        """
        if recorded not in self._known:
            self._recorded.update(dict.fromkeys(recorded))
            found = tuple(map(self._renamed, recorded))
            twice = [name for name in found if found.count(name) > 1]
            if twice and len(set(recorded)) == len(recorded):
                both = [old for old, new in zip(recorded, found, strict=True) if new == twice[0]]
                raise NamesError(f"{' and '.join(both)} would both be renamed to '{twice[0]}'")
            self._known[recorded] = found
        return self._known[recorded]

    def _renamed(self, name: str) -> str:
        for old, new in self._rename.items():
            before, star, after = old.partition('*')
            if not star and name == old:
                self._unmet.discard(('rename', old))
                return new
            if star and len(name) >= len(before) + len(after):
                if name.startswith(before) and name.endswith(after):
                    self._unmet.discard(('rename', old))
                    return new.replace('*', name[len(before) : len(name) - len(after)])
        return name

    def scaled(
        self, names: Sequence[str], values: Sequence[FloatArray]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return positions, velocities and efforts in the units of the model, (N, k) each.

        Args:
            names: the k joints' names in the model.
            values: as recorded, shape (N, k) each; tables of another width are not changed.
        """
        place, rate, effort = (
            table * self._factors(names, quantity)
            if self._scale and table.shape[1] == len(names)
            else table
            for quantity, table in zip(QUANTITIES, values, strict=True)
        )
        return place, rate, effort

    def _factors(self, names: Sequence[str], quantity: str) -> FloatArray:
        factors = np.ones(len(names))
        for rule, pattern, factor, quantities in self._scale:
            for k, name in enumerate(names):
                if fnmatchcase(name, pattern):
                    self._unmet.discard(('scale', rule))
                    factors[k] *= factor if quantity in quantities else 1.0
        return factors

    def check(self) -> None:
        """Refuse rules that matched no recorded joint.

        Raises:
            BagError: a rule matched no joint.
        """
        for kind, rule in sorted(self._unmet):
            named, joints = 'recorded', self._recorded
            if kind == 'scale' and self._rename:
                named = 'named after --rename'
                joints = dict.fromkeys(chain(*self._known.values()))
            raise NamesError(f"{kind} of '{rule}' matches no joint; {named} are {_listed(joints)}")


def _factor(rule: str, value: float | str) -> tuple[str, str, float, tuple[str, ...]]:
    """Return a rule, its name pattern, its factor and the quantities that it scales."""
    pattern, _, quantity = rule.partition(':')
    if quantity and quantity not in QUANTITIES:
        raise ParameterError(f"scale '{rule}': expected {', '.join(QUANTITIES)} after the colon")
    quantities: tuple[str, ...] = (quantity,) if quantity else QUANTITIES
    if isinstance(value, str):
        if value not in UNITS:
            raise ParameterError(
                f"scale '{rule}={value}': expected a number or one of {', '.join(UNITS)}"
            )
        factor, of_unit = UNITS[value]
        if quantity and quantity not in of_unit:
            raise ParameterError(f"scale '{rule}={value}': {value} is no unit of {quantity}")
        return rule, pattern, factor, quantities if quantity else of_unit
    if not pattern or not np.isfinite(value) or value == 0.0:
        raise ParameterError(f"scale '{rule}={value:g}': expected a finite number that is not 0")
    return rule, pattern, float(value), quantities


def _listed(names: Iterable[str]) -> str:
    return ', '.join(names) or 'no joints'
