# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Trial functions for Ritz's method: what the deflection of a beam is put together from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.flexible.beams.beam import BeamModes
from kron_dynamics.reproducible import power
from kron_dynamics.typing import ArrayLike, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class TrialFunctions:
    """Modes of a uniform beam, and what they alone would approach but slowly.

    In this order: the rigid motion that the root allows, if any; the modes; for each place that
    carries a body, the deflections of the uniform clamped beam under a force and under a moment
    there. Those have the jumps of X''' and X'' that a body makes.

    Attributes:
        modes: of the uniform beam.
        places: that carry a body, increasing, distances from the root in m.
    """

    modes: BeamModes
    places: tuple[float, ...] = ()

    @property
    def length(self) -> float:
        """Length l of the beam, m."""
        return self.modes.beam.length

    def shapes(self, x: ArrayLike, order: int = 0) -> FloatArray:
        """Return the functions or their derivatives.

        Args:
            x: distances from the root, 0 to l, shape (k,), m.
            order: of the derivative, 0 to 3.

        Returns:
            shape (p, k), 1/m^order.
        """
        return self.derivatives(x, (order,))[0]

    def derivatives(self, x: ArrayLike, orders: Sequence[int]) -> list[FloatArray]:
        """Return `shapes` of several orders, a list of that shape, at the cost of one."""
        xi, found = np.asarray(x, dtype=np.float64) / self.length, []
        for order, modes in zip(orders, self.modes.derivatives(x, orders), strict=True):
            scale = power(self.length, order)
            bent = [_bent(xi, place / self.length, order) / scale for place in self.places]
            found.append(np.vstack([self._rigid(xi, order) / scale, modes, *bent]))
        return found

    def _rigid(self, xi: FloatArray, order: int) -> FloatArray:
        """The rigid motion, shape (1, k), or none, (0, k)."""
        if self.modes.beam.root == 'clamped':
            return np.zeros((0, len(xi)))
        powers = [xi, np.ones_like(xi)] if self.modes.beam.root == 'pinned' else [np.ones_like(xi)]
        return np.array([powers[order] if order < len(powers) else np.zeros_like(xi)])


def _bent(xi: FloatArray, a: float, order: int) -> FloatArray:
    """Deflections under a force and a moment at a, derivatives by xi, shape (2, k)."""
    one, before = np.ones_like(xi), xi <= a
    force = (xi**2 * (3 * a - xi) / 6, xi * (2 * a - xi) / 2, a - xi, -one)[order]
    force_behind = (a * a * (3 * xi - a) / 6, a * a / 2 * one, 0 * one, 0 * one)[order]
    moment = (xi**2 / 2, xi, one, 0 * one)[order]
    moment_behind = (a * (2 * xi - a) / 2, a * one, 0 * one, 0 * one)[order]
    return np.array(
        [np.where(before, force, force_behind), np.where(before, moment, moment_behind)]
    )
