# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Set operations with tolerances on positions r along a path."""

from __future__ import annotations

import numpy as np

from kron_dynamics.typing import BoolArray, FloatArray


def beside(places: FloatArray, halves: FloatArray, others: FloatArray, near: float) -> BoolArray:
    """Return which places, (c,), have one of others within 2 * halves, (c,), or within near."""
    if not others.size:
        return np.zeros(places.size, dtype=bool)
    others = np.concatenate(([-np.inf], np.sort(others), [np.inf]))
    after = np.searchsorted(others, places)
    ways = np.minimum(others[after] - places, places - others[after - 1])
    found: BoolArray = ways <= np.maximum(2.0 * halves, near)
    return found


def with_others(places: FloatArray, others: FloatArray, near: float) -> FloatArray:
    """Return all places and the others farther than near from each, sorted, shape (c,)."""
    return np.sort(np.concatenate((places, away(others, np.sort(places), near))))


def away(places: FloatArray, marks: FloatArray, near: FloatArray | float) -> FloatArray:
    """Return the places, (c,), that are farther than near from all marks, which are sorted."""
    if not marks.size:
        return places
    near = np.broadcast_to(near, marks.shape)
    after = np.searchsorted(marks, places)
    right, left = np.minimum(after, marks.size - 1), np.maximum(after - 1, 0)
    clear = (np.abs(places - marks[right]) > near[right]) & (
        np.abs(places - marks[left]) > near[left]
    )
    return places[clear]
