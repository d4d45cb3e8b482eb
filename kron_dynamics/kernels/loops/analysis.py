# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Dependence analysis: loops whose iterations access no element that another iteration writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kron_dynamics.kernels.loops.indices import Counter, Index, Number
from kron_dynamics.kernels.loops.statements import Loop, Memory, Place, Store
from kron_dynamics.kernels.trace import Node


def is_independent(loop: Loop, nodes: Sequence[Node]) -> bool:
    """Return whether a loop is innermost and its iterations may run in any order or at once."""
    stores = [statement for statement in loop.body if isinstance(statement, Store)]
    return not any(isinstance(statement, Loop) for statement in loop.body) and all(
        _apart(store.place, place, loop.counter)
        for memory, place in _places(loop, nodes)
        for store in stores
        if store.memory is memory
    )


def _places(loop: Loop, nodes: Sequence[Node]) -> Iterator[tuple[Memory, Place]]:
    for statement in loop.body:
        if isinstance(statement, Store):
            yield statement.memory, statement.place
        elif isinstance(statement, int) and nodes[statement][0] == 'load':
            yield nodes[statement][1], nodes[statement][2]


def _apart(a: Place, b: Place, counter: Counter) -> bool:
    """Return whether two places never coincide in different iterations.

    Places coincide if all their indices are equal. An index that takes a different value in every
    iteration identifies the iteration. So they coincide in one iteration at most if both have the
    same such index on one axis, or if each has it on an axis where the other has the same index
    that does not depend on the counter.
    """
    forced: tuple[set[tuple[Number, Number]], ...] = set(), set()
    for pair in zip(a, b, strict=True):
        for side, (x, y) in enumerate((pair, pair[::-1])):
            if _never_repeats(x, counter):
                if x == y:
                    return True
                if not _depends(y, counter):
                    forced[side].add((x, y))
    return not forced[0].isdisjoint(forced[1])


def _depends(number: Number, counter: Counter) -> bool:
    """Return whether a number depends on a counter."""
    if not isinstance(number, Index):
        return False
    if isinstance(number.atom, Counter):
        return number.atom is counter
    return any(_depends(place, counter) for place in number.atom.places)


def _never_repeats(number: Number, counter: Counter) -> bool:
    """Return whether a number takes a different value in every iteration of a loop."""
    if not isinstance(number, Index):
        return False
    if isinstance(number.atom, Counter):
        return number.atom is counter
    table, places = number.atom.table.values, number.atom.places
    moved = [axis for axis, place in enumerate(places) if _depends(place, counter)]
    if len(moved) != 1 or not _never_repeats(places[moved[0]], counter):
        return False
    rows = np.moveaxis(table, moved[0], -1).reshape(-1, table.shape[moved[0]])
    entries = (row[row >= 0] if table.ndim > 1 else row for row in rows)
    return all(len(np.unique(row)) == len(row) for row in entries)
