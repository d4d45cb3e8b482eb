# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Pseudo-inertias: positive definite if and only if some mass distribution realises them.

P = [[S, h], [h^T, m]], shape (4, 4), with S = int r r^T dm (Wensing, Kim, Slotine: Linear matrix
inequalities for physically consistent inertial parameter identification, 2018). It is linear in
the ten parameters [m, h, I] of a body.
"""

from __future__ import annotations

import numpy as np

from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.model.inertia import rotational_inertia
from kron_dynamics.typing import FloatArray

_UPPER = np.triu_indices(3)


def pseudo_inertia(parameters: FloatArray) -> FloatArray:
    """Return P of ten parameters [m, h, I_xx, I_xy, I_xz, I_yy, I_yz, I_zz], shape (4, 4).

    Args:
        parameters: about the body's origin, in kg, kg m and kg m^2, shape (10,).
    """
    inertia = np.zeros((3, 3))
    inertia[_UPPER] = parameters[4:]
    inertia = inertia + np.triu(inertia, 1).T
    P = np.zeros((4, 4))
    P[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    P[:3, 3] = P[3, :3] = parameters[1:4]
    P[3, 3] = parameters[0]
    return P


# Basis of P: P is the sum of the parameters times these matrices, shape (10, 4, 4).
BASIS = np.array([pseudo_inertia(unit) for unit in np.eye(PARAMETERS_PER_BODY)])


def ten_parameters(P: FloatArray) -> FloatArray:
    """Return the ten parameters of a pseudo-inertia, shape (10,); see `pseudo_inertia`."""
    inertia = np.asarray(rotational_inertia(P[:3, :3]), dtype=float)
    return np.concatenate([[P[3, 3]], P[:3, 3], inertia[_UPPER]])


def is_consistent(parameters: FloatArray) -> bool:
    """Return whether the pseudo-inertia of ten parameters, shape (10,), is positive definite."""
    P = pseudo_inertia(parameters)
    scale = np.sqrt(np.abs(np.diag(P)))
    if not (np.diag(P) > 0.0).all():
        return False
    return bool(np.linalg.eigvalsh(P / np.outer(scale, scale))[0] > 0.0)


def made_consistent(parameters: FloatArray, mass: float, radius: float) -> FloatArray:
    """Return ten parameters with m, and the eigenvalues of S about the centre, raised to a floor.

    Parameters above the floor are returned unchanged.

    Args:
        parameters: shape (10,).
        mass: least mass, kg.
        radius: least extent along each principal axis, as a standard deviation of mass, m.
    """
    P = pseudo_inertia(parameters)
    m = max(P[3, 3], mass)
    h = P[:3, 3] if P[3, 3] >= mass else np.zeros(3)
    about_center = P[:3, :3] - np.outer(h, h) / m
    sizes, axes = np.linalg.eigh(about_center)
    if P[3, 3] >= mass and (sizes >= m * radius**2).all():
        return np.asarray(parameters, dtype=float)
    raised = (axes * np.maximum(sizes, m * radius**2)) @ axes.T
    P = np.zeros((4, 4))
    P[:3, :3] = raised + np.outer(h, h) / m
    P[:3, 3] = P[3, :3] = h
    P[3, 3] = m
    return ten_parameters(P)
