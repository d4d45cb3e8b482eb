# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Kalman filter of an elastic machine whose joints alone are measured.

The state is ``x = (dq, dqd, d)``: deviations of all n coordinates and their rates, and a slowly
drifting effort d on each of the n_j joints, which stands for friction and errors of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.exceptions import ModelError, NonFiniteError, ParameterError
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.typing import ComplexArray, FloatArray

# A mode that efforts move, or joints show, by less than this part of the scales is out of reach.
_OUT_OF_REACH = 1e-6
# A mode out of reach must decay by itself, at this part of the system's fastest rate or more.
_DECAYS = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class NoiseModel:
    """Process noise (Q) and measurement noise (R) of the Kalman filter.

    Process noise is white. Its size is the standard deviation of its mean over one second, so
    that it does not depend on the control period.

    Attributes:
        joint_effort: process noise on the joints, shape (n_j,), N m or N, 0 or more.
        modal_force: process noise on the modal coordinates, shape (n_m,), 0 or more.
        drift: how far the slow effort d wanders in one second, standard deviation, shape (n_j,),
            N m or N, above 0.
        resolution: smallest step of the measured positions, shape (n_j,), rad or m, above 0;
            the error is spread evenly over the step, so its standard deviation is step/sqrt(12).
        rate_noise: standard deviation of the measured rates, shape (n_j,), above 0; None if rates
            are not measured on their own, as where they are differences of positions.
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
    """A linear model between two control cycles, in numbers near 1.

    A machine of 1e6 kg, 1e11 N m^2 and 1e-4 rad has matrices that no Riccati solver likes.
    All arrays here belong to ``x / state_scale`` and ``effort / effort_scale``.

    Attributes:
        transition: a of ``x+ = A x + B u``, shape (2n + n_j, 2n + n_j); its last rows hold d.
        input: B, shape (2n + n_j, n_j); efforts are held over the period.
        undampable_modes: coordinates of modes that decay by themselves, and that efforts
            hardly move or joints hardly show (unobservable ones).
    """

    def __init__(
        self, model: LinearizedModel, period: float, state_scale: FloatArray, effort: FloatArray
    ) -> None:
        """Sample a model.

        Args:
            model: about the operating point; its first n_j coordinates have drives.
            period: of control, s.
            state_scale: usual sizes of dq and dqd, shape (2n,), above 0.
            effort: usual sizes of the efforts, shape (n_j,), above 0.

        Raises:
            ParameterError: the period is not positive, or a mode is too fast for it.
            NonFiniteError: the model holds a NaN or an infinity.
            ModelError: a mode that does not decay can be neither damped nor seen; names it.
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
        """Popov, Belevitch and Hautus's test of each eigenvalue, and Nyquist's."""
        n = self.n
        A, B = self._rates[: 2 * n, : 2 * n], self._rates[: 2 * n, 2 * n :]
        poles: ComplexArray = np.linalg.eigvals(A).astype(np.complex128)
        fastest = np.abs(poles).max()
        out_of_reach = []
        for pole in poles[poles.imag >= 0.0]:
            rest = A - pole * np.eye(2 * n)
            moved, driven = _least(np.hstack((rest, B)).T)
            shown, seen = _least(np.vstack((rest, fastest * np.eye(2 * n)[: self.n_joints])))
            for size, shape, trouble in (
                (moved, driven, 'cannot be moved by efforts of the joints'),
                (shown, seen, 'does not show in positions of the joints'),
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
        """Return the covariance that a period adds to the scaled state.

        Van Loan's integral, shape (2n + n_j, 2n + n_j).
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
    """Smallest singular value and its right vector."""
    _, sizes, vectors = np.linalg.svd(matrix)
    return float(sizes[-1]), vectors[-1]


@dataclass(frozen=True, slots=True, eq=False)
class KalmanFilter:
    """The steady filter, in SI units.

    Attributes:
        gain: L of ``x = x_predicted + L (y - C x_predicted)``, shape (2n + n_j, n_y).
        measured: places in x of what is measured, y; shape (n_y,).
        covariance: of the error of x after the measurement, shape (2n + n_j, 2n + n_j).
        poles: of the error from cycle to cycle, shape (2n + n_j,), inside the unit circle.
    """

    gain: FloatArray
    measured: np.ndarray[tuple[int], np.dtype[np.intp]]
    covariance: FloatArray
    poles: ComplexArray

    @classmethod
    def of(cls, plant: SampledPlant, noise_model: NoiseModel) -> KalmanFilter:
        """Return the filter with the least mean square error.

        Raises:
            ModelError: there is none; with a checked noise model that is a model that numbers of
                this length cannot hold.
        """
        size, n_j = len(plant.state_scale), plant.n_joints
        places, noise = np.arange(n_j), noise_model.resolution / np.sqrt(12.0)
        if noise_model.rate_noise is not None:
            places = np.concatenate((places, plant.n + places))
            noise = np.concatenate((noise, noise_model.rate_noise))
        scale = plant.state_scale[places]
        # Measured in standard deviations of their noise.
        C = np.eye(size)[places] * (scale / noise)[:, np.newaxis]
        P = riccati(plant.transition.T, C.T, plant.noise(noise_model), 'filter')
        L = np.linalg.solve(C @ P @ C.T + np.eye(len(C)), C @ P).T
        correction = np.eye(size) - L @ C
        covariance = correction @ P @ correction.T + L @ L.T  # Joseph's form stays positive
        poles = stable_poles(plant.transition @ correction, 'filter')
        S = plant.state_scale
        return cls(L * S[:, np.newaxis] / noise, places, covariance * np.outer(S, S), poles)


def riccati(A: FloatArray, B: FloatArray, Q: FloatArray, what: str) -> FloatArray:
    """Return the solution of the discrete Riccati equation with R = 1, shape (k, k).

    Args:
        A: transition, shape (k, k).
        B: input, shape (k, m).
        Q: weights of the state, shape (k, k).
        what: is sought, for the message.

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
    """Return the eigenvalues (n,) of a cycle, per sample.

    Raises:
        ModelError: one is not inside the unit circle, or not finite.
    """
    poles: ComplexArray = np.linalg.eigvals(matrix).astype(np.complex128)
    if not (np.abs(poles) < 1.0).all():
        raise ModelError(f'{what} has pole {np.abs(poles).max():.6g}, expected all below 1')
    return poles
