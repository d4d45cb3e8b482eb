# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""LQG weights and gains for the damping of flexible links.

Linear-quadratic regulator and Kalman filter (LQG) about an operating point for the linear model
``M dqdd + D dqd + K dq = [1; 0] dtau``. Coordinates are the n_j joints, which have drives, then
the n_m modal coordinates of elastic links, which have neither drives nor sensors.
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
    """Scales of equally weighted deviations (Bryson's rule).

    The regulator minimizes the sum of ``(deviation / scale)^2``. Halving a scale multiplies its
    weight by four; change one with `dataclasses.replace`.

    Attributes:
        position: joint deviations, shape (n_j,), rad or m.
        rate: joint rates, shape (n_j,), rad/s or m/s.
        deflection: modal deviations, shape (n_m,).
        deflection_rate: modal rates, shape (n_m,), per s.
        effort: joint efforts relative to the reference's, shape (n_j,), N m or N.
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
        r"""Return default scales derived from the machine.

        The effort scale is the effort limit. The position scale is the deviation that requires the
        whole effort limit if the rigid joint responds with natural frequency w,
        ``p = limit / (M_jj w^2)``. The rate scale is ``w p``, which gives a rigid joint the
        damping ratio sqrt(3)/2. A mode is weighted by its energy: at its scales it equals the
        energy ``M_jj (w p)^2 / 2`` of the joint to which it is coupled most.

        Args:
            model: linear model about the operating point.
            effort_limit: limits of the n_j drives, shape (n_j,), N m or N.
            bandwidth: w, rad/s; None for half the lowest frequency of the elastic links with all
                joints clamped.

        Raises:
            ParameterError: a limit or the bandwidth cannot be used, a mode has no positive
                stiffness, or the model has no mode that determines the bandwidth.
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
        """Return the noise model of the Kalman filter, in proportion to the scales.

        Process noise and drift of the joints are a share `part` of the effort scale; process noise
        of the modes is that share of the static force at the deflection scale. If a joint sticks,
        the drift builds up effort until the joint slips, and it may hunt about its reference:
        make the drift small then.

        Args:
            model: linear model about the operating point.
            resolution: resolution of the measured joint positions, shape (n_j,), rad or m.
            part: process noise relative to the scales, unit 1. With more of it the filter trusts
                its sensors more than its model.

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
        period: control period, s.
        transition: A of ``x+ = A x + B u``, shape (2n + n_j, 2n + n_j).
        input: B, shape (2n + n_j, n_j).
        feedback: F of ``dtau = -F x``, shape (n_j, 2n + n_j); it compensates d completely.
        filter: gain and covariance of the estimate.
        regulator_poles: discrete-time poles of the regulator, (2n,), inside the unit circle.
        undampable_modes: coordinates of modes that only their own damping damps.
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
        """Return the gains by two Riccati equations, too slow for the control cycle.

        Raises:
            ModelError: an undamped mode is not controllable or not observable; names it.
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
