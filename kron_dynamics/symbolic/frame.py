# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`SymbolicFrame` and `SymbolicRelativeFrame`: the kinematics of a link in closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kron_dynamics import dynamics, kinematics
from kron_dynamics.frame import relative_place
from kron_dynamics.symbolic.exact import exact_array
from kron_dynamics.symbolic.matrix import SymbolicMatrix
from kron_dynamics.typing import ArrayLike

if TYPE_CHECKING:
    from kron_dynamics.symbolic.robot import SymbolicRobot


class SymbolicFrame:
    """Kinematics of a link frame in closed form, with the methods of `RobotFrame`.

    Quantities are for the link's origin, in base axes. Six rows are three translational ones
    followed by three rotational ones; vectors are columns. SI units.
    """

    def __init__(self, robot: SymbolicRobot, link: str) -> None:
        """Refer to a link; use `SymbolicRobot.frame`."""
        self.name = link
        self._robot = robot

    def relative_to(
        self, reference: str, *, axes: str | None = None, point: ArrayLike | None = None
    ) -> SymbolicRelativeFrame:
        """Return the motion relative to another link; see `RobotFrame.relative_to`."""
        place = relative_place(self._robot.floats, self.name, reference, axes, point)
        return SymbolicRelativeFrame(self._robot, self.name, *place)

    def _evaluate(self, function: Callable[..., Any], *arguments: Any) -> SymbolicMatrix:
        result: SymbolicMatrix = self._robot.evaluate(function, *arguments, self.name)
        return result

    def pose(self) -> SymbolicMatrix:
        """Return the pose in the base frame, a homogeneous matrix of shape (4, 4), m."""
        return self._evaluate(kinematics.forward_kinematics, self._robot.q)

    def jacobian(self) -> SymbolicMatrix:
        """Return the Jacobian J, shape (6, n): ``[v; omega] = J qd``.  [T] eqs. (29), (37)."""
        return self._evaluate(kinematics.jacobian, self._robot.q)

    def kinematic_hessian(self) -> SymbolicMatrix:
        """Return H = dJ/dq, shape (6, n*n): column i*n + j is d J[:, i]/d q_j.  [T] (51), (60)."""
        return self._evaluate(kinematics.kinematic_hessian, self._robot.q)

    def jacobian_dot(self) -> SymbolicMatrix:
        """Return dJ/dt, shape (6, n).  [T] eq. (8)."""
        return self._evaluate(kinematics.jacobian_dot, self._robot.q, self._robot.qd)

    def velocity(self) -> SymbolicMatrix:
        """Return [v; omega], shape (6, 1), m/s and rad/s.  [T] eqs. (30), (38)."""
        return self._evaluate(kinematics.frame_velocity, self._robot.q, self._robot.qd)

    def acceleration(self) -> SymbolicMatrix:
        """Return [a; alpha], shape (6, 1), m/s^2 and rad/s^2, without gravity.  [T] (52), (62)."""
        robot = self._robot
        return self._evaluate(kinematics.frame_acceleration, robot.q, robot.qd, robot.qdd)

    def jerk(self) -> SymbolicMatrix:
        """Return the time derivative of `acceleration`, shape (6, 1), m/s^3 and rad/s^3."""
        robot = self._robot
        return self._evaluate(kinematics.frame_jerk, robot.q, robot.qd, robot.qdd, robot.qddd)

    def external_wrench(self) -> SymbolicMatrix:
        """Return f = J_T^T force + J_R^T moment, shape (n, 1): ``M qdd + c + g = tau + f``.

        `SymbolicRobot.force` acts at the link's origin, N; it and `SymbolicRobot.moment`, N m, are
        in base axes.
        """
        robot = self._robot
        result: SymbolicMatrix = robot.evaluate(
            dynamics.external_wrench,
            robot.q,
            self.name,
            robot.force,
            robot.moment,
            None,
            robot.model.root_link,
        )
        return result


class SymbolicRelativeFrame:
    """Relative kinematics of a link's point in closed form, with the methods of `RelativeFrame`.

    Six rows are three translational ones followed by three rotational ones; vectors are columns.
    SI units.
    """

    def __init__(
        self,
        robot: SymbolicRobot,
        link: str,
        reference: str,
        axes: str,
        point: tuple[float, float, float],
    ) -> None:
        """Refer to a link; use `SymbolicFrame.relative_to`."""
        self.name, self.reference, self.axes, self.point = link, reference, axes, point
        self._robot = robot

    def _evaluate(self, function: Callable[..., Any], *arguments: Any) -> SymbolicMatrix:
        point = exact_array(self.point) if any(self.point) else None
        place = self.name, self.reference, self.axes, point
        result: SymbolicMatrix = self._robot.evaluate(function, *arguments, *place)
        return result

    def pose(self) -> SymbolicMatrix:
        """Return the pose of the link's axes at the point, in the reference, (4, 4), m."""
        return self._evaluate(kinematics.relative_pose, self._robot.q)

    def jacobian(self) -> SymbolicMatrix:
        """Return J, shape (6, n): ``[v; omega] = J qd``.  [T] (74)-(82)."""
        return self._evaluate(kinematics.relative_jacobian, self._robot.q)

    def kinematic_hessian(self) -> SymbolicMatrix:
        """Return H, shape (6, n*n): ``[a; alpha] = J qdd + H (qd (x) qd)``.  [T] (86)-(91)."""
        return self._evaluate(kinematics.relative_hessian, self._robot.q)

    def jacobian_derivative(self) -> SymbolicMatrix:
        """Return d(`jacobian`)/dq, shape (6, n*n), Khang's layout.  [T] (53)-(57), (61)."""
        return self._evaluate(kinematics.relative_jacobian_derivative, self._robot.q)

    def jacobian_dot(self) -> SymbolicMatrix:
        """Return d(`jacobian`)/dt, shape (6, n).  [T] eq. (8)."""
        return self._evaluate(kinematics.relative_jacobian_dot, self._robot.q, self._robot.qd)

    def velocity(self) -> SymbolicMatrix:
        """Return [v; omega], shape (6, 1), m/s and rad/s.  [T] (74)-(76)."""
        return self._evaluate(kinematics.relative_velocity, self._robot.q, self._robot.qd)

    def acceleration(self) -> SymbolicMatrix:
        """Return [a; alpha], shape (6, 1), m/s^2 and rad/s^2.  [T] (83)-(85)."""
        robot = self._robot
        return self._evaluate(kinematics.relative_acceleration, robot.q, robot.qd, robot.qdd)

    def jerk(self) -> SymbolicMatrix:
        """Return the time derivative of `acceleration` in the reference frame, shape (6, 1)."""
        robot = self._robot
        return self._evaluate(kinematics.relative_jerk, robot.q, robot.qd, robot.qdd, robot.qddd)
