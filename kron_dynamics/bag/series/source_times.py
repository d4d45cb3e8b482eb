# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states that were published again: the states themselves, at the times of their source.

A `joint_state_publisher`, or a recorder, that sends at its own rate repeats a state whenever its
source was slower, and stamps every state late by a time that runs like a saw tooth from zero to
the source's period. Differences of such velocities over such times are wrong by as much.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import savgol_filter

from kron_dynamics.bag.samples import Samples, sample_period
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.typing import BoolArray, FloatArray

# Fewer repeated states are chance.
LEAST_REPEATS = 3
# The source's clock is a straight line through the stamps of this many repeats.
REPEATS_ON_A_LINE = 20
# Stamps are this many of their periods off that line at most: half, if nothing else is late.
MOST_OFF = 1.0


@dataclass(frozen=True)
class Republished:
    """A stretch at the times of its source.

    Attributes:
        segment: the stretch.
        repeats: states that were left out.
        period: of the source, s; NaN where its clock was not found and stamps were left.
    """

    segment: JointSegment
    repeats: int
    period: float


def source_times(segment: JointSegment) -> Republished | None:
    """Return a stretch without repeated states, at the times of their source; None without such.

    A state is a repeat where no recorded number of any joint differs from the state before, and a
    velocity in it is not zero: what moves does not stay where it is. The source is taken to be
    even over `REPEATS_ON_A_LINE` repeats.

    Args:
        segment: of joints that are recorded together, each with velocities.
    """
    time = segment.position[0].time
    quantities = (*segment.position, *segment.velocity, *segment.effort)
    recorded = [samples for samples in quantities if len(samples.time)]
    if any(not np.array_equal(samples.time, time) for samples in recorded):
        return None
    repeated = _repeated(segment, recorded)
    repeats = int(np.count_nonzero(repeated))
    if repeats < LEAST_REPEATS:
        return None
    stamps = time[~repeated]
    even = _even(stamps, len(time) / repeats)
    late = np.max(np.abs(stamps - even))
    found = late <= MOST_OFF * sample_period(time) and bool(np.all(np.diff(even) > 0.0))
    new = even if found else stamps

    def kept(recorded: tuple[Samples, ...]) -> tuple[Samples, ...]:
        return tuple(
            Samples(new, samples.value[~repeated]) if len(samples.time) else samples
            for samples in recorded
        )

    moved = replace(
        segment,
        start=float(new[0]),
        end=float(new[-1]),
        position=kept(segment.position),
        velocity=kept(segment.velocity),
        effort=kept(segment.effort),
    )
    period = float((new[-1] - new[0]) / (len(new) - 1)) if found else float('nan')
    return Republished(moved, repeats, period)


def _repeated(segment: JointSegment, recorded: list[Samples]) -> BoolArray:
    """Return which states are those before once more, shape (N,)."""
    values = np.column_stack([samples.value for samples in recorded])
    speeds = [samples.value for samples in segment.velocity if len(samples.time)]
    if not speeds or len(values) < 2:
        return np.zeros(len(values), dtype=bool)
    same = (values[1:] == values[:-1]).all(axis=1)
    moving = (np.column_stack(speeds)[1:] != 0.0).any(axis=1)
    return np.concatenate([[False], same & moving])


def _even(stamps: FloatArray, between: float) -> FloatArray:
    """Return straight lines through stamps, shape (N,).

    Args:
        stamps: s, shape (N,).
        between: usual number of states from repeat to repeat.
    """
    window = min(round(REPEATS_ON_A_LINE * between), len(stamps))
    window -= 1 - window % 2
    if window < 3:
        return stamps
    return np.asarray(savgol_filter(stamps, window, 1))
