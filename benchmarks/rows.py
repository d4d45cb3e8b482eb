# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A line of the report: what is measured, what is required of it and what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.timing import Comparison, Spread


@dataclass(frozen=True)
class Outcome:
    """What a measurement gave.

    Attributes:
        value: what is held against the bound: a ratio, a slope, a time in s or a difference.
        ours: our time, s, where the value is a ratio.
        peer: the other's time, s, where the value is a ratio.
        note: the other's name where several were tried, and the like.
    """

    value: Spread
    ours: float | None = None
    peer: float | None = None
    note: str = ''

    @classmethod
    def of(cls, comparison: Comparison, note: str = '') -> Outcome:
        """Return a ratio's outcome."""
        return cls(comparison.ratio, comparison.ours.median, comparison.peer.median, note)


@dataclass(frozen=True)
class Row:
    """A line of the report.

    Attributes:
        key: names it for `--only`, such as `step/panda`.
        target: number of the target it belongs to.
        what: what is measured.
        robot: of which robot.
        measure: takes the number of rounds.
        unit: 'x' (a ratio), 's' (a time), ' %' or '' (a plain number).
        at_least: required; None if not.
        at_most: required; None if not. A row with neither bound informs.
        spread_counts: the lower end of the spread is held against `at_most`, not the median.
    """

    key: str
    target: int
    what: str
    robot: str
    measure: Callable[[int], Outcome]
    unit: str = 'x'
    at_least: float | None = None
    at_most: float | None = None
    spread_counts: bool = False

    @property
    def required(self) -> bool:
        """Whether something is required, or the row only informs."""
        return self.at_least is not None or self.at_most is not None


def mark(row: Row, outcome: Outcome | str) -> str:
    """Return 'pass', 'short', '' for a row that informs, or 'not measured'."""
    if isinstance(outcome, str):
        return 'not measured'
    if not row.required:
        return ''
    value = outcome.value.low if row.spread_counts else outcome.value.median
    enough = row.at_least is None or value >= row.at_least
    small = row.at_most is None or value <= row.at_most
    return 'pass' if enough and small else 'short'
