# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a machine keeps to a reference, and arrives: tolerances of a goal and its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from kron_dynamics.control.reference.planning import Reference
from kron_dynamics.control.turns import shorter_way
from kron_dynamics.exceptions import JointNamesError, TrajectoryError
from kron_dynamics.typing import FloatArray

# What stands for "none" in a goal, and the rounding allowed of it.
_NONE, _ROUNDING = -1.0, 1e-9


class GoalCode(IntEnum):
    """Why a goal has ended, in the numbers of control_msgs/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


@dataclass(frozen=True, slots=True)
class JointTolerance:
    """Tolerance of one joint: above 0, or 0 for the default, or -1 for none.

    Attributes:
        name: of the joint.
        position: rad or m.
        velocity: rad/s or m/s.
    """

    name: str
    position: float
    velocity: float


@dataclass(frozen=True, slots=True, eq=False)
class GoalTolerances:
    """How far n joints may be from their reference; inf for any distance.

    Attributes:
        path: on the way, shape (2, n): positions, rad or m, and velocities, per s.
        goal: after the end, shape (2, n).
        goal_time: how long after the end the joints may take to be there, s; inf for any time.
    """

    path: FloatArray
    goal: FloatArray
    goal_time: float

    def changed(
        self,
        joint_names: Sequence[str],
        path: Iterable[JointTolerance],
        goal: Iterable[JointTolerance],
        goal_time: float,
    ) -> GoalTolerances:
        """Return what a goal makes of these defaults.

        Args:
            joint_names: the n joints.
            path: for some of the joints.
            goal: for some of the joints.
            goal_time: s; 0 for the default, -1 for any time.

        Raises:
            JointNamesError: a tolerance names another joint.
            TrajectoryError: a tolerance is neither above 0 nor 0 nor -1.
        """
        return GoalTolerances(
            _changed(self.path, joint_names, path, 'path_tolerance'),
            _changed(self.goal, joint_names, goal, 'goal_tolerance'),
            _chosen(goal_time, self.goal_time, 'goal_time_tolerance'),
        )


def _changed(
    default: FloatArray, names: Sequence[str], given: Iterable[JointTolerance], label: str
) -> FloatArray:
    values = default.copy()
    for tolerance in given:
        if tolerance.name not in names:
            raise JointNamesError(
                f'{label} is for joint {tolerance.name!r}, expected one of '
                f'{", ".join(map(repr, names))}'
            )
        k = names.index(tolerance.name)
        for row, value in enumerate((tolerance.position, tolerance.velocity)):
            what = f'{label} of {tolerance.name!r}'
            values[row, k] = _chosen(value, float(default[row, k]), what)
    return values


def _chosen(value: float, default: float, label: str) -> float:
    if value > 0.0:
        return value
    if value == 0.0:
        return default
    if abs(value - _NONE) <= _ROUNDING:
        return float(np.inf)
    raise TrajectoryError(f'{label} is {value:g}, expected above 0, 0 (default) or -1 (none)')


@dataclass(frozen=True, slots=True)
class GoalOutcome:
    """How a goal has ended.

    Attributes:
        code: why.
        text: the same in words, one line.
    """

    code: GoalCode
    text: str


class GoalMonitor:
    """Compares a machine with the reference of a goal until the goal has ended."""

    def __init__(
        self,
        reference: Reference,
        tolerances: GoalTolerances,
        joint_names: Sequence[str],
        turns: FloatArray,
        chosen: Sequence[bool] | FloatArray,
    ) -> None:
        """Watch over a goal.

        Args:
            reference: what is followed for it.
            tolerances: of the n joints.
            joint_names: their names.
            turns: a whole turn for joints that turn without end, else 0, shape (n,), rad.
            chosen: which joints the goal is for, shape (n,).
        """
        self._reference, self._tolerances = reference, tolerances
        self._names, self._turns = tuple(joint_names), turns
        self._free = np.where(chosen, 0.0, np.inf)

    @property
    def reference(self) -> Reference:
        """What is followed for the goal."""
        return self._reference

    def progress(self, time: float) -> float:
        """Return which share of the reference's time has passed, from 0 to 1."""
        duration = self._reference.followed.duration
        passed = time - self._reference.start
        return float(np.clip(passed / duration if duration > 0.0 else passed >= 0.0, 0.0, 1.0))

    def errors(
        self, wanted: tuple[FloatArray, FloatArray], q: FloatArray, qd: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return by how much positions and velocities are short of (q, qd) wanted, (n,) each."""
        return shorter_way(wanted[0] - q, self._turns), wanted[1] - qd

    def outcome(
        self, wanted: tuple[FloatArray, FloatArray], q: FloatArray, qd: FloatArray, time: float
    ) -> GoalOutcome | None:
        """Return how the goal has ended, or None while it has not.

        Args:
            wanted: (q, qd) of the reference at this time, shape (n,) each.
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            time: of the state, s.
        """
        if time < self._reference.start:
            return None
        error = np.abs(self.errors(wanted, q, qd))
        if time < self._reference.end:
            return self._violation(
                error, self._tolerances.path, GoalCode.PATH_TOLERANCE_VIOLATED, 'on the way'
            )
        over = time - self._reference.end
        violation = self._violation(
            error,
            self._tolerances.goal,
            GoalCode.GOAL_TOLERANCE_VIOLATED,
            f'{over:.3g} s after the end',
        )
        if violation is None:
            return GoalOutcome(GoalCode.SUCCESSFUL, 'the goal has been reached')
        return violation if over > self._tolerances.goal_time else None

    def _violation(
        self, error: FloatArray, tolerance: FloatArray, code: GoalCode, when: str
    ) -> GoalOutcome | None:
        # Not "error > tolerance": what is not a number is outside.
        bad = ~(error <= np.maximum(tolerance, self._free))
        if not bad.any():
            return None
        found = ', '.join(
            f'{self._names[k]!r}: {("position", "velocity")[row]} off by {error[row, k]:.4g}, '
            f'tolerance {tolerance[row, k]:g}'
            for row, k in zip(*np.nonzero(bad), strict=True)
        )
        return GoalOutcome(code, f'{found} ({when})')
