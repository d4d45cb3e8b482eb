# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`Robot`: a model with its compiled quantities, the object a user holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics import dynamics
from kron_dynamics.exceptions import ModelError
from kron_dynamics.flexible import load_flexible_model
from kron_dynamics.frame import RobotFrame
from kron_dynamics.kernels import KernelCollection, KernelReport
from kron_dynamics.kernels.batches import thread_count
from kron_dynamics.kernels.compiled import compiled, prepare
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.model import RobotModel, load_model, read_urdf_file
from kron_dynamics.model.payload import Payload
from kron_dynamics.model.robot_model import STANDARD_GRAVITY
from kron_dynamics.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from kron_dynamics.symbolic import SymbolicRobot


class Robot:
    """A robot with compiled dynamics: ``M qdd + C* (qd (x) qd) + g = tau``.

    Every method takes one state, shape (n,), or a batch, shape (N, n), and puts N in front of the
    result's shape for a batch. Coordinates are in the order of `joint_names`, in rad or m;
    efforts in N m or N. `out` takes a ready array for the result. Wrong shapes raise
    `ShapeError`; NaN in gives NaN out. A kernel is compiled when it is first needed.
    """

    _kernel_prefix = ''

    def __init__(self, model: RobotModel, *, threads: int = 1) -> None:
        """Wrap a model, `threads` sharing a batch; use `load` or `loads`.

        Raises:
            ParameterError: threads is negative.
        """
        self.model = model
        self._kernels = KernelCollection(model, thread_count(threads))
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
        from kron_dynamics.symbolic import SymbolicRobot  # SymPy takes half a second to import

        return SymbolicRobot(self.model)

    def frame(self, link: str) -> RobotFrame:
        """Return a link's frame.

        Raises:
            UnknownFrameError: the robot has no such link.
        """
        if link not in self._frames:
            self.model.frame(link)
            self._frames[link] = RobotFrame(link, self.model, self._kernels)
        return self._frames[link]

    def kernel_report(self) -> list[KernelReport]:
        """Return what has been compiled so far."""
        return self._kernels.reports

    def prepare(self, *links: str) -> None:
        """Compile the dynamics and the kinematics of some links now, all at once.

        No later call waits for the compiler then; the regressor and the linearization alone are
        left for their first use.

        Raises:
            UnknownFrameError: the robot has no such link.
            KernelBuildError: there is a compiler and it failed.
        """
        prepare(self, *(self.frame(link) for link in links))

    @compiled
    def mass_matrix(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return M, (n, n), symmetric positive definite.  [T] eq. (95)."""
        return dynamics.mass_matrix(self.model, q)

    @compiled
    def velocity_free_coriolis_matrix(
        self, q: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the symmetrised C*, (n, n*n): ``C* (qd (x) qd)`` is c.  [T] eq. (100)."""
        return dynamics.velocity_free_coriolis_matrix(self.model, q)

    @compiled
    def mass_matrix_derivative(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return dM/dq, (n, n*n): column j*n + k is d M[:, j]/d q_k."""
        return dynamics.mass_matrix_derivative(self.model, q)

    @compiled
    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the Christoffel C(q, qd), (n, n), for which dM/dt - 2C is skew."""
        return dynamics.coriolis_matrix(self.model, q, qd)

    @compiled
    def coriolis_vector(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return c = C qd, (n,): Coriolis and centrifugal terms."""
        return dynamics.coriolis_vector(self.model, q, qd)

    @compiled
    def gravity_vector(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return g = dV/dq, (n,): the efforts that hold the robot still."""
        return dynamics.gravity_vector(self.model, q)

    @compiled
    def bias_forces(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return c + g, (n,)."""
        return dynamics.bias_forces(self.model, q, qd)

    @compiled
    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return tau = M qdd + c + g, (n,), without joint friction."""
        return dynamics.inverse_dynamics(self.model, q, qd, qdd)

    @compiled
    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return qdd = M^-1 (tau - c - g), (n,), without joint friction."""
        return dynamics.forward_dynamics(self.model, q, qd, tau)

    @compiled(on_demand=True)
    def linearization(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: tuple[FloatArray, ...] | None = None,
    ) -> dynamics.Linearization:
        """Return M_L, D_L, K_L, (n, n) each, and tau_0, (n,), about a motion, without friction.

        ``M_L dqdd + D_L dqd + K_L dq = dtau``, exact.  [K] eqs. (60)-(67).  `out` takes a tuple of
        four arrays (a `Linearization` of an earlier call) and is returned itself.
        """
        return dynamics.linearization(self.model, q, qd, qdd)

    def linearize(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, friction: bool = False
    ) -> LinearizedModel:
        """Return the linear model of small deviations from one motion, (n,) each, no batch.

        With `friction`, `joint_friction` and its slope count too; that of Coulomb friction is
        steep near a standstill.
        """
        motion = [np.array(x, dtype=np.float64) for x in (q, qd, qdd)]
        terms = self.linearization(*motion)
        return LinearizedModel.about(self.model, terms, motion, friction)

    @compiled
    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return T = 1/2 qd^T M qd, (), J.  [T] eq. (93)."""
        energy: FloatArray = dynamics.kinetic_energy(self.model, q, qd)
        return energy

    @compiled
    def potential_energy(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return V, (), J; g is its derivative."""
        energy: FloatArray = dynamics.potential_energy(self.model, q)
        return energy

    @compiled(on_demand=True, in_body_axes=True)
    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return Y, shape (n, 10 b + n): ``tau = Y pi`` with pi of `inertial_parameters`."""
        return dynamics.regressor(self.model, q, qd, qdd)

    def inertial_parameters(self) -> FloatArray:
        """Return pi, shape (10 b + n,): mass, first moment, inertia a body, armatures, SI."""
        return dynamics.inertial_parameters(self.model)

    @compiled
    def joint_friction(self, qd: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the friction efforts, (n,): ``M qdd + c + g + friction = tau``."""
        return dynamics.joint_friction(self.model, qd)


def load(
    path: str | Path,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    joints: Sequence[str] | None = None,
    armature: Mapping[str, float] | None = None,
    flexible: str | Path | Mapping[str, object] | None = None,
    payload: Mapping[str, Payload] | None = None,
    threads: int = 1,
) -> Robot:
    """Return the robot that a URDF file describes.

    Args:
        path: the file.
        gravity: gravity acceleration in the root link's axes, shape (3,), m/s^2.
        joints: order of the coordinates by joint name; None takes the file's, depth first.
        armature: rotor inertia at the joint by joint name, kg m^2 or kg; None takes what the
            transmissions of the URDF give.
        flexible: description of links that bend, a YAML file or what one holds; their modal
            coordinates follow those of the joints.
        payload: point masses by the link that carries them: kg at the link's origin, or (kg,
            place in the link's frame in m).
        threads: threads that share a batch; 0 for all cores.

    Raises:
        ModelError: a file or a description is unusable; the message names what.
        ParameterError: threads is negative.
    """
    text = read_urdf_file(path)
    try:
        return loads(
            text,
            gravity=gravity,
            joints=joints,
            armature=armature,
            flexible=flexible,
            payload=payload,
            threads=threads,
        )
    except ModelError as error:
        raise type(error)(f'{path}: {error}') from None


def loads(
    text: str,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    joints: Sequence[str] | None = None,
    armature: Mapping[str, float] | None = None,
    flexible: str | Path | Mapping[str, object] | None = None,
    payload: Mapping[str, Payload] | None = None,
    threads: int = 1,
) -> Robot:
    """Return the robot that a URDF text describes; see `load`."""
    model = (
        load_model(text, gravity=gravity, joints=joints, armature=armature, payload=payload)
        if flexible is None
        else load_flexible_model(
            text, flexible, gravity=gravity, joints=joints, armature=armature, payload=payload
        )
    )
    return Robot(model, threads=threads)
