# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gravity compensation with damping through the mass matrix: the default fault action."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kron_dynamics.arguments import real_number
from kron_dynamics.control.sample_poses import gravity_derivative, poses_within_limits
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Largest damping times period: with one period of delay the speed then decays without overshoot
# (z^2 - z + k T has real roots).
_LARGEST_STEP = 0.25
# Lowest damping, 1/s: with less the robot coasts for seconds.
_SLOWEST = 0.5
_PURPOSE = "the fault action 'hold_gravity'"
# Iteration limit per joint of the active-set method; about one iteration per joint is usual.
_PASSES = 10


class DampingRange(NamedTuple):
    """Range of damping in which a sampled `GravityHold` dissipates energy.

    Attributes:
        lowest: 1/s, at least 0.5; from it on, damping dissipates at least twice the energy that
            gravity adds by changing during the hold time of an effort.
        highest: 1/s; above it, sampled damping overshoots.
        inertia_ratio: largest ratio of the rigid inertia, used by the law, to the inertia that the
            joints of the flexible robot feel at first; 1 for rigid robots.
    """

    lowest: float
    highest: float
    inertia_ratio: float


def damping_range(
    robot: Robot,
    period: float,
    flexible: Robot | None = None,
    *,
    compensate_gravity: bool = True,
    purpose: str = _PURPOSE,
) -> DampingRange:
    r"""Return the range of damping k, 1/s, in which sampled `GravityHold` is stable.

    An effort is held for the period T and may act one period late. This requires

    - ``k T r <= 1/4``, r being the largest eigenvalue of :math:`(M_f^{-1})_{jj} M`: 1 for a rigid
      robot. The joints of flexible links feel less than the rigid inertia M at first; M_f is the
      mass matrix with modal coordinates, jj its block of the joints.
    - ``k >= T max |eig(M^-1 dg/dq)|``: the gravity vector is evaluated at the predicted middle of
      the hold time, so its position error is at most half a period of motion; damping dissipates
      twice the energy that this error adds.

    Both are evaluated at random poses within the position limits.

    Args:
        robot: the robot with rigid links.
        period: time between two efforts, s.
        flexible: the same robot with flexible links, or None.
        compensate_gravity: whether the commands compensate gravity; False where the drives do.
        purpose: name used in error messages.

    Raises:
        ParameterError: the period is not positive and finite, or no damping fulfils both
            conditions; the message says which period would.
    """
    period = real_number(period, 'period of the states')
    if not 0.0 < period < np.inf:
        raise ParameterError(f'period of the states is {period:g} s, expected a time above 0')
    q = poses_within_limits(robot)
    L = _cholesky(robot, q, purpose)
    fastest = 0.0
    if compensate_gravity:
        stiffness = np.abs(np.linalg.eigvalsh(_in_metric(L, gravity_derivative(robot, q))))
        fastest = float(stiffness.max(initial=0.0))
    ratio = 1.0
    if flexible is not None and flexible.model.is_flexible:
        bent = np.zeros((len(q), flexible.n))
        bent[:, : robot.n] = q
        moving = np.linalg.inv(flexible.mass_matrix(bent))[:, : robot.n, : robot.n]
        ratio = float(np.linalg.eigvalsh(np.swapaxes(L, 1, 2) @ moving @ L).max(initial=1.0))
    lowest, highest = max(_SLOWEST, fastest * period), _LARGEST_STEP / (period * ratio)
    if lowest > highest:
        longest = min(
            _LARGEST_STEP / (_SLOWEST * ratio),
            np.sqrt(_LARGEST_STEP / (ratio * fastest)) if fastest > 0.0 else np.inf,
        )
        # Three digits may be rounded up by half a percent.
        raise ParameterError(
            f"{purpose} cannot brake '{robot.model.name}' with states "
            f'{period:g} s apart: its gravity stiffness per inertia is {fastest:.4g} 1/s^2, '
            f'expected states at most {0.995 * longest:.3g} s apart'
        )
    return DampingRange(lowest, highest, ratio)


class GravityHold:
    r"""Gravity compensation with damping through the mass matrix: the default reaction to a fault.

    .. math:: \tau = g(q + T \dot q) - k M(q) \dot q

    Zero effort would let a loaded boom fall, and holding the last position would push against
    whatever stopped the machine. With the full mass matrix the damping power is -2 k times the
    kinetic energy in any pose of any robot. Coriolis forces do no work, so the energy decays as
    exp(-2 k t) however the joints are coupled. Damping each joint by its own inertia does not
    achieve that: sampled, it makes coupled arms unstable. Gravity is evaluated at the predicted
    position in the middle of the time in which the effort acts, for a delay between 0 and one
    period T; see `damping_range`.

    An effort must not be held longer than `longest_brake`: damping computed from an old velocity
    is a constant force that accelerates the machine backwards. Without fresh states, command
    gravity compensation only; the machine's own friction and brakes then stop it.
    """

    def __init__(
        self,
        robot: Robot,
        damping: float | None = None,
        *,
        period: float,
        flexible: Robot | None = None,
        compensate_gravity: bool = True,
        purpose: str = _PURPOSE,
    ) -> None:
        """Make the law.

        Args:
            robot: the machine with rigid links.
            damping: k, 1/s; None for the geometric mean of the stable range.
            period: time between two states, s.
            flexible: the machine with flexible links, or None.
            compensate_gravity: whether the efforts compensate gravity; False where the drives do.
            purpose: name used in error messages.

        Raises:
            ParameterError: the damping is outside the stable range, or no damping is stable at
                this period.
        """
        self._robot = robot
        self._compensate_gravity = compensate_gravity
        self.range = damping_range(
            robot, period, flexible, compensate_gravity=compensate_gravity, purpose=purpose
        )
        lowest, highest, _ = self.range
        if damping is None:
            damping = float(np.sqrt(lowest * highest))
        damping = real_number(damping, 'damping')
        if not lowest <= damping <= highest:
            raise ParameterError(
                f'damping of {purpose} is {damping:g} 1/s, expected '
                f'{lowest:.4g} to {highest:.4g} 1/s with states {period:g} s apart'
            )
        self.damping = damping

    def weight(self, q: FloatArray, qd: FloatArray, period: float) -> FloatArray:
        """Return gravity efforts at the position predicted one period ahead, (n,), N m or N.

        Zero where the drives compensate gravity.

        Args:
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            period: time between two states, s.
        """
        if not self._compensate_gravity:
            return np.zeros(self._robot.n)
        return self._robot.gravity_vector(q + period * qd)

    def largest_damping(self, period: float) -> float:
        """Return the largest damping, 1/s, that is stable with a period between states, s."""
        return _LARGEST_STEP / (period * self.range.inertia_ratio)

    @property
    def longest_brake(self) -> float:
        """Longest hold time of a damping effort, s: half of the time in which it stops motion."""
        return 0.5 / (self.damping * self.range.inertia_ratio)

    def adopt(self, other: GravityHold) -> None:
        """Adopt another law's range of damping, and its damping if the own is outside that range.

        Args:
            other: law of the same machine with another payload.
        """
        self.range = other.range
        if not other.range.lowest <= self.damping <= other.range.highest:
            self.damping = other.damping

    def effort(
        self,
        q: FloatArray,
        qd: FloatArray,
        period: float,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return the efforts tau, shape (n,), N m or N; not finite if the state is not.

        If a limit is active, these are the efforts within the limits whose accelerations are
        nearest to the wanted ones in the metric of kinetic energy (Gauss's principle). They still
        dissipate energy as long as gravity compensation is within the limits: it is nearer to the
        wanted effort than any effort that accelerates the machine.

        Args:
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            period: measured time between two states, s; if it is longer than planned, the damping
                is reduced.
            lower: smallest efforts allowed, shape (n,).
            upper: largest efforts allowed, shape (n,).
        """
        damping = min(self.damping, self.largest_damping(period))
        M = self._robot.mass_matrix(q)
        weight = self.weight(q, qd, period)
        brake = -damping * (M @ qd)
        wanted = weight + brake
        if not np.isfinite(wanted).all() or ((wanted >= lower) & (wanted <= upper)).all():
            return wanted
        if not (lower < upper).all():  # no time has passed: the rate limit allows no change
            return np.clip(wanted, lower, upper)
        nearest = weight + _nearest(M, brake, lower - weight, upper - weight)
        return np.clip(nearest, lower, upper)  # outside by rounding at most


def _nearest(
    M: FloatArray, wanted: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """The x within bounds that minimises ``(x - wanted)^T M^-1 (x - wanted)``.

    Active-set method. The active components a are at a bound; for the free components f the
    minimum is ``x_f = wanted_f + M_fa y`` with ``M_aa y = (x - wanted)_a``, and y is the gradient
    of the active components. Every iteration reduces the cost or ends the search.
    """
    x = np.clip(wanted, lower, upper)
    side = np.sign(wanted - x)  # 1 at the upper bound, -1 at the lower bound, 0 if free
    for _ in range(_PASSES * x.size):
        held, free = side != 0.0, side == 0.0
        gradient = np.zeros_like(x)
        gradient[held] = np.linalg.solve(M[np.ix_(held, held)], (x - wanted)[held])
        change = np.where(free, wanted + M @ gradient - x, 0.0)
        room = np.where(change > 0.0, upper - x, x - lower)
        beyond = np.abs(change) > room
        if beyond.any():
            share = np.divide(room, np.abs(change), out=np.ones_like(x), where=beyond)
            x = x + share.min() * change
            met = share == share.min()
            side = np.where(met, np.sign(change), side)
            x = np.where(met, np.where(side > 0.0, upper, lower), x)
            continue
        x = x + change
        inward = gradient * side  # above 0 where the cost decreases away from the bound
        worst = int(inward.argmax())
        if inward[worst] <= 0.0:
            break
        side[worst] = 0.0
    return x


def _cholesky(robot: Robot, q: FloatArray, purpose: str) -> FloatArray:
    try:
        return np.linalg.cholesky(robot.mass_matrix(q))
    except np.linalg.LinAlgError:
        raise ParameterError(
            f"{purpose} cannot brake '{robot.model.name}': its mass matrix "
            'is singular, a joint moves no mass'
        ) from None


def _in_metric(L: FloatArray, G: FloatArray) -> FloatArray:
    """L^-1 G L^-T with M = L L^T: symmetric, with the eigenvalues of M^-1 G."""
    half = np.linalg.solve(L, G)
    return np.asarray(np.linalg.solve(L, np.swapaxes(half, 1, 2)))
