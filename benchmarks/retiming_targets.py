# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The report's rows on retiming within limits of efforts and effort rates."""

from __future__ import annotations

from functools import partial

from benchmarks import retiming
from benchmarks.robots import ROBOTS
from benchmarks.rows import Row


def retiming_rows() -> list[Row]:
    """Return the rows, in the order of the page."""
    call = 'path retimed with effort rate limits, one call'
    used = 'greatest share of a velocity, effort or effort rate limit in all samples 1 ms apart'
    plainly = 'greatest share of a velocity or effort limit in motions without effort rate limits'
    rows = []
    for key, what, measure, unit, bound in (
        ('time', call, partial(retiming.time_of_plan, True), 's', 5e-3),
        (
            'plain',
            'path retimed without effort rate limits, one call',
            partial(retiming.time_of_plan, False),
            's',
            None,
        ),
        ('bound', 'longer than a dense search finds', retiming.longer_than_bound, ' %', 3.0),
        (
            'toppra',
            "without effort rate limits, longer than toppra's",
            retiming.longer_than_toppra,
            ' %',
            0.0,
        ),
        (
            'longest',
            'the longest of these, against toppra that keeps limits at its grid points',
            partial(retiming.longest_beside_toppra, 'collocation'),
            ' %',
            None,  # those motions exceed the limits
        ),
        (
            'slowed',
            'the longest of these, against motions of that toppra slowed until they keep limits',
            partial(retiming.longest_beside_toppra, 'slowed'),
            ' %',
            0.0,
        ),
        (
            'between',
            'the longest of these, against toppra that keeps limits between its grid points too',
            partial(retiming.longest_beside_toppra, 'interpolation'),
            ' %',
            0.0,
        ),
        (
            'overshoot',
            'greatest share of an effort limit in motions of toppra with limits at grid points',
            retiming.most_used_by_toppra,
            ' %',
            None,
        ),
        ('used', used, partial(retiming.most_used, True), ' %', 100.0),
        ('used-plain', plainly, partial(retiming.most_used, False), ' %', 100.0),
    ):
        for robot in ROBOTS:
            task = partial(measure, robot)
            rows.append(Row(f'retime/{key}/{robot}', 12, what, robot, task, unit, at_most=bound))
    return rows
