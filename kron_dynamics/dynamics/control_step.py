# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""All terms that a task-space controller needs in each cycle, in one kernel."""

from __future__ import annotations

from typing import NamedTuple

from kron_dynamics.dynamics.gravity import gravity_vector
from kron_dynamics.dynamics.inverse import coriolis_vector
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.kinematics.jacobian import jacobian
from kron_dynamics.kinematics.motion import frame_acceleration
from kron_dynamics.kinematics.scalars import number_vector, zeros_like
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


class ControlStep(NamedTuple):
    """The terms of ``M qdd + c + g = tau`` and of ``[a; alpha] = J qdd + Jdot qd``.

    Attributes:
        mass_matrix: M, shape (n, n), kg m^2, kg m, kg.
        coriolis_vector: c = C* (qd (x) qd), shape (n,), N m or N.
        gravity_vector: g, shape (n,), N m or N.
        jacobian: J of a link's origin, shape (6, n), base axes.
        jacobian_dot_qd: dJ/dt qd = H (qd (x) qd), shape (6,), m/s^2 and rad/s^2, base axes.
    """

    mass_matrix: ScalarArray
    coriolis_vector: ScalarArray
    gravity_vector: ScalarArray
    jacobian: ScalarArray
    jacobian_dot_qd: ScalarArray


def control_step(model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str) -> ControlStep:
    """Return M, c, g, J and dJ/dt qd together; a kernel computes common subexpressions once.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        link: name of the link of J.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    q = number_vector(q, 'q', model.n)
    at_rest = zeros_like(q, (model.n,))
    return ControlStep(
        mass_matrix(model, q),
        coriolis_vector(model, q, qd),
        gravity_vector(model, q),
        jacobian(model, q, link),
        frame_acceleration(model, q, qd, at_rest, link),
    )
