# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Which kernels are compiled together, while others are still being recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kron_dynamics.kernels.emit import cost, providers
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.trace import Trace

# Statements that take the compiler as long as to start it, several times over.
_SMALL = 600
# Later units are larger, a share of all before them: the compiler is started a dozen times, not a
# hundred.
_SHARE = 4


def in_translation_units(
    traces: Iterable[tuple[str, Trace | LoopTrace]], lanes: bool = False
) -> Iterator[dict[str, Trace | LoopTrace]]:
    """Yield traces in groups to be compiled together, each as soon as it is large enough.

    Traces that one kernel can serve stay together with it where they come one after the other.

    Args:
        traces: with their keys; a generator is asked for the next when the last unit is out.
        lanes: whether the code will have one state per SIMD lane, where no kernel serves another.
    """
    unit: dict[str, Trace | LoopTrace] = {}
    done = 0
    for key, trace in traces:
        members = list(unit.values())
        work = sum(cost([member]) for member in members) if lanes else cost(members)
        if work >= max(_SMALL, done // _SHARE):
            if lanes or len(providers([*members, trace])) == len(providers(members)):
                yield unit
                unit, done = {}, done + work
        unit[key] = trace
    if unit:
        yield unit
