# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`RobotFrame`: a link of a robot with its compiled kinematics."""

from __future__ import annotations

from typing import Any

from kron_dynamics import dynamics, kinematics
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

    @compiled
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
