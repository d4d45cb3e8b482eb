# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Which loops may run in any order, against the elements that their iterations access."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest
from loop_cases import (
    QUANTITIES,
    chain_text,
    numbered_breadth_first,
    record,
    shuffled_joints,
    tree_text,
)

from kron_dynamics.kernels.loops.analysis import is_independent
from kron_dynamics.kernels.loops.indices import Counter, Index, Number, Numbers, evaluate, look_up
from kron_dynamics.kernels.loops.statements import Copy, Loop, Memory, Place, Statement, Store
from kron_dynamics.kernels.trace import Node
from kron_dynamics.model import RobotModel, load_model

Counters = dict[Counter, int]


@pytest.fixture(scope='module')
def chain() -> RobotModel:
    return load_model(chain_text(6))


@pytest.fixture(scope='module')
def tree() -> RobotModel:
    """Return a tree with mimic joints, its joints and bodies in no order of the file."""
    text = tree_text(12)
    return numbered_breadth_first(load_model(text, joints=shuffled_joints(load_model(text))))


def number(given: Number, counters: Counters) -> int:
    return int(evaluate(given, {counter: np.array(at) for counter, at in counters.items()}))


def innermost(body: Sequence[Statement], counters: Counters) -> Iterator[tuple[Loop, Counters]]:
    """Yield the loops without loops inside as often as they run, with the counters around them."""
    for statement in body:
        if not isinstance(statement, Loop):
            continue
        if not any(isinstance(inner, Loop) for inner in statement.body):
            yield statement, counters
        for here in run(statement, counters):
            yield from innermost(statement.body, here)


def run(loop: Loop, counters: Counters) -> Iterator[Counters]:
    """Yield the counters of all iterations of a loop."""
    first, stop = (number(end, counters) for end in (loop.counter.first, loop.counter.stop))
    for at in range(first, stop, loop.counter.step):
        yield {**counters, loop.counter: at}


def accesses(loop: Loop, nodes: Sequence[Node]) -> Iterator[tuple[Memory, Place | None, bool]]:
    """Yield memory, place, None for all of it, and whether it is written, of all accesses."""
    for statement in loop.body:
        if isinstance(statement, Store):
            yield statement.memory, statement.place, True
        elif isinstance(statement, Copy):
            yield statement.memory, None, True
        elif isinstance(statement, int) and nodes[statement][0] == 'load':
            yield nodes[statement][1], nodes[statement][2], False


def collides(loop: Loop, nodes: Sequence[Node], counters: Counters) -> bool:
    """Return whether any iteration accesses an element that another one writes."""
    written, touched = defaultdict(set), defaultdict(set)
    for k, here in enumerate(run(loop, counters)):
        for memory, place, writes in accesses(loop, nodes):
            if place is None:
                return True
            element = (id(memory), tuple(number(index, here) for index in place))
            touched[element].add(k)
            if writes:
                written[element].add(k)
    return any(len(touched[element]) > 1 for element in written)


def judged_loops(name: str, model: RobotModel) -> list[tuple[bool, bool]]:
    """Return of the innermost loops of a quantity if they may run in any order, and if declared.

    They may not if iterations collide for any of the counters around them.
    """
    trace, collide = record(name, model, model.tip_link), dict[Loop, bool]()
    for loop, counters in innermost(trace.body, {}):
        collide[loop] = collide.get(loop, False) or collides(loop, trace.nodes, counters)
    return [(not found, is_independent(loop, trace.nodes)) for loop, found in collide.items()]


@pytest.mark.parametrize('name', sorted(QUANTITIES))
def test_the_loops_of_a_chain_run_in_any_order_if_nothing_depends_on_it(
    chain: RobotModel, name: str
) -> None:
    loops = judged_loops(name, chain)
    assert all(may == declared for may, declared in loops)
    assert any(declared for _, declared in loops)


@pytest.mark.parametrize('name', sorted(QUANTITIES))
def test_no_loop_of_a_tree_runs_in_any_order_if_something_depends_on_it(
    tree: RobotModel, name: str
) -> None:
    assert all(may for may, declared in judged_loops(name, tree) if declared)


COUNTER = Counter(1, 0, 4, 1, np.arange(4))
COUNTED = Index(COUNTER)
EXCHANGED, REPEATED = (
    look_up(Numbers(np.array(entries)), COUNTED) for entries in ([1, 0, 3, 2], [0, 1, 0, 2])
)


def test_whatever_is_stored_and_read_where() -> None:
    memory, somewhere = Memory(0, (8, 8)), [0, 1, COUNTED, EXCHANGED, REPEATED]
    stored = product([*somewhere, COUNTED * 2], repeat=2)
    for write, read in product(stored, product([*somewhere, COUNTED + 1], repeat=2)):
        loop = Loop(COUNTER, [0, Store(memory, write, 0)])
        nodes = [('load', memory, read)]
        assert not (is_independent(loop, nodes) and collides(loop, nodes, {})), (write, read)


def test_a_row_and_a_column_that_meet_in_one_iteration_run_in_any_order() -> None:
    memory = Memory(0, (4, 4))
    for at, independent in ((2, True), (3, False)):
        loop = Loop(COUNTER, [0, Store(memory, (COUNTED, 2), 0)])
        nodes = [('load', memory, (at, COUNTED))]
        assert is_independent(loop, nodes) == independent == (not collides(loop, nodes, {}))
