# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Hand guiding: gravity compensation with damping, while a person moves the robot by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.gravity_hold import GravityHold, damping_range
from kron_dynamics.control.law import ControlLaw, JointReference, LawState
from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.terms import EffortTerms
from kron_dynamics.exceptions import ParameterError, SpeedLimitError
from kron_dynamics.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

_PURPOSE = "control law 'gravity'"
# Multiple of the speed limit above which the robot is regarded as running away: the law raises.
_RUNAWAY = 2.0


class HandGuiding(ControlLaw[LawState]):
    r"""Gravity compensation with light damping, and stronger damping above a speed limit.

    .. math:: \tau = g(q + T \dot q) - k(s) M(q) \dot q + \alpha f(\dot q)

    s is the largest ratio of a joint speed to its limit. Up to s = 1, k is the given damping;
    above, it grows towards the largest stable damping. Above s = 2 the law raises: a payload or a
    weight missing in the model accelerates the robot. No position is held. See `GravityHold` for
    the gravity term, the damping and the range of k: damping below its lower end would not
    dissipate the energy that sampling the gravity term adds.
    """

    follows_references = False

    def __init__(
        self,
        robot: Robot,
        speed_limit: ArrayLike,
        *,
        period: float,
        damping: float | None = None,
        friction_share: float = 0.0,
        flexible: Robot | None = None,
        terms: EffortTerms | None = None,
    ) -> None:
        """Make the law.

        Args:
            robot: the machine with rigid links.
            speed_limit: speeds above which damping increases, shape (n,), rad/s or m/s, above 0.
            period: time between states, s.
            damping: k, 1/s; None for the lowest stable damping.
            friction_share: alpha, share of the modelled friction that is compensated at the
                measured velocity, 0 to 0.9. Overestimated friction accelerates the robot, and
                velocity noise makes the drives chatter.
            flexible: the machine with flexible links, or None.
            terms: whether commands or drives compensate gravity and friction; None for commands.

        Raises:
            ParameterError: an argument cannot be used, gravity is not compensated at all, friction
                would be compensated twice or is left out, or no damping is stable at this period.
        """
        terms = EffortTerms() if terms is None else terms
        _check_terms(terms, friction_share)
        self._robot = robot
        self._speed_limit = positive_per_joint('speed limit', speed_limit, robot.joint_names)
        carried = 'gravity' not in terms.drive
        if damping is None:
            damping = damping_range(
                robot, period, flexible, compensate_gravity=carried, purpose=_PURPOSE
            ).lowest
        self._hold = GravityHold(
            robot,
            damping,
            period=period,
            flexible=flexible,
            compensate_gravity=carried,
            purpose=_PURPOSE,
        )
        self._period = period
        self._friction_share = friction_share
        self._terms = frozenset({'gravity'} if carried else ()) | (
            {'friction'} if friction_share > 0.0 else set()
        )

    @property
    def terms(self) -> frozenset[str]:
        """Model terms that the efforts contain."""
        return self._terms

    @property
    def damping(self) -> float:
        """Damping below the speed limit, 1/s."""
        return self._hold.damping

    def adopt(self, other: HandGuiding) -> None:
        """Adopt the range of damping and the damping of the law for another payload."""
        self._hold.range, self._hold.damping = other._hold.range, other.damping

    def start(self, q: FloatArray) -> LawState:
        """Return an empty state."""
        return LawState()

    @np.errstate(over='ignore', invalid='ignore')  # see `ControlLaw`
    def __call__(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: JointReference,
        state: LawState,
        elapsed: float,
    ) -> FloatArray:
        """Return the efforts: see `ControlLaw`. The reference is not used."""
        shares = np.abs(qd) / self._speed_limit
        speed = float(shares.max())
        if speed > _RUNAWAY:
            i = int(shares.argmax())
            raise SpeedLimitError(
                f"joint '{self._robot.joint_names[i]}' moves at {abs(qd[i]):.4g} under hand "
                f'guiding, expected at most {_RUNAWAY * self._speed_limit[i]:.4g}: twice its '
                'speed limit there'
            )
        hold, period = self._hold, max(elapsed, self._period)
        damping = hold.damping
        if speed > 1.0:
            damping += (hold.range.highest - damping) * (1.0 - 1.0 / speed)
        damping = min(damping, hold.largest_damping(period))
        effort = hold.weight(q, qd, self._period) - damping * (self._robot.mass_matrix(q) @ qd)
        if self._friction_share > 0.0:
            effort = effort + self._friction_share * self._robot.joint_friction(qd)
        return effort


def _check_terms(terms: EffortTerms, friction_share: float) -> None:
    if not terms.gravity_is_compensated:
        raise ParameterError(
            f'{_PURPOSE} compensates gravity, but gravity is in neither terms nor drive_terms'
        )
    if not 0.0 <= friction_share <= 0.9:
        raise ParameterError(
            f'share of the friction compensated is {friction_share:g}, expected 0 to 0.9'
        )
    if friction_share > 0.0 and 'friction' not in terms.commanded:
        raise ParameterError(
            f'{_PURPOSE} is to compensate {friction_share:g} of the friction, but terms leave '
            'friction out'
        )
