# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vibration damping as a control law: feedforward, friction compensation, pose-dependent gains."""

from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.law import ControlLaw, JointReference, LawState
from kron_dynamics.control.terms import TERMS
from kron_dynamics.control.vibration.damper import VibrationDamper
from kron_dynamics.control.vibration.feedforward import FlexibleFeedforward, FollowedLinks
from kron_dynamics.control.vibration.lqg import DampingGains
from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Interval at which new gains are requested, s: the pose changes little in less.
_NEW_GAINS = 0.5
# Allowed relative deviation of the mean time between states from the period of the gains, and
# number of states in the moving average.
_PERIOD_ERROR, _MEAN_OF = 0.1, 50
# Share of the friction compensated for motions of the damper: full compensation causes limit
# cycles if friction is overestimated.
_COMPENSATED = 0.7
# Deadband of the wanted rate, in standard deviations of the estimated rate: without it joints
# would hunt within the resolution of their encoders.
_NO_RATE = 0.5
# Largest friction in the filter, as a share of the effort that stops the joint within one period:
# more would make the filter oscillate.
_STOPPED = 0.7


@dataclass(slots=True, eq=False)
class DampedTorqueState(LawState):
    """State of a run of `DampedTorque`; arrays of shape (n,).

    Attributes:
        links: state of the links along the reference.
        damper: the damper with its filter state.
        vibrating: whether the links vibrate along the reference.
        mean_period: moving average of the time between states, s.
        taken: effort reduction by friction in this period, N m or N.
        wanted: deviations of the joints predicted without friction, rad or m.
        wanted_rate: rates of these deviations.
        before: damper, wanted and wanted_rate before the last call, and the time that had passed
            then, s; None before the first.
        job: running computation of gains.
        since_job: time since it was requested, s.
        no_gains: why there are no gains for this pose, or None.
    """

    links: FollowedLinks
    damper: VibrationDamper
    vibrating: bool
    mean_period: float
    taken: FloatArray
    wanted: FloatArray
    wanted_rate: FloatArray
    before: tuple[VibrationDamper, FloatArray, FloatArray, float] | None = None
    job: Future[DampingGains] | None = None
    since_job: float = 0.0
    no_gains: str | None = None

    @property
    def problem(self) -> str | None:
        """Why the damping is degraded, or None."""
        period = self.damper.gains.period
        if abs(self.mean_period - period) > _PERIOD_ERROR * period:
            return f'states come every {self.mean_period:.3g} s, gains are for {period:.3g} s'
        return self.no_gains

    @property
    def deflection(self) -> tuple[FloatArray, FloatArray]:
        """Estimated modal coordinates and their rates, (n_m,) each."""
        e, ed = self.damper.deflection, self.damper.deflection_rate
        if self.vibrating:
            return self.links.deflection + e, self.links.rate + ed
        return e, ed

    def set_applied_effort(self, effort: FloatArray) -> None:
        """Report the efforts that were sent: see `LawState`."""
        self.damper.set_applied_effort(effort - self.taken)


class DampedTorque(ControlLaw[DampedTorqueState]):
    """Feedforward of the reference with flexible links, plus a `VibrationDamper`.

    The damper uses measured positions only. Gains for new poses are computed in the background;
    the next run starts with the latest ones.

    Coulomb friction that exceeds the vibration's joint efforts blocks the joints, so that the
    vibration would be neither observed nor damped. With friction compensation, the filter takes
    the friction at the estimated rates into account. In addition the drives compensate a share of
    the friction at the rates that the regulator would cause without friction. These are not
    measured rates, so the drives do not chatter.
    """

    def __init__(
        self,
        rigid: Robot,
        links: FlexibleFeedforward,
        damper: VibrationDamper,
        gains_at: Callable[[FloatArray], DampingGains],
        background: Executor,
        *,
        compensate_friction: bool = True,
    ) -> None:
        """Make the law.

        Args:
            rigid: the robot with rigid links, for the friction in its joints.
            links: feedforward of its flexible links. If they vibrate along the reference, the
                damper does not act on that vibration, which the shaped reference ends.
            damper: damper with gains for the first pose.
            gains_at: returns gains for joint positions (n_j,), such as `GainSchedule.at`.
            background: executor that runs `gains_at`.
            compensate_friction: whether to compensate the friction of the model.
        """
        self._rigid = rigid
        self._links = links
        self._damper = damper
        self._gains_at = gains_at
        self._background = background
        self._compensate_friction = compensate_friction

    @property
    def gains(self) -> DampingGains:
        """Regulator and filter of the latest pose."""
        return self._damper.gains

    @property
    def terms(self) -> frozenset[str]:
        """Model terms that the efforts contain."""
        every = frozenset(TERMS)
        return every if self._compensate_friction else every - {'friction'}

    def start(self, q: FloatArray) -> DampedTorqueState:
        """Return the state of a run from rest: see `ControlLaw`."""
        links = self._links.start(q)
        damper = copy.copy(self._damper)
        damper.reset()
        return DampedTorqueState(
            links, damper, self._links.vibrating, damper.gains.period, *np.zeros((3, len(q)))
        )

    @np.errstate(over='ignore', invalid='ignore')  # see `ControlLaw`
    def __call__(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: JointReference,
        state: DampedTorqueState,
        elapsed: float,
    ) -> FloatArray:
        """Return the efforts: see `ControlLaw`."""
        self._renew_gains(state, reference[0], elapsed)
        since_update = _advance_once(state, elapsed)
        if elapsed > 0.0:
            state.mean_period += (elapsed - state.mean_period) / _MEAN_OF
        q_ref, qd_ref, _ = reference
        damper = state.damper
        efforts = self._links.follow(state.links, *reference, elapsed)
        # Links that vibrate as predicted have zero deviation.
        steady = state.links.deflection
        if state.vibrating:
            steady = np.zeros_like(steady)
        if not self._compensate_friction:
            return damper.update(q, None, q_ref, qd_ref, steady, efforts, since_update)
        friction = self._rigid.joint_friction(qd_ref)
        wanted = damper.update(q, None, q_ref, qd_ref, steady, efforts + friction, since_update)
        moved = self._rigid.joint_friction(qd_ref + _clear_rate(state)) - friction
        state.taken = self._friction_taken(damper, q, qd_ref, friction)
        _predict_frictionless(state, damper.deflection - steady)
        return wanted + _COMPENSATED * moved

    def _friction_taken(
        self, damper: VibrationDamper, q: FloatArray, qd_ref: FloatArray, friction: FloatArray
    ) -> FloatArray:
        """Friction at the estimated rates minus that at the reference rates, limited, (n,)."""
        rate = damper.rate_deviation
        taken = self._rigid.joint_friction(qd_ref + rate) - friction
        most = np.abs(rate) * self._rigid.mass_matrix(q).diagonal()
        most *= _STOPPED / damper.gains.period
        return np.clip(taken, -most, most)

    def _renew_gains(self, state: DampedTorqueState, q: FloatArray, elapsed: float) -> None:
        """Adopt finished gains, and request new ones periodically."""
        state.since_job += elapsed
        if state.job is not None and state.job.done():
            job, state.job = state.job, None
            try:
                state.damper.gains = self._damper.gains = job.result()
                state.no_gains = None
            except KronDynamicsError as error:
                state.no_gains = str(error)  # the previous gains are kept
        if state.job is None and state.since_job >= _NEW_GAINS:
            state.job = self._background.submit(self._gains_at, q.copy())
            state.since_job = 0.0


def _advance_once(state: DampedTorqueState, elapsed: float) -> float:
    """Go back to the time before the last call if no time has passed since.

    Each call advances the filter: a state with further measurements of the same time replaces the
    one before. Returns the time by which this call advances it, s.
    """
    if elapsed > 0.0 or state.before is None:
        state.before = copy.copy(state.damper), state.wanted, state.wanted_rate, elapsed
        return elapsed
    damper, state.wanted, state.wanted_rate, passed = state.before
    gains, state.damper = state.damper.gains, copy.copy(damper)
    state.damper.gains = gains
    return passed


def _clear_rate(state: DampedTorqueState) -> FloatArray:
    """Wanted rates after a deadband of the size of the estimation error, shape (n,)."""
    gains, rate = state.damper.gains, state.wanted_rate
    first = len(gains.joint_names)
    variance = gains.filter.covariance.diagonal()[first : first + len(rate)]
    least = _NO_RATE * np.sqrt(variance)
    clear: FloatArray = rate - np.clip(rate, -least, least)
    return clear


def _predict_frictionless(state: DampedTorqueState, deviation: FloatArray) -> None:
    """Advance the wanted deviations by one period of the regulator without friction."""
    gains, n_j = state.damper.gains, len(state.wanted)
    x = np.concatenate(
        (
            *(state.wanted, deviation, state.wanted_rate),
            *(state.damper.deflection_rate, np.zeros(n_j)),
        )
    )
    x = gains.transition @ x - gains.input @ (gains.feedback @ x)
    n = len(gains.joint_names)
    state.wanted, state.wanted_rate = x[:n_j], x[n : n + n_j]
