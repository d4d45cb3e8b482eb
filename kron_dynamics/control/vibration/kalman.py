# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Kalman filter of an elastic machine with measurements of the joints only.

The state is ``x = (dq, dqd, d)``: deviations of all n coordinates and their rates, and a slowly
drifting effort d on each of the n_j joints, which represents friction and model errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.exceptions import ModelError, NonFiniteError, ParameterError
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.typing import ComplexArray, FloatArray

# Singular value, relative to the fastest pole, below which a mode is uncontrollable or
# unobservable.
_OUT_OF_REACH = 1e-6
# Least decay rate of such a mode, relative to the fastest pole.
_DECAYS = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class NoiseModel:
    """Process noise (Q) and measurement noise (R) of the Kalman filter.

    Process noise is white. It is given as the standard deviation of its mean over one second, so
    that it does not depend on the control period.

    Attributes:
        joint_effort: process noise on the joints, shape (n_j,), N m or N, 0 or more.
        modal_force: process noise on the modal coordinates, shape (n_m,), 0 or more.
        drift: standard deviation of the change of the slow effort d in one second, shape (n_j,),
            N m or N, above 0.
        resolution: resolution of the measured positions, shape (n_j,), rad or m, above 0; the
            quantization error is uniform, so its standard deviation is resolution/sqrt(12).
        rate_noise: standard deviation of the measured rates, shape (n_j,), above 0; None if rates
            are not measured independently, for example if they are differences of positions.
    """

    joint_effort: FloatArray
    modal_force: FloatArray
    drift: FloatArray
    resolution: FloatArray
    rate_noise: FloatArray | None = None

    def checked(self, joints: Sequence[str], modes: Sequence[str]) -> NoiseModel:
        """Return a checked copy.

        Raises:
            ParameterError: a number is missing, negative or not finite; names the coordinate.
        """
        rates = self.rate_noise
        return NoiseModel(
            positive_per_joint('joint_effort', self.joint_effort, joints, zero_allowed=True),
            positive_per_joint('modal_force', self.modal_force, modes, zero_allowed=True),
            positive_per_joint('drift', self.drift, joints),
            positive_per_joint('resolution', self.resolution, joints),
            None if rates is None else positive_per_joint('rate_noise', rates, joints),
        )


class SampledPlant:
    """Scaled discrete-time linear model between two control cycles.

    Without scaling, the matrices of a machine with 1e6 kg, 1e11 N m^2 and 1e-4 rad are too
    ill-conditioned for Riccati solvers. All arrays are for ``x / state_scale`` and
    ``effort / effort_scale``.

    Attributes:
        transition: A of ``x+ = A x + B u``, shape (2n + n_j, 2n + n_j); its last rows keep d.
        input: B, shape (2n + n_j, n_j); efforts are held over the period.
        undampable_modes: coordinates of uncontrollable or unobservable modes, which decay by
            their own damping.
    """

    def __init__(
        self, model: LinearizedModel, period: float, state_scale: FloatArray, effort: FloatArray
    ) -> None:
        """Discretize a model.

        Args:
            model: linear model about the operating point; its first n_j coordinates have drives.
            period: control period, s.
            state_scale: typical magnitudes of dq and dqd, shape (2n,), above 0.
            effort: typical magnitudes of the efforts, shape (n_j,), above 0.

        Raises:
            ParameterError: the period is not positive, or a mode is too fast for it.
            NonFiniteError: the model holds a NaN or an infinity.
            ModelError: an undamped mode is not controllable or not observable; names it.
        """
        from scipy.linalg import expm  # takes long to import

        if not 0.0 < period < np.inf:
            raise ParameterError(f'period is {period:g} s, expected a finite one above 0')
        self.names = model.joint_names
        self.period = period
        n, n_j = model.n, len(effort)
        self.n, self.n_joints = n, n_j
        self.state_scale: FloatArray = np.concatenate((state_scale, effort))
        self.effort_scale = effort
        for label in ('mass', 'damping', 'stiffness'):
            if not np.isfinite(getattr(model, label)).all():
                raise NonFiniteError(f'{label} of the linear model is not finite')
        self._rates = np.zeros((2 * n + n_j, 2 * n + n_j))
        self._forces = np.linalg.inv(model.mass) / state_scale[n:, np.newaxis]
        lower = -self._forces @ np.hstack((model.stiffness, model.damping)) * state_scale
        self._rates[:n, n : 2 * n] = np.diag(state_scale[n:] / state_scale[:n])
        self._rates[n : 2 * n, : 2 * n] = lower
        self._rates[n : 2 * n, 2 * n :] = self._forces[:, :n_j] * effort
        self.undampable_modes = self._check()
        self.transition: FloatArray = expm(self._rates * period)
        self.input: FloatArray = self.transition[:, 2 * n :].copy()
        self.input[2 * n :] = 0.0

    def _check(self) -> tuple[str, ...]:
        """Check each eigenvalue: Popov-Belevitch-Hautus tests, and the Nyquist limit.

        Returns:
            coordinates of the uncontrollable or unobservable modes that decay by themselves.
        """
        n = self.n
        A, B = self._rates[: 2 * n, : 2 * n], self._rates[: 2 * n, 2 * n :]
        poles: ComplexArray = np.linalg.eigvals(A).astype(np.complex128)
        fastest = np.abs(poles).max()
        out_of_reach = []
        for pole in poles[poles.imag >= 0.0]:
            rest = A - pole * np.eye(2 * n)
            control, driven = _least(np.hstack((rest, B)).T)
            observation, observed = _least(
                np.vstack((rest, fastest * np.eye(2 * n)[: self.n_joints]))
            )
            for size, shape, trouble in (
                (control, driven, 'is not controllable by the efforts of the joints'),
                (observation, observed, 'is not observable in the positions of the joints'),
            ):
                if size >= _OUT_OF_REACH * fastest:
                    continue
                name = self._name(shape)
                if pole.real > -_DECAYS * fastest:
                    raise ModelError(
                        f"mode of '{name}' at {abs(pole):.4g} rad/s {trouble}, and does not decay "
                        f'by itself: expected a coupling to a joint, or damping'
                    )
                out_of_reach.append(name)
            if pole.imag * self.period >= np.pi:
                name = self._name(np.linalg.svd(rest)[2][-1])
                raise ParameterError(
                    f'period is {self.period:g} s, expected less than {np.pi / pole.imag:.3g} s: '
                    f"mode of '{name}' turns at {pole.imag:.4g} rad/s"
                )
        return tuple(dict.fromkeys(out_of_reach))

    def _name(self, shape: ComplexArray) -> str:
        energies = np.abs(shape[: self.n]) ** 2 + np.abs(shape[self.n :]) ** 2
        return self.names[int(energies.argmax())]

    def noise(self, noise_model: NoiseModel) -> FloatArray:
        """Return the process noise covariance of one period for the scaled state.

        By Van Loan's integral; shape (2n + n_j, 2n + n_j).
        """
        from scipy.linalg import expm

        n, size = self.n, len(self._rates)
        pushes = np.concatenate((noise_model.joint_effort, noise_model.modal_force))
        noise_input = self._forces * pushes
        density = np.zeros((size, size))
        density[n : 2 * n, n : 2 * n] = noise_input @ noise_input.T
        density[2 * n :, 2 * n :] = np.diag((noise_model.drift / self.effort_scale) ** 2)
        zero = np.zeros((size, size))
        both = expm(np.block([[-self._rates, density], [zero, self._rates.T]]) * self.period)
        covariance: FloatArray = both[size:, size:].T @ both[:size, size:]
        return (covariance + covariance.T) / 2


def _least(matrix: ComplexArray) -> tuple[float, ComplexArray]:
    """Smallest singular value and its right singular vector."""
    _, sizes, vectors = np.linalg.svd(matrix)
    return float(sizes[-1]), vectors[-1]


@dataclass(frozen=True, slots=True, eq=False)
class KalmanFilter:
    """The steady-state filter, in SI units.

    Attributes:
        gain: L of ``x = x_predicted + L (y - C x_predicted)``, shape (2n + n_j, n_y).
        measured: indices in x of the measured quantities y, shape (n_y,).
        covariance: error covariance of x after the measurement, shape (2n + n_j, 2n + n_j).
        poles: discrete-time poles of the error, shape (2n + n_j,), inside the unit circle.
    """

    gain: FloatArray
    measured: np.ndarray[tuple[int], np.dtype[np.intp]]
    covariance: FloatArray
    poles: ComplexArray

    @classmethod
    def of(cls, plant: SampledPlant, noise_model: NoiseModel) -> KalmanFilter:
        """Return the filter with the least mean square error.

        Raises:
            ModelError: the filter does not exist; with a checked noise model only because the
                model is too ill-conditioned for float64.
        """
        size, n_j = len(plant.state_scale), plant.n_joints
        places, noise = np.arange(n_j), noise_model.resolution / np.sqrt(12.0)
        if noise_model.rate_noise is not None:
            places = np.concatenate((places, plant.n + places))
            noise = np.concatenate((noise, noise_model.rate_noise))
        scale = plant.state_scale[places]
        # Measurements are scaled by the standard deviations of their noise.
        C = np.eye(size)[places] * (scale / noise)[:, np.newaxis]
        P = riccati(plant.transition.T, C.T, plant.noise(noise_model), 'filter')
        L = np.linalg.solve(C @ P @ C.T + np.eye(len(C)), C @ P).T
        correction = np.eye(size) - L @ C
        covariance = correction @ P @ correction.T + L @ L.T  # Joseph form, positive semidefinite
        poles = stable_poles(plant.transition @ correction, 'filter')
        S = plant.state_scale
        return cls(L * S[:, np.newaxis] / noise, places, covariance * np.outer(S, S), poles)


def riccati(A: FloatArray, B: FloatArray, Q: FloatArray, what: str) -> FloatArray:
    """Return the solution of the discrete Riccati equation with R = 1, shape (k, k).

    Args:
        A: transition, shape (k, k).
        B: input, shape (k, m).
        Q: weights of the state, shape (k, k).
        what: name of the result in the message.

    Raises:
        ModelError: there is no solution.
    """
    from scipy.linalg import solve_discrete_are

    try:
        solution = solve_discrete_are(A, B, Q, np.eye(B.shape[1]))
    except np.linalg.LinAlgError as error:
        raise ModelError(f'there is no {what} for this model: {error}') from error
    return np.asarray(solution, dtype=np.float64)


def stable_poles(matrix: FloatArray, what: str) -> ComplexArray:
    """Return the eigenvalues (n,) of a discrete-time system matrix.

    Raises:
        ModelError: an eigenvalue is not inside the unit circle, or not finite.
    """
    poles: ComplexArray = np.linalg.eigvals(matrix).astype(np.complex128)
    if not (np.abs(poles) < 1.0).all():
        raise ModelError(f'{what} has pole {np.abs(poles).max():.6g}, expected all below 1')
    return poles
