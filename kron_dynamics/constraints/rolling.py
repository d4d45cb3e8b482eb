# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nonholonomic constraints: blades, and wheels that roll without slip."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kron_dynamics.arguments import finite_array, real_number
from kron_dynamics.constraints.constraint import Constraint, Geometry
from kron_dynamics.constraints.exact_text import python_number, python_numbers
from kron_dynamics.constraints.time_functions import Signal
from kron_dynamics.kinematics.hessian import kinematic_hessian
from kron_dynamics.kinematics.jacobian import jacobian
from kron_dynamics.kinematics.relative import (
    relative_jacobian,
    relative_jacobian_derivative,
    rotation_between,
)
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.kronecker import contract_last, skew
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.reproducible import norm
from kron_dynamics.typing import ArrayLike, FloatArray

Triple = tuple[float, float, float]


def _triple(constraint: Constraint, what: str) -> FloatArray:
    """Return three numbers of a constraint, checked."""
    values = getattr(constraint, what)
    numbers = finite_array(values, f'{what} of {constraint.name}')
    if numbers.shape != (3,):
        raise constraint.refuse(f'has {what} {values!r}, expected three numbers')
    return numbers


def _unit(constraint: Constraint, what: str) -> FloatArray:
    direction = _triple(constraint, what)
    if not direction.any():
        raise constraint.refuse(f'has {what} {getattr(constraint, what)!r}, expected a direction')
    return np.divide(direction, norm(direction))


@dataclass(frozen=True)
class _GroundContact(Constraint):
    """A nonholonomic constraint between a link and the ground."""

    name: str
    link: str
    signal: Signal = field(default=0.0, kw_only=True)
    is_holonomic = False

    def check(self, model: RobotModel) -> None:
        """Check that the model has the link."""
        self.known_link(model, self.link)

    def links(self) -> tuple[str, str] | None:
        """Return the link, and an empty name for the ground."""
        return self.link, ''


@dataclass(frozen=True)
class BladeConstraint(_GroundContact):
    """A point of a link does not move along a direction of the link: a skate, a sleigh's blade.

    Attributes:
        name: name in messages and reports.
        link: link that the blade is fixed to.
        direction: direction across the blade, in the link's axes.
        at: the point, in the link's frame, m.
        signal: velocity along the direction, m/s, or a function of time.
    """

    direction: Triple
    at: Triple = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check direction and point."""
        _unit(self, 'direction')
        _triple(self, 'at')
        object.__setattr__(self, 'direction', python_numbers(self.direction))
        object.__setattr__(self, 'at', python_numbers(self.at))

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of the condition, times 1/s."""
        return ('m',)

    def point(self) -> Triple:
        """Return the point, in the link's frame, shape (3,), m."""
        return self.at

    def geometry(self, model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Geometry:
        """Return f, A, dA/dt and N, shapes (1,), (1, n), (1, n) and (1, 6)."""
        across, place = _unit(self, 'direction'), (self.link, model.root_link)
        J = relative_jacobian(model, q, *place, axes=self.link, point=self.at)
        H = relative_jacobian_derivative(model, q, *place, axes=self.link, point=self.at)
        row = rotation_between(model, q, model.root_link, self.link) @ across
        return Geometry(
            zeros_like(q, (1,)),
            (across @ J[:3]).reshape(1, -1),
            (across @ contract_last(H[:3], as_scalars(qd))).reshape(1, -1),
            np.concatenate([row, np.zeros(3, dtype=int)]).reshape(1, 6),
        )


@dataclass(frozen=True)
class RollingWheel(_GroundContact):
    """A wheel with its axle parallel to the ground rolls without slip, along and across.

    Attributes:
        name: name in messages and reports.
        link: the wheel, with its centre at the link's origin.
        radius: m.
        normal: normal of the ground, in base axes.
        signal: velocity of the ground, m/s, or a function of time: along n x e, then along
            n x (n x e), where n is the normal and e the base axis most across it, the first of
            several. For the normal z these are +y and -x: ``(0.0, -0.5)`` moves along +x.
    """

    radius: float
    normal: Triple = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        """Check radius and normal."""
        _unit(self, 'normal')
        object.__setattr__(self, 'normal', python_numbers(self.normal))
        if not real_number(self.radius, f'radius of {self.name}') > 0.0:
            raise self.refuse(f'has radius {self.radius!r}, expected more than 0 m')
        object.__setattr__(self, 'radius', python_number(self.radius))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the conditions, times 1/s."""
        return ('m', 'm')

    def geometry(self, model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Geometry:
        """Return f, A, dA/dt and N, shapes (2,), (2, n), (2, n) and (2, 6)."""
        n = _unit(self, 'normal')
        first = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
        tangents = np.array([first, np.cross(n, first)]) / norm(first)
        # The wheel's lowest point is at -radius n from its centre and has v + omega x (-r n).
        N = np.concatenate([tangents, self.radius * tangents @ skew(n)], axis=1)
        J, H = jacobian(model, q, self.link), kinematic_hessian(model, q, self.link)
        return Geometry(zeros_like(q, (2,)), N @ J, N @ contract_last(H, as_scalars(qd)), N)
