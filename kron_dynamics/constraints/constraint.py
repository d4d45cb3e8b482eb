# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a constraint is: conditions A(q, t) qd = b(q, t) of rates.  [P] eqs. (5)-(7)."""

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
    """A constraint in one state, [P] eq. (6), with k conditions in the unit of each row.

    Attributes:
        phi: what is left to close, shape (k,); 0 for conditions of rates alone.
        A: shape (k, n); d phi/dq where the condition is one of positions.
        b: shape (k,), -d phi/dt at rest.
        A_dot: time derivative of A, shape (k, n).
        b_dot: time derivative of b, shape (k,).
    """

    phi: FloatArray
    A: FloatArray
    b: FloatArray
    A_dot: FloatArray
    b_dot: FloatArray


class Geometry(NamedTuple):
    """What a constraint's conditions f(q) = s(t) say of the mechanism alone.

    Attributes:
        f: shape (k,); zeros for conditions of rates.
        A: df/dq, shape (k, n).
        A_dot: its time derivative, shape (k, n).
        N: shape (k, 6): the wrench on link a for multipliers is N^T lambda, [force; moment] at
            the point of a, base axes. Zeros where what holds the condition acts on joints.
    """

    f: ScalarArray
    A: ScalarArray
    A_dot: ScalarArray
    N: ScalarArray


class Constraint(ABC):
    """Conditions on a robot's coordinates or rates; see `geometry` for those f(q) = s(t).

    Attributes:
        name: in messages and reports.
        is_holonomic: whether the conditions are of positions.
        signal: s(t), or of conditions of rates b(t).
    """

    name: str
    is_holonomic: bool = True
    signal: Signal = 0.0

    @property
    @abstractmethod
    def units(self) -> tuple[str, ...]:
        """Unit of each condition: 'm', 'rad' or '1'."""

    @property
    def size(self) -> int:
        """Number of conditions."""
        return len(self.units)

    @abstractmethod
    def check(self, model: RobotModel) -> None:
        """Refuse a model that the constraint does not fit.

        Raises:
            ConstraintError: it names what the model does not have.
            UnknownFrameError: likewise, of links.
        """

    @abstractmethod
    def geometry(self, model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Geometry:
        """Return f, A = df/dq, dA/dt and N, shapes (k,), (k, n), (k, n), (k, 6).

        It runs on floats, SymPy expressions and traced scalars.
        """

    def conditions(self, model: RobotModel, q: ArrayLike) -> tuple[ScalarArray, ScalarArray]:
        """Return f and A of `geometry` alone, shapes (k,) and (k, n), where that is quicker."""
        found = self.geometry(model, q, zeros_like(q, (model.n,)))
        return found.f, found.A

    def links(self) -> tuple[str, str] | None:
        """Return links a and b between which the wrench of N acts, None where there is none.

        The name of b is empty where it is the ground.
        """
        return None

    def point(self) -> tuple[float, float, float]:
        """Return the point of link a where the wrench acts, shape (3,), its frame, m."""
        return (0.0, 0.0, 0.0)

    def point_on_b(self, model: RobotModel, q: ArrayLike) -> ScalarArray:
        """Return where the opposite wrench acts on link b, shape (3,), its frame, m.

        Raises:
            ConstraintError: there is no link b.
        """
        raise self.refuse('has no second link')

    def sense(self, model: RobotModel, q: ArrayLike) -> float:
        """Return what is negative where the conditions hold with an axis the wrong way round."""
        return 1.0

    def terms(self, geometry: Geometry, t: float) -> ConstraintTerms:
        """Return the constraint's terms at a time from its geometry, shapes (k,) and (k, n)."""
        order = 2 if self.is_holonomic else 1
        s = signal_derivatives(self.signal, t, self.size, self.name, order)
        f, A, A_dot, _ = (np.asarray(part, dtype=np.float64) for part in geometry)
        phi = f - s[0] if self.is_holonomic else np.zeros(self.size)
        return ConstraintTerms(phi, A, s[-2], A_dot, s[-1])

    def known_link(self, model: RobotModel, link: str) -> None:
        """Refuse a link that the model does not have.

        Raises:
            UnknownFrameError: it names constraint and link.
        """
        try:
            model.frame(link)
        except UnknownFrameError as error:
            raise UnknownFrameError(f'{named("constraint", self.name)}: {error}') from None

    def coordinate(self, model: RobotModel, joint: str) -> int:
        """Return the number of a joint's coordinate.

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
        """Return the error of something that is wrong with the constraint."""
        return ConstraintError(f'{named("constraint", self.name)} {complaint}')
