# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Monitoring of external efforts, from measured or commanded efforts, with thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.external_effort.momentum_observer import MomentumObserver
from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.terms import EffortTerms
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

SOURCES = ('auto', 'measured', 'commanded')


class ExternalEffortMonitor:
    """External joint efforts of a run, and collision detection by thresholds.

    Measured efforts are those at the joints, including the drives' own terms. Commanded efforts
    lack these terms, so they are added from the model. A measured effort is used for the interval
    before its state, a commanded one for the interval after its state.
    """

    def __init__(
        self,
        robot: Robot,
        bandwidth: float,
        *,
        source: str = 'auto',
        thresholds: ArrayLike | None = None,
        terms: EffortTerms | None = None,
    ) -> None:
        """Make a monitor without a state.

        Args:
            robot: the machine with rigid links.
            bandwidth: bandwidth of the observer, Hz.
            source: 'measured', 'commanded', or 'auto' for measured efforts if all joints have one.
            thresholds: external efforts above which a collision is reported, shape (n,), N m or N,
                inf for no threshold; None for no thresholds at all.
            terms: model terms that the drives add to commands; None for none.

        Raises:
            ParameterError: an argument cannot be used.
        """
        if source not in SOURCES:
            raise ParameterError(
                f'source of the external efforts is {source!r}, expected one of {SOURCES}'
            )
        self._robot = robot
        self._observer = MomentumObserver(robot, bandwidth)
        self._source = source
        self._terms = EffortTerms() if terms is None else terms
        self.thresholds = np.full(robot.n, np.inf) if thresholds is None else thresholds
        self._command: FloatArray | None = None
        self._with_commands: bool | None = None

    @property
    def thresholds(self) -> FloatArray:
        """External efforts above which a collision is reported, (n,), N m or N; inf for none.

        Raises:
            ParameterError: new thresholds cannot be used; names the joint.
        """
        return self._thresholds

    @thresholds.setter
    def thresholds(self, thresholds: ArrayLike) -> None:
        self._thresholds = positive_per_joint(
            'collision_threshold', thresholds, self._robot.joint_names, infinity_allowed=True
        )
        self._watches = bool(np.isfinite(self._thresholds).any())

    @property
    def terms(self) -> EffortTerms:
        """Model terms that the drives add to commands; others make the observer start anew."""
        return self._terms

    @terms.setter
    def terms(self, terms: EffortTerms) -> None:
        if terms != self._terms:
            self._terms = terms
            self.reset()

    @property
    def watches_for_collisions(self) -> bool:
        """Whether any joint has a threshold."""
        return self._watches

    @property
    def time_constant(self) -> float:
        """Time constant of the observer, s."""
        return self._observer.time_constant

    def reset(self) -> None:
        """Forget all previous states."""
        self._command = None
        self._observer.reset()

    def commanded(self, effort: FloatArray | None) -> None:
        """Report the command sent for the last state, shape (n,), N m or N; None if none."""
        self._command = effort

    def update(
        self, time: float, q: FloatArray, qd: FloatArray, measured: FloatArray
    ) -> FloatArray | None:
        """Process a state; return the external efforts, shape (n,), N m or N, or None.

        None is returned for the first state, without known efforts, and when the source changes.

        Args:
            time: stamp of the state, s.
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            measured: efforts, shape (n,), N m or N; NaN where there are none.
        """
        with_commands = self._source == 'commanded' or (
            self._source == 'auto' and not bool(np.isfinite(measured).all())
        )
        if with_commands is not self._with_commands:
            self._observer.reset()
            self._with_commands = with_commands
        if not with_commands:
            return self._observer.update(time, q, qd, measured)
        added = self._terms.drive_effort(self._robot, q, qd) if self._terms.drive else None
        return self._observer.update(time, q, qd, self._command, added)

    def collision(self, effort: FloatArray) -> str | None:
        """Return a message naming a joint whose external effort exceeds its threshold, or None.

        Args:
            effort: external efforts, shape (n,), N m or N.
        """
        # NaN is beyond any threshold: it must not hide other joints.
        beyond = ~(np.abs(effort) <= self._thresholds) & np.isfinite(self._thresholds)
        if not beyond.any():
            return None
        joints = np.flatnonzero(beyond)
        shares = np.abs(effort[joints]) / self._thresholds[joints]
        i = int(joints[np.nan_to_num(shares, nan=np.inf).argmax()])
        name = self._robot.joint_names[i]
        unit = joint_kind(self._robot.model.joint_types[i]).unit('effort')
        return (
            f"collision: external effort at joint '{name}' is {effort[i]:.4g} {unit}, expected at "
            f'most {self._thresholds[i]:.4g} {unit} (collision_threshold.{name})'
        )
