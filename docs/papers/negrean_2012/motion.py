# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations (11)-(25) of [N]: the Jacobian by matrices of exponentials, velocity to jerk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from shared.claims import Check
from shared.derivatives import axial, rate, slope, with_rate
from shared.exact import eye, largest

from kron_dynamics.kinematics import (
    forward_kinematics,
    link_components,
    rotation_exponential,
    rotation_to_link,
    screw_acceleration,
    screw_exponential,
    screw_jacobian,
    screw_jerk,
    screw_velocity,
    zero_pose,
)
from kron_dynamics.kronecker import cross, skew

from .arm import LINK, Arm

POSES = 'derivatives of the pose along a motion'


class Matrices:
    """The matrices of (11)-(16) of a link; joints are counted from 0.

    Attributes:
        arm: the arm.
        q: coordinates.
        n: number of joints between base and link.
        home: position of the link at zero positions, shape (3,).
        R: rotations by the joints.
        b: translations by the joints.
    """

    def __init__(self, arm: Arm, q: Any, n: int | None = None) -> None:
        """Compute the exponentials of the joints.

        Args:
            arm: the arm.
            q: coordinates, shape (5,).
            n: number of the link; None for the tool.
        """
        self.arm, self.q, self.n = arm, q, arm.n if n is None else n
        self.home = zero_pose(arm.model, LINK if n is None else f'link{n}')[:3, 3]
        screws = arm.screws[: self.n]
        self.R = [rotation_exponential(screws[k].angular, q[k]) for k in range(self.n)]
        self.b = [screw_exponential(screws[k], q[k])[:3, 3] for k in range(self.n)]

    def turned(self, first: int, stop: int) -> Any:
        """Return the ordered product of rotations, shape (3, 3).  [N] eqs. (11), (14)."""
        product = eye(3)
        for k in range(first, stop):
            product = product @ self.R[k]
        return product

    def product(self, i: int) -> Any:
        """Return J_i1 J_i2 J_i3, shape (6, 12 + 3 (n - i)).  [N] eqs. (11)-(15)."""
        none = np.zeros((3, 3), dtype=int)
        V1 = self.turned(0, i)
        V2 = np.hstack([eye(3), skew(self.arm.screws[i].angular)])
        below = [self.turned(i, k) for k in range(i, self.n + 1)]
        V3 = np.vstack([np.hstack([eye(3)] + [none] * len(below)), np.hstack([none, *below])])
        J1, J2, J3 = _beside(V1, V1), _beside(V2, eye(3)), _beside(V3, eye(3))
        assert J3.shape == (9, 12 + 3 * (self.n - 1 - i))
        product: Any = J1 @ J2 @ J3
        return product

    def column(self, i: int, turning: int | None = None) -> Any:
        """Return M_i omega of (16).  [N] eq. (16).

        Args:
            i: number of the joint.
            turning: number of the joint whose axis is in the lower half; None for i.
        """
        screw = self.arm.screws[i]
        angular = screw.angular if turning is None else self.arm.screws[turning].axis
        return np.concatenate([screw.linear, *self.b[i:], self.home, angular])

    def jacobian(self) -> Any:
        """Return J, shape (6, n).  [N] eq. (17)."""
        return np.column_stack([self.product(i) @ self.column(i) for i in range(self.n)])


def _beside(A: Any, B: Any) -> Any:
    whole = np.zeros((A.shape[0] + B.shape[0], A.shape[1] + B.shape[1]), dtype=object)
    whole[: A.shape[0], : A.shape[1]] = A
    whole[A.shape[0] :, A.shape[1] :] = B
    return whole


def statements(arm: Arm) -> list[Check]:
    """Check the equations, with misprints corrected."""
    return [*_jacobian(arm), *_angular(arm), *_linear(arm), *_own_axes(arm)]


def jacobian_by_poses(arm: Arm) -> Any:
    """Return J of the tool from derivatives of its pose, shape (6, 5)."""
    R = arm.pose(0)[:3, :3]
    slopes = slope(lambda x: forward_kinematics(arm.model, x, LINK), arm.q)
    turning = [axial(slopes[:3, :3, k] @ R.T) for k in range(arm.n)]
    return np.concatenate([slopes[:3, 3], np.array(turning).T])


def _jacobian(arm: Arm) -> list[Check]:
    exact = jacobian_by_poses(arm)
    program = screw_jacobian(arm.model, arm.q, LINK)
    return [
        Check(
            '(11), (12), (13), (14), (15), (16), (17)',
            r'${}^0J_i = ME\{J_{i1}\}\,ME\{J_{i2}\}\,ME\{J_{i3}\}\,M_{i\omega}$',
            '`kinematics.screw_jacobian`',
            r'derivatives of the pose with respect to $\bar{\theta}$',
            largest(Matrices(arm, arm.q).jacobian() - exact) + largest(program - exact),
        )
    ]


def derivatives(function: Callable[[Any], Any], count: int) -> list[Any]:
    """Return the value and derivatives of a function of time at 0, `count` in all."""
    if count == 1:
        return [function(0)]
    lower, changes = with_rate(
        lambda t: np.array(derivatives(lambda s: function(t + s), count - 1))
    )
    return [*lower, changes[-1]]


def _angular(arm: Arm) -> list[Check]:
    qd, qdd, qddd = arm.rates
    model, q = arm.model, arm.q
    exact = derivatives(arm.spin, 3)
    sums: list[Any] = [0, 0, 0]
    for j, screw in enumerate(arm.screws):
        V, V1, V2 = derivatives(lambda t, j=j: Matrices(arm, arm.along(t)).turned(0, j), 3)
        k = screw.angular
        sums[0] = sums[0] + V @ k * qd[j]
        sums[1] = sums[1] + (V * qdd[j] + V1 * qd[j]) @ k
        sums[2] = sums[2] + (V * qddd[j] + 2 * V1 * qdd[j] + V2 * qd[j]) @ k
    program = [
        screw_velocity(model, q, qd, LINK)[3:],
        screw_acceleration(model, q, qd, qdd, LINK)[3:],
        screw_jerk(model, q, qd, qdd, qddd, LINK)[3:],
    ]
    forms = (
        ('(18)', r'${}^0\bar{\omega} = \sum ME\{V_{j1}\}\bar{k}_j\dot{q}_j\Delta_j$', 'velocity'),
        (
            '(19)',
            r'${}^0\dot{\bar{\omega}} = \sum\{ME\{V_{j1}\}\ddot{q}_j + ME\{\dot{V}_{j1}\}'
            r'\dot{q}_j\}\bar{k}_j\Delta_j$',
            'acceleration',
        ),
        (
            '(20)',
            r'${}^0\ddot{\bar{\omega}} = \sum\{ME\{V_{j1}\}\dddot{q}_j + 2ME\{\dot{V}_{j1}\}'
            r'\ddot{q}_j + ME\{\ddot{V}_{j1}\}\dot{q}_j\}\bar{k}_j\Delta_j$',
            'jerk',
        ),
    )
    return _checks(forms, sums, program, exact)


def _checks(forms: Any, sums: Any, program: Any, exact: Any) -> list[Check]:
    """Return checks of the paper's sums and the program's results against exact values."""
    return [
        Check(
            number,
            form,
            f'`kinematics.screw_{name}`',
            POSES,
            largest(total - right) + largest(own - right),
        )
        for (number, form, name), total, own, right in zip(
            forms, sums, program, exact, strict=True
        )
    ]


def columns(arm: Arm, i: int, count: int) -> list[Any]:
    """Return the upper half of a column of J and derivatives along the motion, (3,) each."""

    def along(t: Any) -> Any:
        matrices = Matrices(arm, arm.along(t))
        return (matrices.product(i) @ matrices.column(i))[:3]

    return derivatives(along, count)


def _linear(arm: Arm) -> list[Check]:
    qd, qdd, qddd = arm.rates
    model, q = arm.model, arm.q
    exact = derivatives(lambda t: arm.pose(t)[:3, 3], 4)[1:]
    sums: list[Any] = [0, 0, 0]
    for j in range(arm.n):
        J, J1, J2 = columns(arm, j, 3)
        sums[0] = sums[0] + J * qd[j]
        sums[1] = sums[1] + J * qdd[j] + J1 * qd[j]
        sums[2] = sums[2] + J * qddd[j] + 2 * J1 * qdd[j] + J2 * qd[j]
    program = [
        screw_velocity(model, q, qd, LINK)[:3],
        screw_acceleration(model, q, qd, qdd, LINK)[:3],
        screw_jerk(model, q, qd, qdd, qddd, LINK)[:3],
    ]
    J = r'[\prod ME\{J_{jk}\}M_{jV}]'
    forms = (
        ('(21)', rf'${{}}^0\bar{{v}} = \sum{J}\dot{{q}}_j$', 'velocity'),
        (
            '(22)',
            rf'${{}}^0\dot{{\bar{{v}}}} = \sum{J}\ddot{{q}}_j + '
            rf'\sum\frac{{d}}{{dt}}{J}\dot{{q}}_j$',
            'acceleration',
        ),
        (
            '(23)',
            rf'${{}}^0\ddot{{\bar{{v}}}} = \sum{J}\dddot{{q}}_j + 2\sum\frac{{d}}{{dt}}{J}'
            rf'\ddot{{q}}_j + \sum\frac{{d^2}}{{dt^2}}{J}\dot{{q}}_j$',
            'jerk',
        ),
    )
    return _checks(forms, sums, program, exact)


def own_axes(arm: Arm) -> tuple[Any, Any, Any]:
    """Return R of the tool at the state, and omega and alpha in its axes."""
    R = arm.pose(0)[:3, :3]
    omega, alpha = derivatives(arm.spin, 2)
    return R, R.T @ omega, R.T @ alpha


def _own_axes(arm: Arm) -> list[Check]:
    qd, qdd, qddd = arm.rates
    model, q = arm.model, arm.q

    def own(t: Any) -> Any:
        return arm.pose(t)[:3, :3].T @ arm.spin(t)

    def slid(t: Any) -> Any:
        return arm.pose(t)[:3, :3].T @ rate(lambda s: arm.pose(t + s)[:3, 3])

    R, omega, alpha = own_axes(arm)
    first, second = derivatives(own, 3)[1:]
    acceleration = link_components(model, q, LINK, screw_acceleration(model, q, qd, qdd, LINK))
    jerk = link_components(model, q, LINK, screw_jerk(model, q, qd, qdd, qddd, LINK))
    velocity, changing = derivatives(slid, 2)
    errors = [
        link_components(model, q, LINK, screw_velocity(model, q, qd, LINK))
        - np.concatenate([velocity, omega]),
        acceleration - np.concatenate([changing + cross(omega, velocity), first]),
        jerk[3:] - (second + cross(omega, alpha)),
    ]
    return [
        Check(
            '(24)',
            r'${}^i\bar{V} = ME({}^iR)\,{}^0\bar{V}$',
            '`kinematics.link_components`',
            r'derivatives of the components in the moving axes, plus the terms of their rotation',
            sum(largest(error) for error in errors),
        ),
        Check(
            '(25)',
            r'$ME({}^iR) = [R_{i0}^{(0)}]^{-1}\prod_{j=i}^1 e^{-\{\bar{k}_j\times\}q_j^*}$',
            '`kinematics.rotation_to_link`',
            'transpose of the rotation by recursion',
            largest(rotation_to_link(model, q, LINK) - R.T),
        ),
    ]
