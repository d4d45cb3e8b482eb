# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""External joint efforts by a generalized-momentum observer, without joint accelerations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot


# Longest gap between states, s: over a longer one, the mean of both ends is inaccurate.
_LONGEST_GAP = 0.1


class _Sample(NamedTuple):
    """Momentum p = M qd and the model terms C^T qd - g - f of a state."""

    time: float
    momentum: FloatArray
    internal: FloatArray


class MomentumObserver:
    r"""Estimate of joint efforts that are caused neither by the drives nor by the model.

    The momentum is :math:`p = M \dot q`. As :math:`\dot M - 2 C` is skew for the Christoffel C,
    :math:`\dot M = C + C^T` and

    .. math:: \dot p = \tau + C^T \dot q - g - f + \tau_{ext}

    The estimate is the external effort after a first-order low-pass filter of rate K:
    :math:`\dot r = K (\tau_{ext} - r)`. The mean external effort in an interval of length h is
    :math:`d = \Delta p / h - \tau - \overline{C^T \dot q - g - f}`, where state-dependent terms
    are the mean of both ends, and

    .. math:: r \leftarrow r + (1 - e^{-K h}) (d - r)

    This is the exact response of the filter to efforts that are constant in the interval, for
    any h. No integral can drift, and no inverse of M is needed.

    The first state sets the initial momentum and yields no estimate; r starts at 0, so an effort
    that acts from the beginning is also estimated with the time constant. After a gap longer than
    both the time constant and 0.1 s, or a stamp that goes back, the observer restarts.
    """

    def __init__(self, robot: Robot, bandwidth: float) -> None:
        """Make an observer without a state.

        Args:
            robot: the machine; with flexible links, the rigid one: their vibration appears as
                external effort.
            bandwidth: bandwidth of the low-pass filter, Hz: K = 2 pi times it.

        Raises:
            ParameterError: the bandwidth is not positive and finite.
        """
        if not 0.0 < bandwidth < np.inf:
            raise ParameterError(
                f'bandwidth of the external efforts is {bandwidth:g} Hz, expected it above 0'
            )
        self._robot = robot
        self.rate = 2.0 * np.pi * bandwidth
        self.reset()

    @property
    def time_constant(self) -> float:
        """1/K, s."""
        return float(1.0 / self.rate)

    def reset(self) -> None:
        """Forget all previous states."""
        self._last: _Sample | None = None
        self._estimate: FloatArray | None = None

    @np.errstate(over='ignore', invalid='ignore')  # non-finite values restart the observer
    def update(
        self,
        time: float,
        q: FloatArray,
        qd: FloatArray,
        effort: FloatArray | None,
        added: FloatArray | None = None,
    ) -> FloatArray | None:
        """Process a state; return the estimate r, shape (n,), N m or N, or None without one.

        Args:
            time: stamp of the state, s; a repeated stamp is ignored.
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            effort: drive efforts in the interval that ends with this state, shape (n,), N m or N;
                None if unknown, which restarts the observer.
            added: additional joint efforts that depend on the state, such as the drives' own
                compensation, shape (n,); None for none.
        """
        last = self._last
        if last is not None and time == last.time:
            return self._estimate
        C = self._robot.coriolis_matrix(q, qd)
        internal = qd @ C - self._robot.gravity_vector(q) - self._robot.joint_friction(qd)
        if added is not None:
            internal = internal + added
        sample = _Sample(time, self._robot.mass_matrix(q) @ qd, internal)
        finite = np.isfinite(sample.momentum).all() and np.isfinite(internal).all()
        if not finite or (effort is not None and not np.isfinite(effort).all()):
            self.reset()
            return None
        longest = max(self.time_constant, _LONGEST_GAP)
        if last is None or effort is None or not 0.0 < time - last.time <= longest:
            self.reset()
            self._last = sample
            return None
        h = time - last.time
        mean = (sample.momentum - last.momentum) / h - effort
        mean -= (sample.internal + last.internal) / 2.0
        self._last = sample
        estimate = np.zeros(self._robot.n) if self._estimate is None else self._estimate
        self._estimate = estimate - np.expm1(-self.rate * h) * (mean - estimate)
        if not np.isfinite(self._estimate).all():  # of huge efforts or velocities
            self.reset()
        return self._estimate


def noise_of_estimate(
    robot: Robot,
    q: FloatArray,
    bandwidth: float,
    period: float,
    velocity_noise: FloatArray,
    effort_noise: FloatArray,
) -> FloatArray:
    r"""Return the standard deviation of the estimate under white noise, shape (n,), N m or N.

    With :math:`a = e^{-K T}`, velocity noise of covariance V and effort noise of covariance W,

    .. math:: cov(r) = \frac{2 (1 - a)^2}{T^2 (1 + a)} M V M + \frac{1 - a}{1 + a} W

    The velocity part is about K M times the velocity noise and grows with the bandwidth; the
    effort part grows with its square root. If velocities are differences of positions, position
    noise acts as velocity noise.

    Args:
        robot: the machine.
        q: pose, shape (n,), or poses, shape (N, n).
        bandwidth: bandwidth of the observer, Hz.
        period: T, time between states, s.
        velocity_noise: standard deviations, shape (n,), rad/s or m/s.
        effort_noise: standard deviations, shape (n,), N m or N.
    """
    a = np.exp(-2.0 * np.pi * bandwidth * period)
    by_velocity = 2.0 * (1.0 - a) ** 2 / (period**2 * (1.0 + a))
    variance = by_velocity * ((robot.mass_matrix(q) * velocity_noise) ** 2).sum(axis=-1)
    return np.asarray(np.sqrt(variance + (1.0 - a) / (1.0 + a) * effort_noise**2))
