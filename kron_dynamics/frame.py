# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`RobotFrame`: a link of a robot with its compiled kinematics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kron_dynamics import dynamics, kinematics
from kron_dynamics.kernels import Kernel, KernelCollection
from kron_dynamics.kernels.collection import Argument
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray


class RobotFrame:
    """A link as a frame: everything about its origin and axes, in base axes.

    Every method takes one state, shape (n,), or a batch, shape (N, n), and puts N in front of the
    result's shape for a batch. `out` takes a ready array for the result. Rows of six are
    translational, then rotational. Wrong shapes raise `ShapeError`.
    """

    def __init__(self, link: str, kernels: KernelCollection) -> None:
        """Refer to a link; use `Robot.frame`."""
        self.name = link
        self._kernels = kernels

    def _kernel(self, function: Callable[..., Any], arguments: Sequence[Argument]) -> Kernel:
        def of_this_link(*values: Any) -> Any:
            return function(*values, self.name)

        return self._kernels.get(f'{self.name}.{function.__name__}', of_this_link, arguments)

    def prepare(self) -> None:
        """Compile every quantity now, so that no later call waits for the compiler."""
        zero = np.zeros(self._kernels.n)
        self.pose(zero)
        self.jacobian(zero)
        self.kinematic_hessian(zero)
        self.jacobian_dot(zero, zero)
        self.velocity(zero, zero)
        self.acceleration(zero, zero, zero)
        self.jerk(zero, zero, zero, zero)

    def pose(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the homogeneous pose in the base frame, (4, 4); position in m."""
        return self._kernel(kinematics.forward_kinematics, ('q',))(q, out=out)

    def jacobian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the Jacobian J, (6, n): ``[v; omega] = J qd``.  [T] eqs. (29), (37)."""
        return self._kernel(kinematics.jacobian, ('q',))(q, out=out)

    def kinematic_hessian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return H = dJ/dq, (6, n*n), column i*n + j is d J[:, i]/d q_j.  [T] (51), (60)."""
        return self._kernel(kinematics.kinematic_hessian, ('q',))(q, out=out)

    def jacobian_dot(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return dJ/dt, (6, n).  [T] eq. (8)."""
        return self._kernel(kinematics.jacobian_dot, ('q', 'qd'))(q, qd, out=out)

    def velocity(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return [v; omega], (6,), m/s and rad/s.  [T] eqs. (30), (38)."""
        return self._kernel(kinematics.frame_velocity, ('q', 'qd'))(q, qd, out=out)

    def acceleration(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return [a; alpha], (6,), m/s^2 and rad/s^2, without gravity.  [T] eqs. (52), (62)."""
        kernel = self._kernel(kinematics.frame_acceleration, ('q', 'qd', 'qdd'))
        return kernel(q, qd, qdd, out=out)

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
        kernel = self._kernel(kinematics.frame_jerk, ('q', 'qd', 'qdd', 'qddd'))
        return kernel(q, qd, qdd, qddd, out=out)

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

        def in_base_axes(model: RobotModel, q: Any, force: Any, moment: Any) -> Any:
            return dynamics.external_wrench(
                model, q, self.name, force, moment, axes=model.root_link
            )

        name = f'{self.name}.external_wrench'
        kernel = self._kernels.get(name, in_base_axes, ('q', ('force', 3), ('moment', 3)))
        return kernel(q, force, moment, out=out)
