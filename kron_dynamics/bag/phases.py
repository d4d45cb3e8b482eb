# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Phases of a machine's work: moving, at rest, holding a load, or digging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.external_effort import ExternalEfforts
from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

KINDS = ('at rest', 'holding', 'moving', 'digging')
# A joint moves if its speed exceeds this share of its largest speed. All thresholds also exceed
# the noise (standard deviation) by NOISE_FACTOR.
MOVING_SHARE = 0.01
NOISE_FACTOR = 5.0
# A joint holds if its effort exceeds this share of its largest effort.
HOLDING_SHARE = 0.05
# A joint digs if its external effort has a standard deviation above this share of its largest
# recorded effort, within DIGGING_ROWS rows to either side (a few seconds).
DIGGING_SHARE = 0.15
DIGGING_ROWS = 20
# Least share of these rows with a known external effort: at the ends of a segment it is 13 of 41.
KNOWN_SHARE = 0.25
# Rounding of an external effort, as a share of the largest.
ROUNDING = 1e-9
# Shorter phases, in s, are merged into the one before.
SHORTEST = 1.0


@dataclass(frozen=True)
class Phase:
    """A time interval during which a machine did one thing.

    Attributes:
        kind: one of `KINDS`: 'moving', 'at rest' (no motion and hardly any effort), 'holding'
            (effort without motion) or 'digging' (a varying external effort against the drive's).
        segment: index of its segment of the run, from 0.
        start: s.
        end: s.
        joints: the joints that move, hold, or bear the external effort.
    """

    kind: str
    segment: int
    start: float
    end: float
    joints: tuple[str, ...]


def phases(
    replay: Replay,
    external: Sequence[ExternalEfforts],
    effort_noise: FloatArray,
    external_noise: FloatArray,
) -> tuple[Phase, ...]:
    """Return the phases of a run in the order of time.

    Args:
        replay: the recomputed run.
        external: its external efforts.
        effort_noise: standard deviation of the averaged recorded efforts, shape (n,); NaN where
            none are recorded.
        external_noise: standard deviation of the external efforts, shape (n,); NaN where none
            are known.
    """
    speeds = np.array([item.velocity_deviation() for item in replay.filters])
    rows = [item.rows for item in external]
    fastest = _largest([np.abs(part.velocity[part.valid]) for part in rows], replay.robot.n)
    strongest = _largest([np.abs(part.effort[part.valid]) for part in rows], replay.robot.n)
    moving = np.maximum(MOVING_SHARE * fastest, NOISE_FACTOR * speeds)
    holding = np.maximum(HOLDING_SHARE * strongest, NOISE_FACTOR * np.nan_to_num(effort_noise))
    digging = np.maximum(DIGGING_SHARE * strongest, NOISE_FACTOR * np.nan_to_num(external_noise))
    # No external effort can be estimated without recorded efforts, nor out of rounding errors.
    digging = np.where(strongest > 0.0, digging, np.inf)
    # What the motion needs, whether the drive or a brake exerts it.
    needed = _largest(
        [np.abs(item.rows.effort + item.effort)[item.rows.valid] for item in external],
        replay.robot.n,
    )
    driving = np.maximum(holding, HOLDING_SHARE * needed)
    pushed = _largest([np.abs(item.effort[item.rows.valid]) for item in external], replay.robot.n)
    digging = np.maximum(digging, ROUNDING * pushed)
    found: list[Phase] = []
    for number, item in enumerate(external):
        part = item.rows
        with np.errstate(invalid='ignore'):
            # Without a drive's effort, a brake or friction bears what the joint is pushed with.
            borne = np.where(np.abs(part.effort) > driving, item.effort, np.nan)
            states = {
                'digging': _variation(borne) > digging,
                'moving': np.abs(part.velocity) > moving,
                'holding': np.abs(part.effort) > holding,
            }
        kinds = np.zeros(len(part.time), dtype=int)
        for kind in ('holding', 'moving', 'digging'):
            kinds[states[kind].any(axis=1)] = KINDS.index(kind)
        found += _runs(part.time, part.valid, kinds, states, replay.robot.joint_names, number)
    return tuple(found)


def _largest(parts: Sequence[FloatArray], n: int) -> FloatArray:
    values = np.concatenate([np.zeros((1, n)), *parts])
    return np.asarray(np.nan_to_num(values).max(axis=0))


def _variation(effort: FloatArray) -> FloatArray:
    """Return the moving standard deviation over DIGGING_ROWS rows to either side, shape (N, n).

    Unknown rows do not count; they vary as the nearest known one. NaN where fewer than
    KNOWN_SHARE of the rows are known.
    """
    box = np.ones(2 * DIGGING_ROWS + 1)
    found = np.full(effort.shape, np.nan)
    for k, column in enumerate(effort.T):
        known = np.isfinite(column)
        if not known.any():
            continue
        # Deviations from the mean: cancellation would hide small variations otherwise.
        centred = np.where(known, column - column[known].mean(), 0.0)
        count = _moving(known.astype(float), box)
        least = np.maximum(count, 1.0)
        mean = _moving(centred, box) / least
        spread = np.sqrt(np.maximum(_moving(centred**2, box) / least - mean**2, 0.0))
        enough = count >= KNOWN_SHARE * len(box)
        found[enough, k] = spread[_nearest(known)][enough]
    return found


def _nearest(known: BoolArray) -> IntArray:
    """Return the index of the nearest known row, shape (N,), of the later one of two."""
    places, rows = np.flatnonzero(known), np.arange(len(known))
    later = np.searchsorted(places, rows).clip(max=len(places) - 1)
    earlier = (later - 1).clip(0)
    is_earlier = np.abs(rows - places[earlier]) < np.abs(places[later] - rows)
    return np.asarray(np.where(is_earlier, places[earlier], places[later]))


def _moving(values: FloatArray, box: FloatArray) -> FloatArray:
    padded = np.pad(values, len(box) // 2)
    return np.convolve(padded, box, 'valid')


def _runs(
    time: FloatArray,
    valid: BoolArray,
    kinds: FloatArray,
    states: dict[str, BoolArray],
    names: Sequence[str],
    segment: int,
) -> list[Phase]:
    rows = np.flatnonzero(valid)
    if not len(rows):
        return []
    kinds, half = kinds[rows], 0.5 * float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    bounds = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(rows)]
    merged: list[list[int]] = []
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        kind = int(kinds[first])
        short = time[rows[last - 1]] - time[rows[first]] < SHORTEST
        if merged and (short or merged[-1][2] == kind):
            merged[-1][1] = last
        else:
            merged.append([first, last, kind])
    found = []
    for first, last, kind in merged:
        part = rows[first:last]
        state = states.get(KINDS[kind])
        involved = () if state is None else np.flatnonzero(state[part].mean(axis=0) > 0.1)
        found.append(
            Phase(
                KINDS[kind],
                segment,
                float(time[part[0]] - half),
                float(time[part[-1]] + half),
                tuple(names[int(k)] for k in involved),
            )
        )
    return found
