# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states at the times of their source, where a recorder polled or republished them.

A `joint_state_publisher`, or a recorder, with a rate of its own repeats states if its source is
slower, misses some if the source is faster, and stamps each state late by up to the source's
period. Velocity differences over such stamps have errors of that size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.bag.reading.spool import Spool
from kron_dynamics.bag.replaying.resampling import resolution
from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.clock_from_motion import source_clock
from kron_dynamics.bag.series.joint_log import JointLog, JointSegment
from kron_dynamics.typing import FloatArray, IntArray

# Fewer repeated states count as coincidence.
LEAST_REPEATS = 3
# A joint has moved if its velocity says so by this many steps of its encoder: a rounded velocity
# may be twice the true one.
LEAST_MOVED = 3.0


@dataclass(frozen=True)
class AtSource:
    """A segment at the times of its source.

    Attributes:
        segment: the segment.
        repeats: number of repeated states that were left out.
        period: period of the source, s; NaN if its clock was not found and stamps were kept.
        moved: RMS difference between times and stamps, s.
    """

    segment: JointSegment
    repeats: int
    period: float
    moved: float


def log_at_source_times(log: JointLog) -> tuple[JointLog, list[str]]:
    """Return a log at the times of its source, and notes about the changes.

    Args:
        log: log of one robot's joints.
    """
    found = [source_times(segment) for segment in log.segments]
    segments = [
        segment if moved is None else moved.segment
        for segment, moved in zip(log.segments, found, strict=True)
    ]
    timed = [moved for moved in found if moved is not None and np.isfinite(moved.period)]
    repeats = sum(moved.repeats for moved in found if moved is not None)
    notes = []
    if repeats:
        notes.append(f'{repeats} states repeat the one before: not used')
    if timed:
        off = max(moved.moved for moved in timed)
        period = float(np.median([moved.period for moved in timed]))
        notes.append(
            f'stamps are off by {1e3 * off:.3g} ms (root mean square) according to positions and '
            f'velocities: states are moved to the times of a source with a period of '
            f'{1e3 * period:.4g} ms in {len(timed)} of {len(found)} stretches'
        )
    elif repeats:
        notes.append('states keep their stamps: no source with a constant period fits them')
    return replace(log, segments=tuple(segments)), notes


def source_times(segment: JointSegment) -> AtSource | None:
    """Return a segment without repeated states, at the times of their source.

    None if there are no repeats and the stamps are as accurate as any clock found. A state is a
    repeat if no recorded value of any joint differs from the state before although some joint has
    moved, according to its velocity, by more than its encoder resolves.

    Args:
        segment: segment of joints that are recorded together, with velocities.
    """
    time = segment.position[0].time
    quantities = (*segment.position, *segment.velocity, *segment.effort)
    recorded = [samples for samples in quantities if len(samples.time)]
    with_velocity = [k for k, samples in enumerate(segment.velocity) if len(samples.time)]
    if not with_velocity or any(not np.array_equal(samples.time, time) for samples in recorded):
        return None
    repeated = _repeated(segment, recorded)
    repeats = len(repeated) if len(repeated) >= LEAST_REPEATS else 0
    rows = np.arange(len(time))
    if repeats:
        rows = np.delete(rows, repeated)
    clock = source_clock(
        time,
        [segment.position[k].value for k in with_velocity],
        [segment.velocity[k].value for k in with_velocity],
        rows,
    )
    if clock is None and not repeats:
        return None
    new, period = time[rows], float('nan')
    if clock is not None:
        rows, new, period = clock.rows, clock.time, clock.period
    repeats = len(time) - len(rows)

    def kept(recorded: tuple[Samples, ...]) -> tuple[Samples, ...]:
        return tuple(
            Samples(new, _taken(samples, rows) if repeats else samples.value)
            if len(samples.time)
            else samples
            for samples in recorded
        )

    at_source = replace(
        segment,
        start=float(new[0]),
        end=float(new[-1]),
        position=kept(segment.position),
        velocity=kept(segment.velocity),
        effort=kept(segment.effort),
    )
    moved = float(np.sqrt(np.mean((new - time[rows]) ** 2)))
    return AtSource(at_source, repeats, period, moved)


def _taken(samples: Samples, rows: IntArray) -> FloatArray:
    """Return some of the values; those of a long recording are stored in a file."""
    table = Spool(float, 1)
    table.append(samples.value[rows][:, None])
    return np.asarray(table.table()[:, 0])


def _repeated(segment: JointSegment, recorded: list[Samples]) -> IntArray:
    """Return the indices of states that repeat the one before, shape (K,)."""
    first = recorded[0].value
    rows = 1 + np.flatnonzero(first[1:] == first[:-1])
    for samples in recorded[1:]:
        rows = rows[samples.value[rows] == samples.value[rows - 1]]
    if not len(rows):
        return rows
    # Rows that repeat the same state are judged together: from it to the next other state.
    begins = np.diff(rows, prepend=-1) > 1
    first = (rows[begins] - 1)[np.cumsum(begins) - 1]
    ends = np.append(np.flatnonzero(begins)[1:], len(rows)) - 1
    time = recorded[0].time
    after = np.minimum(rows[ends] + 1, len(time) - 1)[np.cumsum(begins) - 1]
    moving = np.zeros(len(rows), dtype=bool)
    for place, rate in zip(segment.position, segment.velocity, strict=True):
        if len(rate.time):
            moved = np.abs(rate.value[rows]) * (time[after] - time[first])
            moving |= moved > LEAST_MOVED * resolution(place.value)
    return rows[moving]
