# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes of vibration at one point of a sweep, tracked from the previous point by their shapes.

If modes were ordered by frequency, two of them would swap names where their curves cross. They are
therefore matched by the overlap ``phi_a^T M phi_b`` of shapes with modal mass 1, which is 1 for
the same mode and 0 for two modes of the same system.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.typing import FloatArray

# Squared frequencies that differ relatively by less than this count as equal: any linear
# combinations of their shapes are modes.
_EQUAL = 1e-6
# Squared overlap above which a mode is identified. In the middle of a narrow crossing it is 1/2,
# and a shape from there could not distinguish the two modes afterwards.
_CLEAR = 0.75


class Vibrations(NamedTuple):
    """Undamped modes of some coordinates about a state of rest.

    Attributes:
        mass: M, shape (m, m).
        damping: D, shape (m, m).
        squares: squared natural angular frequencies, shape (m,), 1/s^2; negative if unstable.
        shapes: mode shapes as columns, shape (m, m), with a modal mass of 1 in SI units.
    """

    mass: FloatArray
    damping: FloatArray
    squares: FloatArray
    shapes: FloatArray

    @classmethod
    def of(cls, linear: LinearizedModel, first: int) -> Vibrations:
        """Return the modes, by ascending frequency, of the coordinates from index `first` on."""
        kept = linear.part(range(first, linear.n))
        squares, shapes = kept.undamped_modes()
        return cls(kept.mass, kept.damping, squares, shapes)

    @property
    def frequencies(self) -> FloatArray:
        """Natural frequencies, shape (m,), Hz.

        For an unstable mode, minus its growth rate over 2 pi; 0 for a mode without stiffness.
        """
        roots = np.sign(self.squares) * np.sqrt(np.abs(self.squares))
        return np.asarray(roots / (2 * np.pi))

    @property
    def damping_ratios(self) -> FloatArray:
        """Damping ratio of each mode, shape (m,), unit 1; NaN without a positive frequency.

        ``phi^T D phi / (2 omega)``, which neglects the coupling of modes by damping.
        """
        modal = np.einsum('ik,ij,jk->k', self.shapes, self.damping, self.shapes)
        omega = 2 * np.pi * self.frequencies
        ratios = np.full(len(omega), np.nan)
        np.divide(modal, 2 * omega, out=ratios, where=omega > 0)
        return ratios

    def coordinate_shapes(self) -> FloatArray:
        """Return the shape of each coordinate moving alone, as columns, shape (m, m)."""
        return np.asarray(np.diag(1 / np.sqrt(self.mass.diagonal())))

    def in_order_of(self, reference: FloatArray) -> tuple[Vibrations, FloatArray]:
        """Return the modes in the order of the reference shapes that they match.

        Args:
            reference: shapes of the previous point as columns, shape (m, m).

        Returns:
            the modes, and the reference shapes for the next point, shape (m, m): the shapes of
            the modes, or the previous reference where the match is ambiguous.
        """
        from scipy.optimize import linear_sum_assignment  # takes long to import

        overlap = reference.T @ self.mass @ self.shapes
        order = linear_sum_assignment(-(overlap**2))[1]
        squares, shapes, overlap = self.squares[order], self.shapes[:, order], overlap[:, order]
        for group in _equal(squares):
            # Among all shapes of this frequency, take those nearest to the reference.
            left, _, right = np.linalg.svd(overlap[np.ix_(group, group)])
            shapes[:, group] = shapes[:, group] @ (left @ right).T
        clear = np.einsum('ik,ij,jk->k', reference, self.mass, shapes) ** 2 > _CLEAR
        modes = Vibrations(self.mass, self.damping, squares, shapes)
        return modes, np.where(clear, shapes, reference)


def _equal(squares: FloatArray) -> list[list[int]]:
    """Return groups of indices of equal values, for values that occur more than once."""
    groups: list[list[int]] = []
    for k in np.argsort(squares):
        last = groups[-1][-1] if groups else k
        size = max(abs(squares[k]), abs(squares[last]))
        if groups and squares[k] - squares[last] <= _EQUAL * size:
            groups[-1].append(int(k))
        else:
            groups.append([int(k)])
    return [group for group in groups if len(group) > 1]
