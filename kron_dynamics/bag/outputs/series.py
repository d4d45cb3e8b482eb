# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The series of a run as named quantities with units, block by block.

They are the source of all outputs of series: CSV, Parquet, MCAP and the page with plots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kron_dynamics.bag.analysis import RunAnalysis
from kron_dynamics.bag.outputs.slow_series import SlowSeries
from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.bag.replaying.segment_replay import TERMS, SegmentReplay
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

TIP_COMPONENTS = ('x', 'y', 'z', 'angular_x', 'angular_y', 'angular_z')
# Rates by key, with the quantity that is differentiated.
RATES = {
    'jerk': 'acceleration',
    'recorded_rate': 'recorded',
    'recomputed_rate': 'recomputed',
    'tip_jerk': 'tip_recomputed',
}


@dataclass(frozen=True)
class Quantity:
    """One quantity of all joints, of the tip or of the flexible links.

    Attributes:
        key: its name in files.
        title: its name in plots.
        columns: the joints, the components of the tip's quantity or the modal coordinates.
        units: the unit of each column.
        owner: 'joints'; 'tip', linear then angular, base axes; or 'links'.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    owner: Literal['joints', 'tip', 'links'] = 'joints'


@dataclass(frozen=True)
class SeriesBlock:
    """Consecutive rows of a run.

    Attributes:
        segment: index of the segment without gaps, from 0.
        epoch: number of clock restarts before it.
        time: in s since the first stamp, evenly spaced, shape (N,).
        compared: mask of the rows far enough from ends and gaps to be compared, shape (N,).
        phase: the machine's phase as index into `phases.KINDS`, or `NO_PHASE`, shape (N,).
        values: values of each quantity by its key, shape (N, columns); NaN where unknown.
    """

    segment: int
    epoch: int
    time: FloatArray
    compared: BoolArray
    phase: IntArray
    values: dict[str, FloatArray]


def quantities_of(replay: Replay) -> tuple[Quantity, ...]:
    """Return the quantities of a run, in the order of the columns of its files."""
    model = replay.robot.model
    kinds = [joint_kind(kind) for kind in model.joint_types]
    motion = [kind.unit('position') for kind in kinds]
    efforts = [kind.unit('effort') for kind in kinds]

    def of_joints(key: str, title: str, units: list[str], per: str = '') -> Quantity:
        return Quantity(key, title, model.joint_names, tuple(unit + per for unit in units))

    def of_tip(key: str, title: str, per: str) -> Quantity:
        units = (f'm/{per}',) * 3 + (f'rad/{per}',) * 3
        return Quantity(key, title, TIP_COMPONENTS, units, 'tip')

    modes = replay.modal_names
    links = (Quantity('deflection', 'modal coordinate', modes, ('m',) * len(modes), 'links'),)
    return (
        of_joints('position', 'position', motion),
        of_joints('velocity', 'velocity', motion, '/s'),
        of_joints('acceleration', 'acceleration', motion, '/s^2'),
        of_joints('jerk', 'jerk', motion, '/s^3'),
        of_joints('recorded', 'recorded effort', efforts),
        of_joints('recomputed', 'recomputed effort', efforts),
        of_joints('uncertainty', 'standard deviation of the recomputed effort', efforts),
        of_joints('residual', 'recorded minus recomputed effort', efforts),
        *(of_joints(term, f'{term} term of the effort', efforts) for term in TERMS),
        of_joints('external', 'external effort', efforts),
        of_joints('recorded_rate', 'rate of the recorded effort', efforts, '/s'),
        of_joints('recomputed_rate', 'rate of the recomputed effort', efforts, '/s'),
        of_tip('tip_velocity', 'velocity of the tip', 's'),
        of_tip('tip_recorded', 'recorded acceleration of the tip', 's^2'),
        of_tip('tip_recomputed', 'recomputed acceleration of the tip', 's^2'),
        of_tip('tip_uncertainty', 'standard deviation of the recomputed acceleration', 's^2'),
        of_tip('tip_jerk', 'jerk of the tip', 's^3'),
        *(links if modes else ()),
    )


def series_blocks(run: RunAnalysis) -> Iterator[SeriesBlock]:
    """Yield all rows of a run in blocks, each row once, in order.

    Rates need rows on both sides, so the last rows of a block are yielded with the next block.
    """
    reach, slow = _Reach(run.replay), SlowSeries(run)
    waiting: _Waiting | None = None
    for part in run.replay.blocks():
        block = _block(part, slow)
        if waiting is not None and waiting.rows.segment != block.segment:
            yield waiting.taken(reach, all_of_it=True)
            waiting = None
        if waiting is None:
            waiting = _Waiting(block)
        else:
            waiting.add(block)
        yield waiting.taken(reach)
    if waiting is not None:
        yield waiting.taken(reach, all_of_it=True)


def _block(part: SegmentReplay, slow: SlowSeries) -> SeriesBlock:
    """Return the quantities of some rows, without rates."""
    count = len(part.time)
    return SeriesBlock(
        part.segment,
        part.epoch,
        part.time,
        part.valid,
        slow.phase(part.segment, part.time),
        {
            'position': part.position,
            'velocity': part.velocity,
            'acceleration': part.acceleration,
            'recorded': part.recorded,
            'recomputed': part.recomputed,
            'uncertainty': np.tile(part.effort_noise, (count, 1)),
            'residual': part.residual,
            **part.terms,
            'external': slow.external(part.segment, part.time),
            'tip_velocity': part.tip_velocity,
            'tip_recorded': part.tip_recorded,
            'tip_recomputed': part.tip_recomputed,
            'tip_uncertainty': np.tile(part.tip_noise, (count, 1)),
            'deflection': part.deflection,
        },
    )


class _Reach:
    """Lengths of the differences for rates: one window, as in `smoothness`."""

    def __init__(self, replay: Replay) -> None:
        widths = [2.0 * item.half_width for item in replay.filters]
        self._widths = {key: [max(widths)] * 6 if key == 'tip_jerk' else widths for key in RATES}

    def steps(self, key: str, step: float) -> list[int]:
        """Return the length of each column's differences in rows, for a time step in s."""
        return [max(1, round(width / step)) for width in self._widths[key]]

    def rows(self, step: float) -> int:
        """Return how many subsequent rows the rates of a row need."""
        return max(-(-each // 2) for key in RATES for each in self.steps(key, step))


class _Waiting:
    """Buffer of a segment's rows: the last rows returned, and rows that wait for later ones."""

    def __init__(self, rows: SeriesBlock) -> None:
        self.rows = rows
        self._given = 0

    def add(self, block: SeriesBlock) -> None:
        """Add the next rows of the segment."""
        self.rows = _joined(self.rows, block)

    def taken(self, reach: _Reach, *, all_of_it: bool = False) -> SeriesBlock:
        """Return the next rows with their rates, except for those that need later rows."""
        time = self.rows.time
        step = float(time[1] - time[0]) if len(time) > 1 else 1.0
        needed = reach.rows(step)
        end = len(time) if all_of_it else max(self._given, len(time) - needed)
        some = slice(self._given, end)
        rates = {
            key: _rates(self.rows, source, reach.steps(key, step), step)[some]
            for key, source in RATES.items()
        }
        given = _cut(self.rows, some)
        first = max(0, end - needed)
        self.rows, self._given = _cut(self.rows, slice(first, None)), end - first
        return replace(given, values=given.values | rates)


def _rates(rows: SeriesBlock, source: str, steps: list[int], step: float) -> FloatArray:
    """Return central differences per s, NaN where one end is missing or not compared."""
    signal = rows.values[source]
    rates = np.full(signal.shape, np.nan)
    for column, apart in enumerate(steps):
        if apart >= len(signal):
            continue
        known = np.where(rows.compared, signal[:, column], np.nan)
        middle = slice(apart // 2, apart // 2 + len(signal) - apart)
        rates[middle, column] = (known[apart:] - known[:-apart]) / (apart * step)
    return rates


def _joined(first: SeriesBlock, second: SeriesBlock) -> SeriesBlock:
    return SeriesBlock(
        first.segment,
        first.epoch,
        np.concatenate((first.time, second.time)),
        np.concatenate((first.compared, second.compared)),
        np.concatenate((first.phase, second.phase)),
        {key: np.concatenate((first.values[key], second.values[key])) for key in second.values},
    )


def _cut(rows: SeriesBlock, some: slice) -> SeriesBlock:
    return SeriesBlock(
        rows.segment,
        rows.epoch,
        rows.time[some],
        rows.compared[some],
        rows.phase[some],
        {key: table[some] for key, table in rows.values.items()},
    )
