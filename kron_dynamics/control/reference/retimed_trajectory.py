# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Result of retiming a path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.reference.motion_peaks import MotionSamples
from kron_dynamics.control.reference.path_terms import QUANTITIES, Limits
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# A limit counts as reached above this share of it.
_REACHED = 0.97


@dataclass(frozen=True, slots=True, eq=False)
class RetimedTrajectory:
    """The time-optimal motion along a given path.

    `peak` and `reached` have a row for each of `RetimedTrajectory.quantities`.

    Attributes:
        trajectory: the motion, from rest to rest.
        point_times: times at the waypoints, or at the points of the given trajectory, shape (K,),
            s.
        peak: largest ratio of each quantity to its limit, shape (4, n), at most 1.
        reached: share of the duration in which a limit is reached to within 3 %, shape (4, n).
    """

    trajectory: Trajectory
    point_times: FloatArray
    peak: FloatArray
    reached: FloatArray

    quantities = QUANTITIES

    @property
    def duration(self) -> float:
        """Duration of the motion, s."""
        return self.trajectory.duration

    @property
    def reports(self) -> tuple[str, ...]:
        """A sentence for each limit that is reached, in order of decreasing time at the limit."""
        order = np.argsort(-self.reached, axis=None, kind='stable')
        return tuple(
            f'joint {self.trajectory.joint_names[j]!r}: {QUANTITIES[k]} at its limit in '
            f'{100.0 * self.reached[k, j]:.1f} % of the time'
            for k, j in zip(*np.unravel_index(order, self.reached.shape), strict=True)
            if self.reached[k, j] > 0.0
        )


def joined_motions(
    robot: Robot,
    motions: list[MotionSamples],
    start: FloatArray,
    point_times: FloatArray,
    limits: Limits,
) -> RetimedTrajectory:
    """Return the concatenated motions as one trajectory.

    Args:
        robot: the machine.
        motions: motions of the sections; each begins where the one before ends.
        start: position held if there are no motions, shape (n,).
        point_times: times at the points of the path, shape (K,), s.
        limits: limits of the joints.
    """
    if not motions:
        hold = Trajectory.from_points(robot.joint_names, [0.0], [start])
        none = np.zeros((len(QUANTITIES), robot.n))
        return RetimedTrajectory(hold, point_times, none, none)
    times = [np.zeros(1)]
    for motion in motions:
        times.append(times[-1][-1] + motion.times[1:])
    q, v, a = (
        np.concatenate(
            [motion.states[k][: None if motion is motions[-1] else -1] for motion in motions]
        )
        for k in range(3)
    )
    before = np.concatenate(
        [motion.states[2][0 if motion is motions[0] else 1 :] for motion in motions]
    )
    trajectory = Trajectory.from_states(
        robot.joint_names, np.concatenate(times), (q, v, a), before
    )
    reached = sum((motion.reached(limits, _REACHED) for motion in motions), np.zeros(1))
    peak = np.max([motion.peaks(limits).max(axis=1) for motion in motions], axis=0)
    return RetimedTrajectory(trajectory, point_times, peak, reached / trajectory.duration)
