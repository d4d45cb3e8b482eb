# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Grouping of kernels into translation units, while further kernels are being recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kron_dynamics.kernels.emit import cost, providers
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.trace import Trace

# Fewest statements of a unit; compiling them takes several times as long as starting the compiler.
_SMALL = 600
# Later units have at least 1/_SHARE of the statements before them, so that the compiler is started
# a dozen times instead of a hundred.
_SHARE = 4


def in_translation_units(
    traces: Iterable[tuple[str, Trace | LoopTrace]], lanes: bool = False
) -> Iterator[dict[str, Trace | LoopTrace]]:
    """Yield groups of traces to be compiled together, each as soon as it is large enough.

    Consecutive traces stay together if one is the provider of another; see `providers`.

    Args:
        traces: traces with their keys; a generator is advanced only after a unit is yielded.
        lanes: whether the code will have one state per SIMD lane, which has no providers.
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
