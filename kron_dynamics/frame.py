# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`RobotFrame`, `RelativeFrame`: a link of a robot with its compiled kinematics."""

from __future__ import annotations

from typing import Any

from kron_dynamics import dynamics, kinematics
from kron_dynamics.arguments import finite_array, instance
from kron_dynamics.exceptions import ShapeError
from kron_dynamics.kernels import KernelCollection
from kron_dynamics.kernels.compiled import compiled, prepare, state_without_kernels
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray


class RobotFrame:
    """A link as a frame: everything about its origin and axes, in base axes.

    Every method takes one state, shape (n,), or a batch, shape (N, n), and puts N in front of the
    result's shape for a batch. `out` takes a ready array for the result. Rows of six are
    translational, then rotational. Wrong shapes raise `ShapeError`, what is no real number
    `ArgumentTypeError`. A pickle or a copy holds the model and no kernels: they come back from the
    cache.
    """

    def __init__(self, link: str, model: RobotModel, kernels: KernelCollection) -> None:
        """Refer to a link; use `Robot.frame`."""
        self.name = link
        self.model = model
        self._kernels = kernels
        self._kernel_prefix = f'{link}.'

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the kernels."""
        return state_without_kernels(self)

    def prepare(self) -> None:
        """Compile every quantity now, so that no later call waits for the compiler."""
        prepare(self)

    def relative_to(
        self, reference: str, *, axes: str | None = None, point: ArrayLike | None = None
    ) -> RelativeFrame:
        """Return this link's motion as seen from another, in the axes of a third.

        Seen from the root, with a point: the absolute motion of a point that is fixed on the link.

        Args:
            reference: name of the link that the observer is on.
            axes: link whose axes all components are in; None for the reference's.
            point: of this link, in its frame, shape (3,), m; None for its origin.

        Raises:
            ArgumentTypeError: a name is no text, or the point holds no real numbers.
            UnknownFrameError: the robot has no such link.
            ShapeError: the point has another shape.
            NonFiniteError: the point holds a NaN or an infinity.
        """
        place = relative_place(self.model, reference, axes, point)
        return RelativeFrame(self.name, *place, self.model, self._kernels)

    @compiled
    def pose(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the homogeneous pose in the base frame, (4, 4); position in m."""
        return kinematics.forward_kinematics(self.model, q, self.name)

    @compiled
    def jacobian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the Jacobian J, (6, n): ``[v; omega] = J qd``.  [T] eqs. (29), (37)."""
        return kinematics.jacobian(self.model, q, self.name)

    @compiled
    def kinematic_hessian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return H = dJ/dq, (6, n*n), column i*n + j is d J[:, i]/d q_j.  [T] (51), (60)."""
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
        """Return [v; omega], (6,), m/s and rad/s.  [T] eqs. (30), (38)."""
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

        What a controller in the space of this link needs in every cycle. `out` takes a tuple of
        five arrays (a `ControlStep` of an earlier call) and is returned itself.
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

        The force (3,), N, acts at the link's origin; it and the moment (3,), N m, are in base
        axes.
        """
        model = self.model
        return dynamics.external_wrench(model, q, self.name, force, moment, axes=model.root_link)


def relative_place(
    model: RobotModel, reference: str, axes: str | None, point: ArrayLike | None
) -> tuple[str, str, tuple[float, float, float]]:
    """Return the arguments of `RobotFrame.relative_to`, checked, in full.

    Raises:
        ArgumentTypeError: a name is no text, or the point holds no real numbers.
        UnknownFrameError: the robot has no such link.
        ShapeError: the point has another shape.
        NonFiniteError: the point holds a NaN or an infinity.
    """
    axes = reference if axes is None else axes
    for name, link in (('reference', reference), ('axes', axes)):
        instance(link, str, name, 'the name of a link')
        model.frame(link)
    place = finite_array((0.0, 0.0, 0.0) if point is None else point, 'point')
    if place.shape != (3,):
        raise ShapeError(f'point has shape {place.shape}, expected (3,)')
    x, y, z = place.tolist()
    return reference, axes, (x, y, z)


class RelativeFrame:
    """A point of a link as an observer on another link sees it, in the axes of a third.

    [T] (71)-(91). Methods, shapes and errors are those of `RobotFrame`; `velocity`, `acceleration`
    and `jerk` are the derivatives that the observer takes, so that joints which carry both links
    do not count.

    Attributes:
        name: the link.
        reference: the link that the observer is on.
        axes: the link whose axes all components are in.
        point: of the link, in its frame, m.
        model: the robot.
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
        """Refer to a link; use `RobotFrame.relative_to`."""
        self.name = link
        self.reference = reference
        self.axes = axes
        self.point = point
        self.model = model
        self._kernels = kernels
        # Equal names must mean equal functions, whatever the links are called.
        self._kernel_prefix = f'{link!r} seen from {reference!r} in {axes!r} at {point!r}.'

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the kernels."""
        return state_without_kernels(self)

    def prepare(self) -> None:
        """Compile every quantity now, so that no later call waits for the compiler."""
        prepare(self)

    @property
    def _place(self) -> tuple[str, str, str, tuple[float, float, float] | None]:
        # None rather than zeros: nothing to add is less to compute.
        return self.name, self.reference, self.axes, self.point if any(self.point) else None

    @compiled(has_loops=False)
    def pose(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the link's axes and the point's place seen from the reference, (4, 4), m."""
        return kinematics.relative_pose(self.model, q, *self._place)

    @compiled(has_loops=False)
    def jacobian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return J, (6, n): ``[v; omega] = J qd``.  [T] (74)-(82)."""
        return kinematics.relative_jacobian(self.model, q, *self._place)

    @compiled(has_loops=False)
    def kinematic_hessian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return H, (6, n*n): ``[a; alpha] = J qdd + H (qd (x) qd)``.  [T] (86)-(91).

        dJ/dq in the axes of the reference, turned into those of `axes`; where these turn as seen
        from the reference it is not the derivative of `jacobian` ([T] eq. (56)): that is
        `jacobian_derivative`.
        """
        return kinematics.relative_hessian(self.model, q, *self._place)

    @compiled(has_loops=False)
    def jacobian_derivative(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return d(`jacobian`)/dq, (6, n*n), Khang's layout.  [T] (53)-(57), (61)."""
        return kinematics.relative_jacobian_derivative(self.model, q, *self._place)

    @compiled(has_loops=False)
    def velocity(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return [v; omega], (6,), m/s and rad/s.  [T] (74)-(76)."""
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
        """Return the derivative that the observer takes of `acceleration`, (6,)."""
        return kinematics.relative_jerk(self.model, q, qd, qdd, qddd, *self._place)
