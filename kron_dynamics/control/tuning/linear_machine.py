# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A robot at rest in poses over its range, to the first order, and what its model may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kron_dynamics.control.poses import gravity_derivative, poses_within_limits
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray, IndexArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Poses that are looked at.
_POSES = 300
# Errors of the inertia for each pose that are drawn where joints have different gains.
_ERRORS = 4
# Step of the central differences of the mass matrix, rad or m.
_DIFFERENCE = 1e-5


class LinearMachine(NamedTuple):
    """N poses of a machine at rest: ``M qdd + D qd + K q = u``, weight carried.

    Attributes:
        q: poses of the n_j joints, shape (N, n_j), rad or m.
        M: mass matrix, shape (N, n, n), modal coordinates of flexible links included.
        D: damping of the links, shape (N, n, n). That of the joints is left out: it helps.
        K: stiffness of the links, and change of the weight, shape (N, n, n).
        inertia: mass matrix of the joints with stiff links, shape (N, n_j, n_j).
        weight: derivative of the weight g of stiff links, shape (N, n_j, n_j).
        fall: derivative of M(q) a at the accelerations a = M^-1 g of a fall, shape (N, n_j, n_j).
    """

    q: FloatArray
    M: FloatArray
    D: FloatArray
    K: FloatArray
    inertia: FloatArray
    weight: FloatArray
    fall: FloatArray


def linear_machine(robot: Robot, flexible: Robot | None = None) -> LinearMachine:
    """Return a robot at rest in poses drawn from its position limits.

    Args:
        robot: with stiff links.
        flexible: the same with links that bend, or None.

    Raises:
        ParameterError: a joint moves no mass.
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
    """The derivative of M(q) a for a that stays, shape (N, n, n)."""
    a = np.linalg.solve(M, robot.gravity_vector(q)[..., np.newaxis])
    columns = [
        (robot.mass_matrix(q + e) - robot.mass_matrix(q - e)) @ a / (2.0 * _DIFFERENCE)
        for e in _DIFFERENCE * np.eye(robot.n)
    ]
    return np.concatenate(columns, axis=2)


def lowest_mode(machine: LinearMachine) -> float:
    """Return the lowest frequency of the links with the joints held, rad/s; inf without any.

    Raises:
        ParameterError: links give way under their weight.
    """
    modal = slice(machine.q.shape[1], None)
    M, K = machine.M[:, modal, modal], machine.K[:, modal, modal]
    if M.shape[1] == 0:
        return float(np.inf)
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    lowest = float(np.linalg.eigvalsh(inverse @ K @ np.swapaxes(inverse, 1, 2)).min())
    if lowest <= 0.0:
        raise ParameterError('the flexible links give way under their weight: they vibrate not')
    return float(np.sqrt(lowest))


class ModelErrors(NamedTuple):
    """C cases of a model that is off its machine.

    Attributes:
        pose: which pose each case is about, shape (C,).
        inertia: mass matrix of the model, shape (C, n_j, n_j).
        weight: derivative of the efforts that carry it, shape (C, n_j, n_j).
    """

    pose: IndexArray
    inertia: FloatArray
    weight: FloatArray


def model_errors(machine: LinearMachine, error: float, *, coupled: bool) -> ModelErrors:
    """Return models whose inertia M_hat is off by up to a share: eig(M^-1 M_hat) in 1 -+ error.

    All inertias and masses too large, and too small, by that. With equal gains nothing else is
    worse: M^-1 M_hat then divides the loop into one for each of its eigenvalues. With different
    gains it does not, and M_hat = L (1 + S) L' is drawn, too, with S symmetric, eigenvalues
    -+ error and M = L L': whatever inertias of single links are off by is a mean of such.

    A model that takes the machine to be (1 + e) times as heavy carries it by position gains, too:
    at rest kp times the error is -e / (1 + e) M^-1 g. In other poses M_hat makes other efforts of
    it.

    Args:
        machine: with N poses.
        error: share, 0 to below 1; 0 for the exact model alone.
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
