# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations (27)-(45) of [N]: the twelve sets of orientation angles."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import sympy
from shared.claims import Bound, Check
from shared.derivatives import axial, rate, slope
from shared.exact import eye, largest, rationals

from kron_dynamics.elementary import cos, sin
from kron_dynamics.kinematics import (
    ORIENTATION_SETS,
    angle_accelerations,
    angle_rates,
    angular_acceleration,
    angular_transfer_matrix,
    angular_transfer_matrix_rate,
    angular_velocity,
    distance_to_singularity,
    orientation_angles,
    orientation_axes,
    rotation_exponential,
    rotation_exponential_rate,
    rotation_of_angles,
)

from .arm import LINK, Arm

ANGLES = np.array([sympy.atan(x) for x in rationals('3/4', '-8/15', '20/21')], dtype=object)
RATES, ACCELERATIONS = rationals('1/2', '-2/3', '3/4'), rationals('-1/3', '2', '5/4')
ALL = 'in all twelve sets'


def moved(t: Any) -> tuple[Any, Any]:
    """Return angles and rates of a motion at time t."""
    return ANGLES + RATES * t + ACCELERATIONS * t * t / 2, RATES + ACCELERATIONS * t


def turn(axis: str, angle: Any) -> Any:
    """Return the rotation matrix about a coordinate axis, entry by entry, shape (3, 3)."""
    first = 'xyz'.index(axis)
    j, k = (first + 1) % 3, (first + 2) % 3
    R = eye(3).astype(object)
    R[j, j] = R[k, k] = cos(angle)
    R[k, j], R[j, k] = sin(angle), -sin(angle)
    return R


def turns(sequence: str, angles: Any) -> Any:
    """Return R of a set, entry by entry, shape (3, 3)."""
    A, B, C = (turn(axis, angle) for axis, angle in zip(sequence, angles, strict=True))
    return A @ B @ C


def spin(sequence: str, t: Any) -> Any:
    """Return omega along the motion, by dR/dt R^T, shape (3,)."""
    R = turns(sequence, moved(t)[0])
    return axial(rate(lambda s: turns(sequence, moved(t + s)[0])) @ R.T)


def transfer(sequence: str, angles: Any) -> Any:
    """Return J_Omega, shape (3, 3), from the derivatives of R with respect to the angles."""
    slopes = slope(lambda x: turns(sequence, x), angles)
    R = turns(sequence, angles)
    return np.array([axial(slopes[..., k] @ R.T) for k in range(3)]).T


def statements(arm: Arm) -> list[Check]:
    """Check the equations; exponentials of sums are ordered products."""
    return [*_rotations(arm), *_rates(), *_accelerations()]


def over_all(error: Any) -> Any:
    """Return the largest error of a function over all sets."""
    return largest([error(sequence) for sequence in ORIENTATION_SETS])


def _rotations(arm: Arm) -> list[Check]:
    pose = np.array(arm.pose(0), dtype=float)
    q = arm.q.astype(float)
    apart = 0.0
    for sequence in ORIENTATION_SETS:
        found = orientation_angles(arm.model, q, LINK, sequence)
        apart = max(apart, abs(turns(sequence, found).astype(float) - pose[:3, :3]).max())
    triples = {
        first + second + third
        for first, second, third in itertools.product('xyz', repeat=3)
        if first != second != third
    }
    axes = largest(
        [
            orientation_axes(sequence)[:, k] - eye(3)['xyz'.index(sequence[k])]
            for sequence in ORIENTATION_SETS
            for k in range(3)
        ]
    )
    return [
        Check(
            '(27)',
            r'$\bar{\Omega} = [\alpha_A\ \beta_B\ \gamma_C]^T = f(\bar{\theta})$, in floats',
            '`kinematics.orientation_angles`',
            f'the rotation of the tool, {ALL}',
            Bound(apart),
        ),
        Check(
            '(28), (33)',
            r'$R = R[\bar{A}; \alpha_A]\,R[\bar{B}; \beta_B]\,R[\bar{C}; \gamma_C]$',
            '`kinematics.rotation_of_angles`',
            f'rotation matrices about x, y, z entry by entry, {ALL}',
            over_all(lambda s: largest(rotation_of_angles(ANGLES, s) - turns(s, ANGLES))),
        ),
        Check(
            '(29), (30), (31)',
            r'$\bar{A}$, $\bar{B} \neq \bar{A}$, $\bar{C} \neq \bar{B}$: twelve sets',
            '`kinematics.orientation_axes`',
            'all triples of x, y, z with different neighbours',
            axes + len(triples ^ set(ORIENTATION_SETS)),
        ),
        Check(
            '(32)',
            r'$R[\bar{A}; \alpha_A] = I_3 + \{\bar{A}\times\}s + \{\bar{A}\times\}^2(1 - c)$',
            '`kinematics.rotation_exponential`',
            'rotation matrices about x, y, z entry by entry',
            largest(
                [
                    rotation_exponential(axis, ANGLES[0]) - turn(name, ANGLES[0])
                    for name, axis in zip('xyz', eye(3), strict=True)
                ]
            ),
        ),
    ]


def _rates() -> list[Check]:
    def matrix(sequence: str) -> Any:
        return largest(angular_transfer_matrix(ANGLES, sequence) - transfer(sequence, ANGLES))

    def velocity(sequence: str) -> Any:
        return largest(angular_velocity(ANGLES, RATES, sequence) - spin(sequence, 0))

    def solved(sequence: str) -> Any:
        return largest(angle_rates(ANGLES, spin(sequence, 0), sequence) - RATES)

    apart = 0.0
    for sequence in ORIENTATION_SETS:
        size = abs(sympy.Matrix(transfer(sequence, ANGLES)).det())
        distance = distance_to_singularity(ANGLES, sequence)
        apart = max(apart, abs(float(size) - float(sin(distance))))
    return [
        Check(
            '(34), (35), (39)',
            r'$\bar{\omega} = {}^0J_\Omega\,\dot{\bar{\Omega}}$',
            '`kinematics.angular_velocity`',
            rf'$\dot{{R}}R^T$, {ALL}',
            over_all(velocity),
        ),
        Check(
            'from (35)',
            r'$\dot{\bar{\Omega}} = {}^0J_\Omega^{-1}\,\bar{\omega}$',
            '`kinematics.angle_rates`',
            f'the rates, {ALL}',
            over_all(solved),
        ),
        Check(
            'to (36)',
            r'$\lvert\det {}^0J_\Omega\rvert$ is $\lvert\cos\beta_B\rvert$ with three different '
            r'axes, else $\lvert\sin\beta_B\rvert$; in floats',
            '`kinematics.distance_to_singularity`',
            f'determinant of the derivatives of $R$, {ALL}',
            Bound(apart),
        ),
        Check(
            '(36), (37), (38)',
            r'${}^0J_\Omega = [\bar{A}\ \ R_A\bar{B}\ \ R_A R_B\bar{C}]$',
            '`kinematics.angular_transfer_matrix`',
            rf'derivatives of $R$ with respect to the angles, {ALL}',
            over_all(matrix),
        ),
    ]


def _accelerations() -> list[Check]:
    def acceleration(sequence: str) -> Any:
        found = angular_acceleration(ANGLES, RATES, ACCELERATIONS, sequence)
        return largest(found - rate(lambda t: spin(sequence, t)))

    def solved(sequence: str) -> Any:
        alpha = rate(lambda t: spin(sequence, t))
        return largest(angle_accelerations(ANGLES, RATES, alpha, sequence) - ACCELERATIONS)

    def matrix(sequence: str) -> Any:
        exact = rate(lambda t: transfer(sequence, moved(t)[0]))
        return largest(angular_transfer_matrix_rate(ANGLES, RATES, sequence) - exact)

    turning = [
        rotation_exponential_rate(axis, ANGLES[0], RATES[0])
        - rate(lambda t, name=name: turn(name, moved(t)[0][0]))
        for name, axis in zip('xyz', eye(3), strict=True)
    ]
    return [
        Check(
            '(40)',
            r'$\dot{\bar{\omega}} = {}^0J_\Omega\,\ddot{\bar{\Omega}} + '
            r'{}^0\dot{J}_\Omega\,\dot{\bar{\Omega}}$',
            '`kinematics.angular_acceleration`',
            rf'derivative of $\dot{{R}}R^T$ along a motion, {ALL}',
            over_all(acceleration),
        ),
        Check(
            'from (40)',
            r'$\ddot{\bar{\Omega}} = {}^0J_\Omega^{-1}(\dot{\bar{\omega}} - '
            r'{}^0\dot{J}_\Omega\,\dot{\bar{\Omega}})$',
            '`kinematics.angle_accelerations`',
            f'the second derivatives, {ALL}',
            over_all(solved),
        ),
        Check(
            '(41), (42), (43), (45)',
            r'${}^0\dot{J}_\Omega = [\dot{\bar{A}} = \bar{0}\ \ \dot{\bar{B}}\ \ \dot{\bar{C}}]$',
            '`kinematics.angular_transfer_matrix_rate`',
            rf'derivative of ${{}}^0J_\Omega$ along a motion, {ALL}',
            over_all(matrix),
        ),
        Check(
            '(44)',
            r'$\dot{R}[\bar{A}; \alpha_A] = \{\bar{A}\times\}\dot{\alpha}_A\,'
            r'e^{\{\bar{A}\times\}\alpha_A}$',
            '`kinematics.rotation_exponential_rate`',
            'derivatives of the rotation matrices about x, y, z',
            largest(turning),
        ),
    ]
