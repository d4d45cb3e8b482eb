# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stability of a robot's periodic motion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from kron_dynamics.arguments import finite_array, instance, real_array
from kron_dynamics.dynamics.linearization import state_matrix
from kron_dynamics.exceptions import ArgumentTypeError, ParameterError, ShapeError
from kron_dynamics.messages import listed, shown
from kron_dynamics.robot import Robot
from kron_dynamics.stability.floquet import FloquetAnalysis, floquet_analysis
from kron_dynamics.typing import ArrayLike, FloatArray

Motion = Callable[[FloatArray], tuple[ArrayLike, ArrayLike, ArrayLike]]


def motion_stability(
    robot: Robot,
    motion: Motion,
    period: float,
    *,
    held: Sequence[str] = (),
    gains: tuple[ArrayLike, ArrayLike] | None = None,
    **options: Any,
) -> FloquetAnalysis:
    """Return the stability of deviations from a periodic motion.

    Linearized about the motion, the robot is a system with periodic coefficients, [K] section 5.
    Modal coordinates that the motion omits are zero: the links stay undeformed. Structural
    damping is included, joint friction is not.

    Args:
        robot: the robot.
        motion: function of times, shape (k,), s, that returns q, qd and qdd, shape (k, n) each,
            or (k, n_j) without the modal coordinates, rad or m.
        period: period of the motion, s.
        held: names of joints or modal coordinates that do not deviate from the motion, for
            example because of stiff drives.
        gains: kp and kd of drives that follow the motion, shape (n_j,) each: efforts per
            deviation and per its rate, N m/rad and N m s/rad or N/m and N s/m.
        options: keyword arguments of `monodromy_matrix`, for example `breaks`.

    Raises:
        ArgumentTypeError: an argument has the wrong type.
        ParameterError: a name in `held` is not a coordinate, or all are held; or as for
            `monodromy_matrix`.
        ShapeError: the motion or the gains have another shape.
        NonFiniteError: the gains, the motion or the results are not finite.
    """
    instance(robot, Robot, 'robot', 'a Robot')
    instance(motion, Callable, 'motion', 'a function of times')  # type: ignore[arg-type]
    if isinstance(held, str) or not isinstance(held, Collection):
        raise ArgumentTypeError(f'held is {shown(held)}, expected a list of coordinates')
    names = robot.joint_names
    if unknown := [name for name in held if name not in names]:
        raise ParameterError(f'held names {shown(unknown)}, expected some of {listed(names)}')
    free = [k for k, name in enumerate(names) if name not in held]
    if not free:
        raise ParameterError('held names every coordinate: nothing is left to deviate')
    kp, kd = _gains(robot, gains)
    pairs = np.ix_(free, free)
    damping = np.diag(robot.model.structural_damping + kd)

    def system(times: FloatArray) -> FloatArray:
        terms = robot.linearization(*_states(robot, motion, times))
        M, D, K = (
            matrices[:, pairs[0], pairs[1]]
            for matrices in (
                terms.mass_matrix,
                terms.damping_matrix + damping,
                terms.stiffness_matrix + np.diag(kp),
            )
        )
        return state_matrix(M, D, K)

    return floquet_analysis(system, period, vectorized=True, **options)


def _gains(robot: Robot, gains: tuple[ArrayLike, ArrayLike] | None) -> FloatArray:
    """Return kp and kd of all coordinates, shape (2, n); zero for modal ones."""
    joints, values = robot.model.joint_count, np.zeros((2, robot.n))
    if gains is not None:
        instance(gains, (tuple, list), 'gains', 'a pair of kp and kd')
        if len(gains) != 2:
            raise ShapeError(f'gains has {len(gains)} parts, expected kp and kd')
        for row, name, given in zip(values, ('kp', 'kd'), gains, strict=True):
            array = finite_array(given, name)
            if array.shape != (joints,):
                raise ShapeError(f'{name} has shape {array.shape}, expected ({joints},)')
            row[:joints] = array
    return values


def _states(robot: Robot, motion: Motion, times: FloatArray) -> list[FloatArray]:
    """Return q, qd and qdd of the motion with all coordinates, shape (k, n) each."""
    states, returned = [], motion(times)
    if not isinstance(returned, (tuple, list, np.ndarray)) or len(returned) != 3:
        raise ArgumentTypeError(f'motion returned {shown(returned)}, expected q, qd and qdd')
    for name, values in zip(('q', 'qd', 'qdd'), returned, strict=True):
        given = real_array(values, f'{name} of the motion')
        if given.shape not in {(len(times), robot.n), (len(times), robot.model.joint_count)}:
            raise ShapeError(
                f'{name} of the motion has shape {given.shape} at {len(times)} times, expected '
                f'({len(times)}, {robot.n})'
            )
        states.append(np.pad(given, ((0, 0), (0, robot.n - given.shape[1]))))
    return states
