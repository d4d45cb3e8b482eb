# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Velocities that tell another motion than the positions of a joint."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from kron_dynamics.bag.replaying.row_signals import stamps_key
from kron_dynamics.bag.replaying.smoothing import usual_noise
from kron_dynamics.bag.series.joint_log import GAP_PERIODS, JointLog
from kron_dynamics.typing import FloatArray

# Velocities are integrated over so many samples, and compared with what the position moved by.
BLOCK = 25
# Where that moved by this share of what it moves at most, and they differ by this share and by so
# many times the noise, they contradict each other.
MOVING_SHARE, DIFFERING_SHARE, NOISE_FACTOR = 0.1, 0.5, 6.0
# Velocities are not used that contradict the position in this share of the motion.
UNUSED_SHARE = 0.1
# What is left of a contradiction, in squares, where the velocity is in another unit only.
UNIT_SHARE = 0.01
# What most of the numbers are below.
USUAL = 0.95
# Distances of samples, and the usual one, of signals that are sampled together.
Steps = dict[tuple[int, int, int], tuple[FloatArray, float]]


def without_contradicting_velocities(
    log: JointLog, joint_names: Sequence[str], jumping: Collection[int], notes: list[str]
) -> JointLog:
    """Return a log without velocities that tell another motion than the positions.

    Args:
        log: of the joints.
        joint_names: their names.
        jumping: joints whose positions jump: it is not the velocity that is wrong.
        notes: where it is told.
    """
    found, unused = dict[str, list[str]](), set[int]()
    known: Steps = {}
    for k, name in enumerate(joint_names):
        contradiction = None if k in jumping else _contradiction(log, k, known)
        if contradiction is not None:
            found.setdefault(contradiction, []).append(name)
            unused.add(k)
    if not found:
        return log
    told = '; '.join(f'of {", ".join(names)} {text}' for text, names in found.items())
    notes.append(f'velocity {told}: not used')
    return log.without_velocities(unused)


def _contradiction(log: JointLog, k: int, known: Steps) -> str | None:
    """Return how the velocity of a joint contradicts its position; None if it does not."""
    moved, integral, noise, time = np.concatenate(
        [np.empty((4, 0)), *_moved(log, k, known)], axis=1
    )
    if not len(moved):
        return None
    largest = np.maximum(np.abs(moved), np.abs(integral))
    moves = largest > MOVING_SHARE * float(np.quantile(largest, USUAL))
    apart = np.abs(moved - integral)
    wrong = moves & (apart > DIFFERING_SHARE * largest) & (apart > NOISE_FACTOR * noise)
    share = float(wrong.sum() / max(int(moves.sum()), 1))
    if share <= UNUSED_SHARE and not np.any(wrong & (apart > np.abs(moved).max())):
        return None
    factor = float(integral @ moved / (moved @ moved)) if moved.any() else 0.0
    rest = integral - factor * moved
    if rest @ rest < UNIT_SHARE * (integral @ integral):
        return f'is {factor:.3g} times the rate of the position'
    return (
        f'contradicts the position in {100.0 * share:.2g} % of the motion, first at '
        f'{time[np.argmax(wrong)]:.2f} s'
    )


def _moved(log: JointLog, k: int, known: Steps) -> Iterator[FloatArray]:
    """Return blocks of each segment: moved by position, by velocity, noise, time; shape (4, N)."""
    for part in log.segments:
        place, rate = part.position[k], part.velocity[k]
        if len(rate.time) <= BLOCK or len(place.time) < 2:
            continue
        key = stamps_key(rate)
        if key not in known:
            known[key] = np.diff(rate.time), rate.period
        steps, period = known[key]
        # Each step alone: a sum over hours would round.
        areas = 0.5 * steps * (rate.value[1:] + rate.value[:-1])
        edges = np.arange(0, len(rate.time), BLOCK)
        times = rate.time[edges]
        integral = np.add.reduceat(areas, edges[:-1])
        integral[-1] = areas[edges[-2] : edges[-1]].sum()
        noise = np.hypot(
            usual_noise(place),
            usual_noise(rate) * period * np.sqrt(BLOCK),
        )
        together = stamps_key(place) == key
        moved = np.diff(
            place.value[edges] if together else np.interp(times, place.time, place.value)
        )
        # Of times without velocities nobody knows the integral.
        whole = np.maximum.reduceat(steps, edges[:-1]) < GAP_PERIODS * period
        yield np.stack([moved, integral, np.full(len(moved), noise), times[:-1]])[:, whole]
