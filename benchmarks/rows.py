# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A row of the report: the measurement, its requirement and its outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.timing import Comparison, Spread


@dataclass(frozen=True)
class Outcome:
    """Outcome of a measurement.

    Attributes:
        value: value to compare with the bound: a ratio, a slope, a time in s or a difference.
        ours: our time, s, if the value is a ratio.
        peer: the peer's time, s, if the value is a ratio.
        note: a note, such as the name of the fastest variant.
    """

    value: Spread
    ours: float | None = None
    peer: float | None = None
    note: str = ''

    @classmethod
    def of(cls, comparison: Comparison, note: str = '') -> Outcome:
        """Return the outcome of a comparison, a ratio."""
        return cls(comparison.ratio, comparison.ours.median, comparison.peer.median, note)


@dataclass(frozen=True)
class Row:
    """A line of the report.

    Attributes:
        key: name for `--only`, such as `step/panda`.
        target: number of the target it belongs to.
        what: the measured quantity.
        robot: the robot.
        measure: function of the number of rounds.
        unit: 'x' (a ratio), 's' (a time), ' %' or '' (a plain number).
        at_least: lower bound; None for none.
        at_most: upper bound; None for none. A row with neither bound is informative.
        spread_counts: whether the lower end of the spread instead of the median is compared with
            `at_most`.
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
        """Whether the row has a bound."""
        return self.at_least is not None or self.at_most is not None


def mark(row: Row, outcome: Outcome | str) -> str:
    """Return 'pass', 'short', 'not measured', or '' for an informative row."""
    if isinstance(outcome, str):
        return 'not measured'
    if not row.required:
        return ''
    value = outcome.value.low if row.spread_counts else outcome.value.median
    enough = row.at_least is None or value >= row.at_least
    small = row.at_most is None or value <= row.at_most
    return 'pass' if enough and small else 'short'
