# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Constraints given by the user as functions A(q, t) and b(q, t).  [P] eqs. (5), (6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kron_dynamics.constraints.constraint import Constraint, ConstraintTerms, Geometry
from kron_dynamics.constraints.time_functions import reason
from kron_dynamics.dual import jacobian_of
from kron_dynamics.exceptions import ConstraintError
from kron_dynamics.messages import named
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray

Function = Callable[[Any, Any], Any]
# Greatest difference of A or b from a derivative of phi, over the largest in their row.
_SAME_SLOPE = 1e-4


def at_rest(q: Any, t: Any) -> float:
    """Return b = 0 of scleronomic conditions."""
    return 0.0


@dataclass(frozen=True)
class Pfaffian(Constraint):
    """A(q, t) qd = b(q, t), with functions of +, -, *, /, integer powers, sin, cos and tanh.

    Their derivatives are exact; see `kron_dynamics.dual`. The constraint forces act on the joints,
    so that `reactions` has no wrench for them.

    Attributes:
        name: name in messages and reports.
        A: function of q, shape (n,), and t, s, with values of shape (k, n).
        b: function of the same arguments with values of shape (k,).
        row_units: unit of each condition, times 1/s: 'm', 'rad' or '1'.
        phi: function of the same arguments with values of shape (k,), with d phi/dq = A and
            d phi/dt = -b, which is checked in every state; None for nonholonomic conditions.
    """

    name: str
    A: Function
    b: Function = at_rest
    row_units: tuple[str, ...] = ('1',)
    phi: Function | None = field(default=None, kw_only=True)

    @property
    def is_holonomic(self) -> bool:  # type: ignore[override]
        """Whether the conditions are on positions."""
        return self.phi is not None

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each condition."""
        return self.row_units

    def check(self, model: RobotModel) -> None:
        """Check nothing: functions need not be defined everywhere, see `evaluate`."""

    def geometry(self, model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Geometry:
        """Raise an error, as A also depends on time; see `evaluate`."""
        raise self.refuse('is defined by functions of q and t only')

    def evaluate(self, q: FloatArray, qd: FloatArray, t: float) -> ConstraintTerms:
        """Return the constraint's terms in a state, shapes (k,) and (k, n).

        Raises:
            ConstraintError: a function does not return finite numbers of the right shape, or A
                and b are not the derivatives of phi.
        """
        k, n = self.size, len(q)
        A, A_dot = self._along(self.A, 'A', q, qd, t, (k, n))
        b, b_dot = self._along(self.b, 'b', q, qd, t, (k,))
        return ConstraintTerms(self._position(q, t, A, b), A, b, A_dot, b_dot)

    def _position(self, q: FloatArray, t: float, A: FloatArray, b: FloatArray) -> FloatArray:
        """Return phi, shape (k,), or zeros without one; check its derivatives against A and b."""
        k, phi = self.size, self.phi
        if phi is None:
            return np.zeros(k)
        what = f'{named("constraint", self.name)}: phi'
        value, slope = _derived(what, lambda x: phi(x[:-1], x[-1]), np.array([*q, t]), (k,))
        given = np.column_stack([A, -b])
        largest = np.maximum(np.abs(given), np.abs(slope)).max(axis=1, keepdims=True)
        wrong = np.argwhere(np.abs(given - slope) > _SAME_SLOPE * largest)
        if len(wrong):
            row, column = map(int, wrong[0])
            entry = f'A[{row}, {column}]' if column < len(q) else f'b[{row}]'
            by = f'q[{column}]' if column < len(q) else 't, negated,'
            sign = 1.0 if column < len(q) else -1.0
            raise self.refuse(
                f'has {entry} = {sign * given[row, column]:.6g}, expected the derivative of '
                f'phi[{row}] by {by} which is {sign * slope[row, column]:.6g}'
            )
        return value

    def _along(
        self,
        function: Function,
        what: str,
        q: FloatArray,
        qd: FloatArray,
        t: float,
        shape: tuple[int, ...],
    ) -> tuple[FloatArray, FloatArray]:
        """Return `along_motion` of a function, named in messages with the constraint."""
        return along_motion(f'{named("constraint", self.name)}: {what}', function, q, qd, t, shape)


def along_motion(
    what: str,
    function: Function,
    q: FloatArray,
    qd: FloatArray,
    t: float,
    shape: tuple[int, ...],
) -> tuple[FloatArray, FloatArray]:
    """Return the value and the time derivative of a function of q and t, each of a shape.

    Args:
        what: name of the function in messages.
        function: function of q, shape (n,), and t.
        q: coordinates, shape (n,).
        qd: their rates, shape (n,).
        t: time, s.
        shape: expected shape of its values; a scalar value is broadcast to it.

    Raises:
        ConstraintError: the function does not return finite numbers of that shape.
    """
    value, rate = _derived(what, lambda x: function(q + qd * x[0], t + x[0]), np.zeros(1), shape)
    return value, rate[..., 0]


def _derived(
    what: str, function: Callable[[Any], Any], at: FloatArray, shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    """Return the value of a function of x, shape (m,), and its derivatives, shape (..., m).

    Raises:
        ConstraintError: the function does not return finite numbers of that shape.
    """
    try:
        value, slope = (np.asarray(x, dtype=np.float64) for x in jacobian_of(function, at))
    except Exception as error:  # a user's function may raise anything
        raise ConstraintError(f'{what} cannot be evaluated: {reason(error)}') from error
    if value.shape not in ((), shape):
        raise ConstraintError(f'{what} has shape {value.shape}, expected {shape}')
    value = np.broadcast_to(value, shape).copy()
    slope = np.broadcast_to(slope, (*shape, len(at))).copy()
    if not (np.isfinite(value).all() and np.isfinite(slope).all()):
        raise ConstraintError(f'{what} holds a NaN or an infinity, expected finite numbers')
    return value, slope
