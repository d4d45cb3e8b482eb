# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""All constraints of a robot, stacked as A(q, t) qd = b(q, t), with scales for mixed units."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kron_dynamics.arguments import instance
from kron_dynamics.constraints.constraint import Constraint, ConstraintTerms, Geometry
from kron_dynamics.constraints.exact_text import exact_text
from kron_dynamics.constraints.pfaffian import Pfaffian
from kron_dynamics.constraints.time_functions import signal_derivatives
from kron_dynamics.exceptions import ConstraintError
from kron_dynamics.messages import listed
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.reproducible import norm
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray

GeometryOf = Callable[[FloatArray, FloatArray], Geometry]


class ConstraintSystem:
    """The stacked constraints of one model.

    Attributes:
        model: the robot.
        constraints: the constraints, in the order of their conditions.
        length: characteristic length of the robot, m; lengths divided by it compare with angles.
        row_scale: scale of each condition, shape (k,): the length for a condition in m, else 1.
        column_scale: scale of each coordinate, shape (n,): the length for one in m, else 1.
        row_names: name of the constraint of each condition.
        is_holonomic: whether each condition is on positions, shape (k,).
    """

    def __init__(self, model: RobotModel, constraints: Sequence[Constraint]) -> None:
        """Check the constraints against the model.

        Raises:
            ArgumentTypeError: an item is not a `Constraint`.
            ConstraintError: two have the same name, or one does not fit the model.
            UnknownFrameError: one names a link that the model does not have.
        """
        for constraint in constraints:
            instance(constraint, Constraint, 'constraints', 'constraints such as HingeLoop')
            instance(constraint.name, str, 'name of a constraint', 'text')
            constraint.check(model)
        twice = [n for n, count in Counter(c.name for c in constraints).items() if count > 1]
        if twice:
            raise ConstraintError(f'several constraints are named {listed(map(repr, twice))}')
        self.model, self.constraints = model, tuple(constraints)
        self.length = characteristic_length(model)
        units = [unit for c in constraints for unit in c.units_on(model)]
        self.row_scale = np.array([self.length if unit == 'm' else 1.0 for unit in units])
        slides = [joint_kind(kind).unit('position') == 'm' for kind in model.joint_types]
        self.column_scale = np.where(slides, self.length, 1.0)
        self.row_names = tuple(c.name for c in constraints for _ in c.units)
        held = [c.is_holonomic for c in constraints for _ in c.units]
        self.is_holonomic = np.array(held, dtype=bool)

    @property
    def geometric(self) -> tuple[Constraint, ...]:
        """The constraints with a `geometry`, which kernels can compute."""
        return tuple(c for c in self.constraints if not isinstance(c, Pfaffian))

    @property
    def targets(self) -> FloatArray:
        """Values s(0) required of the functions f(q) at t = 0, shape (k,)."""
        asked = [signal_derivatives(c.signal, 0.0, c.size, c.name, 0)[0] for c in self.constraints]
        return np.concatenate([*asked, np.zeros(0)])

    @functools.cached_property
    def description(self) -> str | None:
        """All data of the geometry beside the model; None if one has no `exact_text`."""
        parts = [exact_text(constraint) for constraint in self.geometric]
        texts = [text for text in parts if text is not None]
        return '\n'.join(texts) if len(texts) == len(parts) else None

    @property
    def geometry_function(self) -> Callable[[RobotModel, Any, Any], Geometry]:
        """Function that computes the geometry of all `geometric` constraints, any number type."""
        return functools.partial(stacked_geometry, *self.geometric)

    def geometry(self, q: ArrayLike, qd: ArrayLike) -> Geometry:
        """Return the geometry without a kernel, shapes (k,), (k, n), (k, n), (k, 6)."""
        return self.geometry_function(self.model, q, qd)

    def rows(self) -> Iterator[tuple[Constraint, slice]]:
        """Yield each constraint with the slice of its conditions."""
        start = 0
        for constraint in self.constraints:
            yield constraint, slice(start, start + constraint.size)
            start += constraint.size

    def terms(
        self, q: FloatArray, qd: FloatArray, t: float, geometry: GeometryOf | None = None
    ) -> ConstraintTerms:
        """Return the terms of all conditions, [P] eq. (6), shapes (k,) and (k, n).

        Args:
            q: coordinates, shape (n,), rad or m.
            qd: their rates, shape (n,), rad/s or m/s.
            t: time, s.
            geometry: faster replacement of the method `geometry`, such as a kernel.

        Raises:
            ConstraintError: a user function does not return finite numbers of its shape.
        """
        found: list[ConstraintTerms] = []
        start, known = 0, None
        for constraint in self.constraints:
            if isinstance(constraint, Pfaffian):
                found.append(constraint.evaluate(q, qd, t))
                continue
            if known is None:
                known = (geometry or self.geometry)(q, qd)
            own = slice(start, start + constraint.size)
            found.append(constraint.terms(Geometry(*(part[own] for part in known)), t))
            start += constraint.size
        return ConstraintTerms(*map(np.concatenate, zip(*found, strict=True)))

    def conditions(self, q: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
        """Return only phi and A of `terms`, shapes (k,) and (k, n), which is faster.

        Args:
            q: coordinates, shape (n,), rad or m.
            t: time, s.

        Raises:
            ConstraintError: a user function does not return finite numbers of its shape.
        """

        def geometry(q: ArrayLike, qd: ArrayLike) -> Geometry:
            f, A = stacked_conditions(self.geometric, self.model, q)
            return Geometry(f, A, 0 * A, 0 * A)

        return self.terms(q, np.zeros(len(q)), t, geometry)[:2]

    def scaled(self, A: FloatArray) -> FloatArray:
        """Return dimensionless A, shape (k, n): rows and columns scaled by `length`."""
        scaled: FloatArray = A * self.column_scale / self.row_scale[:, None]
        return scaled


def stacked_geometry(*arguments: Any) -> Geometry:
    """Return the stacked geometry of constraints.

    Args:
        arguments: the constraints, then model, q, shape (n,), and qd, shape (n,).

    Returns:
        shapes (k,), (k, n), (k, n) and (k, 6).
    """
    *constraints, model, q, qd = arguments
    parts = [constraint.geometry(model, q, qd) for constraint in constraints]
    return Geometry(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def stacked_conditions(
    constraints: Sequence[Constraint], model: RobotModel, q: ArrayLike
) -> tuple[ScalarArray, ScalarArray]:
    """Return only f and A of `stacked_geometry`, shapes (k,) and (k, n), which is faster.

    Args:
        constraints: the constraints, at least one.
        model: the robot.
        q: coordinates, shape (n,).
    """
    f, A = zip(*(constraint.conditions(model, q) for constraint in constraints), strict=True)
    return np.concatenate(f), np.concatenate(A)


def characteristic_length(model: RobotModel) -> float:
    """Return the longest distance from a joint to a child joint or mass centre, m; 1 if all are 0.

    Args:
        model: the robot.
    """
    arms = [joint.translation for joint in model.joints]
    arms += [body.center_of_mass for body in model.bodies]
    longest = max((norm(arm) for arm in arms), default=0.0)
    return longest if longest > 0.0 else 1.0
