# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Position-dependent gravity: a machine in orbit, or near a large mass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Number
from typing import Any, Protocol

import numpy as np

from kron_dynamics.arguments import instance
from kron_dynamics.dual import derivatives_of
from kron_dynamics.dynamics.body_matrices import link_matrices
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.kinematics.scalars import as_scalars, number_vector, zeros_like
from kron_dynamics.kronecker import cross, kronecker
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.scalar_arguments import function_of_numbers, matrix, scalar, vector
from kron_dynamics.typing import ArrayLike, ScalarArray


class GravityField(Protocol):
    """Interface of a gravity field at a position, shape (3,), base frame, m."""

    def acceleration(self, place: ScalarArray) -> ScalarArray:
        """Return g, shape (3,), m/s^2."""
        ...

    def gradient(self, place: ScalarArray) -> ScalarArray:
        """Return dg/dc, shape (3, 3), 1/s^2."""
        ...

    def second_derivative(self, place: ScalarArray) -> ScalarArray:
        """Return d^2 g/dc^2 in Khang's layout, shape (3, 9), 1/(m s^2)."""
        ...


@dataclass(frozen=True)
class CentralField:
    """The field g = -mu (c - centre)/R^3 of a point mass or a sphere.

    It takes floats and SymPy expressions, not traced scalars, which have no square root.

    Attributes:
        mu: gravitational constant times mass, m^3/s^2.
        center: centre of the mass, shape (3,), base frame, m.
    """

    mu: float
    center: tuple[float, float, float]

    def __post_init__(self) -> None:
        """Refuse what is no number or no point.

        Raises:
            ArgumentTypeError: mu or the centre holds no numbers.
            ShapeError: mu is not one number, or the centre has another shape.
        """
        scalar(self.mu, 'mu')
        vector(self.center, 'center', 3)

    def ray(self, place: ScalarArray) -> tuple[ScalarArray, Any]:
        """Return the unit vector from the field's centre to a point, (3,), and the distance, m."""
        ray = number_vector(place, 'place', 3) - np.asarray(self.center)
        square = ray @ ray
        if isinstance(square, Number) and not square:  # SymPy's numbers are registered, too
            raise ParameterError('a mass centre is at the centre of the gravity field')
        distance = square**0.5
        return ray / distance, distance

    def acceleration(self, place: ScalarArray) -> ScalarArray:
        """Return g, shape (3,), m/s^2."""
        c, R = self.ray(place)
        g: ScalarArray = -self.mu / R**2 * c
        return g

    def gradient(self, place: ScalarArray) -> ScalarArray:
        """Return dg/dc = mu/R^3 (3 c c^T - E), shape (3, 3), 1/s^2."""
        c, R = self.ray(place)
        gradient: ScalarArray = self.mu / R**3 * (3 * np.outer(c, c) - np.eye(3, dtype=int))
        return gradient

    def second_derivative(self, place: ScalarArray) -> ScalarArray:
        """Return d^2 g/dc^2 in Khang's layout, shape (3, 9), 1/(m s^2).

        ``3 mu/R^4 (c (x) E^T + E (x) c^T + c vec(E)^T - 5 c (c (x) c)^T)``.
        """
        c, R = self.ray(place)
        E = np.eye(3, dtype=int)
        row = c.reshape(1, 3)
        spread = kronecker(row, E) + kronecker(E, row) + np.outer(c, E.reshape(-1))
        D: ScalarArray = 3 * self.mu / R**4 * (spread - 5 * np.outer(c, kronecker(c, c)))
        return D


@dataclass(frozen=True)
class FieldOf:
    """A field given as a function, with exact derivatives.

    Attributes:
        function: g(c), shape (3,), m/s^2, of the position c, shape (3,), m, written with +, -, *,
            / and integer powers; see `kron_dynamics.dual`.
    """

    function: Callable[[ScalarArray], Any]

    def __post_init__(self) -> None:
        """Refuse what is no function.

        Raises:
            ArgumentTypeError: it cannot be called.
        """
        function_of_numbers(self.function, 'function')

    def acceleration(self, place: ScalarArray) -> ScalarArray:
        """Return g, shape (3,), m/s^2."""
        # Evaluated as dual numbers, since traced scalars have no powers.
        return derivatives_of(self.function, place, 1)[0]

    def gradient(self, place: ScalarArray) -> ScalarArray:
        """Return dg/dc, shape (3, 3), 1/s^2."""
        return derivatives_of(self.function, place, 1)[1]

    def second_derivative(self, place: ScalarArray) -> ScalarArray:
        """Return d^2 g/dc^2 in Khang's layout, shape (3, 9), 1/(m s^2)."""
        return derivatives_of(self.function, place, 2)[2].reshape(3, 9)


def field_forces(
    model: RobotModel, q: ArrayLike, field: GravityField, *, extended: bool = False
) -> ScalarArray:
    """Return f_c = sum m J_v^T g(c_i), shape (n,), N m or N.  [P] eq. (27).

    The sum is over all links, including those fixed to each other. For constant g this is
    -`gravity_vector`. The potential of [P] eq. (26) holds for constant g only, these forces hold
    for any field.

    Args:
        model: the robot; its own constant gravity is not included.
        q: coordinates, shape (n,), rad or m.
        field: the field.
        extended: whether to treat links as extended bodies to second order instead of as mass
            points: adds the gravity-gradient torque about the mass centre, the integral of
            r x (dg/dc r) dm, and the force, half the integral of d^2 g/dc^2 (r (x) r) dm.

    Raises:
        ArgumentTypeError: field is none, or its values are no numbers.
        ModelError: the robot has flexible links or closed loops.
        ParameterError: a mass centre is at the centre of a central field.
        ShapeError: values of the field have another shape.
    """
    q = number_vector(q, 'q', model.n)
    for name in ('acceleration', 'gradient', 'second_derivative')[: 3 if extended else 1]:
        if not callable(getattr(field, name, None)):
            instance(field, (), 'field', f"a gravity field, with '{name}', such as CentralField")
    forces = zeros_like(q, (model.n,))
    for body in link_matrices(model, q):
        g = vector(field.acceleration(body.center), 'acceleration of the field', 3)
        forces = forces + body.mass * body.J_T.T @ g
        if extended:
            # Second moments of mass about the mass centre, the integral of r r^T dm.
            half = np.trace(body.inertia) / 2
            S = half * np.eye(3, dtype=int) - body.inertia
            G, D = S @ field.gradient(body.center).T, field.second_derivative(body.center)
            torque = np.array([G[1, 2] - G[2, 1], G[2, 0] - G[0, 2], G[0, 1] - G[1, 0]])
            forces = forces + body.J_R.T @ torque + body.J_T.T @ (D @ S.reshape(-1)) / 2
    return forces


def central_field_potential(
    model: RobotModel, q: ArrayLike, field: CentralField, *, extended: bool = False
) -> Any:
    """Return the potential V, a scalar, J; ``-dV/dq`` are the `field_forces`.

    The sum of ``-mu m/R``, plus ``- mu/(2 R^3)(tr I - 3 c^T I c)`` for extended links, with c the
    unit vector from the field's centre.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        field: the field.
        extended: whether to treat links as extended bodies to second order, not as mass points.

    Raises:
        ArgumentTypeError: field is no `CentralField`.
        ModelError: the robot has flexible links or closed loops.
        ParameterError: a mass centre is at the centre of the field.
    """
    instance(field, CentralField, 'field', 'a CentralField')
    total: Any = 0
    for body in link_matrices(model, q):
        c, R = field.ray(body.center)
        total = total - field.mu * body.mass / R
        if extended:
            along = c @ body.inertia @ c
            total = total - field.mu / (2 * R**3) * (np.trace(body.inertia) - 3 * along)
    return total


def gravity_gradient_torque(
    field: CentralField, place: ArrayLike, inertia: ArrayLike
) -> ScalarArray:
    """Return the torque 3 mu/R^3 c x (I c) of a central field on a body, shape (3,), N m.

    Args:
        field: the field.
        place: position of the mass centre, shape (3,), base frame, m.
        inertia: inertia about the mass centre, shape (3, 3), base axes, kg m^2.

    Raises:
        ParameterError: the mass centre is at the centre of the field.
    """
    (c, R), inertia = field.ray(np.asarray(place)), as_scalars(matrix(inertia, 'inertia', 3, 3))
    torque: ScalarArray = 3 * field.mu / R**3 * cross(c, inertia @ c)
    return torque
