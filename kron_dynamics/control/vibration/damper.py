# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vibration damping of elastic links by the drives, with measurements of the joints only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.turns import shorter_way, whole_turns
from kron_dynamics.control.vibration.lqg import DampingGains
from kron_dynamics.exceptions import NonFiniteError, ParameterError, ShapeError
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.typing import ArrayLike, FloatArray


class VibrationDamper:
    r"""Linear-quadratic-Gaussian law: a Kalman filter estimates the modes, the drives damp them.

    .. math:: \tau = \tau_{ff} - F \hat x, \quad \hat x = (\delta q, \delta \dot q, d)

    Deviations of the joints are relative to the reference; those of the modes relative to the
    quasi-static deflection e_ref with rate 0. They obey the linear model if e_ref is in
    equilibrium (the modal part of inverse dynamics at (q_ref, e_ref) vanishes with modal rates
    and accelerations 0) and the feedforward is the joint part. A step of the acceleration is then
    a step of e_ref: the estimated deflection is continuous, and the difference is damped like any
    other vibration. Steps of the joint reference's position are handled; steps of its rate act as
    disturbances.

    The filter predicts with the applied effort, so it stays correct while a drive saturates, and
    nothing winds up. Friction and gravity errors appear as a slow effort d, which is estimated
    and compensated, so that joints reach their reference.

    The damper has a state: call `update` once per period, from one thread.
    """

    def __init__(
        self, gains: DampingGains, effort_limit: ArrayLike, *, continuous: ArrayLike | None = None
    ) -> None:
        """Make a damper at rest.

        Args:
            gains: gains of the first operating point.
            effort_limit: limits of the n_j drives, shape (n_j,), N m or N; inf for none.
            continuous: mask of the continuous joints, whose errors are wrapped, shape (n_j,); None
                for no such joint.

        Raises:
            ParameterError: a limit cannot be used, or continuous has another shape.
        """
        self._n, self._n_j = len(gains.joint_names), gains.input.shape[1]
        self._joints = gains.joint_names[: self._n_j]
        self._limit = positive_per_joint(
            'effort_limit', effort_limit, self._joints, infinity_allowed=True
        )
        endless = np.zeros(self._n_j) if continuous is None else np.asarray(continuous)
        if endless.shape != (self._n_j,):
            raise ParameterError(
                f'continuous has shape {endless.shape}, expected ({self._n_j},): one for each of '
                f'{list(self._joints)}'
            )
        self._turns = whole_turns(endless)
        self._gains = gains
        self.reset()

    def reset(self) -> None:
        """Reset the state: the next update assumes the links at rest in static deflection."""
        self._started = False
        self._x = np.zeros(2 * self._n + self._n_j)
        self._reference = np.zeros(self._n)
        self._rate, self._feedforward, self._applied = np.zeros((3, self._n_j))

    @property
    def gains(self) -> DampingGains:
        """The gains in use. New ones may be set at any time; the estimate carries over.

        Raises:
            ParameterError: new gains are for other coordinates or another period.
        """
        return self._gains

    @gains.setter
    def gains(self, gains: DampingGains) -> None:
        old = self._gains
        if (gains.joint_names, gains.period) != (old.joint_names, old.period):
            raise ParameterError(
                f'gains are for {list(gains.joint_names)} every {gains.period:g} s, expected '
                f'{list(old.joint_names)} every {old.period:g} s'
            )
        self._gains = gains

    def update(
        self,
        q: FloatArray,
        qd: FloatArray | None,
        q_ref: FloatArray,
        qd_ref: FloatArray,
        deflection_ref: FloatArray,
        feedforward: FloatArray,
        elapsed: float | None = None,
    ) -> FloatArray:
        """Return the efforts of this period, within the limits, shape (n_j,), N m or N.

        A call that raises leaves the state unchanged.

        Args:
            q: measured joint positions, shape (n_j,), rad or m.
            qd: measured joint rates, shape (n_j,); unused, and may be None, if the gains were
                designed without `NoiseModel.rate_noise`.
            q_ref: reference positions, shape (n_j,), rad or m.
            qd_ref: reference rates, shape (n_j,).
            deflection_ref: quasi-static modal deflections of the reference, shape (n_m,).
            feedforward: efforts of the reference, shape (n_j,), N m or N.
            elapsed: time since the last update, s, above 0; None for one period. It is longer
                where states were lost.

        Raises:
            ShapeError: an array has another shape.
            NonFiniteError: an entry is NaN or infinite, which would corrupt the state for good.
        """
        gains, n, n_j = self._gains, self._n, self._n_j
        measured = gains.filter.measured
        q, q_ref = self._vector('q', q, n_j), self._vector('q_ref', q_ref, n_j)
        qd_ref = self._vector('qd_ref', qd_ref, n_j)
        deflection_ref = self._vector('deflection_ref', deflection_ref, n - n_j)
        feedforward = self._vector('feedforward', feedforward, n_j)
        y = shorter_way(q - q_ref, self._turns)
        if len(measured) > n_j:
            y = np.concatenate((y, self._vector('qd', qd, n_j) - qd_ref))
        reference = np.concatenate((q_ref, deflection_ref))
        if self._started:
            elapsed = gains.period if elapsed is None else elapsed
            x, pushed = self._x, gains.input @ (self._applied - self._feedforward)
            for _ in range(max(1, round(elapsed / gains.period))):
                x = gains.transition @ x + pushed
            leap = reference - self._reference
            # Step of the joint reference: its change minus the integral of its rate.
            leap[:n_j] -= elapsed / 2.0 * (qd_ref + self._rate)
            leap[:n_j] = shorter_way(leap[:n_j], self._turns)
            x[:n] -= leap
        else:
            x = self._x.copy()
            x[measured] = y
        innovation = y - x[measured]
        innovation[:n_j] = shorter_way(innovation[:n_j], self._turns)
        x += gains.filter.gain @ innovation
        effort: FloatArray = np.clip(feedforward - gains.feedback @ x, -self._limit, self._limit)
        self._x, self._reference, self._rate = x, reference, qd_ref.copy()
        self._feedforward, self._applied = feedforward.copy(), effort.copy()
        self._started = True
        return effort

    def set_applied_effort(self, effort: FloatArray) -> None:
        """Report the efforts, shape (n_j,), acting on the joints, if not those of `update`.

        A guard may have limited them, or a known friction reduced them; unreported, the filter
        would estimate the difference as a disturbance.

        Raises:
            ShapeError: effort has another shape.
            NonFiniteError: an entry is NaN or infinite.
        """
        self._applied = self._vector('effort', effort, self._n_j).copy()

    @property
    def deflection(self) -> FloatArray:
        """Estimated modal coordinates at the last update, shape (n_m,)."""
        deflection: FloatArray = (self._reference + self._x[: self._n])[self._n_j :]
        return deflection

    @property
    def deflection_rate(self) -> FloatArray:
        """Estimated rates of the modal coordinates, shape (n_m,), per s."""
        return self._x[self._n + self._n_j : 2 * self._n].copy()

    @property
    def rate_deviation(self) -> FloatArray:
        """Estimated joint rates relative to the reference, shape (n_j,), rad/s or m/s."""
        return self._x[self._n : self._n + self._n_j].copy()

    @property
    def disturbance(self) -> FloatArray:
        """Estimated slow efforts d on the joints, (n_j,), N m or N, such as negative friction."""
        return self._x[2 * self._n :].copy()

    def _vector(self, label: str, value: FloatArray | None, size: int) -> FloatArray:
        array = np.asarray(value, dtype=np.float64)
        if array.shape != (size,):
            raise ShapeError(f'{label} has shape {array.shape}, expected ({size},)')
        if not np.isfinite(array).all():
            modal = label == 'deflection_ref'
            names = self._gains.joint_names[self._n_j :] if modal else self._joints
            raise NonFiniteError(
                f'{label} is {array.tolist()} for {list(names)}, expected finite numbers'
            )
        return array


class GainSchedule:
    """Gains for the present pose, recomputed when the pose or the payload changes.

    Not for the control cycle: a new pose requires a linearization and two Riccati equations.
    """

    def __init__(
        self,
        linearize: Callable[[FloatArray], LinearizedModel],
        design: Callable[[LinearizedModel], DampingGains],
        tolerance: ArrayLike,
        parameters: Callable[[], FloatArray] = lambda: np.zeros(0),
    ) -> None:
        """Make a schedule without gains.

        Args:
            linearize: returns the linear model about rest at joint positions, shape (n_j,).
            design: returns the gains of a linear model.
            tolerance: allowed distance of a joint from the pose of the gains, shape (n_j,), rad or
                m, above 0; inf for a joint without influence on the gains.
            parameters: returns the present parameters of the robot, for example
                `Robot.inertial_parameters`; other parameters require new gains.

        Raises:
            ParameterError: a tolerance cannot be used.
        """
        names = [f'joint {i}' for i in range(np.size(tolerance))]
        self._tolerance = positive_per_joint('tolerance', tolerance, names, infinity_allowed=True)
        self._linearize = linearize
        self._design = design
        self._parameters = parameters
        self._latest: tuple[FloatArray, FloatArray, DampingGains] | None = None

    def at(self, q: ArrayLike) -> DampingGains:
        """Return the gains for a pose: the same object while the pose stays within tolerance.

        Changed parameters require new gains in any pose. Errors of `linearize` and `design` are
        passed on; the schedule then keeps the previous gains.

        Args:
            q: joint positions, shape (n_j,), rad or m.

        Raises:
            ShapeError: q has another shape.
            NonFiniteError: q holds a NaN or an infinity.
        """
        pose: FloatArray = np.array(q, dtype=np.float64)
        if pose.shape != self._tolerance.shape:
            raise ShapeError(f'q has shape {pose.shape}, expected {self._tolerance.shape}')
        if not np.isfinite(pose).all():
            raise NonFiniteError(f'q is {pose.tolist()}, expected finite positions')
        parameters = self._parameters()
        if self._latest is not None:
            known, then, gains = self._latest
            is_near = (np.abs(pose - known) <= self._tolerance).all()
            if is_near and np.array_equal(parameters, then):
                return gains
        gains = self._design(self._linearize(pose))
        self._latest = pose, parameters, gains
        return gains
