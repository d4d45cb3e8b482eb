# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""What flexible links did while the joints moved as recorded.

Modal coordinates e are forced vibrations: the joints' motion is known, so that the rows of the
equations of motion that belong to e are

.. math:: M_{ee} \ddot e + D_{ee} \dot e + K_{ee} (e - e_0) = -f_e(q, \dot q, \ddot q, e_0)

with matrices linearised about the links bent by their weight, e_0, along the motion of the joints.
Whatever drives, friction and control did is in that motion already. It is linear in the motion, so
that smoothed joint accelerations give modal coordinates smoothed by the same kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, FloatArray

# Longest integration step, in rad of the fastest mode: an error of the amplitude of 2e-5 a turn.
_STEP_PHASE = 0.3
# Samples whose matrices are held at once.
_BLOCK = 5000


class ElasticMotion(NamedTuple):
    """A motion in all n coordinates of a robot with flexible links, shape (N, n) each.

    Attributes:
        q: coordinates, rad or m.
        qd: their rates.
        qdd: their accelerations.
    """

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray


def elastic_motion(
    robot: Robot,
    step: float,
    joints: tuple[FloatArray, FloatArray, FloatArray],
    known: BoolArray,
    start: tuple[FloatArray, FloatArray] | None = None,
) -> ElasticMotion:
    """Return the motion of a robot with flexible links whose joints move as given.

    Without a start the links are bent by weight and by the joints' acceleration at the first
    known sample, and do not vibrate: a vibration from before is not there, and the want of it dies
    out as the vibration did. Before that and after the last known sample they do not move.

    Args:
        robot: with flexible links.
        step: distance of the samples, s.
        joints: positions, rates and accelerations of the joints, shape (N, n_j) each.
        known: where these are good, shape (N,); between them they are interpolated.
        start: modal coordinates and their rates at the first known sample, shape (n - n_j,) each.

    Raises:
        ModelError: the links do not carry their weight, or bend further than their equations hold.
    """
    count = robot.model.joint_count
    motion = np.zeros((3, len(known), robot.n))
    motion[:, :, :count] = [_filled(values, known) for values in joints]
    where = np.flatnonzero(known)
    if not len(where):
        return ElasticMotion(*motion)
    first, last = int(where[0]), int(where[-1]) + 1
    bent = quasi_static_equilibrium(robot, motion[0, first, :count])[count:]
    if start is None:
        moving = quasi_static_equilibrium(robot, *motion[:, first, :count])[count:]
        start = moving, np.zeros_like(moving)
    state = np.concatenate([start[0] - bent, start[1]])
    motion[0, :, count:] = bent
    m = len(bent)
    for begin in range(first, last, _BLOCK):
        end = min(begin + _BLOCK, last)
        # And the first sample of the next block: the last step leads there.
        A, b = _coefficients(robot, motion[:, begin : min(end + 1, last)])
        states = np.array(list(_states(A, b, step, state)))
        rows = slice(begin, end)
        state, states = states[-1], states[: end - begin]
        motion[0, rows, count:] += states[:, :m]
        motion[1, rows, count:] = states[:, m:]
        rates = np.einsum('kij,kj->ki', A[: len(states)], states) + b[: len(states)]
        motion[2, rows, count:] = rates[:, m:]
    motion[0, :first, count:] = motion[0, first, count:]
    motion[0, last:, count:] = motion[0, last - 1, count:]
    robot.check_deflections(motion[0, first:last], stacklevel=3)
    return ElasticMotion(*motion)


def _filled(values: FloatArray, known: BoolArray) -> FloatArray:
    """Columns with what is not known interpolated, shape (N, n_j)."""
    good = known & np.isfinite(values).all(axis=1)
    if good.all() or not good.any():
        return values
    index = np.arange(len(values))
    return np.column_stack([np.interp(index, index[good], column[good]) for column in values.T])


def _coefficients(robot: Robot, motion: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A and b of d(state)/dt = A state + b, state = (e - e_0, its rate): (N, 2m, 2m), (N, 2m).

    The motion, shape (3, N, n), holds e_0.
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


def _states(A: FloatArray, b: FloatArray, step: float, state: FloatArray) -> Iterator[FloatArray]:
    """States at each sample, from that at the first one on."""
    fastest = float(np.abs(np.linalg.eigvals(A[0])).max())
    steps = max(1, int(np.ceil(step * fastest / _STEP_PHASE)))
    size = A.shape[1] + 1
    affine = np.zeros((len(A), size, size))
    affine[:, :-1, :-1], affine[:, :-1, -1] = A, b
    yield state
    for matrix in _transitions(affine, step, steps):
        state = matrix[:-1, :-1] @ state + matrix[:-1, -1]
        yield state


def _transitions(affine: FloatArray, step: float, steps: int) -> FloatArray:
    """Classical fourth-order steps as matrices from sample to sample, shape (N - 1, k, k)."""
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
