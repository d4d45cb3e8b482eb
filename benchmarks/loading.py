# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time from URDF text to a model, without kernels, as a function of the number of links."""

from __future__ import annotations

import functools
import time

from benchmarks.chain import chain_urdf
from benchmarks.rows import Outcome
from benchmarks.scaling import fitted_slope
from benchmarks.timing import Spread, pinned
from kron_dynamics.model import load_model

LINKS = (1_000, 2_500, 5_000, 10_000)


@functools.cache
def _times(rounds: int) -> tuple[tuple[float, ...], ...]:
    """Return the processor times for all numbers of links, s, one tuple per round."""
    texts = [chain_urdf(count) for count in LINKS]
    load_model(texts[0])
    with pinned():
        return tuple(tuple(_seconds(text) for text in texts) for _ in range(min(rounds, 5)))


def _seconds(text: str) -> float:
    start = time.process_time()
    load_model(text)
    return time.process_time() - start


def slope(rounds: int) -> Outcome:
    """Return the exponent of the growth, fitted in every round."""
    return Outcome(Spread.of([fitted_slope(LINKS, row) for row in _times(rounds)]))


def longest(rounds: int) -> Outcome:
    """Return the time for the longest chain."""
    return Outcome(Spread.of([row[-1] for row in _times(rounds)]))
