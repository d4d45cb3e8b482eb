# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""LQG weights and gains for the damping of flexible links.

Linear-quadratic regulator and Kalman filter (LQG) about an operating point, of
``M dqdd + D dqd + K dq = [1; 0] dtau``. Coordinates are the n_j joints, which have drives, then
the n_m modal coordinates of elastic links, which have neither drive nor sensor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.vibration.kalman import (
    KalmanFilter,
    NoiseModel,
    SampledPlant,
    riccati,
    stable_poles,
)
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.typing import ArrayLike, ComplexArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class LqrWeights:
    """Deviations that are worth as much as each other: Bryson's rule.

    The regulator makes the sum of ``(deviation / scale)^2`` least. Half a scale asks for four
    times the care, and `dataclasses.replace` changes one.

    Attributes:
        position: joint deviations, shape (n_j,), rad or m.
        rate: joint rates, shape (n_j,), rad/s or m/s.
        deflection: modal deviations, shape (n_m,).
        deflection_rate: modal rates, shape (n_m,), per s.
        effort: joint efforts beyond those of the reference, shape (n_j,), N m or N.
    """

    position: FloatArray
    rate: FloatArray
    deflection: FloatArray
    deflection_rate: FloatArray
    effort: FloatArray

    @classmethod
    def of(
        cls, model: LinearizedModel, effort_limit: ArrayLike, *, bandwidth: float | None = None
    ) -> LqrWeights:
        r"""Return scales that follow from the machine.

        Effort: its limit. Position: what calls for all of it when the joint, as a rigid machine,
        is to answer with natural frequency w, ``p = limit / (M_jj w^2)``; rate: ``w p``, which
        damps a rigid joint with ratio sqrt(3)/2. A mode counts by its energy: at its scales it
        holds as much as the joint does that it is coupled to most, ``M_jj (w p)^2 / 2``.

        Args:
            model: about the operating point.
            effort_limit: of the n_j drives, shape (n_j,), N m or N.
            bandwidth: w, rad/s; None for half the lowest frequency of the elastic links with all
                joints clamped.

        Raises:
            ParameterError: a limit or the bandwidth cannot be used, or a bandwidth is needed: no
                mode, or one that nothing holds.
        """
        n_j = _joint_count(model, effort_limit)
        effort = positive_per_joint('effort_limit', effort_limit, model.joint_names[:n_j])
        M, K = model.mass.diagonal(), model.stiffness.diagonal()
        for name, k in zip(model.joint_names[n_j:], K[n_j:], strict=True):
            if not k > 0.0:
                raise ParameterError(
                    f"stiffness of '{name}' is {k:g}, expected that of a mode, above 0"
                )
        if bandwidth is None:
            bandwidth = _clamped_frequency(model, n_j) / 2.0
        if not 0.0 < bandwidth < np.inf:
            raise ParameterError(f'bandwidth is {bandwidth:g} rad/s, expected one above 0')
        position = effort / (M[:n_j] * bandwidth**2)
        rate = bandwidth * position
        coupling = np.abs(model.mass[n_j:, :n_j]) / np.sqrt(M[:n_j])
        doubled = (M[:n_j] * rate**2)[coupling.argmax(axis=1)]
        return cls(position, rate, np.sqrt(doubled / K[n_j:]), np.sqrt(doubled / M[n_j:]), effort)

    def noise_model(
        self, model: LinearizedModel, resolution: ArrayLike, *, part: float = 0.02
    ) -> NoiseModel:
        """Return the noise of the Kalman filter, of a size that goes with the weights.

        Noise on joints and their drift: a part of the effort. Noise on modes: that part of the
        force that holds the scale's deflection. Where a joint sticks, the drift builds up effort
        until it slips, and it may hunt about its reference: make the drift small there.

        Args:
            model: about the operating point.
            resolution: smallest step of the measured joint positions, shape (n_j,), rad or m.
            part: process noise relative to the weights, unit 1. More of it makes the filter
                trust its sensors more than its model.

        Raises:
            ParameterError: the part or the resolution cannot be used.
        """
        if not 0.0 < part < np.inf:
            raise ParameterError(f'part is {part:g}, expected a finite one above 0')
        n_j = len(self.effort)
        modal_force = model.stiffness.diagonal()[n_j:] * self.deflection
        pushes = part * self.effort
        found = NoiseModel(
            pushes, part * modal_force, pushes, np.array(resolution, dtype=np.float64)
        )
        return found.checked(model.joint_names[:n_j], model.joint_names[n_j:])


def _joint_count(model: LinearizedModel, effort_limit: ArrayLike) -> int:
    count = np.size(effort_limit)
    if not 1 <= count <= model.n:
        raise ParameterError(
            f'effort_limit has {count} values, expected one for each driven joint, the first of '
            f'{list(model.joint_names)}'
        )
    return count


def _clamped_frequency(model: LinearizedModel, n_j: int) -> float:
    from scipy.linalg import eigh  # takes long to import

    if n_j == model.n:
        raise ParameterError('bandwidth is None, expected rad/s: the model has no modes')
    K = model.stiffness[n_j:, n_j:]
    squares = eigh((K + K.T) / 2, model.mass[n_j:, n_j:], eigvals_only=True)
    return float(np.sqrt(max(squares[0], 0.0)))


@dataclass(frozen=True, slots=True, eq=False)
class DampingGains:
    """Regulator and filter for one operating point and control period, in SI units.

    The state is ``x = (dq, dqd, d)`` of `kron_dynamics.control.vibration.kalman`.

    Attributes:
        joint_names: the n coordinates.
        period: s.
        transition: a, shape (2n + n_j, 2n + n_j).
        input: B, shape (2n + n_j, n_j).
        feedback: F of ``dtau = -F x``, shape (n_j, 2n + n_j); d is taken off in full.
        filter: gain and covariance of the estimate.
        regulator_poles: from cycle to cycle, shape (2n,), inside the unit circle.
        undampable_modes: coordinates left to their own damping.
    """

    joint_names: tuple[str, ...]
    period: float
    transition: FloatArray
    input: FloatArray
    feedback: FloatArray
    filter: KalmanFilter
    regulator_poles: ComplexArray
    undampable_modes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        model: LinearizedModel,
        period: float,
        scales: LqrWeights,
        noise_model: NoiseModel,
    ) -> DampingGains:
        """Solve for the gains: two Riccati equations, too long for the control cycle.

        Raises:
            ModelError: a mode that does not decay can be neither damped nor seen; names it.
            NonFiniteError: the model is not finite.
            ParameterError: a scale, a disturbance or the period cannot be used.
        """
        n, n_j = model.n, _joint_count(model, scales.effort)
        joints, modes = model.joint_names[:n_j], model.joint_names[n_j:]
        states = (
            positive_per_joint('scale of position', scales.position, joints),
            positive_per_joint('scale of deflection', scales.deflection, modes),
            positive_per_joint('scale of rate', scales.rate, joints),
            positive_per_joint('scale of deflection_rate', scales.deflection_rate, modes),
        )
        effort = positive_per_joint('scale of effort', scales.effort, joints)
        noise_model = noise_model.checked(joints, modes)
        plant = SampledPlant(model, period, np.concatenate(states), effort)
        A, B = plant.transition[: 2 * n, : 2 * n], plant.input[: 2 * n]
        P = riccati(A, B, np.eye(2 * n), 'regulator')
        K = np.linalg.solve(np.eye(n_j) + B.T @ P @ B, B.T @ P @ A)
        poles = stable_poles(A - B @ K, 'regulator')
        S = plant.state_scale[:, np.newaxis]
        return cls(
            model.joint_names,
            period,
            plant.transition * S / S.T,
            plant.input * S / effort,
            effort[:, np.newaxis] * np.hstack((K, np.eye(n_j))) / S.T,
            KalmanFilter.of(plant, noise_model),
            poles,
            plant.undampable_modes,
        )
