# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Jumps of positions: whole turns are unwrapped, other jumps reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kron_dynamics.bag.replaying.resampling import usual_noise
from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointLog, JointSegment
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import FloatArray, IntArray

# A step over dt is a jump if it exceeds the velocity limit times (JUMP_FACTOR dt + JUMP_TIME), as
# for the parameter `position_jump` of the node; JUMP_TIME in s.
JUMP_FACTOR, JUMP_TIME = 2.0, 0.05
_TURN = 2.0 * np.pi
# Largest deviation from whole turns, rad, of a jump that is unwrapped.
MOST_OFF_TURN = 0.5


def without_turns(
    log: JointLog, model: RobotModel, notes: list[str]
) -> tuple[JointLog, frozenset[int]]:
    """Return a log without jumps by whole turns, and the indices of joints with other jumps.

    Args:
        log: log of the model's joints.
        model: the robot.
        notes: list to which notes about jumps are appended.
    """
    segments, left, turned, unclear = list(log.segments), dict[int, str](), [], []
    for k, name in enumerate(model.joint_names):
        speed = _most_speed(log, k, float(model.velocity_limit[k]))
        found = [_jumps(part.position[k], speed) for part in segments]
        sizes = np.concatenate([np.empty(0), *(size for _, size, _ in found)])
        if not len(sizes):
            unclear += _unclear(log, k, name, speed)
            continue
        allowed = np.concatenate([most for *_, most in found])
        motion = joint_kind(model.joint_types[k]).motion
        off_turn = np.abs(sizes - _TURN * np.round(sizes / _TURN))
        if (
            motion.turns
            and not motion.slides
            and np.all(off_turn <= np.minimum(allowed, MOST_OFF_TURN))
        ):
            for number, (index, size, _) in enumerate(found):
                segments[number] = _turned_back(segments[number], k, index, size)
            turned.append(f'{name} {len(sizes)} times')
            continue
        part, (index, size, _) = next(
            pair for pair in zip(segments, found, strict=True) if len(pair[1][0])
        )
        time = float(part.position[k].time[index[0] + 1])
        unit = joint_kind(model.joint_types[k]).unit('position')
        left[k] = f'{name} {len(sizes)} times, first by {size[0]:.3g} {unit} at {time:.2f} s'
    if turned:
        notes.append(
            f'positions jump by whole turns: {", ".join(turned)}; they are unwrapped, as of a '
            'joint that is reported modulo one turn'
        )
    if left:
        notes.append(
            f'positions jump as no motion does: {"; ".join(left.values())}. Two publishers of the '
            'same joints, or wrong samples? Recomputed values there are wrong, too'
        )
    if unclear:
        notes.append(
            f'positions change from sample to sample as noise does: {", ".join(unclear)}. Too few '
            'samples for this motion? Velocities are wrong then, and with them efforts and phases'
        )
    return replace(log, segments=tuple(segments)), frozenset(left)


def _unclear(log: JointLog, k: int, name: str, speed: float) -> list[str]:
    """Return a phrase if a joint's noise is as large as a jump: no encoder has such noise."""
    places = [part.position[k] for part in log.segments]
    noise = max((usual_noise(each) for each in places), default=0.0)
    return [f'{name} by {noise:.3g}'] if noise > JUMP_TIME * speed > 0.0 else []


def _most_speed(log: JointLog, k: int, limit: float) -> float:
    """Return a joint's largest speed, rad/s or m/s: its limit or the largest recorded velocity.

    It is 0 if both are unknown.
    """
    rates = [part.velocity[k] for part in log.segments if len(part.velocity[k].time)]
    recorded = max((abs(bound) for rate in rates for bound in rate.extremes), default=0.0)
    return max(recorded, limit if np.isfinite(limit) else 0.0)


def _jumps(samples: Samples, speed: float) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the indices of the steps that are jumps, their sizes, and the allowed sizes."""
    steps = np.diff(samples.value)
    index = np.empty(0, dtype=np.intp)
    if speed > 0.0:
        # A cheap preselection, which is mostly empty.
        index = np.flatnonzero(np.abs(steps) > speed * JUMP_TIME)
    most = speed * (JUMP_FACTOR * (samples.time[index + 1] - samples.time[index]) + JUMP_TIME)
    jumps = np.abs(steps[index]) > most
    return index[jumps], steps[index[jumps]], most[jumps]


def _turned_back(part: JointSegment, k: int, index: IntArray, sizes: FloatArray) -> JointSegment:
    if not len(index):
        return part
    turns = np.zeros(len(part.position[k].value))
    turns[index + 1] = _TURN * np.round(sizes / _TURN)
    moved = Samples(part.position[k].time, part.position[k].value - np.cumsum(turns))
    position = (*part.position[:k], moved, *part.position[k + 1 :])
    return replace(part, position=position)
