# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Position and rotation of the sections of a flexible link, in the beam's axes.

The beam's axes are at its root: x along the undeformed beam, the deflections v along y and w
along z. A section at [x, 0, 0] of the undeformed beam is at

    d = [x - 1/2 e_v^T G_v e_v - 1/2 e_w^T G_w e_w;  Phi_v^T e_v;  Phi_w^T e_w]

and rotated by the Cayley map C = E + (theta~ + theta~^2/2)/(1 + theta^2/4), which is a rotation
for any theta and needs no special case at theta = 0, with

    theta = [tau;  -b (1 + s/4) + a tau/2;  a (1 + s/4) + b tau/2],    s = a^2 + b^2,
    a = Phi_v'^T e_v,  b = Phi_w'^T e_w,  tau = e_v^T T e_w.

The section's normal is then the tangent [sqrt(1 - s); a; b] of the beam, and the sections do not
twist about it along the beam. Position and rotation are correct to third order in the modal
coordinates. With the elastic energy to fourth order, frequencies about a bent state are correct
to second order in the bending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from kron_dynamics.flexible.link_modes import CrossSection
from kron_dynamics.kinematics.forward import JointPlacement
from kron_dynamics.kinematics.motion import FrameMotion
from kron_dynamics.kronecker import cross, skew
from kron_dynamics.typing import FloatArray, ScalarArray

_NONE = np.zeros(3, dtype=int)


@dataclass(frozen=True, slots=True, eq=False)
class ModalState:
    """Modal coordinates of a link and their derivatives: order 0 to 3 at index 0 to 3.

    Attributes:
        v: coordinates of the modes in the plane of v, shape (n_v,) each.
        w: coordinates of the modes in the plane of w, shape (n_w,) each.
    """

    v: Sequence[ScalarArray]
    w: Sequence[ScalarArray]

    def squares(self, matrices: tuple[FloatArray, FloatArray], order: int) -> Any:
        """Return ``e_v^T A e_v + e_w^T B e_w`` or its time derivative of an order."""
        return _product(self.v, matrices[0], self.v, order) + _product(
            self.w, matrices[1], self.w, order
        )

    def offset(self, at: CrossSection, order: int) -> ScalarArray:
        """Return d of a section or its time derivative of an order, shape (3,), m."""
        along = -self.squares(at.shortening, order) / 2
        across = [
            _dot(shapes, e[order]) for shapes, e in zip(at.shapes, (self.v, self.w), strict=True)
        ]
        return np.array([at.x + along if order == 0 else along, *across])

    def angles(self, at: CrossSection, orders: int) -> list[ScalarArray]:
        """Return theta of a section and its derivatives up to order `orders`, (3,) each, rad."""
        a, b = (
            [_dot(slopes, e[k]) for k in range(orders + 1)]
            for slopes, e in zip(at.slopes, (self.v, self.w), strict=True)
        )
        twist = [_product(self.v, at.twist, self.w, k) for k in range(orders + 1)]
        # theta is twice the tangent of half the angle, the slope its sine: 2 tan(phi/2) is about
        # sin(phi) (1 + sin(phi)^2/4).
        longer = [(x + y) / 4 for x, y in zip(_leibniz(a, a), _leibniz(b, b), strict=True)]
        longer[0] = 1 + longer[0]
        about_y = zip(_leibniz(b, longer), _leibniz(a, twist), strict=True)
        about_z = zip(_leibniz(a, longer), _leibniz(b, twist), strict=True)
        return [
            np.array([x, y, z])
            for x, y, z in zip(
                twist,
                (half / 2 - bent for bent, half in about_y),
                (bent + half / 2 for bent, half in about_z),
                strict=True,
            )
        ]


def place_section(state: ModalState, at: CrossSection) -> JointPlacement:
    """Return the placement of a section relative to the root."""
    (theta,) = state.angles(at, 0)
    turn = skew(theta)
    rotation = np.eye(3, dtype=int) + (turn + turn @ turn / 2) / _norm(theta)
    return JointPlacement(rotation, state.offset(at, 0), _NONE, _NONE)


def section_forces(
    state: ModalState, at: CrossSection, force: ScalarArray, moment: ScalarArray
) -> list[Any]:
    """Return the generalized forces of a force and a moment on a section, per modal coordinate.

    The rotational Jacobian of the section is J_R = (1 + 1/2 theta~) dtheta/de / (1 + theta^2/4).
    The factor of dtheta/de is applied to the moment once, for all coordinates.

    Args:
        state: modal coordinates.
        at: the section.
        force: shape (3,), beam axes, N.
        moment: moment about the section, shape (3,), beam axes, N m.

    Returns:
        the generalized forces, those of v first, N.
    """
    (theta,) = state.angles(at, 0)
    along = (moment + cross(moment, theta) / 2) / _norm(theta)
    v, w = state.v[0], state.w[0]
    a, b, twist = _dot(at.slopes[0], v), _dot(at.slopes[1], w), theta[0]
    longer, mixed = 1 + (a * a + b * b) / 4, a * b / 2
    # Derivatives with respect to the slopes a and b at constant twist, and to the twist.
    by_a = (twist / 2 - mixed) * along[1] + (longer + a * a / 2) * along[2]
    by_b = (mixed + twist / 2) * along[2] - (longer + b * b / 2) * along[1]
    by_twist = along[0] + (a * along[1] + b * along[2]) / 2
    forces = []
    for plane, e, other, twisted, by_slope in (
        (0, v, w, at.twist, by_a),
        (1, w, v, at.twist.T, by_b),
    ):
        shapes, slopes, shortening = at.shapes[plane], at.slopes[plane], at.shortening[plane]
        for i in range(len(e)):
            moved = shapes[i] * force[1 + plane] - _dot(shortening[i], e) * force[0]
            forces.append(moved + slopes[i] * by_slope + _dot(twisted[i], other) * by_twist)
    return forces


def move_section(root: FrameMotion, state: ModalState, at: CrossSection) -> FrameMotion:
    """Return the motion of a section from the motion of the root, in the root's beam axes.

    The result is not in the rotated axes of the section.

    Args:
        root: motion of the beam's root in its axes.
        state: modal coordinates with their derivatives.
        at: the section.
    """
    orders = len(root.linear)
    d, *rates = (state.offset(at, order) for order in range(orders + 1))
    return root.composed(FrameMotion(tuple(rates), _turning(state, at, orders)), d)


def _turning(state: ModalState, at: CrossSection, orders: int) -> tuple[ScalarArray, ...]:
    """Return a section's angular velocity relative to the root and its derivatives there."""
    t, t1, *higher = state.angles(at, orders)
    norm, norm1 = _norm(t), t @ t1 / 2
    found = [(t1 + cross(t, t1) / 2) / norm]
    if orders > 1:
        t2 = higher[0]
        found.append((t2 + cross(t, t2) / 2 - found[0] * norm1) / norm)
    if orders > 2:
        t3, norm2 = higher[1], (t1 @ t1 + t @ t2) / 2
        across = (cross(t1, t2) + cross(t, t3)) / 2
        found.append((t3 + across - 2 * found[1] * norm1 - found[0] * norm2) / norm)
    return tuple(found)


def _norm(theta: ScalarArray) -> Any:
    return 1 + theta @ theta / 4


def _dot(a: FloatArray, b: ScalarArray) -> Any:
    """Return the scalar product of constants with scalars of any kind; skip constants of 0."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x != 0), 0)


def _product(x: Sequence[ScalarArray], A: FloatArray, y: Sequence[ScalarArray], order: int) -> Any:
    """Return the time derivative of ``x^T A y`` of an order by Leibniz' rule."""
    return sum(
        comb(order, k) * x[k][i] * _dot(A[i], y[order - k])
        for k in range(order + 1)
        for i in range(len(A))
    )


def _leibniz(x: Sequence[Any], y: Sequence[Any]) -> list[Any]:
    """Return a product and its derivatives from those of its factors, from order 0 on."""
    return [
        sum(comb(order, k) * x[k] * y[order - k] for k in range(order + 1))
        for order in range(len(x))
    ]
