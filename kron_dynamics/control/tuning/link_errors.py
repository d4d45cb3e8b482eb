# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of a robot in which the masses of some links are too large and others too small."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.tuning.linear_machine import LinearMachine, ModelErrors
from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY, parameters_of
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Joints in each pose whose worst signs are taken, and random signs drawn there.
_JOINTS, _RANDOM = 6, 2
# Step of the central differences of efforts, rad or m.
_DIFFERENCE = 1e-5
_ROUNDING = 1e-12  # of the sum of a body's parts, relative


def link_errors(robot: Robot, machine: LinearMachine, error: float) -> ModelErrors:
    """Return models whose links have masses and inertias off by +error or -error each.

    Links are those of the description, before fixed ones are lumped: a counterweight may be too
    heavy and its boom too light. The efforts are linear in the masses. In each pose, the signs are
    random ones, and for each of the joints that gravity pulls most those with which the model is
    farthest off in the way the pull increases.

    At rest the position gains hold the effort g - g_hat that gravity and its model differ by: kp
    times the error is a = M_hat^-1 (g - g_hat). M_hat converts this acceleration to efforts that
    depend on the pose, as does g_hat.

    Args:
        robot: robot with rigid links.
        machine: N linearizations of it.
        error: relative error, above 0 and below 1.
    """
    links = _parameters_of_links(robot)
    q, still = machine.q, np.zeros_like(machine.q)

    def efforts(q: FloatArray, qdd: FloatArray) -> FloatArray:
        """Those of each link at rest, shape (N, n, L)."""
        return np.asarray(robot.regressor(q, still, qdd) @ links)

    def change(qdd: FloatArray, joint: int) -> FloatArray:
        """Derivative of the efforts by a position, shape (N, n, L)."""
        e = _DIFFERENCE * np.eye(robot.n)[joint]
        return (efforts(q + e, qdd) - efforts(q - e, qdd)) / (2.0 * _DIFFERENCE)

    weight = efforts(q, still)
    inertia = np.stack([efforts(q, still + e) - weight for e in np.eye(robot.n)], axis=2)
    cases = []
    for signs in _signs(np.stack([change(still, j)[:, j] for j in range(robot.n)]), machine):
        shares = (1.0 + error * signs)[:, :, np.newaxis]
        M = (inertia @ shares[:, np.newaxis])[..., 0]
        missing = weight.sum(axis=2, keepdims=True) - weight @ shares
        a = np.linalg.solve(M, missing)[..., 0]
        W = np.concatenate([change(a, j) @ shares for j in range(robot.n)], axis=2)
        # Those of one sign scale the whole machine, as other cases do.
        mixed = np.flatnonzero(signs.min(axis=1) < signs.max(axis=1))
        cases.append(ModelErrors(mixed, M[mixed], W[mixed]))
    return ModelErrors(*map(np.concatenate, zip(*cases, strict=True)))


def _signs(pulling: FloatArray, machine: LinearMachine) -> FloatArray:
    """Signs of the errors of the L links, shape (P, N, L).

    Args:
        pulling: derivative of the effort of gravity at each joint by its own position, for each
            link, shape (n, N, L).
        machine: N linearizations.
    """
    inertia = np.diagonal(machine.inertia, axis1=1, axis2=2).T
    fastest = np.argsort(-np.abs(pulling).sum(axis=2) / inertia, axis=0)[:_JOINTS]
    adverse = np.where(np.take_along_axis(pulling, fastest[:, :, np.newaxis], 0) > 0.0, 1.0, -1.0)
    drawn = np.random.default_rng(0).choice([-1.0, 1.0], size=(_RANDOM, *pulling.shape[1:]))
    return np.concatenate([adverse, drawn])


def _parameters_of_links(robot: Robot) -> FloatArray:
    """Inertial parameters of each link, payload and rotor in columns, shape (10 b + ..., L).

    Their sum is `Robot.inertial_parameters`.
    """
    bodies, parameters = robot.model.bodies, robot.inertial_parameters()
    columns = []
    for k, body in enumerate(bodies):
        own = slice(PARAMETERS_PER_BODY * k, PARAMETERS_PER_BODY * (k + 1))
        parts = [parameters_of([part]) for part in body.parts or (body,)]
        payload = parameters[own] - sum(parts)
        if np.abs(payload).max() > _ROUNDING * np.abs(parameters[own]).max():
            parts.append(payload)
        for part in parts:
            column = np.zeros_like(parameters)
            column[own] = part
            columns.append(column)
    rotors = np.diag(parameters)[:, PARAMETERS_PER_BODY * len(bodies) :]
    found = np.concatenate([np.stack(columns, axis=1), rotors], axis=1)
    return found[:, found.any(axis=0)]
