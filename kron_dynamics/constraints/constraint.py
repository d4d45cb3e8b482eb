# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Base class of constraints: scalar conditions A(q, t) qd = b(q, t).  [P] eqs. (5)-(7)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from kron_dynamics.constraints.time_functions import Signal, signal_derivatives
from kron_dynamics.exceptions import ConstraintError, UnknownFrameError
from kron_dynamics.kinematics.scalars import zeros_like
from kron_dynamics.messages import clipped, listed, named
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray


class ConstraintTerms(NamedTuple):
    """The k conditions of a constraint in one state, [P] eq. (6), each row in its own unit.

    Attributes:
        phi: residuals of the positions, shape (k,); 0 for nonholonomic conditions.
        A: shape (k, n); d phi/dq for holonomic conditions.
        b: shape (k,); the partial time derivative -d phi/dt for holonomic conditions.
        A_dot: time derivative of A, shape (k, n).
        b_dot: time derivative of b, shape (k,).
    """

    phi: FloatArray
    A: FloatArray
    b: FloatArray
    A_dot: FloatArray
    b_dot: FloatArray


class Geometry(NamedTuple):
    """The time-independent part of conditions f(q) = s(t).

    Attributes:
        f: shape (k,); zeros for nonholonomic conditions.
        A: df/dq, shape (k, n).
        A_dot: its time derivative, shape (k, n).
        N: shape (k, 6): the constraint wrench on link a is N^T lambda, [force; moment] at the
            point of a, base axes. Zeros where the constraint force acts on joints.
    """

    f: ScalarArray
    A: ScalarArray
    A_dot: ScalarArray
    N: ScalarArray


class Constraint(ABC):
    """Conditions on a robot's coordinates or rates; see `geometry` for the form f(q) = s(t).

    Attributes:
        name: name in messages and reports.
        is_holonomic: whether the conditions are on positions, not on rates alone.
        signal: s(t); b(t) for nonholonomic conditions.
    """

    name: str
    is_holonomic: bool = True
    signal: Signal = 0.0

    @property
    @abstractmethod
    def units(self) -> tuple[str, ...]:
        """Unit of each condition: 'm', 'rad' or '1'."""

    def units_on(self, model: RobotModel) -> tuple[str, ...]:
        """Return the unit of each condition, which may depend on the kinds of a model's joints."""
        return self.units

    @property
    def size(self) -> int:
        """Number of conditions."""
        return len(self.units)

    @abstractmethod
    def check(self, model: RobotModel) -> None:
        """Check that a model has the joints and links of the constraint.

        Raises:
            ConstraintError: the model lacks a joint, which the message names.
            UnknownFrameError: the model lacks a link, which the message names.
        """

    @abstractmethod
    def geometry(self, model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Geometry:
        """Return f, A = df/dq, dA/dt and N, shapes (k,), (k, n), (k, n), (k, 6).

        It runs on floats, SymPy expressions and traced scalars.
        """

    def conditions(self, model: RobotModel, q: ArrayLike) -> tuple[ScalarArray, ScalarArray]:
        """Return only f and A of `geometry`, shapes (k,) and (k, n); faster for some classes."""
        found = self.geometry(model, q, zeros_like(q, (model.n,)))
        return found.f, found.A

    def links(self) -> tuple[str, str] | None:
        """Return links a and b between which the wrench of N acts; None if there is no wrench.

        The name of b is empty for the ground.
        """
        return None

    def point(self) -> tuple[float, float, float]:
        """Return the point where the wrench acts on link a, shape (3,), in a's frame, m."""
        return (0.0, 0.0, 0.0)

    def point_on_b(self, model: RobotModel, q: ArrayLike) -> ScalarArray:
        """Return the point where the opposite wrench acts on link b, shape (3,), b's frame, m.

        Raises:
            ConstraintError: there is no link b.
        """
        raise self.refuse('has no second link')

    def sense(self, model: RobotModel, q: ArrayLike) -> float:
        """Return the least cosine between axes to be aligned; -1 if one is reversed, 1 if none."""
        return 1.0

    def terms(self, geometry: Geometry, t: float) -> ConstraintTerms:
        """Return the terms at time t (s) from the geometry, shapes (k,) and (k, n)."""
        order = 2 if self.is_holonomic else 1
        s = signal_derivatives(self.signal, t, self.size, self.name, order)
        f, A, A_dot, _ = (np.asarray(part, dtype=np.float64) for part in geometry)
        phi = f - s[0] if self.is_holonomic else np.zeros(self.size)
        return ConstraintTerms(phi, A, s[-2], A_dot, s[-1])

    def known_link(self, model: RobotModel, link: str) -> None:
        """Check that the model has a link.

        Raises:
            UnknownFrameError: it does not; the message names constraint and link.
        """
        try:
            model.frame(link)
        except UnknownFrameError as error:
            raise UnknownFrameError(f'{named("constraint", self.name)}: {error}') from None

    def coordinate(self, model: RobotModel, joint: str) -> int:
        """Return the index of a joint's coordinate.

        Raises:
            ConstraintError: the model has no such coordinate.
        """
        if joint not in model.joint_names:
            raise ConstraintError(
                f"{named('constraint', self.name)}: joint '{clipped(joint)}' has no coordinate of "
                f'its own, expected one of {listed(model.joint_names)}'
            )
        return model.joint_names.index(joint)

    def refuse(self, complaint: str) -> ConstraintError:
        """Return an error whose message has the constraint's name and the complaint."""
        return ConstraintError(f'{named("constraint", self.name)} {complaint}')
