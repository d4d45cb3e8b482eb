# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Trial functions for the deflection of a beam in the Ritz method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kron_dynamics.flexible.beams.beam import BeamModes, BeamSection
from kron_dynamics.flexible.beams.deflection import Deflections
from kron_dynamics.reproducible import power, product
from kron_dynamics.typing import ArrayLike, FloatArray

# Bodies nearer than this to the one before, relative to the length, are taken as one place; the
# functions of bodies nearer than the second are those of the piece between them, as functions of
# two whole pieces would be equal but for rounding.
_SAME, _NEAR = 1e-9, 1e-2
# Largest factor by which the stiffness may change between two knots, and most half waves of a
# mode there: a series of 24 terms then represents a curvature.
_CHANGE, _HALF_WAVES = 10.0, 4


@dataclass(frozen=True, slots=True, eq=False)
class TrialFunctions:
    """Modes of a uniform beam and functions that speed up convergence, as rows.

    In this order: the rigid motion that the root allows, if any; the modes; for each carried body
    the deflections of the uniform clamped beam under a force and under a moment at the body. The
    last have the jumps of X''' and X'' at the body, which modes alone approach only slowly.

    On a beam of varying stiffness the functions have the same bending moments: their curvature is
    that of the uniform beam times the ratio of the stiffnesses. It jumps where the stiffness
    does, as that of the modes in search, which the uniform beam's would approach only slowly.

    Attributes:
        modes: modes of the uniform beam.
        places: distances of the carried bodies from the root, increasing, m.
        section: stiffness along the beam; None if it is uniform.
        knots: distances from the root, 0 to l, between which the functions are smooth, m.
    """

    modes: BeamModes
    places: tuple[float, ...] = ()
    section: BeamSection | None = None
    knots: FloatArray = field(init=False)
    _spans: list[tuple[float, float]] = field(init=False)
    _bent: Deflections | None = field(init=False)

    def __post_init__(self) -> None:
        """Integrate the curvatures, if the stiffness varies."""
        ends = np.array([0.0, *self.places, self.length])
        knots, bent = np.unique(ends), None
        object.__setattr__(self, '_spans', _spans([place / self.length for place in self.places]))
        if self.section is not None:
            knots = _even_knots(self.section, knots)
            deflection, slope = self._uniform(np.zeros(1), (0, 1))
            bent = Deflections.of_curvature(
                _split(knots, self.length * _HALF_WAVES / self.modes.count),
                self._curvature,
                (deflection[:, 0], slope[:, 0]),
            )
        object.__setattr__(self, 'knots', knots)
        object.__setattr__(self, '_bent', bent)

    @property
    def length(self) -> float:
        """Length l of the beam, m."""
        return self.modes.beam.length

    def shapes(self, x: ArrayLike, order: int = 0) -> FloatArray:
        """Return the functions or their derivatives.

        Args:
            x: distances from the root, 0 to l, shape (k,), m.
            order: order of the derivative, 0 to 3.

        Returns:
            shape (p, k), 1/m^order.
        """
        return self.derivatives(x, (order,))[0]

    def derivatives(self, x: ArrayLike, orders: Sequence[int]) -> list[FloatArray]:
        """Return `shapes` for several orders, a list of that shape, at the cost of one."""
        at = np.asarray(x, dtype=np.float64)
        if self._bent is None:
            return self._uniform(at, orders)
        return self._bent.derivatives(at, orders)

    def combinations(
        self, weights: FloatArray, x: ArrayLike, orders: Sequence[int]
    ) -> list[FloatArray]:
        """Return linear combinations of `derivatives`, a list of arrays (n, k).

        Args:
            weights: shape (n, p).
            x: distances from the root, 0 to l, shape (k,), m.
            orders: orders of the derivatives, 0 to 3.
        """
        if self._bent is None:
            return [product(weights, shapes) for shapes in self.derivatives(x, orders)]
        return self._bent.combined(weights).derivatives(np.asarray(x, dtype=np.float64), orders)

    def _curvature(self, x: FloatArray) -> FloatArray:
        """Return X'' on the section under the bending moments of the uniform beam."""
        assert self.section is not None
        (uniform,) = self._uniform(x, (2,))
        stiffness = self.modes.beam.bending_stiffness
        return uniform * (stiffness / self.section.bending_stiffness_at(x))

    def _uniform(self, x: FloatArray, orders: Sequence[int]) -> list[FloatArray]:
        """Return `derivatives` of the uniform beam."""
        xi, found = x / self.length, []
        for order, modes in zip(orders, self.modes.derivatives(x, orders), strict=True):
            scale = power(self.length, order)
            bent = [_clamped_deflections(xi, *span, order) / scale for span in self._spans]
            found.append(np.vstack([self._rigid(xi, order) / scale, modes, *bent]))
        return found

    def _rigid(self, xi: FloatArray, order: int) -> FloatArray:
        """Return the rigid motion, shape (1, k), or shape (0, k) if the root allows none."""
        if self.modes.beam.root == 'clamped':
            return np.zeros((0, len(xi)))
        powers = [xi, np.ones_like(xi)] if self.modes.beam.root == 'pinned' else [np.ones_like(xi)]
        return np.array([powers[order] if order < len(powers) else np.zeros_like(xi)])


def _spans(places: Sequence[float]) -> list[tuple[float, float]]:
    """Return begin and end of the bending moment of each place, all over the length."""
    spans = list[tuple[float, float]]()
    last = 0.0
    for place in places:
        if place - last >= _SAME:
            spans.append((last if spans and place - last < _NEAR else 0.0, place))
            last = place
    return spans


def _even_knots(section: BeamSection, knots: FloatArray) -> FloatArray:
    """Return the knots with the stations, and with others where the stiffness changes much."""
    EI, x = section.bending_stiffness, section.stations
    change = np.maximum(EI[1:], EI[:-1]) / np.minimum(EI[1:], EI[:-1])
    between = []
    for k in np.flatnonzero(change > _CHANGE):
        pieces = int(np.ceil(np.log(change[k]) / np.log(_CHANGE)))
        ratio = change[k] if EI[k + 1] > EI[k] else 1 / change[k]
        grown = np.expm1(np.arange(1, pieces) / pieces * np.log(ratio)) / (ratio - 1)
        between.append(x[k] + (x[k + 1] - x[k]) * grown)
    return np.unique(np.concatenate([knots, x, *between]))


def _split(knots: FloatArray, longest: float) -> FloatArray:
    """Return the knots with others between them, none farther apart than that, m."""
    pieces = np.ceil(np.diff(knots) / longest).astype(int)
    parts = [
        np.linspace(begin, end, count, endpoint=False)
        for begin, end, count in zip(knots[:-1], knots[1:], pieces, strict=True)
    ]
    return np.concatenate([*parts, knots[-1:]])


def _clamped_deflections(xi: FloatArray, begin: float, end: float, order: int) -> FloatArray:
    """Return a clamped beam's deflections for two bending moments between begin and end, (2, k).

    The moments are that of a force at the end and that of a moment at the end. The deflections
    are derivatives with respect to xi = x/l of the given order.
    """
    xi, a = xi - begin, end - begin
    one, before = np.ones_like(xi), xi <= a
    force = (xi**2 * (3 * a - xi) / 6, xi * (2 * a - xi) / 2, a - xi, -one)[order]
    force_behind = (a * a * (3 * xi - a) / 6, a * a / 2 * one, 0 * one, 0 * one)[order]
    moment = (xi**2 / 2, xi, one, 0 * one)[order]
    moment_behind = (a * (2 * xi - a) / 2, a * one, 0 * one, 0 * one)[order]
    found = np.array(
        [np.where(before, force, force_behind), np.where(before, moment, moment_behind)]
    )
    return np.where(xi > 0, found, 0.0) if begin > 0 else found
