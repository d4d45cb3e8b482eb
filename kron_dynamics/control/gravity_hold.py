# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The fault action that carries a robot's weight and takes its kinetic energy out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kron_dynamics.arguments import real_number
from kron_dynamics.control.poses import gravity_derivative, poses_within_limits
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Damping times period at most: an effort that acts one period late then brings the speed down
# without overshoot (z^2 - z + k T has real roots).
_LARGEST_STEP = 0.25
# A robot that loses its speed more slowly than this, 1/s, coasts for seconds.
_SLOWEST = 0.5
_PURPOSE = "the fault action 'hold_gravity'"
# Of the search for efforts within limits, for each joint; it takes about one.
_PASSES = 10


class DampingRange(NamedTuple):
    """Between which dampings a sampled `GravityHold` takes energy out.

    Attributes:
        lowest: 1/s; below it the weight, which changes while an effort stays, gives more energy
            than damping takes.
        highest: 1/s; above it a sampled brake overshoots.
        inertia_ratio: largest ratio of the inertia that the law brakes to that which moves, 1 for
            rigid robots.
    """

    lowest: float
    highest: float
    inertia_ratio: float


def damping_range(
    robot: Robot,
    period: float,
    flexible: Robot | None = None,
    *,
    carry_weight: bool = True,
    purpose: str = _PURPOSE,
) -> DampingRange:
    r"""Return the dampings k, 1/s, at which `GravityHold` is stable with efforts of one period.

    An effort stays for the period T and may act one period late. Then

    - ``k T r <= 1/4``, r being the largest eigenvalue of :math:`(M_f^{-1})_{jj} M`: 1 for a rigid
      robot. With flexible links the joints move against less than the rigid inertia M at first;
      M_f is the mass matrix with modal coordinates, jj its block of the joints.
    - ``k >= T max |eig(M^-1 dg/dq)|``: the weight at the position that is expected half-way is
      wrong by at most half a period of motion, and damping takes twice what that gives.

    Both are looked at in poses drawn from the position limits.

    Args:
        robot: the robot with rigid links.
        period: time between two efforts, s.
        flexible: the same with links that bend, or None.
        carry_weight: whether the commands carry the weight; not where the drives do.
        purpose: what asks, for messages.

    Raises:
        ParameterError: the period is no time, or no damping fulfils both; the message says which
            period would do.
    """
    period = real_number(period, 'period of the states')
    if not 0.0 < period < np.inf:
        raise ParameterError(f'period of the states is {period:g} s, expected a time above 0')
    q = poses_within_limits(robot)
    L = _cholesky(robot, q, purpose)
    fastest = 0.0
    if carry_weight:
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
            f'{period:g} s apart: its weight changes at {fastest:.4g} 1/s^2, expected states at '
            f'most {0.995 * longest:.3g} s apart'
        )
    return DampingRange(lowest, highest, ratio)


class GravityHold:
    r"""Carry the machine's weight and brake it: the way out of a fault.

    .. math:: \tau = g(q + T \dot q) - k M(q) \dot q

    Zero effort would let a loaded boom fall, and holding the last position would fight whatever
    stopped it. With the full mass matrix the power of the brake is -2 k times the kinetic energy,
    in any pose of any robot: Coriolis forces do no work, so the energy falls by exp(-2 k t)
    however the joints are coupled. Damping each joint by its own inertia does not do that:
    sampled, it drives coupled arms unstable. The weight is that of the position in the middle of
    the time in which the effort acts, if it acts between at once and one period T late; see
    `damping_range`.

    An effort must not stay longer than `longest_brake`: a brake by an old velocity is a constant
    push that sets the machine moving backwards. Without fresh states the weight alone is to be
    carried; that leaves the brake to the machine's own friction and brakes.
    """

    def __init__(
        self,
        robot: Robot,
        damping: float | None = None,
        *,
        period: float,
        flexible: Robot | None = None,
        carry_weight: bool = True,
        purpose: str = _PURPOSE,
    ) -> None:
        """Make the law.

        Args:
            robot: the machine with rigid links.
            damping: k, 1/s; None takes the geometric mean of the range that is stable.
            period: time between two states, s.
            flexible: the machine with links that bend, or None.
            carry_weight: whether its efforts carry the weight; not where the drives do.
            purpose: what it is for, in messages.

        Raises:
            ParameterError: the damping is outside the range that is stable, or no damping is
                stable at this period.
        """
        self._robot = robot
        self._carry_weight = carry_weight
        self.range = damping_range(
            robot, period, flexible, carry_weight=carry_weight, purpose=purpose
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
        """Return what a command must hold in the middle of its time to act, shape (n,), N m or N.

        Args:
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            period: time between two states, s.
        """
        if not self._carry_weight:
            return np.zeros(self._robot.n)
        return self._robot.gravity_vector(q + period * qd)

    def largest_damping(self, period: float) -> float:
        """Return the greatest damping, 1/s, that is stable with states of a period, s."""
        return _LARGEST_STEP / (period * self.range.inertia_ratio)

    @property
    def longest_brake(self) -> float:
        """How long one braking effort may stay, s: half the time in which it stops the machine."""
        return 0.5 / (self.damping * self.range.inertia_ratio)

    def adopt(self, other: GravityHold) -> None:
        """Take over the range of another machine, and its damping where the own is outside.

        Args:
            other: made for the same machine with another payload.
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
        """Return the efforts tau, shape (n,), N m or N; not finite where the state is not.

        Where a limit is met, these are the efforts within the limits whose accelerations are
        nearest to the wanted ones in the metric of kinetic energy (Gauss's principle). They take
        energy out like those without limits as long as the limits allow for the weight: the
        weight alone is nearer to the wanted effort than anything that speeds the machine up.

        Args:
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            period: time between two states as they come, s; where it is longer than planned,
                damping is reduced.
            lower: least efforts allowed, shape (n,).
            upper: greatest efforts allowed, shape (n,).
        """
        damping = min(self.damping, self.largest_damping(period))
        M = self._robot.mass_matrix(q)
        weight = self.weight(q, qd, period)
        brake = -damping * (M @ qd)
        wanted = weight + brake
        if not np.isfinite(wanted).all() or ((wanted >= lower) & (wanted <= upper)).all():
            return wanted
        if not (lower < upper).all():  # no time has passed: nothing may change
            return np.clip(wanted, lower, upper)
        nearest = weight + _nearest(M, brake, lower - weight, upper - weight)
        return np.clip(nearest, lower, upper)  # but for rounding they are


def _nearest(
    M: FloatArray, wanted: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """The x within limits that minimises ``(x - wanted)^T M^-1 (x - wanted)``.

    An active-set method: some components are at a limit, the others minimise, which with y the
    solution of ``M_aa y = (x - wanted)_a`` for those at a limit is ``x = wanted + M_fa y``; y is
    the gradient there. Every pass makes the sum smaller, or ends.
    """
    x = np.clip(wanted, lower, upper)
    side = np.sign(wanted - x)  # of the limit that a component is at: 1, -1, or 0 where it is free
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
        inward = gradient * side  # above 0 where the sum falls away from the limit
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
    """L^-1 G L^-T, whose eigenvalues are those of M^-1 G."""
    half = np.linalg.solve(L, G)
    return np.asarray(np.linalg.solve(L, np.swapaxes(half, 1, 2)))
