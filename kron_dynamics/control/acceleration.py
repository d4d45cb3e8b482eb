# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimation of the joint accelerations, which joint states do not contain."""

from __future__ import annotations

from typing import Literal

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

AccelerationSource = Literal['reference', 'model', 'filtered']


class AccelerationEstimator:
    """Joint accelerations from the reference, from the model, or from the measured velocities."""

    def __init__(self, robot: Robot, source: AccelerationSource, cutoff: float) -> None:
        """Choose the source.

        Args:
            robot: the machine.
            source: `reference`; `model`, forward dynamics of the measured efforts; or
                `filtered`, the derivative of the measured velocities after a first-order low-pass
                filter.
            cutoff: cutoff frequency of the low-pass filter, Hz, above 0.

        Raises:
            ParameterError: the cutoff is not above 0.
        """
        if not 0.0 < cutoff < np.inf:
            raise ParameterError(f'filter cutoff is {cutoff} Hz, expected a frequency above 0')
        self._robot = robot
        self._source = source
        self._rate = 2.0 * np.pi * cutoff
        self._time: float | None = None
        self._smooth = np.zeros(robot.n)

    def estimate(
        self,
        time: float,
        q: FloatArray,
        qd: FloatArray,
        effort: FloatArray,
        qdd_ref: FloatArray | None,
    ) -> FloatArray | None:
        """Return the accelerations, shape (n,), or None if the source has no value for this state.

        Args:
            time: stamp of the state, s.
            q: positions, shape (n,), rad or m.
            qd: velocities, shape (n,).
            effort: measured efforts, shape (n,), N m or N; NaN where there are none.
            qdd_ref: accelerations of the reference, or None without one.

        Raises:
            InvalidInertiaError: a joint moves no mass; only of the source `model`.
        """
        if self._source == 'reference':
            return qdd_ref
        if self._source == 'model':
            if not np.isfinite(effort).all():
                return None
            return self._robot.forward_dynamics(q, qd, effort - self._robot.joint_friction(qd))
        return self._filtered(time, qd)

    def _filtered(self, time: float, qd: FloatArray) -> FloatArray | None:
        """Derivative of the low-passed velocity; None at the first state."""
        elapsed = None if self._time is None else time - self._time
        self._time = time
        # Restart the filter after the clock stepped back.
        if elapsed is None or elapsed < 0.0:
            self._smooth = np.array(qd)
            return None
        # Exact for a velocity that is constant over the step.
        lag = qd - self._smooth
        self._smooth = self._smooth - np.expm1(-self._rate * elapsed) * lag
        return self._rate * (qd - self._smooth)
