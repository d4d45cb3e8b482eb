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
        # Stamp, velocity and filtered slope of the last state and of the one before it.
        self._last: tuple[float, FloatArray, FloatArray] | None = None
        self._before: tuple[float, FloatArray, FloatArray] | None = None

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

    @np.errstate(over='ignore', invalid='ignore')  # of huge velocities, which restart the filter
    def _filtered(self, time: float, qd: FloatArray) -> FloatArray | None:
        """Low-passed slope between the states; None at the first state.

        This is the derivative of the low-passed velocity if the velocity is linear in between.
        """
        # Restart the filter after the clock stepped back.
        if self._last is None or time < self._last[0]:
            self._before = None
        elif time > self._last[0]:
            self._before = self._last
        # A state of the same stamp, as of another publisher, replaces the last one.
        if self._before is None:
            self._last = time, np.array(qd), np.zeros(len(qd))
            return None
        then, velocity, smooth = self._before
        elapsed = time - then
        share = -np.expm1(-self._rate * elapsed)
        slope: FloatArray = smooth + share * ((qd - velocity) / elapsed - smooth)
        if not np.isfinite(slope).all():
            self._last = self._before = None
            return None
        self._last = time, np.array(qd), slope
        return slope
