# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Constraints between joint coordinates: gears and screws, cams, and prescribed motions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kron_dynamics.arguments import finite_array, instance, real_number
from kron_dynamics.constraints.constraint import Constraint, Geometry
from kron_dynamics.constraints.exact_text import python_number
from kron_dynamics.constraints.time_functions import Signal
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.messages import clipped
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike


def _check_unit(constraint: Coupling | PolynomialCoupling) -> None:
    if constraint.unit not in (None, 'rad', 'm', '1'):
        raise ParameterError(
            f"unit of {constraint.name} is {constraint.unit!r}, expected 'rad', 'm', '1'"
        )


def _joint_unit(constraint: Constraint, model: RobotModel, joint: str) -> str:
    return joint_kind(model.joint_types[constraint.coordinate(model, joint)]).unit('position')


def _refuse_other_unit(
    constraint: Coupling | PolynomialCoupling, model: RobotModel, joint: str
) -> None:
    """Refuse a unit other than that of the joint whose position is prescribed."""
    expected = _joint_unit(constraint, model, joint)
    if constraint.unit not in (None, '1', expected):
        raise constraint.refuse(
            f"has unit '{constraint.unit}', expected '{expected}' or none for joint "
            f"'{clipped(joint)}'"
        )


@dataclass(frozen=True)
class Coupling(Constraint):
    """A linear coupling: the sum of ratio times position is s(t); a gear, screw or differential.

    Attributes:
        name: name in messages and reports.
        ratios: factor of each joint, by joint name: ``{'motor': 1.0, 'wheel': -12.0}``.
        signal: s, a number or a function of time, in the unit of ratio times position.
        unit: unit of the condition, 'rad', 'm' or '1'; None for that of its joints' positions, or
            rad if these differ.
    """

    name: str
    ratios: Mapping[str, float]
    signal: Signal = field(default=0.0, kw_only=True)
    unit: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the ratios."""
        if not isinstance(self.ratios, Mapping) or not self.ratios:
            raise self.refuse(f'has ratios {self.ratios!r}, expected numbers by joint')
        for joint in self.ratios:
            instance(joint, str, f'a joint in ratios of {self.name}', 'text')
        # Sorted, so that equal couplings have the same description.
        ratios = {
            joint: real_number(ratio, f'ratio of {joint} in {self.name}')
            for joint, ratio in sorted(self.ratios.items())
        }
        for joint, ratio in ratios.items():
            if ratio == 0.0:
                raise self.refuse(f"has ratio 0 of joint '{joint}', expected another number")
        _check_unit(self)
        object.__setattr__(self, 'ratios', ratios)

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of the condition, rad if it depends on the model."""
        return (self.unit or 'rad',)

    def check(self, model: RobotModel) -> None:
        """Check that the model has the joints."""
        for joint in self.ratios:
            self.coordinate(model, joint)

    def units_on(self, model: RobotModel) -> tuple[str, ...]:
        """Return the unit of the condition."""
        units = {_joint_unit(self, model, joint) for joint in self.ratios}
        return (min(units),) if self.unit is None and len(units) == 1 else self.units

    def geometry(self, model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Geometry:
        """Return f, A, dA/dt and N, shapes (1,), (1, n), (1, n) and (1, 6)."""
        q = as_scalars(q)
        A = np.zeros((1, model.n))
        for joint, ratio in self.ratios.items():
            A[0, self.coordinate(model, joint)] = ratio
        return Geometry(A @ q, A, zeros_like(q, A.shape), np.zeros((1, 6)))


@dataclass(frozen=True)
class PolynomialCoupling(Constraint):
    """A cam: one joint's position is a polynomial of another's, sum of c_k (x - about)^k.

    Attributes:
        name: name in messages and reports.
        joint: joint whose position is the value of the polynomial.
        driver: joint whose position is x.
        coefficients: c_0, c_1, ..., in the unit of the joint over the unit of x^k.
        about: offset subtracted from x, rad or m.
        unit: unit of the condition and of the joint: 'rad', 'm' or '1'; None for the joint's.
    """

    name: str
    joint: str
    driver: str
    coefficients: tuple[float, ...]
    about: float = field(default=0.0, kw_only=True)
    unit: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the joints and numbers."""
        if self.joint == self.driver:
            raise self.refuse(f"has joint '{clipped(self.joint)}' twice, expected two joints")
        given = finite_array(self.coefficients, f'coefficients of {self.name}')
        if given.ndim != 1 or not given.size:
            raise self.refuse(f'has coefficients of shape {given.shape}, expected (count,)')
        real_number(self.about, f'about of {self.name}')
        object.__setattr__(self, 'about', python_number(self.about))
        _check_unit(self)
        object.__setattr__(self, 'coefficients', tuple(given.tolist()))

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of the condition, rad if it depends on the model."""
        return (self.unit or 'rad',)

    def check(self, model: RobotModel) -> None:
        """Check that the model has the joints."""
        for joint in (self.joint, self.driver):
            self.coordinate(model, joint)
        _refuse_other_unit(self, model, self.joint)

    def units_on(self, model: RobotModel) -> tuple[str, ...]:
        """Return the unit of the condition."""
        return self.units if self.unit else (_joint_unit(self, model, self.joint),)

    def geometry(self, model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Geometry:
        """Return f, A, dA/dt and N, shapes (1,), (1, n), (1, n) and (1, 6)."""
        q, qd = as_scalars(q), as_scalars(qd)
        joint, driver = (self.coordinate(model, name) for name in (self.joint, self.driver))
        x = q[driver] - self.about
        # Horner's scheme for the polynomial and its first two derivatives with respect to x.
        value, slope, bend = self.coefficients[-1], 0.0, 0.0
        for c in reversed(self.coefficients[:-1]):
            value, slope, bend = value * x + c, slope * x + value, bend * x + 2 * slope
        A, A_dot = zeros_like(q, (1, model.n)), zeros_like(q, (1, model.n))
        A[0, joint], A[0, driver] = 1, -slope
        A_dot[0, driver] = -bend * qd[driver]
        return Geometry(np.array([q[joint] - value]), A, A_dot, np.zeros((1, 6)))


@dataclass(frozen=True)
class PrescribedMotion(Coupling):
    """A joint with prescribed position: ``PrescribedMotion('crank', 'j1', s)``.

    Attributes:
        name: name in messages and reports.
        ratios: ratio 1 by the joint's name: a coupling of one joint.
        signal: position over time, rad or m: a function, or a number for a locked joint.
    """

    def __init__(self, name: str, joint: str, signal: Signal, *, unit: str | None = None) -> None:
        """Prescribe the position of a joint."""
        for key, value in (('name', name), ('signal', signal), ('unit', unit)):
            object.__setattr__(self, key, value)
        object.__setattr__(self, 'ratios', {joint: 1.0})
        self.__post_init__()

    def check(self, model: RobotModel) -> None:
        """Check that the model has the joint, and that the unit is the joint's."""
        _refuse_other_unit(self, model, next(iter(self.ratios)))
