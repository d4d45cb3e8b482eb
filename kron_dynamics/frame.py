# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`RobotFrame` and `RelativeFrame`: the compiled kinematics of a link."""

from __future__ import annotations

from typing import Any

from kron_dynamics import dynamics, kinematics
from kron_dynamics.arguments import finite_array, instance
from kron_dynamics.exceptions import ModelError, ShapeError
from kron_dynamics.kernels import KernelCollection
from kron_dynamics.kernels.compiled import compiled, prepare, state_without_kernels
from kron_dynamics.messages import named
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray


class RobotFrame:
    """Kinematics of a link frame relative to the base, with components in base axes.

    `Robot.frame` makes it. The base axes are those of the root link. Quantities with six rows
    have three translational rows, for the link's origin, followed by three rotational ones.

    As for `Robot`, each quantity is a method that takes one state, arrays of shape (n,), or a
    batch of N states, shape (N, n), which puts N in front of the result's shape. `out` is an
    array to write the result to. A wrong shape raises `ShapeError`, values that are no real
    numbers raise `ArgumentTypeError`. A pickle or copy contains the model without kernels, which
    are reloaded from the cache.

    Attributes:
        name: name of the link.
        model: the robot's model.
    """

    def __init__(self, link: str, model: RobotModel, kernels: KernelCollection) -> None:
        """Refer to a link; use `Robot.frame` instead."""
        self.name = link
        self.model = model
        self._kernels = kernels
        self._kernel_prefix = f'{link}.'

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the kernels."""
        return state_without_kernels(self)

    def prepare(self) -> None:
        """Compile every quantity now; code for batches is compiled by the first batch."""
        prepare(self)

    def relative_to(
        self, reference: str, *, axes: str | None = None, point: ArrayLike | None = None
    ) -> RelativeFrame:
        """Return the motion of this link, or of a point on it, relative to another link.

        With the root link as reference, it is the absolute motion of the point.

        Args:
            reference: name of the link relative to which the motion is measured.
            axes: name of the link in whose axes all components are given; None for the
                reference's.
            point: point fixed on this link, in the link's frame, shape (3,), m; None for the
                link's origin.

        Raises:
            ArgumentTypeError: a name is not a string, or the point holds no real numbers.
            UnknownFrameError: the robot has no such link.
            ShapeError: the point has another shape.
            NonFiniteError: the point holds a NaN or an infinity.
            ModelError: the point is on the beam of a flexible link; a link attached there moves
                with it.
        """
        place = relative_place(self.model, self.name, reference, axes, point)
        return RelativeFrame(self.name, *place, self.model, self._kernels)

    @compiled
    def pose(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the pose in the base frame as a homogeneous matrix, (4, 4); position in m."""
        return kinematics.forward_kinematics(self.model, q, self.name)

    @compiled
    def jacobian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the Jacobian J, (6, n): ``[v; omega] = J qd``.  [T] eqs. (29), (37)."""
        return kinematics.jacobian(self.model, q, self.name)

    @compiled
    def kinematic_hessian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return H = dJ/dq, (6, n*n): column i*n + j is d J[:, i]/d q_j.  [T] (51), (60)."""
        return kinematics.kinematic_hessian(self.model, q, self.name)

    @compiled
    def jacobian_dot(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return dJ/dt, (6, n).  [T] eq. (8)."""
        return kinematics.jacobian_dot(self.model, q, qd, self.name)

    @compiled
    def velocity(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the velocity [v; omega], (6,), m/s and rad/s.  [T] eqs. (30), (38)."""
        return kinematics.frame_velocity(self.model, q, qd, self.name)

    @compiled
    def acceleration(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return [a; alpha], (6,), m/s^2 and rad/s^2, without gravity.  [T] eqs. (52), (62)."""
        return kinematics.frame_acceleration(self.model, q, qd, qdd, self.name)

    @compiled
    def jerk(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        qddd: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the time derivative of `acceleration`, (6,), m/s^3 and rad/s^3."""
        return kinematics.frame_jerk(self.model, q, qd, qdd, qddd, self.name)

    @compiled(has_inertia=True)
    def control_step(
        self, q: ArrayLike, qd: ArrayLike, *, out: tuple[FloatArray, ...] | None = None
    ) -> dynamics.ControlStep:
        """Return M, c, g, J and dJ/dt qd, shapes (n, n), (n,), (n,), (6, n), (6,), in one call.

        A task-space controller of this link needs these in every cycle. `out` is a tuple of five
        arrays, such as the `ControlStep` of an earlier call, and is returned itself.
        """
        return dynamics.control_step(self.model, q, qd, self.name)

    @compiled(force=3, moment=3)
    def external_wrench(
        self,
        q: ArrayLike,
        force: ArrayLike,
        moment: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return f = J_T^T force + J_R^T moment, (n,), N m or N: ``M qdd + c + g = tau + f``.

        J_T and J_R are the translational and rotational rows of the Jacobian.

        Args:
            q: coordinates, shape (n,).
            force: force on the link, at its origin, shape (3,), base axes, N.
            moment: moment on the link, shape (3,), base axes, N m.
            out: array for the result, shape (n,).
        """
        model = self.model
        return dynamics.external_wrench(model, q, self.name, force, moment, axes=model.root_link)


def relative_place(
    model: RobotModel, link: str, reference: str, axes: str | None, point: ArrayLike | None
) -> tuple[str, str, tuple[float, float, float]]:
    """Return the arguments of `RobotFrame.relative_to`, checked and with defaults filled in.

    Raises:
        ArgumentTypeError: a name is not a string, or the point holds no real numbers.
        UnknownFrameError: the robot has no such link.
        ShapeError: the point has another shape.
        NonFiniteError: the point holds a NaN or an infinity.
        ModelError: the link bends there.
    """
    axes = reference if axes is None else axes
    for name, seen in (('reference', reference), ('axes', axes)):
        instance(seen, str, name, 'the name of a link')
        model.frame(seen)
    place = finite_array((0.0, 0.0, 0.0) if point is None else point, 'point')
    if place.shape != (3,):
        raise ShapeError(f'point has shape {place.shape}, expected (3,)')
    if place.any() and model.bends_at(link, place):
        raise ModelError(
            f'{named("link", link)} bends at the point {place.tolist()}, expected a link that is '
            f'fixed to it there'
        )
    x, y, z = place.tolist()
    return reference, axes, (x, y, z)


class RelativeFrame:
    """Kinematics of a point of a link relative to a reference link, in the axes of a third link.

    [T] (71)-(91). `RobotFrame.relative_to` makes it. Methods have the shapes and errors of those
    of `RobotFrame`; there is no `control_step` or `external_wrench` here.
    `velocity`, `acceleration` and `jerk` are time derivatives in the reference frame, so joints
    that move both links alike do not contribute.

    Attributes:
        name: the link.
        reference: the link relative to which the motion is measured.
        axes: the link in whose axes all components are given.
        point: the point, in the link's frame, m.
        model: the robot's model.
    """

    def __init__(
        self,
        link: str,
        reference: str,
        axes: str,
        point: tuple[float, float, float],
        model: RobotModel,
        kernels: KernelCollection,
    ) -> None:
        """Refer to a link; use `RobotFrame.relative_to` instead."""
        self.name = link
        self.reference = reference
        self.axes = axes
        self.point = point
        self.model = model
        self._kernels = kernels
        # Kernels are identified by name, so the name has to be unique for any link names.
        self._kernel_prefix = f'{link!r} seen from {reference!r} in {axes!r} at {point!r}.'

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the kernels."""
        return state_without_kernels(self)

    def prepare(self) -> None:
        """Compile every quantity now; code for batches is compiled by the first batch."""
        prepare(self)

    @property
    def _place(self) -> tuple[str, str, str, tuple[float, float, float] | None]:
        # None instead of zeros: the kernel then leaves out the terms of the point.
        return self.name, self.reference, self.axes, self.point if any(self.point) else None

    @compiled(has_loops=False)
    def pose(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the pose of the link's axes at the point, in the reference, (4, 4), m."""
        return kinematics.relative_pose(self.model, q, *self._place)

    @compiled(has_loops=False)
    def jacobian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return J, (6, n): ``[v; omega] = J qd``.  [T] (74)-(82)."""
        return kinematics.relative_jacobian(self.model, q, *self._place)

    @compiled(has_loops=False)
    def kinematic_hessian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return H, (6, n*n): ``[a; alpha] = J qdd + H (qd (x) qd)``.  [T] (86)-(91).

        H is dJ/dq taken in the axes of the reference, then rotated into those of `axes`. If
        `axes` rotates relative to the reference, this differs from the derivative of `jacobian`
        ([T] eq. (56)), which is `jacobian_derivative`.
        """
        return kinematics.relative_hessian(self.model, q, *self._place)

    @compiled(has_loops=False)
    def jacobian_derivative(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return d(`jacobian`)/dq, (6, n*n), Khang's layout.  [T] (53)-(57), (61)."""
        return kinematics.relative_jacobian_derivative(self.model, q, *self._place)

    @compiled(has_loops=False)
    def jacobian_dot(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return d(`jacobian`)/dt, (6, n).  [T] eq. (8)."""
        return kinematics.relative_jacobian_dot(self.model, q, qd, *self._place)

    @compiled(has_loops=False)
    def velocity(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the velocity [v; omega], (6,), m/s and rad/s.  [T] (74)-(76)."""
        return kinematics.relative_velocity(self.model, q, qd, *self._place)

    @compiled(has_loops=False)
    def acceleration(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return [a; alpha], (6,), m/s^2 and rad/s^2.  [T] (83)-(85)."""
        return kinematics.relative_acceleration(self.model, q, qd, qdd, *self._place)

    @compiled(has_loops=False)
    def jerk(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        qddd: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return the time derivative of `acceleration` in the reference frame, (6,)."""
        return kinematics.relative_jerk(self.model, q, qd, qdd, qddd, *self._place)
