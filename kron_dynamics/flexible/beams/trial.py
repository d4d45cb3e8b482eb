# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Trial functions for the deflection of a beam in the Ritz method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.flexible.beams.beam import BeamModes
from kron_dynamics.reproducible import power
from kron_dynamics.typing import ArrayLike, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class TrialFunctions:
    """Modes of a uniform beam and functions that speed up convergence, as rows.

    In this order: the rigid motion that the root allows, if any; the modes; for each carried body
    the deflections of the uniform clamped beam under a force and under a moment at the body. The
    last have the jumps of X''' and X'' at the body, which modes alone approach only slowly.

    Attributes:
        modes: modes of the uniform beam.
        places: distances of the carried bodies from the root, increasing, m.
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
            order: order of the derivative, 0 to 3.

        Returns:
            shape (p, k), 1/m^order.
        """
        return self.derivatives(x, (order,))[0]

    def derivatives(self, x: ArrayLike, orders: Sequence[int]) -> list[FloatArray]:
        """Return `shapes` for several orders, a list of that shape, at the cost of one."""
        xi, found = np.asarray(x, dtype=np.float64) / self.length, []
        for order, modes in zip(orders, self.modes.derivatives(x, orders), strict=True):
            scale = power(self.length, order)
            bent = [
                _clamped_deflections(xi, place / self.length, order) / scale
                for place in self.places
            ]
            found.append(np.vstack([self._rigid(xi, order) / scale, modes, *bent]))
        return found

    def _rigid(self, xi: FloatArray, order: int) -> FloatArray:
        """Return the rigid motion, shape (1, k), or shape (0, k) if the root allows none."""
        if self.modes.beam.root == 'clamped':
            return np.zeros((0, len(xi)))
        powers = [xi, np.ones_like(xi)] if self.modes.beam.root == 'pinned' else [np.ones_like(xi)]
        return np.array([powers[order] if order < len(powers) else np.zeros_like(xi)])


def _clamped_deflections(xi: FloatArray, a: float, order: int) -> FloatArray:
    """Return a clamped beam's deflections under a force and a moment at a, shape (2, k).

    They are derivatives with respect to xi = x/l of the given order.
    """
    one, before = np.ones_like(xi), xi <= a
    force = (xi**2 * (3 * a - xi) / 6, xi * (2 * a - xi) / 2, a - xi, -one)[order]
    force_behind = (a * a * (3 * xi - a) / 6, a * a / 2 * one, 0 * one, 0 * one)[order]
    moment = (xi**2 / 2, xi, one, 0 * one)[order]
    moment_behind = (a * (2 * xi - a) / 2, a * one, 0 * one, 0 * one)[order]
    return np.array(
        [np.where(before, force, force_behind), np.where(before, moment, moment_behind)]
    )
