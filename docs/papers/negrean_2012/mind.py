# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations of section 2 of [N] that are correct but easily misread."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.claims import Misprint, reading, sizes_do_not_fit
from shared.derivatives import axial, rate, slope
from shared.exact import largest

from kron_dynamics.kinematics import (
    ORIENTATION_SETS,
    angular_transfer_matrix,
    forward_kinematics,
    orientation_axes,
    rotation_exponential,
    screw_jacobian,
    screw_table,
    screw_velocity,
)
from kron_dynamics.kronecker import cross

from . import angles
from .arm import JOINTS, LINK, Arm
from .exponentials import moved_alone
from .motion import Matrices, derivatives, jacobian_by_poses, own_axes

SET = 'zyx'


def minds(arm: Arm) -> list[Misprint]:
    """Return the easily misread equations, in the order of the text."""
    return [*_screws(arm), *_columns(arm), *_own(arm), *_sets(), *_turning_axes()]


def _screws(arm: Arm) -> list[Misprint]:
    screw = arm.screws[0]
    rows = sizes_do_not_fit(
        lambda: np.concatenate([screw.point[None], screw.axis[None], screw.linear[:, None]], 1)
    )
    table = screw_table(arm.model, LINK)[0]
    written = np.concatenate([screw.point[None], screw.axis[None], screw.linear[None]], axis=1)
    slide = next(k for k in range(arm.n) if JOINTS[k][0])
    moved = moved_alone(arm, slide, arm.q[slide])[:3, :3]
    sliding = arm.screws[slide]
    turns = [rotation_exponential(axis, arm.q[slide]) for axis in (sliding.axis, sliding.angular)]
    return [
        reading(
            '(1)',
            r'$[\bar{p}_i^T\ \bar{k}_i^T\ \bar{v}_i]$, transposed as a whole',
            r'a row $[\bar{p}_i^T\ \bar{k}_i^T\ \bar{v}_i^T]$ for each joint, $(n + 1) \times 9$',
            r'`kinematics.screw_table`',
            rows,
            largest(written[0] - table),
        ),
        reading(
            '(5)',
            '$q_i$ for $q_i^*$: prismatic joints would rotate, too',
            r'$q_i^* = q_i\Delta_i$ of (4), 0 for prismatic joints',
            f'rotation by joint {slide + 1}',
            *(largest(turn - moved) for turn in turns),
        ),
    ]


def _columns(arm: Arm) -> list[Misprint]:
    link = 3
    name = f'link{link}'
    q = arm.q
    by_poses = slope(lambda x: forward_kinematics(arm.model, x, name)[:3, 3], q)[:, :link]
    long = [Matrices(arm, q).jacobian()[:3, :link], Matrices(arm, q, link).jacobian()[:3]]
    qd = arm.rates[0]
    whole = jacobian_by_poses(arm)
    place = arm.pose(0)[:3, 3]
    J = screw_jacobian(arm.model, q, LINK)
    at_origin = J[:3] - np.array([cross(J[3:, k], place) for k in range(arm.n)]).T
    velocity = rate(lambda t: arm.pose(t)[:3, 3])
    return [
        reading(
            '(13)-(17), (21)-(23)',
            r'$n$ joints and $\bar{p}_n^{(0)}$ for every link $i$',
            r'$i$ joints and $\bar{p}_i^{(0)}$ for link $i$',
            f'derivatives of the position of link {link}',
            *(largest(each - by_poses) for each in long),
        ),
        reading(
            '(17)',
            r'twists in the fixed frame: upper half, velocity of the body-fixed point at the '
            r'origin of $\{0\}$',
            r'velocity of the origin of $\{n\}$',
            r'$\bar{v}$ by poses',
            largest(at_origin @ qd - velocity),
            largest(J[:3] @ qd - velocity) + largest(J - whole),
        ),
    ]


def _own(arm: Arm) -> list[Misprint]:
    R, omega, alpha = own_axes(arm)
    second = derivatives(lambda t: arm.pose(t)[:3, :3].T @ arm.spin(t), 3)[2]
    at_rest = R.T @ derivatives(arm.spin, 3)[2]
    slid, changing = derivatives(
        lambda t: arm.pose(t)[:3, :3].T @ rate(lambda s: arm.pose(t + s)[:3, 3]), 2
    )
    acceleration = R.T @ derivatives(lambda t: arm.pose(t)[:3, 3], 3)[2]
    v = screw_velocity(arm.model, arm.q, arm.rates[0], LINK)[:3]
    assert largest(R.T @ v - slid) == 0
    return [
        reading(
            '(24)',
            r'${}^i\ddot{\bar{\omega}}_i$ is the second derivative of ${}^i\bar{\omega}_i$',
            r'plus ${}^i\bar{\omega}_i \times {}^i\dot{\bar{\omega}}_i$; the first derivative '
            'has no additional term',
            r'$R^T\ddot{\bar{\omega}}$ by poses',
            largest(second - at_rest),
            largest(second + cross(omega, alpha) - at_rest),
        ),
        reading(
            '(24)',
            r'${}^i\dot{\bar{v}}_i$ is the derivative of ${}^i\bar{v}_i$',
            r'plus ${}^i\bar{\omega}_i \times {}^i\bar{v}_i$',
            r'$R^T\dot{\bar{v}}$ by poses',
            largest(changing - acceleration),
            largest(changing + cross(omega, slid) - acceleration),
        ),
    ]


def _sets() -> list[Misprint]:
    different = [s for s in ORIENTATION_SETS if len(set(s)) == 3]
    R = angles.turns(SET, angles.ANGLES)
    about_fixed = angles.turns(SET[::-1], angles.ANGLES[::-1])
    A, B, C = (angles.turn(axis, x) for axis, x in zip(SET, angles.ANGLES, strict=True))
    J = angular_transfer_matrix(angles.ANGLES, SET)
    omega = angles.spin(SET, 0)
    stacked = np.concatenate(list(J.T))
    return [
        reading(
            '(28)',
            'successive rotations about fixed axes: the last factor is the last rotation',
            'about moving axes; about fixed axes, the first factor is the last rotation',
            f'$R$ of the set {SET}',
            largest(about_fixed - R),
            largest(A @ (B @ C) - R),
        ),
        reading(
            '(31)',
            r'$\bar{C}$ also differs from $\bar{A}$',
            r'only from $\bar{B}$: six sets end with the axis with which they begin',
            'number of sets',
            sympy.Integer(12 - len(different)),
            sympy.Integer(12 - len(ORIENTATION_SETS)),
        ),
        reading(
            '(35)',
            r'$\bar{\omega}$ is the rate of the orientation vector $\bar{\Omega}$',
            r'$\bar{\omega}$ is ${}^0J_\Omega$ times this rate',
            rf'$\dot{{R}}R^T$ of the set {SET}',
            largest(angles.RATES - omega),
            largest(J @ angles.RATES - omega),
        ),
        reading(
            '(39)',
            'three stacked columns, transposed',
            'three columns side by side',
            r'$\dot{R}R^T$',
            sizes_do_not_fit(lambda: stacked @ angles.RATES),
            largest(np.column_stack(list(J.T)) @ angles.RATES - omega),
        ),
    ]


def _turning_axes() -> list[Misprint]:
    def own(t: Any) -> Any:
        values = angles.moved(t)[0]
        return angles.turns(SET, values).T @ angles.transfer(SET, values)

    R = angles.turns(SET, angles.ANGLES)
    J, J_dot = derivatives(own, 2)
    base, base_dot = derivatives(lambda t: angles.transfer(SET, angles.moved(t)[0]), 2)
    assert largest(R.T @ base - J) == 0
    turning = axial(R.T @ rate(lambda t: angles.turns(SET, angles.moved(t)[0])))
    alpha = R.T @ rate(lambda t: angles.spin(SET, t))
    A = orientation_axes(SET)[:, 0]
    return [
        reading(
            '(34), (35)',
            r'${}^nJ_\Omega$ is ${}^0J_\Omega$',
            r'$R^T\,{}^0J_\Omega$',
            r'$R^T\dot{R}$',
            largest(base @ angles.RATES - turning),
            largest(J @ angles.RATES - turning),
        ),
        reading(
            '(40)',
            r'$J_\psi$ is a different matrix, and ${}^n\dot{J}_\psi = R^T\,{}^0\dot{J}_\psi$ is '
            r'the derivative of ${}^nJ_\psi$',
            r'$J_\psi = J_\Omega$; the derivative of ${}^nJ_\Omega$ is different, though both '
            r'give ${}^n\dot{\bar{\omega}}$',
            r'derivative of $R^T\,{}^0J_\Omega$',
            largest(R.T @ base_dot - J_dot),
            largest(
                np.array([own_rate(R, base, base_dot, turning, k) for k in range(3)]).T - J_dot
            )
            + largest(J @ angles.ACCELERATIONS + J_dot @ angles.RATES - alpha)
            + largest(R.T @ (base @ angles.ACCELERATIONS + base_dot @ angles.RATES) - alpha),
        ),
        reading(
            '(42)',
            r'$\dot{\bar{A}} = \bar{0}$ also in the axes of the body',
            r'$-{}^n\bar{\omega} \times {}^n\bar{A}$ in the axes of the body',
            r'derivative of $R^T\bar{A}$',
            largest(J_dot[:, 0]),
            largest(-cross(turning, R.T @ A) - J_dot[:, 0]),
        ),
    ]


def own_rate(R: Any, base: Any, base_dot: Any, turning: Any, k: int) -> Any:
    """Return the rate of column k of R^T J from the rate of J, shape (3,)."""
    return R.T @ base_dot[:, k] - cross(turning, R.T @ base[:, k])
