# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Shortest duration of a motion along a path, by sequential linear programming on a dense grid.

For comparison only. Unknowns are the squared path rates at the ends of many small intervals;
constraints are on efforts at their midpoints, and on effort rates as differences of these over the
time between. No constraints hold between these points.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from benchmarks.timing import MeasurementError
from kron_dynamics import Robot
from kron_dynamics.control import Trajectory
from kron_dynamics.typing import FloatArray

_FIRST_STEP, _LAST_STEP = 0.3, 2e-3
_ENOUGH = 2e-6


def quickest_duration(
    robot: Robot,
    motion: Trajectory,
    effort_limit: FloatArray,
    effort_rate_limit: FloatArray,
    divisions: int,
) -> float:
    """Return the shortest duration, s, of a motion from rest to rest along a path.

    Args:
        robot: the machine, with its velocity limits.
        motion: motion along the path within all limits; its timing is the initial guess.
        effort_limit: shape (n,).
        effort_rate_limit: shape (n,), inf for none.
        divisions: number of intervals in each piece of the motion.

    Raises:
        MeasurementError: no linear program was solved, so nothing was searched.
    """
    problem = _Problem(robot, motion, effort_limit, effort_rate_limit, divisions)
    x, step, solved = np.ones(problem.h.size + 1), _FIRST_STEP, False
    duration = problem.times(x)[0].sum()
    while step > _LAST_STEP:
        found = problem.improved(x, step)
        solved = solved or found is not None
        gained = 0.0 if found is None else duration - problem.times(found)[0].sum()
        if gained <= _ENOUGH * duration:
            step *= 0.4
        else:
            x, duration = found, duration - gained
    if not solved:
        raise MeasurementError('no linear program of the dense search was solved')
    return float(duration)


class _Problem:
    """Constraints on x, the N + 1 squared path rates at the ends of N intervals."""

    def __init__(
        self,
        robot: Robot,
        motion: Trajectory,
        effort_limit: FloatArray,
        effort_rate_limit: FloatArray,
        divisions: int,
    ) -> None:
        breaks, _ = motion.polynomials
        ends = np.interp(
            np.arange((breaks.size - 1) * divisions + 1) / divisions,
            np.arange(breaks.size),
            breaks,
        )
        self.h = np.diff(ends)
        count = self.h.size
        q, first, second = motion.samples(ends[:-1] + 0.5 * self.h)
        weight = robot.gravity_vector(q)
        inertia = robot.inverse_dynamics(q, np.zeros_like(q), first) - weight
        bend = robot.inverse_dynamics(q, first, second) - weight
        slope = 0.5 / self.h[:, np.newaxis]
        before, after = 0.5 * bend - slope * inertia, 0.5 * bend + slope * inertia
        k = np.arange(count)
        effort = [
            csr_array(
                (
                    np.concatenate((before[:, j], after[:, j])),
                    (np.tile(k, 2), np.concatenate((k, k + 1))),
                ),
                shape=(count, count + 1),
            )
            for j in range(robot.n)
        ]
        still = robot.gravity_vector(motion.samples(ends[[0, -1]])[0])
        self._effort_rows = vstack([sign * rows for rows in effort for sign in (1.0, -1.0)])
        self._effort_bounds = np.concatenate(
            [effort_limit[j] - sign * weight[:, j] for j in range(robot.n) for sign in (1.0, -1.0)]
        )
        # Differences of efforts, including the changes from and to the efforts at rest.
        difference = csr_array(np.eye(count + 1, count) - np.eye(count + 1, count, -1))
        limited = np.flatnonzero(np.isfinite(effort_rate_limit))
        self._rate_rows = [difference @ effort[j] / effort_rate_limit[j] for j in limited]
        padded = np.concatenate((still[:1], weight, still[1:]))
        self._rate_constants = [-np.diff(padded[:, j]) / effort_rate_limit[j] for j in limited]
        with np.errstate(divide='ignore'):
            rates = motion.samples(ends)[1]
            self._most = np.square(robot.model.velocity_limit / np.abs(rates)).min(axis=1)

    def times(self, x: FloatArray) -> tuple[FloatArray, csr_array]:
        """Return the durations of the intervals, s, and their derivative with respect to x."""
        root = np.sqrt(x)
        both = root[:-1] + root[1:]
        slopes = -self.h / both**2
        k = np.arange(self.h.size)
        derivative = csr_array(
            (
                np.concatenate((slopes / root[:-1], slopes / root[1:])),
                (np.tile(k, 2), np.concatenate((k, k + 1))),
            ),
            shape=(k.size, x.size),
        )
        return 2.0 * self.h / both, derivative

    def improved(self, x: FloatArray, step: float) -> FloatArray | None:
        """Return the best x within a trust region, a share of x; None if there is none."""
        times, derivative = self.times(x)
        rows, bounds = [self._effort_rows], [self._effort_bounds]
        if self._rate_rows:
            count = self.h.size
            mean = csr_array(0.5 * (np.eye(count + 1, count) + np.eye(count + 1, count, -1)))
            # Tangents lie below the convex durations, so the linearized bounds imply the bounds.
            allowed, changes = mean @ (times - derivative @ x), mean @ derivative
            for difference, constant in zip(self._rate_rows, self._rate_constants, strict=True):
                for sign in (1.0, -1.0):
                    rows.append(-sign * difference - changes)
                    bounds.append(allowed + sign * -constant)
        found = linprog(
            np.asarray(derivative.sum(axis=0)).ravel(),
            A_ub=vstack(rows).tocsr(),
            b_ub=np.concatenate(bounds),
            bounds=np.column_stack(((1.0 - step) * x, np.minimum((1.0 + step) * x, self._most))),
            method='highs-ds',
        )
        return found.x if found.status == 0 else None
