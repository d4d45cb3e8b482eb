# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a robot stays near a motion that repeats itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kron_dynamics.dynamics.linearization import state_matrix
from kron_dynamics.exceptions import ParameterError, ShapeError
from kron_dynamics.flexible.floquet import FloquetAnalysis, floquet_analysis
from kron_dynamics.robot import Robot
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

    Linearized about it, the robot is a system with periodic coefficients, [K] section 5. Modal
    coordinates that the motion leaves out are zero in it: the links are those of the rigid
    robot. Structural damping counts, friction in the joints does not.

    Args:
        robot: the robot.
        motion: of times of shape (k,), in s: q, qd, qdd, each of shape (k, n), or (k, n_j)
            without the modal coordinates, rad or m.
        period: of the motion, s.
        held: joints, or modal coordinates, that stiff drives keep on the motion.
        gains: kp and kd of drives that follow the motion, shape (n_j,) each: efforts per
            deviation and per rate of it, N m/rad and N m s/rad or N/m and N s/m.
        options: of `monodromy_matrix`, such as `breaks`.

    Raises:
        ParameterError: a name in `held` is none of a coordinate, or all are held.
        ShapeError: the motion or the gains have another shape.
    """
    names, joints = robot.joint_names, robot.model.joint_count
    if unknown := [name for name in held if name not in names]:
        raise ParameterError(f'held names {unknown}, expected some of {", ".join(names)}')
    free = [k for k, name in enumerate(names) if name not in held]
    if not free:
        raise ParameterError('held names every coordinate: nothing is left to deviate')
    kp, kd = np.zeros((2, robot.n))
    if gains is not None:
        for values, name, given in zip((kp, kd), ('kp', 'kd'), gains, strict=True):
            if np.shape(given) != (joints,):
                raise ShapeError(f'{name} has shape {np.shape(given)}, expected ({joints},)')
            values[:joints] = given
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


def _states(robot: Robot, motion: Motion, times: FloatArray) -> list[FloatArray]:
    """The motion with all coordinates, shape (k, n) each."""
    states = []
    for name, values in zip(('q', 'qd', 'qdd'), motion(times), strict=True):
        given = np.asarray(values, dtype=np.float64)
        if given.shape not in {(len(times), robot.n), (len(times), robot.model.joint_count)}:
            raise ShapeError(
                f'{name} of the motion has shape {given.shape} at {len(times)} times, expected '
                f'({len(times)}, {robot.n})'
            )
        states.append(np.pad(given, ((0, 0), (0, robot.n - given.shape[1]))))
    return states
