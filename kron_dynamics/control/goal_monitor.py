# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Monitoring of a trajectory goal: path and goal tolerances, progress and outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.goal_code import GoalCode
from kron_dynamics.control.reference.planning import Reference
from kron_dynamics.control.turns import shorter_way
from kron_dynamics.exceptions import JointNamesError, TrajectoryError
from kron_dynamics.typing import FloatArray

# Value that disables a tolerance in a goal (control_msgs), and the rounding allowed for it.
_NONE, _ROUNDING = -1.0, 1e-9


@dataclass(frozen=True, slots=True)
class JointTolerance:
    """Tolerance of one joint: above 0, or 0 for the default, or -1 for no tolerance.

    Attributes:
        name: the joint.
        position: rad or m.
        velocity: rad/s or m/s.
    """

    name: str
    position: float
    velocity: float


@dataclass(frozen=True, slots=True, eq=False)
class GoalTolerances:
    """Allowed distances of n joints from their reference; inf for no limit.

    Attributes:
        path: during the motion, shape (2, n): positions, rad or m, and velocities, per s.
        goal: after the end of the reference, shape (2, n).
        goal_time: time allowed after the end to reach the goal, s; inf for any time.
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
        """Return these defaults overridden by the tolerances of a goal.

        Args:
            joint_names: the n joints.
            path: path tolerances of some of the joints.
            goal: goal tolerances of some of the joints.
            goal_time: s; 0 for the default, -1 for any time.

        Raises:
            JointNamesError: a tolerance names an unknown joint.
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
    """Result of a goal.

    Attributes:
        code: the error code.
        text: the reason in words, one line.
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
        """Monitor a goal.

        Args:
            reference: the reference followed for the goal.
            tolerances: tolerances of the n joints.
            joint_names: names of the n joints.
            turns: a whole turn for continuous joints, else 0, shape (n,), rad.
            chosen: mask of the joints of the goal, shape (n,).
        """
        self._reference, self._tolerances = reference, tolerances
        self._names, self._turns = tuple(joint_names), turns
        self._free = np.where(chosen, 0.0, np.inf)

    @property
    def reference(self) -> Reference:
        """The reference followed for the goal."""
        return self._reference

    def progress(self, time: float) -> float:
        """Return the share of the reference's duration that has passed, from 0 to 1."""
        duration = self._reference.followed.duration
        passed = time - self._reference.start
        return float(np.clip(passed / duration if duration > 0.0 else passed >= 0.0, 0.0, 1.0))

    def errors(
        self, wanted: tuple[FloatArray, FloatArray], q: FloatArray, qd: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the position and velocity errors, wanted minus measured, (n,) each."""
        return shorter_way(wanted[0] - q, self._turns), wanted[1] - qd

    def outcome(
        self, wanted: tuple[FloatArray, FloatArray], q: FloatArray, qd: FloatArray, time: float
    ) -> GoalOutcome | None:
        """Return the result of the goal, or None while it is active.

        Args:
            wanted: (q, qd) of the reference at this time, shape (n,) each.
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            time: stamp of the state, s.
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
        # Negated, so that NaN counts as a violation.
        bad = ~(error <= np.maximum(tolerance, self._free))
        if not bad.any():
            return None
        found = ', '.join(
            f'{self._names[k]!r}: {("position", "velocity")[row]} off by {error[row, k]:.4g}, '
            f'tolerance {tolerance[row, k]:g}'
            for row, k in zip(*np.nonzero(bad), strict=True)
        )
        return GoalOutcome(code, f'{found} ({when})')
