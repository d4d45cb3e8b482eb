# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Uncertainty by static friction in the efforts of joints that stand still.

Static friction takes any value between both Coulomb levels and keeps it while the joint stands
still: ten seconds are no more informative than one sample. Without this variance, a payload of
some kilograms would be estimated where a robot stops at the end of a recording.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.typing import FloatArray

# A joint stands still while less than this share of its regularised Coulomb friction acts.
STANDS = 0.5


def static_variance(
    matrix: FloatArray,
    coefficients: FloatArray,
    terms: Sequence[str],
    effort: FloatArray,
    group: FloatArray,
    least: float,
) -> FloatArray:
    """Return the variance that static friction adds to each equation, shape (R, n).

    A standstill of L rows counts as one observation: each row has L times the variance.

    Args:
        matrix: friction regressor, by joint, then by term, shape (R, n, n k).
        coefficients: friction coefficients, shape (n k,).
        terms: k friction terms, 'coulomb' among them.
        effort: RMS efforts of the joints, shape (n,), N m or N.
        group: index of the stretch of motion of each row, shape (R,).
        least: least number of rows of a standstill; shorter ones are reversals.
    """
    count, n = matrix.shape[:2]
    by_term = {term: coefficients[place :: len(terms)] for place, term in enumerate(terms)}
    level = np.abs(by_term['coulomb']) + np.abs(by_term.get('load', 0.0)) * effort
    acting = np.abs(matrix[:, range(n), terms.index('coulomb') + len(terms) * np.arange(n)])
    still = acting < STANDS
    found = np.zeros((count, n))
    ends = np.diff(group) != 0.0
    for joint in range(n):
        own = still[:, joint]
        bounds = np.flatnonzero(np.concatenate([[True], (np.diff(own) != 0) | ends, [True]]))
        lengths = np.repeat(np.diff(bounds), np.diff(bounds))
        hidden = level[joint] * (1.0 - acting[:, joint])
        found[:, joint] = np.where(own & (lengths >= least), lengths * hidden**2, 0.0)
    return found
