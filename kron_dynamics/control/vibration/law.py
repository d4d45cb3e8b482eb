# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vibration damping as a control law: feedforward, friction, and gains for the pose."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future

import numpy as np

from kron_dynamics.control.vibration.damper import VibrationDamper
from kron_dynamics.control.vibration.feedforward import FlexibleFeedforward
from kron_dynamics.control.vibration.flexible_torque import LawWithMemory
from kron_dynamics.control.vibration.lqg import DampingGains
from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Time between looks whether the pose asks for other gains, s: few poses change in less.
_NEW_GAINS = 0.5
# Part by which the mean time between states may be off the period of the gains, over about as
# many states.
_PERIOD_ERROR, _MEAN_OF = 0.1, 50
# Share of the friction that is compensated in motions of the damper: with all of it a joint that
# is stopped a little sooner than the model says would be pushed on, and hunt.
_COMPENSATED = 0.7
# Rates that the filter cannot tell from none, against the standard deviation that it gives them:
# after them, joints would hunt for the last step of their encoders.
_NO_RATE = 0.5
# Friction stops a joint; a filter that lets it do so in less than a period would swing.
_STOPPED = 0.7


class DampedTorque(LawWithMemory):
    """Efforts of the reference under flexible links, and a `VibrationDamper` for the rest.

    The damper measures positions alone. Gains for another pose are made in the background.

    Coulomb friction that is stronger than a vibration holds the joints, and nothing would be seen
    or damped. Where friction is compensated, the filter knows what of the efforts it takes, at
    the estimated rates; and the drives get a share of it for the rates that the joints would have
    without it, as the regulator moves them. That is no measured rate, so there is no chatter.
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
            rigid: the robot with stiff links, for the friction in its joints.
            links: its flexible links. If they vibrate along the reference, the damper leaves
                that vibration alone: a shaped reference ends it.
            damper: with gains for the first pose.
            gains_at: makes gains for joint positions (n_j,), such as `GainSchedule.at`.
            background: where it runs.
            compensate_friction: whether to compensate the friction of the model.
        """
        self._rigid = rigid
        self._links = links
        self._damper = damper
        self._gains_at = gains_at
        self._background = background
        self._compensate_friction = compensate_friction
        self._job: Future[DampingGains] | None = None
        self._since_job = 0.0
        self._no_gains: str | None = None
        self._mean_period = damper.gains.period
        self._forget(rigid.n)

    def _forget(self, n: int) -> None:
        self._taken = np.zeros(n)  # by friction, in this period
        self._wanted = np.zeros(n)  # deviations of the joints, were there no friction
        self._wanted_rate = np.zeros(n)

    @property
    def problem(self) -> str | None:
        """What keeps the damping from being what it should, or None."""
        period = self._damper.gains.period
        if abs(self._mean_period - period) > _PERIOD_ERROR * period:
            return f'states come every {self._mean_period:.3g} s, gains are for {period:.3g} s'
        return self._no_gains

    @property
    def deflection(self) -> tuple[FloatArray, FloatArray]:
        """Estimated modal coordinates and their rates, (n_m,) each."""
        e, ed = self._damper.deflection, self._damper.deflection_rate
        if self._links.vibrating:
            return self._links.deflection + e, self._links.deflection_rate + ed
        return e, ed

    def start(self, q: FloatArray) -> None:
        """Forget what was: see `LawWithMemory`."""
        self._links.start(q)
        self._damper.reset()
        self._forget(len(q))

    def __call__(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: tuple[FloatArray, FloatArray, FloatArray],
        elapsed: float,
    ) -> FloatArray:
        """Return the efforts: see `LawWithMemory`."""
        self._renew_gains(reference[0], elapsed)
        if elapsed > 0.0:
            self._mean_period += (elapsed - self._mean_period) / _MEAN_OF
        q_ref, qd_ref, _ = reference
        efforts = self._links.follow(*reference, elapsed)
        # Links that vibrate as they should show no deviation, at any time.
        steady = self._links.deflection
        if self._links.vibrating:
            steady = np.zeros_like(steady)
        if not self._compensate_friction:
            return self._damper.update(q, None, q_ref, qd_ref, steady, efforts)
        friction = self._rigid.joint_friction(qd_ref)
        wanted = self._damper.update(q, None, q_ref, qd_ref, steady, efforts + friction)
        moved = self._rigid.joint_friction(qd_ref + self._clear_rate()) - friction
        self._taken = self._friction_taken(q, qd_ref, friction)
        self._want(self._damper.deflection - steady)
        return wanted + _COMPENSATED * moved

    def set_applied_effort(self, effort: FloatArray) -> None:
        """Tell the efforts that were sent: see `LawWithMemory`."""
        self._damper.set_applied_effort(effort - self._taken)

    def _friction_taken(
        self, q: FloatArray, qd_ref: FloatArray, friction: FloatArray
    ) -> FloatArray:
        """Friction at the estimated rates beyond that of the reference, shape (n,)."""
        rate = self._damper.rate_deviation
        taken = self._rigid.joint_friction(qd_ref + rate) - friction
        most = np.abs(rate) * self._rigid.mass_matrix(q).diagonal()
        most *= _STOPPED / self._damper.gains.period
        return np.clip(taken, -most, most)

    def _clear_rate(self) -> FloatArray:
        """Rates wanted, less what is too small to be told from none, shape (n,)."""
        gains, rate = self._damper.gains, self._wanted_rate
        first = len(gains.joint_names)
        variance = gains.filter.covariance.diagonal()[first : first + len(rate)]
        least = _NO_RATE * np.sqrt(variance)
        clear: FloatArray = rate - np.clip(rate, -least, least)
        return clear

    def _want(self, deviation: FloatArray) -> None:
        """Move the joints on as the regulator would without friction, under these links."""
        gains, n_j = self._damper.gains, len(self._wanted)
        state = np.concatenate(
            (
                *(self._wanted, deviation, self._wanted_rate),
                *(self._damper.deflection_rate, np.zeros(n_j)),
            )
        )
        state = gains.transition @ state - gains.input @ (gains.feedback @ state)
        n = len(gains.joint_names)
        self._wanted, self._wanted_rate = state[:n_j], state[n : n + n_j]

    def _renew_gains(self, q: FloatArray, elapsed: float) -> None:
        """Take gains that are ready, and ask for others now and then."""
        self._since_job += elapsed
        if self._job is not None and self._job.done():
            job, self._job = self._job, None
            try:
                self._damper.gains = job.result()
                self._no_gains = None
            except KronDynamicsError as error:
                self._no_gains = str(error)  # the former ones stay
        if self._job is None and self._since_job >= _NEW_GAINS:
            self._job = self._background.submit(self._gains_at, q.copy())
            self._since_job = 0.0
