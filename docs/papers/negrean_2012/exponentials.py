# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations (1)-(10) of [N]: screws of joints and products of their exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.claims import Check
from shared.derivatives import slope
from shared.exact import eye, largest

from kron_dynamics.kinematics import (
    forward_kinematics,
    product_of_exponentials,
    rotation_exponential,
    screw_exponential,
    screw_table,
)
from kron_dynamics.kronecker import skew

from .arm import JOINTS, LINK, Arm


def statements(arm: Arm) -> list[Check]:
    """Check the equations, with (6) and (9) corrected."""
    return [*_table(arm), *_of_one_joint(arm), *_products(arm)]


def moved_alone(arm: Arm, k: int, position: Any) -> Any:
    """Return the displacement of a link by joint k alone, base axes, by poses, (4, 4)."""
    q = 0 * arm.q + sympy.S.Zero
    link = f'link{k + 1}'
    there = np.array([position if j == k else q[j] for j in range(arm.n)], dtype=object)
    start = forward_kinematics(arm.model, q, link)
    back = np.zeros((4, 4), dtype=object)
    back[:3, :3], back[:3, 3], back[3, 3] = start[:3, :3].T, -start[:3, :3].T @ start[:3, 3], 1
    return forward_kinematics(arm.model, there, link) @ back


def _table(arm: Arm) -> list[Check]:
    zero = 0 * arm.q + sympy.S.Zero
    table = screw_table(arm.model, LINK)
    rows = []
    for k in range(arm.n):
        pose = forward_kinematics(arm.model, zero, f'link{k + 1}')
        own = [sympy.Rational(x) for x in JOINTS[k][3].split()]
        turning = slope(lambda x, k=k: moved_alone(arm, k, x[0]), zero[:1])[..., 0]
        rows.append([*pose[:3, 3], *(pose[:3, :3] @ own), *turning[:3, 3]])
    tool = forward_kinematics(arm.model, zero, LINK)[:3, 3]
    return [
        Check(
            '(1), (2)',
            r'rows $[\bar{p}_i^T\ \bar{k}_i^T\ \bar{v}_i^T]$, '
            r'$\bar{v}_i = \Delta_i\,\bar{p}_i \times \bar{k}_i + (1 - \Delta_i)\,\bar{k}_i$',
            '`kinematics.screw_table`',
            'poses at zero positions, and their derivatives with respect to each $q_i$',
            largest(table - np.array([*rows, [*tool, *[0] * 6]], dtype=object)),
        )
    ]


def _of_one_joint(arm: Arm) -> list[Check]:
    matrices, turns, shifts, wholes = [], [], [], []
    for k, screw in enumerate(arm.screws):
        by_poses = slope(lambda x, k=k: moved_alone(arm, k, x[0]), 0 * arm.q[:1] + sympy.S.Zero)
        matrices.append(screw.matrix - by_poses[..., 0])
        moved = moved_alone(arm, k, arm.q[k])
        found = screw_exponential(screw, arm.q[k])
        wholes.append(found - moved)
        shifts += [bracket(arm, k) @ screw.linear - moved[:3, 3] for bracket in (squares, sines)]
        turns.append(rotation_exponential(screw.angular, arm.q[k]) - moved[:3, :3])
    return [
        Check(
            '(3)',
            r'$A_i = [\{\bar{k}_i\times\}\Delta_i\ \bar{v}_i;\ 0]$',
            '`kinematics.Screw`',
            r'derivatives of poses with respect to $q_i$, for both joint types',
            largest(matrices),
        ),
        Check(
            '(4), (5)',
            r'$e^{\{\bar{k}_i\times\}q_i^*} = I_3 c + \{\bar{k}_i\times\}s + '
            r'\bar{k}_i\bar{k}_i^T(1 - c)$',
            '`kinematics.rotation_exponential`',
            'poses of the links, joint by joint',
            largest(turns),
        ),
        Check(
            '(6)',
            r'$\bar{b}_i = \{I_3 q_i + \{\bar{k}_i\times\}(1 - c) + '
            r'\{\bar{k}_i\times\}^2(q_i - s)\}\bar{v}_i$ and '
            r'$\{I_3 s + \{\bar{k}_i\times\}(1 - c) + \bar{k}_i\bar{k}_i^T(q_i - s)\}\bar{v}_i$',
            '`kinematics.screw_exponential`',
            'poses of the links, joint by joint',
            largest(shifts),
        ),
        Check(
            '(7)',
            r'$e^{A_i q_i}$',
            '`kinematics.screw_exponential`',
            'poses of the links, joint by joint',
            largest(wholes),
        ),
    ]


def squares(arm: Arm, k: int) -> Any:
    """Return the bracket of (6), corrected by a square, shape (3, 3)."""
    c, s, q, K = _values(arm, k)
    return eye(3) * q + K * (1 - c) + (K @ K) * (q - s)


def sines(arm: Arm, k: int) -> Any:
    """Return the bracket of (6), corrected by a sine, shape (3, 3)."""
    c, s, q, K = _values(arm, k)
    axis = arm.screws[k].axis
    return eye(3) * s + K * (1 - c) + np.outer(axis, axis) * (q - s)


def printed(arm: Arm, k: int) -> Any:
    """Return the bracket of (6) as printed, shape (3, 3)."""
    c, s, q, K = _values(arm, k)
    axis = arm.screws[k].axis
    return eye(3) * q + K * (1 - c) + np.outer(axis, axis) * (q - s)


def _values(arm: Arm, k: int) -> tuple[Any, Any, Any, Any]:
    slides = JOINTS[k][0]
    angle = 0 if slides else arm.q[k]  # q*, (4)
    return sympy.cos(angle), sympy.sin(angle), arm.q[k], skew(arm.screws[k].axis)


def _products(arm: Arm) -> list[Check]:
    pose = arm.pose(0)
    found = product_of_exponentials(arm.model, arm.q, LINK)
    moved = shift(arm, arm.n) + rotation(arm, 0, arm.n) @ arm.home[:3, 3]
    return [
        Check(
            '(8), (10)',
            r'$T_{x0} = \prod e^{A_i q_i}\,T_{x0}^{(0)}$ in this order',
            '`kinematics.product_of_exponentials`',
            'pose of the tool by recursion',
            largest(found - pose),
        ),
        Check(
            '(9)',
            r'$e^{\rho} = \sum_{j=0}^{i-1}\{\prod_{k=0}^{j}e^{\{\bar{k}_k\times\}q_k^*}\}'
            r'\bar{b}_{j+1}$',
            '`kinematics.product_of_exponentials`',
            'position of the tool by recursion',
            largest(moved - pose[:3, 3]) + largest(found[:3, 3] - moved),
        ),
    ]


def rotation(arm: Arm, first: int, stop: int) -> Any:
    """Return the ordered product of rotations of joints first ... stop - 1, shape (3, 3)."""
    R = eye(3)
    for k in range(first, stop):
        R = R @ rotation_exponential(arm.screws[k].angular, arm.q[k])
    return R


def translation(arm: Arm, k: int) -> Any:
    """Return b of joint k, counted from 0, shape (3,)."""
    return screw_exponential(arm.screws[k], arm.q[k])[:3, 3]


def shift(arm: Arm, stop: int) -> Any:
    """Return the sum of (9) with b_1 ... b_stop, shape (3,)."""
    return sum(rotation(arm, 0, j) @ translation(arm, j) for j in range(stop))
