# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How often states come is told by their stamps."""

from __future__ import annotations

import pytest

from kron_dynamics.control import watch_period
from kron_dynamics.control.sample_period import SamplePeriod


def regular(start, gap, count):
    return [start + gap * k for k in range(count + 1)]


@pytest.mark.parametrize(
    ('stamps', 'expected'),
    [
        ([], 0.02),
        (regular(5.0, 0.01, 3), 0.02),
        (regular(5.0, 0.01, 8), 0.01),
        (regular(5.0, 0.1, 8), 0.1),
        # Half of the eight: the longer one counts.
        ([*regular(5.0, 0.01, 8), *regular(5.12, 0.04, 3)], 0.04),
        # One clock that was set back and one lost state are no period.
        ([*regular(5.0, 0.01, 8), 4.3, 5.09, 5.1, 5.13], 0.01),
        # Repeated, back, ahead: no gaps at all.
        ([*regular(5.0, 0.01, 8), *[5.08, 3.0, 80.0] * 9], 0.01),
    ],
    ids=['none', 'few', 'quicker', 'slower', 'half', 'one clock set', 'clocks set'],
)
def test_the_median_of_the_last_gaps_counts(stamps, expected):
    period = SamplePeriod(0.02, longest=1.0)
    for stamp in stamps:
        period.note(stamp)
    assert period.value == pytest.approx(expected)


@pytest.mark.parametrize(
    ('timeout', 'longest_brake', 'expected'),
    [(0.02, 0.0, 0.005), (0.1, 0.0, 0.025), (60.0, 0.0, 0.05), (60.0, 0.04, 0.04)],
)
def test_silence_is_looked_for_often_enough(timeout, longest_brake, expected):
    assert watch_period(timeout, longest_brake) == pytest.approx(expected)
