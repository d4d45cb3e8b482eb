# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recording of an equation once per loop instead of once per joint, for robots of many joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from kron_dynamics.kernels.loops.arrays import StagedArray
from kron_dynamics.kernels.loops.axes import with_axes_along_z
from kron_dynamics.kernels.loops.indices import Counter, evaluate
from kron_dynamics.kernels.loops.model import StagedModel
from kron_dynamics.kernels.loops.program import InvalidAssumptions, Program
from kron_dynamics.kernels.loops.statements import Copy, Loop, Memory, Statement, Store, writers
from kron_dynamics.kernels.trace import Node
from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.reproducible import with_python_numbers
from kron_dynamics.typing import IntArray


class LoopTrace:
    """A recorded function of a robot model and of arrays, with its loops.

    Attributes:
        sizes: length of each argument.
        shapes: shape of each result.
        nodes: operations; statements refer to them by number.
        body: the statements that the results need.
        results: memory of each result.
        operations: arithmetic operations, sines and cosines per state.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        model: RigidModel,
        sizes: Sequence[int],
        in_body_axes: bool = False,
    ) -> None:
        """Run a function on a staged model and staged arrays.

        It is run again, with fewer assumptions, if a memory assumed constant turns out to vary.

        Args:
            function: function of a model and one array per argument; it returns a tuple if there
                are several results. It must traverse the tree by the methods of `Traversal` only.
            model: the robot.
            sizes: length of each argument.
            in_body_axes: whether results are in the axes of bodies. If not, these axes are
                rotated so that fewer operations are needed.
        """
        model = with_python_numbers(model if in_body_axes else with_axes_along_z(model))
        findings = InvalidAssumptions()
        sound = False
        while not sound:
            program = Program(findings)
            memories = [program.memory((size,), argument=a) for a, size in enumerate(sizes)]
            arrays = [StagedArray(program, memory) for memory in memories]
            returned = function(StagedModel(program, model), *arrays)
            results = _results(program, returned if isinstance(returned, tuple) else (returned,))
            sound = program.is_sound
        self.sizes = tuple(sizes)
        self.shapes = tuple(result.shape for result in results)
        self.nodes = program.nodes
        self.results = tuple(program.standing_for(result.memory) for result in results)
        self.body = _needed(program.body, program.nodes, self.results)
        self.operations = _count(self.body, program.nodes, {})


def _results(program: Program, returned: Sequence[Any]) -> list[StagedArray]:
    """Return a function's results as arrays, each occupying the whole of its own memory."""
    results: list[StagedArray] = []
    for value in returned:
        if isinstance(value, StagedArray):
            memory = program.standing_for(value.memory)
            taken = [program.standing_for(result.memory) for result in results]
            if not value.is_whole or memory.argument is not None or memory in taken:
                value = value.copy()
        else:
            elements = np.asarray(value, dtype=object)
            value = StagedArray(program, program.memory(elements.shape))
            for place in product(*map(range, elements.shape)):
                value[place] = elements[place]
        results.append(value)
    return results


def _needed(
    body: Sequence[Statement], nodes: Sequence[Node], results: Sequence[Memory]
) -> list[Statement]:
    """Return the statements that the results depend on."""
    written: dict[Memory, list[int | Memory | None]] = {}
    for writer in writers(body):
        source = writer.node if isinstance(writer, Store) else writer.source
        written.setdefault(writer.memory, []).append(source)
    needed: set[int | Memory] = set()
    waiting: list[int | Memory | None] = list(results)
    while waiting:
        item = waiting.pop()
        if item is None or item in needed:
            continue
        needed.add(item)
        if isinstance(item, Memory):
            waiting += written.get(item, ())
        elif nodes[item][0] == 'load':
            waiting.append(nodes[item][1])
        elif nodes[item][0] != 'const':
            waiting += nodes[item][1:]
    return _kept(body, needed)


def _kept(body: Sequence[Statement], needed: set[int | Memory]) -> list[Statement]:
    kept: list[Statement] = []
    for statement in body:
        if isinstance(statement, Loop):
            if inner := _kept(statement.body, needed):
                kept.append(Loop(statement.counter, inner))
        elif (statement.memory if isinstance(statement, Store | Copy) else statement) in needed:
            kept.append(statement)
    return kept


def _count(
    body: Sequence[Statement], nodes: Sequence[Node], counters: Mapping[Counter, IntArray]
) -> int:
    """Count the operations of statements that run once per entry of the counters' arrays."""
    runs = len(next(iter(counters.values()), [0]))
    count = sum(isinstance(s, int) and nodes[s][0] != 'load' for s in body) * runs
    for loop in body:
        if isinstance(loop, Loop):
            counter = loop.counter
            first, stop = (
                np.broadcast_to(evaluate(bound, counters), runs)
                for bound in (counter.first, counter.stop)
            )
            rounds = np.maximum(0, (stop - first) * counter.step)
            inside = {outer: np.repeat(values, rounds) for outer, values in counters.items()}
            done = np.arange(rounds.sum()) - np.repeat(np.cumsum(rounds) - rounds, rounds)
            inside[counter] = np.repeat(first, rounds) + counter.step * done
            count += _count(loop.body, nodes, inside)
    return count
