# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes of vibration at one point of a sweep, and which of them continues which of the last.

Ordered by frequency, two modes swap their names where their curves cross. So modes are followed
by their shapes: two of them overlap by ``phi_a^T M phi_b``, which is 1 for one and the same mode
and 0 for two modes of one system, phi having a modal mass of 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.typing import FloatArray

# Squared frequencies closer than this, relatively, are one: their shapes may be mixed at will.
_EQUAL = 1e-6
# A squared overlap above this leaves no doubt which mode it is. Halfway through a narrow crossing
# it is 1/2, and a shape from there would not tell the two apart afterwards.
_CLEAR = 0.75


class Vibrations(NamedTuple):
    """Undamped modes of some coordinates about a state of rest.

    Attributes:
        mass: M, shape (m, m).
        damping: D, shape (m, m).
        squares: of the natural frequencies, shape (m,), 1/s^2; negative where deviations grow.
        shapes: column k belongs to entry k, shape (m, m), with a modal mass of 1 in SI units.
    """

    mass: FloatArray
    damping: FloatArray
    squares: FloatArray
    shapes: FloatArray

    @classmethod
    def of(cls, linear: LinearizedModel, first: int) -> Vibrations:
        """Return the modes, frequencies ascending, of all coordinates from a first one on."""
        kept = linear.part(range(first, linear.n))
        squares, shapes = kept.undamped_modes()
        return cls(kept.mass, kept.damping, squares, shapes)

    @property
    def frequencies(self) -> FloatArray:
        """Natural frequencies, shape (m,), Hz; minus the rate of growth over 2 pi where it grows.

        0 where nothing holds the coordinates.
        """
        roots = np.sign(self.squares) * np.sqrt(np.abs(self.squares))
        return np.asarray(roots / (2 * np.pi))

    @property
    def damping_ratios(self) -> FloatArray:
        """Each mode's share of its critical damping, shape (m,), unit 1; NaN without frequency.

        ``phi^T D phi / (2 omega)``: what damping does to the mode by itself.
        """
        modal = np.einsum('ik,ij,jk->k', self.shapes, self.damping, self.shapes)
        omega = 2 * np.pi * self.frequencies
        ratios = np.full(len(omega), np.nan)
        np.divide(modal, 2 * omega, out=ratios, where=omega > 0)
        return ratios

    def coordinate_shapes(self) -> FloatArray:
        """Return one shape for each coordinate, in which it moves alone, shape (m, m)."""
        return np.asarray(np.diag(1 / np.sqrt(self.mass.diagonal())))

    def in_order_of(self, reference: FloatArray) -> tuple[Vibrations, FloatArray]:
        """Return the modes in the order of the shapes that they continue.

        Args:
            reference: the shapes to be continued, shape (m, m), the columns.

        Returns:
            the modes, and the shapes to continue next, shape (m, m): those of the modes, but of
            the reference where a mode is too mixed to be recognised by.
        """
        from scipy.optimize import linear_sum_assignment  # takes long to import

        overlap = reference.T @ self.mass @ self.shapes
        order = linear_sum_assignment(-(overlap**2))[1]
        squares, shapes, overlap = self.squares[order], self.shapes[:, order], overlap[:, order]
        for group in _equal(squares):
            # Of all shapes that this frequency has, those nearest to the reference.
            left, _, right = np.linalg.svd(overlap[np.ix_(group, group)])
            shapes[:, group] = shapes[:, group] @ (left @ right).T
        clear = np.einsum('ik,ij,jk->k', reference, self.mass, shapes) ** 2 > _CLEAR
        modes = Vibrations(self.mass, self.damping, squares, shapes)
        return modes, np.where(clear, shapes, reference)


def _equal(squares: FloatArray) -> list[list[int]]:
    """Places of values that are equal, for each value that occurs more than once."""
    groups: list[list[int]] = []
    for k in np.argsort(squares):
        last = groups[-1][-1] if groups else k
        size = max(abs(squares[k]), abs(squares[last]))
        if groups and squares[k] - squares[last] <= _EQUAL * size:
            groups[-1].append(int(k))
        else:
            groups.append([int(k)])
    return [group for group in groups if len(group) > 1]
