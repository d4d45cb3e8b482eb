# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of velocities that contradict the positions of a joint."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from kron_dynamics.bag.replaying.resampling import usual_noise
from kron_dynamics.bag.replaying.row_signals import stamps_key
from kron_dynamics.bag.series.joint_log import GAP_PERIODS, JointLog
from kron_dynamics.typing import FloatArray

# Samples per block: velocities are integrated over it and compared with the position's change.
BLOCK = 25
# A block is a contradiction if the joint moves by MOVING_SHARE of its large (USUAL) movements, and
# the two differ by DIFFERING_SHARE of the movement and by NOISE_FACTOR times the noise.
MOVING_SHARE, DIFFERING_SHARE, NOISE_FACTOR = 0.1, 0.5, 6.0
# Velocities are not used if more than this share of the moving blocks are contradictions.
UNUSED_SHARE = 0.1
# Velocities are proportional to the position's rate (another unit or sign) if the sum of squared
# residuals is below this share.
UNIT_SHARE = 0.01
# Quantile that stands for a large movement.
USUAL = 0.95
# Time differences of samples, and the usual period, by the stamps' key.
Steps = dict[tuple[int, int, int], tuple[FloatArray, float]]


def without_contradicting_velocities(
    log: JointLog, joint_names: Sequence[str], jumping: Collection[int], notes: list[str]
) -> JointLog:
    """Return a log without velocities that contradict the positions.

    Args:
        log: log of the joints.
        joint_names: their names.
        jumping: indices of joints whose positions jump: their velocities are not checked.
        notes: list to which a note is appended.
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
    phrases = '; '.join(f'of {", ".join(names)} {text}' for text, names in found.items())
    notes.append(f'velocity {phrases}: not used')
    return log.without_velocities(unused)


def _contradiction(log: JointLog, k: int, known: Steps) -> str | None:
    """Return a phrase about how a joint's velocity contradicts its position; None if not."""
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
    """Yield rows of N blocks: position change, velocity integral, noise, time; shape (4, N)."""
    for part in log.segments:
        place, rate = part.position[k], part.velocity[k]
        if len(rate.time) <= BLOCK or len(place.time) < 2:
            continue
        key = stamps_key(rate)
        if key not in known:
            known[key] = np.diff(rate.time), rate.period
        steps, period = known[key]
        # Integrated block by block: a cumulative sum over hours would lose precision.
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
        # The integral over a gap in the velocities is unknown.
        whole = np.maximum.reduceat(steps, edges[:-1]) < GAP_PERIODS * period
        yield np.stack([moved, integral, np.full(len(moved), noise), times[:-1]])[:, whole]
