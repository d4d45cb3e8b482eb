# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A robot linearized about rest in poses over its range, and models of it with errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kron_dynamics.control.sample_poses import gravity_derivative, poses_within_limits
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray, IndexArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Number of poses.
_POSES = 300
# Random inertia errors drawn for each pose if joints have different gains.
_ERRORS = 4
# Step of the central differences of the mass matrix, rad or m.
_DIFFERENCE = 1e-5


class LinearMachine(NamedTuple):
    """N linearizations about rest: ``M qdd + D qd + K q = u``, with gravity compensated.

    Attributes:
        q: poses of the n_j joints, shape (N, n_j), rad or m.
        M: mass matrix, shape (N, n, n), including modal coordinates of flexible links.
        D: damping of the links, shape (N, n, n). Joint damping is omitted: it only stabilizes.
        K: stiffness of the links plus derivative of the gravity vector, shape (N, n, n).
        inertia: mass matrix of the joints with rigid links, shape (N, n_j, n_j).
        weight: derivative dg/dq of the gravity vector with rigid links, shape (N, n_j, n_j).
        fall: derivative of M(q) a by q for constant a = M^-1 g (free fall), shape (N, n_j, n_j).
    """

    q: FloatArray
    M: FloatArray
    D: FloatArray
    K: FloatArray
    inertia: FloatArray
    weight: FloatArray
    fall: FloatArray


def linear_machine(robot: Robot, flexible: Robot | None = None) -> LinearMachine:
    """Return a robot linearized about rest in random poses within its position limits.

    Args:
        robot: robot with rigid links.
        flexible: the same with flexible links, or None.

    Raises:
        ParameterError: the mass matrix is singular: a joint moves no mass.
    """
    q = poses_within_limits(robot, _POSES)
    M, G = robot.mass_matrix(q), gravity_derivative(robot, q)
    if not (np.linalg.eigvalsh(M) > 0.0).all():
        raise ParameterError(
            f"'{robot.model.name}' cannot be tuned: its mass matrix is singular, a joint moves no "
            'mass'
        )
    H = _fall_derivative(robot, q, M)
    if flexible is None or not flexible.model.is_flexible:
        return LinearMachine(q, M, np.zeros_like(M), G, M, G, H)
    bent = np.zeros((len(q), flexible.n))
    bent[:, : robot.n] = q
    still = np.zeros_like(bent)
    terms = flexible.linearization(bent, still, still)
    K = (terms.stiffness_matrix + np.swapaxes(terms.stiffness_matrix, 1, 2)) / 2.0
    D = np.tile(np.diag(flexible.model.structural_damping), (len(q), 1, 1))
    return LinearMachine(q, np.asarray(terms.mass_matrix), D, K, M, G, H)


def _fall_derivative(robot: Robot, q: FloatArray, M: FloatArray) -> FloatArray:
    """Derivative of M(q) a by q for constant a = M^-1 g, shape (N, n, n)."""
    a = np.linalg.solve(M, robot.gravity_vector(q)[..., np.newaxis])
    columns = [
        (robot.mass_matrix(q + e) - robot.mass_matrix(q - e)) @ a / (2.0 * _DIFFERENCE)
        for e in _DIFFERENCE * np.eye(robot.n)
    ]
    return np.concatenate(columns, axis=2)


def lowest_mode(machine: LinearMachine) -> float:
    """Return the lowest frequency of the links with clamped joints, rad/s; inf for rigid links.

    Raises:
        ParameterError: the links are unstable under their weight.
    """
    modal = slice(machine.q.shape[1], None)
    M, K = machine.M[:, modal, modal], machine.K[:, modal, modal]
    if M.shape[1] == 0:
        return float(np.inf)
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    lowest = float(np.linalg.eigvalsh(inverse @ K @ np.swapaxes(inverse, 1, 2)).min())
    if lowest <= 0.0:
        raise ParameterError(
            'the flexible links give way under their weight, expected stiffer ones'
        )
    return float(np.sqrt(lowest))


class ModelErrors(NamedTuple):
    """C cases of a model with errors.

    Attributes:
        pose: index of the pose of each case, shape (C,).
        inertia: mass matrix of the model, shape (C, n_j, n_j).
        weight: derivative of the model's gravity efforts, shape (C, n_j, n_j).
    """

    pose: IndexArray
    inertia: FloatArray
    weight: FloatArray

    def of(self, which: IndexArray) -> ModelErrors:
        """Return the cases with these indices."""
        return ModelErrors(self.pose[which], self.inertia[which], self.weight[which])

    def joined(self, more: ModelErrors) -> ModelErrors:
        """Return these cases, followed by more of the same machine."""
        return ModelErrors(*(np.concatenate(pair) for pair in zip(self, more, strict=True)))


def model_errors(machine: LinearMachine, error: float, *, coupled: bool) -> ModelErrors:
    """Return models with inertia M_hat of relative error up to eig(M^-1 M_hat) = 1 -+ error.

    All inertias and masses are scaled by 1 + error and by 1 - error. With equal gains and without
    gravity no other model is worse, because the loop decouples into one for each eigenvalue of
    M^-1 M_hat. With different gains it does not, and random M_hat = L (1 + S) L' are added, with S
    symmetric, eigenvalues -+ error and M = L L'. Inertia errors of single links are averages of
    such errors; what they do to gravity is in `link_errors`.

    If the model is (1 + e) times too heavy, the position gains hold the excess gravity effort: at
    rest kp times the error is -e / (1 + e) M^-1 g. M_hat converts this acceleration to efforts
    that depend on the pose (`LinearMachine.fall`).

    Args:
        machine: N linearizations.
        error: relative error, 0 to below 1; 0 for the exact model only.
        coupled: whether joints have different gains.
    """
    count, n = machine.q.shape
    poses = np.arange(count)
    shares = [0.0] if error == 0.0 else [0.0, error, -error]
    inertia = [(1.0 + share) * machine.inertia for share in shares]
    weight = [(1.0 + share) * machine.weight - share * machine.fall for share in shares]
    if coupled and error > 0.0 and n > 1:
        L = np.linalg.cholesky(machine.inertia)
        generator = np.random.default_rng(0)
        for _ in range(_ERRORS):
            axes = np.linalg.qr(generator.normal(size=(count, n, n)))[0]
            signs = generator.choice([-error, error], size=(count, n))
            S = (axes * signs[:, np.newaxis]) @ np.swapaxes(axes, 1, 2)
            inertia.append(L @ (np.eye(n) + S) @ np.swapaxes(L, 1, 2))
            weight.append(machine.weight)
    return ModelErrors(
        np.tile(poses, len(inertia)), np.concatenate(inertia), np.concatenate(weight)
    )
