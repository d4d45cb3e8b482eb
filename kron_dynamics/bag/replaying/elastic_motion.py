# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Forced vibrations of flexible links under the recorded motion of the joints.

The joints' motion is known, so the equations of motion of the modal coordinates e are

.. math:: M_{ee} \ddot e + D_{ee} \dot e + K_{ee} (e - e_0) = -f_e(q, \dot q, \ddot q, e_0)

with matrices linearised about the static deflection under weight, e_0, along the joints' motion.
The effects of drives, friction and control are contained in that motion. The equations are linear
in the excitation, so smoothed joint accelerations give modal coordinates smoothed by the same
kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# Longest integration step as phase of the fastest mode, rad: relative amplitude error 2e-5 per
# period.
_STEP_PHASE = 0.3
# Samples whose matrices are held in memory at a time.
_BLOCK = 5000


def modal_blocks(
    robot: Robot,
    step: float,
    parts: Iterable[tuple[FloatArray, BoolArray]],
    start: tuple[FloatArray, FloatArray] | None = None,
) -> Iterator[FloatArray]:
    """Yield modal coordinates, rates and accelerations in blocks, shape (3, N, m).

    Without `start` the links begin at the first known sample without vibration, deflected by
    weight and joint acceleration. An earlier vibration is missing; the error decays like that
    vibration. Before the first and after the last known sample the deflections are constant.

    Args:
        robot: robot with flexible links.
        step: time step of the samples, s.
        parts: consecutive blocks of samples: positions, rates and accelerations of the joints,
            shape (3, N, n_j), and a mask of the known samples, shape (N,); the others are
            interpolated.
        start: modal coordinates and their rates at the first known sample, shape (m,) each.

    Raises:
        ModelError: the links buckle under their weight, or bend too far for their equations.
    """
    links: _Links | None = None
    reached = np.zeros((3, 1, robot.n - robot.model.joint_count))
    for still, joints in _bridged(parts):
        for first in range(0, joints.shape[1], _BLOCK):
            block = joints[:, first : first + _BLOCK]
            if links is None:
                links = _Links(robot, step, block[:, 0], start)
            moved = links.moved(block)
            if still and not first:
                yield _held(moved[:, :1], still)
            yield moved
            reached = moved[:, -1:]
        if still and not joints.shape[1]:
            yield _held(reached, still)


def _held(row: FloatArray, count: int) -> FloatArray:
    """Return samples at rest with the deflection of a row (3, 1, m), shape (3, count, m)."""
    held = np.zeros((3, count, row.shape[2]))
    held[:1] = row[:1]
    return held


class _Links:
    """State of the flexible links, integrated from sample to sample."""

    def __init__(
        self,
        robot: Robot,
        step: float,
        joints: FloatArray,
        start: tuple[FloatArray, FloatArray] | None,
    ) -> None:
        self._robot, self._step, count = robot, step, len(joints[0])
        self._bent = quasi_static_equilibrium(robot, joints[0])[count:]
        if start is None:
            moving = quasi_static_equilibrium(robot, *joints)[count:]
            start = moving, np.zeros_like(moving)
        self._state = np.concatenate([start[0] - self._bent, start[1]])
        self._before: tuple[FloatArray, FloatArray] | None = None  # A and b at the last sample

    def moved(self, joints: FloatArray) -> FloatArray:
        """Return the modal motion in the next samples, (3, N, m), for joints (3, N, n_j)."""
        count, m = joints.shape[2], len(self._bent)
        motion = np.zeros((3, joints.shape[1], count + m))
        motion[:, :, :count] = joints
        motion[0, :, count:] = self._bent
        A, b = _coefficients(self._robot, motion)
        reached = slice(0, None)
        if self._before is not None:  # the first step begins at the last sample
            A, b = (np.concatenate(pair) for pair in zip(self._before, (A, b), strict=True))
            reached = slice(1, None)
        states = _states(A, b, self._step, self._state)[reached]
        self._state, self._before = states[-1], (A[-1:], b[-1:])
        motion[0, :, count:] += states[:, :m]
        motion[1, :, count:] = states[:, m:]
        rates = np.einsum('kij,kj->ki', A[reached], states) + b[reached]
        motion[2, :, count:] = rates[:, m:]
        self._robot.check_deflections(motion[0])
        return motion[:, :, count:]


def _bridged(
    parts: Iterable[tuple[FloatArray, BoolArray]],
) -> Iterator[tuple[int, FloatArray]]:
    """Yield a number of samples at rest and the joints' motion, (3, N, n_j), interpolated.

    The samples at rest are the unknown ones before the motion; with N = 0 those after its end.
    """
    last: FloatArray | None = None  # last known sample, (3, 1, n_j)
    waiting: FloatArray | None = None  # unknown samples after it
    for given, known in parts:
        part, good = given, known & np.isfinite(given).all(axis=(0, 2))
        if waiting is not None:
            part = np.concatenate([waiting, given], axis=1)
            good = np.concatenate([np.zeros(waiting.shape[1], dtype=bool), good])
        where = np.flatnonzero(good)
        if not len(where):
            waiting = part
            continue
        first, end = int(where[0]), int(where[-1]) + 1
        waiting = part[:, end:]
        if last is None:
            yield first, _interpolated(part[:, first:end], where - first)
        else:
            ready = np.concatenate([last, part[:, :end]], axis=1)
            yield 0, _interpolated(ready, np.concatenate([[0], where + 1]))[:, 1:]
        last = part[:, end - 1 : end]
    if waiting is not None and waiting.shape[1]:
        yield waiting.shape[1], waiting[:, :0]


def _interpolated(motion: FloatArray, good: IntArray) -> FloatArray:
    """Return a motion (3, N, n_j), linearly interpolated between the good rows."""
    if len(good) == motion.shape[1]:
        return motion
    index = np.arange(motion.shape[1])
    rows = [[np.interp(index, good, column[good]) for column in values.T] for values in motion]
    return np.asarray(np.swapaxes(np.array(rows), 1, 2))


def _coefficients(robot: Robot, motion: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return A and b of d(state)/dt = A state + b, shapes (N, 2m, 2m) and (N, 2m).

    The state is (e - e_0, its rate); the motion, shape (3, N, n), contains e_0.
    """
    modal = slice(robot.model.joint_count, robot.n)
    at = motion.copy()
    at[1:, :, modal] = 0.0
    mass, damping, stiffness, effort = robot.linearization(*at)
    m = robot.n - modal.start
    inner = np.s_[:, modal, modal]
    damped = damping[inner] + np.diag(robot.model.structural_damping[modal])
    right = np.concatenate([stiffness[inner], damped, effort[:, modal, None]], axis=2)
    solved = -np.linalg.solve(mass[inner], right)
    A = np.zeros((motion.shape[1], 2 * m, 2 * m))
    A[:, :m, m:] = np.eye(m)
    A[:, m:] = solved[:, :, : 2 * m]
    b = np.concatenate([np.zeros((motion.shape[1], m)), solved[:, :, 2 * m]], axis=1)
    return A, b


def _states(A: FloatArray, b: FloatArray, step: float, state: FloatArray) -> FloatArray:
    """Return the state at each sample, beginning with the given first one, shape (N, 2m)."""
    fastest = float(np.abs(np.linalg.eigvals(A[0])).max())
    steps = max(1, int(np.ceil(step * fastest / _STEP_PHASE)))
    size = A.shape[1] + 1
    affine = np.zeros((len(A), size, size))
    affine[:, :-1, :-1], affine[:, :-1, -1] = A, b
    states = np.ones((len(A), size))
    states[0, :-1] = state
    transitions = _transitions(affine, step, steps)
    # `dot` into a row takes a third of the time of sums of new arrays, sample by sample.
    for matrix, before, after in zip(transitions, states[:-1], states[1:], strict=True):
        np.dot(matrix, before, after)
    return states[:, :-1]


def _transitions(affine: FloatArray, step: float, steps: int) -> FloatArray:
    """Return transition matrices between samples by classical RK4 steps, shape (N - 1, k, k)."""
    h, unit = step / steps, np.eye(affine.shape[1])
    total = np.broadcast_to(unit, affine[1:].shape)
    begin, change = affine[:-1], np.diff(affine, axis=0)
    for k in range(steps):
        left, middle, right = (begin + change * (share / steps) for share in (k, k + 0.5, k + 1))
        one = left
        two = middle @ (unit + 0.5 * h * one)
        three = middle @ (unit + 0.5 * h * two)
        four = right @ (unit + h * three)
        total = (unit + h / 6.0 * (one + 2.0 * two + 2.0 * three + four)) @ total
    return np.asarray(total)
