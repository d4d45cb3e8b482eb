# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What static friction may hide of the efforts of joints that stand still.

A joint at rest is held by friction that may be anything between both Coulomb levels, and stays
that for as long as it stands: ten seconds of it tell no more than one sample. Without this a robot
that stops at the end of a recording takes up some kilograms there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.typing import FloatArray

# A joint stands where less than this share of its Coulomb friction acts.
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

    That of a stretch at rest as one observation, shared by its rows.

    Args:
        matrix: columns of friction, by joint, then by term, shape (R, n, n k).
        coefficients: what they are multiplied by, shape (n k,).
        terms: k friction terms, 'coulomb' among them.
        effort: usual efforts of the joints, shape (n,), N m or N.
        group: stretch of motion of each row, shape (R,).
        least: rows that a rest has; shorter ones are reversals.
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
