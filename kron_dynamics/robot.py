# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`Robot`: a model with its compiled quantities, the object a user holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kron_dynamics import dynamics
from kron_dynamics.exceptions import ModelError, ShapeError
from kron_dynamics.frame import RobotFrame
from kron_dynamics.kernels import Kernel, KernelCollection, KernelReport
from kron_dynamics.model import RobotModel, load_model, read_urdf_file
from kron_dynamics.model.robot_model import STANDARD_GRAVITY
from kron_dynamics.symbolic import SymbolicRobot
from kron_dynamics.typing import ArrayLike, FloatArray

_ARGUMENTS: dict[Callable[..., Any], tuple[str, ...]] = {
    dynamics.mass_matrix: ('q',),
    dynamics.mass_matrix_derivative: ('q',),
    dynamics.velocity_free_coriolis_matrix: ('q',),
    dynamics.coriolis_matrix: ('q', 'qd'),
    dynamics.coriolis_vector: ('q', 'qd'),
    dynamics.gravity_vector: ('q',),
    dynamics.bias_forces: ('q', 'qd'),
    dynamics.inverse_dynamics: ('q', 'qd', 'qdd'),
    dynamics.forward_dynamics: ('q', 'qd', 'tau'),
    dynamics.kinetic_energy: ('q', 'qd'),
    dynamics.potential_energy: ('q',),
}


class Robot:
    """A robot with compiled dynamics: ``M qdd + C* (qd (x) qd) + g = tau``.

    Every method takes one state, shape (n,), or a batch, shape (N, n), and puts N in front of the
    result's shape for a batch. Coordinates are in the order of `joint_names`, in rad or m;
    efforts in N m or N. `out` takes a ready array for the result. Wrong shapes raise
    `ShapeError`; NaN in gives NaN out. A kernel is compiled when it is first needed.
    """

    def __init__(self, model: RobotModel) -> None:
        """Wrap a model; use `load` or `loads`."""
        self.model = model
        self._kernels = KernelCollection(model)
        self._frames: dict[str, RobotFrame] = {}

    @property
    def n(self) -> int:
        """Number of generalized coordinates."""
        return self.model.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent joints: the order of the coordinates."""
        return self.model.joint_names

    @cached_property
    def symbolic(self) -> SymbolicRobot:
        """The same quantities in closed form, as SymPy matrices."""
        return SymbolicRobot(self.model)

    def frame(self, link: str) -> RobotFrame:
        """Return a link's frame.

        Raises:
            UnknownFrameError: the robot has no such link.
        """
        if link not in self._frames:
            self.model.frame(link)
            self._frames[link] = RobotFrame(link, self._kernels)
        return self._frames[link]

    def kernel_report(self) -> list[KernelReport]:
        """Return what has been compiled so far."""
        return self._kernels.reports

    def prepare(self) -> None:
        """Compile every dynamics quantity now, so that no later call waits for the compiler."""
        for function in _ARGUMENTS:
            self._kernel(function)

    def _kernel(self, function: Callable[..., Any]) -> Kernel:
        return self._kernels.get(function.__name__, function, _ARGUMENTS[function])

    def mass_matrix(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return M, (n, n), symmetric positive definite.  [T] eq. (95)."""
        return self._kernel(dynamics.mass_matrix)(q, out=out)

    def mass_matrix_derivative(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return dM/dq, (n, n*n): column j*n + k is d M[:, j]/d q_k."""
        return self._kernel(dynamics.mass_matrix_derivative)(q, out=out)

    def velocity_free_coriolis_matrix(
        self, q: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the symmetrised C*, (n, n*n): ``C* (qd (x) qd)`` is c.  [T] eq. (100)."""
        return self._kernel(dynamics.velocity_free_coriolis_matrix)(q, out=out)

    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the Christoffel C(q, qd), (n, n), for which dM/dt - 2C is skew."""
        return self._kernel(dynamics.coriolis_matrix)(q, qd, out=out)

    def coriolis_vector(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return c = C qd, (n,): Coriolis and centrifugal terms."""
        return self._kernel(dynamics.coriolis_vector)(q, qd, out=out)

    def gravity_vector(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return g = dV/dq, (n,): the efforts that hold the robot still."""
        return self._kernel(dynamics.gravity_vector)(q, out=out)

    def bias_forces(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return c + g, (n,)."""
        return self._kernel(dynamics.bias_forces)(q, qd, out=out)

    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return tau = M qdd + c + g, (n,), without joint friction."""
        return self._kernel(dynamics.inverse_dynamics)(q, qd, qdd, out=out)

    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return qdd = M^-1 (tau - c - g), (n,), without joint friction."""
        return self._kernel(dynamics.forward_dynamics)(q, qd, tau, out=out)

    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return T = 1/2 qd^T M qd, (), J.  [T] eq. (94)."""
        return self._kernel(dynamics.kinetic_energy)(q, qd, out=out)

    def potential_energy(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return V, (), J; g is its derivative."""
        return self._kernel(dynamics.potential_energy)(q, out=out)

    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return Y, shape (n, 10 b + n): ``tau = Y pi`` with pi of `inertial_parameters`."""
        kernel = self._kernels.get('regressor', dynamics.regressor, ('q', 'qd', 'qdd'))
        return kernel(q, qd, qdd, out=out)

    def inertial_parameters(self) -> FloatArray:
        """Return pi, shape (10 b + n,): mass, first moment, inertia a body, armatures, SI."""
        return dynamics.inertial_parameters(self.model)

    def joint_friction(self, qd: ArrayLike) -> FloatArray:
        """Return the friction efforts, (n,): ``M qdd + c + g + friction = tau``."""
        rates = np.asarray(qd, dtype=np.float64)
        if rates.ndim not in (1, 2) or rates.shape[-1] != self.n:
            raise ShapeError(
                f'qd of joint_friction has shape {rates.shape}, expected ({self.n},) or '
                f'(N, {self.n})'
            )
        return dynamics.joint_friction(self.model, rates)


def load(
    path: str | Path,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    joints: Sequence[str] | None = None,
    armature: Mapping[str, float] | None = None,
) -> Robot:
    """Return the robot that a URDF file describes.

    Args:
        path: the file.
        gravity: gravity acceleration in the root link's axes, shape (3,), m/s^2.
        joints: order of the coordinates by joint name; None takes the file's, depth first.
        armature: rotor inertia at the joint by joint name, kg m^2 or kg; None takes what the
            transmissions of the URDF give.

    Raises:
        ModelError: the file or the description is unusable; the message names what.
    """
    text = read_urdf_file(path)
    try:
        return loads(text, gravity=gravity, joints=joints, armature=armature)
    except ModelError as error:
        raise type(error)(f'{path}: {error}') from None


def loads(
    text: str,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    joints: Sequence[str] | None = None,
    armature: Mapping[str, float] | None = None,
) -> Robot:
    """Return the robot that a URDF text describes; see `load`."""
    return Robot(load_model(text, gravity=gravity, joints=joints, armature=armature))
