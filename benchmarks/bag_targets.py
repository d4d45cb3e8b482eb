# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The report's rows on recordings: reading, analysing and writing them."""

from __future__ import annotations

from functools import partial

from benchmarks import bag_analysis, bag_reading, bag_writing
from benchmarks.rows import Row


def bag_rows() -> list[Row]:
    """Return the rows, in the order of the page."""
    return [*_reading(), *_analyses(), _writing()]


def _reading() -> list[Row]:
    what = f'{bag_reading.MESSAGES:,} joint states of 7 joints in {{}}, against rosbags one by one'
    return [
        Row(
            f'bag/{storage}',
            13,
            what.format(name),
            'none',
            partial(bag_reading.reading, storage),
            at_least=bound,
        )
        for storage, name, bound in (('MCAP', 'MCAP', 5.0), ('SQLITE3', 'SQLite', None))
    ]


def _analyses() -> list[Row]:
    count = bag_analysis.MESSAGES
    what = f'{count:,} joint states of 6 joints in {{}} read and analysed, as a share of rosbags'
    return [
        *(
            Row(
                f'analysis/{storage}',
                13,
                what.format(name),
                'ur5',
                partial(bag_analysis.share, storage),
                at_most=0.2,
            )
            for storage, name in (
                ('mcap', 'MCAP'),
                ('mcap-zstd', 'MCAP with zstd'),
                ('sqlite3', 'SQLite'),
            )
        ),
        Row(
            'analysis/memory',
            13,
            f'peak memory of it in MB: {count:,} joint states in MCAP',
            'ur5',
            partial(bag_analysis.memory, 'mcap'),
            unit='',
            at_most=500.0,
        ),
    ]


def _writing() -> Row:
    return Row(
        'bag/series',
        13,
        f'series of {bag_writing.SAMPLES:,} analysed samples to MCAP, against rosbags one by one',
        'ur5',
        bag_writing.writing,
        at_least=5.0,
    )
