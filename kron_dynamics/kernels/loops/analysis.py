# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Which loops may run in any order: what one round writes, no other round reads or writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kron_dynamics.kernels.loops.indices import Counter, Index, Number
from kron_dynamics.kernels.loops.statements import Loop, Memory, Place, Store
from kron_dynamics.kernels.trace import Node


def is_independent(loop: Loop, nodes: Sequence[Node]) -> bool:
    """Return whether the rounds of an innermost loop may run in any order, or at once."""
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
    """Whether two places are never the same in different rounds.

    They are the same where all their numbers are. A number that never repeats tells the round:
    standing in both places, or opposite to the same number twice, it forces one round.
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
    """Whether a number changes with a counter."""
    if not isinstance(number, Index):
        return False
    if isinstance(number.atom, Counter):
        return number.atom is counter
    return any(_depends(place, counter) for place in number.atom.places)


def _never_repeats(number: Number, counter: Counter) -> bool:
    """Whether a number is another one in every round of a loop."""
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
