# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""External joint efforts from the generalized momentum, without accelerations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot


# s; the mean of two states far apart says little of what is between them.
_LONGEST_GAP = 0.1


class _Sample(NamedTuple):
    """A state: momentum p = M qd, and what changes it beside the efforts, C^T qd - g - f."""

    time: float
    momentum: FloatArray
    internal: FloatArray


class MomentumObserver:
    r"""Estimate of the efforts on the joints that neither drives nor the model account for.

    The momentum is :math:`p = M \dot q`. As :math:`\dot M - 2 C` is skew for the Christoffel C,
    :math:`\dot M = C + C^T` and

    .. math:: \dot p = \tau + C^T \dot q - g - f + \tau_{ext}

    The estimate follows the external efforts as a first-order low pass of rate K does:
    :math:`\dot r = K (\tau_{ext} - r)`. In an interval of length h their mean is
    :math:`d = \Delta p / h - \tau - \overline{C^T \dot q - g - f}`, with the mean of both ends for
    what depends on the state, and

    .. math:: r \leftarrow r + (1 - e^{-K h}) (d - r)

    which is the low pass' own answer to efforts that are constant in the interval, whatever its
    length. No sum runs away, and no inverse of M is needed.

    The first state gives the momentum at the start, whatever it is, and no estimate; from then on
    r begins at 0: an effort that was there before shows up within the time constant too. A gap
    longer than the time constant and 0.1 s, or a stamp that goes back, starts anew.
    """

    def __init__(self, robot: Robot, bandwidth: float) -> None:
        """Make an observer that has seen nothing yet.

        Args:
            robot: the machine; with flexible links, the rigid one: their vibration shows as
                external effort.
            bandwidth: of the low pass, Hz: K = 2 pi times it.

        Raises:
            ParameterError: the bandwidth is no frequency above 0.
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
        """Forget the past."""
        self._last: _Sample | None = None
        self._estimate: FloatArray | None = None

    @np.errstate(over='ignore', invalid='ignore')  # what is not finite starts anew
    def update(
        self,
        time: float,
        q: FloatArray,
        qd: FloatArray,
        effort: FloatArray | None,
        added: FloatArray | None = None,
    ) -> FloatArray | None:
        """Take a state; return the estimate r, shape (n,), N m or N, or None without one.

        Args:
            time: stamp of the state, s; one that was seen already changes nothing.
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            effort: of the drives on the joints in the interval that this state ends, shape (n,),
                N m or N; None where it is not known: the observer starts anew.
            added: efforts on the joints beside these that follow from the state, such as those
                which the drives add, shape (n,); None for none.
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

    that is about K M times the velocity noise: it grows with the bandwidth, while that of the
    efforts grows with its root. Noise of the positions counts where velocities are their
    differences, as velocity noise.

    Args:
        robot: the machine.
        q: pose, shape (n,), or poses, shape (N, n).
        bandwidth: of the observer, Hz.
        period: T, time between states, s.
        velocity_noise: standard deviations, shape (n,), rad/s or m/s.
        effort_noise: standard deviations, shape (n,), N m or N.
    """
    a = np.exp(-2.0 * np.pi * bandwidth * period)
    by_velocity = 2.0 * (1.0 - a) ** 2 / (period**2 * (1.0 + a))
    variance = by_velocity * ((robot.mass_matrix(q) * velocity_noise) ** 2).sum(axis=-1)
    return np.asarray(np.sqrt(variance + (1.0 - a) / (1.0 + a) * effort_noise**2))
