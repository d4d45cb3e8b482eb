# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`Robot`: a robot model with its compiled kinematics and dynamics."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from kron_dynamics import dynamics, kinematics
from kron_dynamics.arguments import instance, real_array
from kron_dynamics.dynamics.forward import singular_mass
from kron_dynamics.exceptions import (
    ShapeError,
)
from kron_dynamics.frame import RobotFrame
from kron_dynamics.kernels import KernelCollection, KernelReport
from kron_dynamics.kernels.batches import thread_count
from kron_dynamics.kernels.compiled import compiled, prepare, state_without_kernels
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from kron_dynamics.flexible import DeflectionCheck, FlexibleModel
    from kron_dynamics.linearized import LinearizedModel
    from kron_dynamics.symbolic import SymbolicRobot


class Robot:
    """A robot with compiled dynamics: ``M qdd + C* (qd (x) qd) + g = tau``.

    `load` and `loads` make it from a URDF; `frame` gives the kinematics of a link. M is the mass
    matrix, C* the velocity-free Coriolis matrix, (x) the Kronecker product, and g the gravity
    vector. The n generalized coordinates q are in the order of `joint_names`, in rad or m; efforts
    tau are in N m or N; everything is in SI units.

    Each quantity is a method that takes one state, arrays of shape (n,), or a batch of N states,
    shape (N, n). The docstrings give the result's shape for one state; a batch puts N in front
    of it. `out` is an array to write the result to, instead of allocating one. A wrong shape
    raises `ShapeError`, values that are no real numbers raise `ArgumentTypeError`. NaN propagates
    to all results that depend on it, and to no others: check q itself with `numpy.isfinite`.

    A method is compiled to a C kernel at its first use, which is cached on disk; `prepare`
    compiles in advance. A pickle or copy contains the model without kernels, which are reloaded
    from the cache.

    Attributes:
        model: the robot's model: joints, bodies, limits and warnings.
    """

    _kernel_prefix = ''

    def __init__(self, model: RobotModel, *, threads: int = 1) -> None:
        """Wrap a model; `load` and `loads` do this for a URDF.

        Args:
            model: the robot model.
            threads: number of threads that share a batch; 0 for all cores.

        Raises:
            ArgumentTypeError: model is not a `RobotModel`, or threads not a whole number.
            ParameterError: threads is negative.
        """
        instance(model, RobotModel, 'model', 'a RobotModel; load and loads make robots of URDFs')
        self.model = model
        self._threads = thread_count(threads)
        self._kernels = KernelCollection(model, self._threads)
        self._frames: dict[str, RobotFrame] = {}
        self._deflections: DeflectionCheck | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out kernels and closed forms, which are rebuilt on demand."""
        state = state_without_kernels(self)
        state.pop('symbolic', None)
        return state

    @property
    def n(self) -> int:
        """Number of generalized coordinates."""
        return self.model.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent joints, in the order of the coordinates."""
        return self.model.joint_names

    @cached_property
    def symbolic(self) -> SymbolicRobot:
        """The same quantities in closed form, as SymPy matrices."""
        from kron_dynamics.symbolic import SymbolicRobot  # importing SymPy takes half a second

        return SymbolicRobot(self.model)

    def frame(self, link: str) -> RobotFrame:
        """Return a link's frame; `RobotFrame.relative_to` has it relative to another link.

        Args:
            link: name of the link in the URDF.

        Raises:
            ArgumentTypeError: link is not a string.
            UnknownFrameError: the robot has no such link.
        """
        instance(link, str, 'link', 'the name of a link')
        if link not in self._frames:
            self.model.frame(link)
            self._frames[link] = RobotFrame(link, self.model, self._kernels)
        return self._frames[link]

    @cached_property
    def rigid(self) -> Robot:
        """The same robot with its flexible links made rigid; itself if it has none."""
        if not self.model.is_flexible:
            return self
        return Robot(cast('FlexibleModel', self.model).rigid, threads=self._threads)

    @cached_property
    def singular_mass(self) -> str | None:
        """Why M is singular in every pose, as a sentence; None if M is invertible.

        Forward dynamics and modes do not exist while M is singular.
        """
        return singular_mass(self.model)

    def kernel_report(self) -> list[KernelReport]:
        """Return a report on each kernel compiled so far."""
        return self._kernels.reports

    def prepare(self, *links: str, batches: bool = False) -> None:
        """Compile the dynamics, and the kinematics of some links, in one go.

        Later calls of these do not wait for the compiler. Seldom used quantities (regressor,
        linearization, rates of efforts, jerk, acceleration energies, tree coordinates) are still
        compiled at their first use. The code for batches, which takes as long again, is compiled
        by the first batch of 16 states or more, or here.

        Args:
            links: names of links whose kinematics to compile.
            batches: whether to compile the code for batches, too.

        Raises:
            UnknownFrameError: the robot has no such link.
            KernelBuildError: there is a compiler and it failed.
        """
        prepare(self, *(self.frame(link) for link in links), batches=batches)

    @compiled(has_inertia=True)
    def mass_matrix(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the mass matrix M, (n, n), symmetric positive definite.  [T] eq. (95)."""
        return dynamics.mass_matrix(self.model, q)

    @compiled(has_inertia=True)
    def velocity_free_coriolis_matrix(
        self, q: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the symmetrised C*, (n, n*n), with ``c = C* (qd (x) qd)``.  [T] eq. (100)."""
        return dynamics.velocity_free_coriolis_matrix(self.model, q)

    @compiled(has_inertia=True)
    def mass_matrix_derivative(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return dM/dq, (n, n*n): column j*n + k is d M[:, j]/d q_k."""
        return dynamics.mass_matrix_derivative(self.model, q)

    @compiled(has_inertia=True)
    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return C(q, qd), (n, n), of Christoffel symbols: dM/dt - 2C is skew-symmetric."""
        return dynamics.coriolis_matrix(self.model, q, qd)

    @compiled(has_inertia=True)
    def coriolis_vector(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return c = C qd, (n,): Coriolis and centrifugal efforts."""
        return dynamics.coriolis_vector(self.model, q, qd)

    @compiled(has_inertia=True)
    def gravity_vector(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return g = dV/dq, (n,): the efforts that hold the robot at rest."""
        return dynamics.gravity_vector(self.model, q)

    @compiled(has_inertia=True)
    def bias_forces(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the bias efforts c + g, (n,)."""
        return dynamics.bias_forces(self.model, q, qd)

    @compiled(has_inertia=True)
    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return tau = M qdd + c + g, (n,), without joint friction."""
        return dynamics.inverse_dynamics(self.model, q, qd, qdd)

    @compiled(inverts_mass=True, has_inertia=True)
    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return qdd = M^-1 (tau - c - g), (n,), without joint friction.

        Raises:
            InvalidInertiaError: a joint moves no mass, so that M has no inverse.
        """
        return dynamics.forward_dynamics(self.model, q, qd, tau)

    @compiled(on_demand=True, has_inertia=True)
    def inverse_dynamics_rate(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        qddd: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return d(tau)/dt for the jerk qddd, (n,), N m/s or N/s, without joint friction."""
        return dynamics.inverse_dynamics_rate(self.model, q, qd, qdd, qddd)

    @compiled(on_demand=True, inverts_mass=True, has_inertia=True)
    def forward_jerk(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        tau_rate: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return qddd, (n,), for efforts tau and their rates d(tau)/dt, without joint friction.

        Raises:
            InvalidInertiaError: a joint moves no mass, so that M has no inverse.
        """
        return dynamics.forward_jerk(self.model, q, qd, tau, tau_rate)

    @compiled(on_demand=True, has_inertia=True)
    def linearization(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: tuple[FloatArray, ...] | None = None,
    ) -> dynamics.Linearization:
        """Return M_L, D_L, K_L, (n, n) each, and tau_0, (n,), about a motion, without friction.

        These are the exact coefficients of ``M_L dqdd + D_L dqd + K_L dq = dtau``, with tau_0 the
        efforts of the motion itself.  [K] eqs. (60)-(67).  `out` is a tuple of four arrays, such
        as the `Linearization` of an earlier call, and is returned itself.
        """
        return dynamics.linearization(self.model, q, qd, qdd)

    def linearize(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, friction: bool = False
    ) -> LinearizedModel:
        """Return the linear model of small deviations from one motion; not for batches.

        Args:
            q: coordinates, shape (n,), rad or m.
            qd: velocities, shape (n,).
            qdd: accelerations, shape (n,).
            friction: whether to add `joint_friction` and its slope; the slope of Coulomb friction
                is steep near zero velocity.

        Raises:
            ArgumentTypeError: an argument holds no real numbers, or friction is not a bool.
            ShapeError: an argument has another shape.
            ModelError: a flexible link is bent too far; see `check_deflections`.
        """
        from kron_dynamics.linearized import LinearizedModel

        motion = [
            real_array(values, f'{name} of linearize').copy()
            for name, values in (('q', q), ('qd', qd), ('qdd', qdd))
        ]
        terms = self.linearization(*motion)
        linear = LinearizedModel.about(self.model, terms, motion, friction)
        self.check_deflections(motion[0], stacklevel=3)
        return linear

    def check_deflections(self, q: ArrayLike, *, stacklevel: int = 2) -> None:
        """Warn, once per flexible link, if a state bends it more than its equations are good for.

        `linearize`, `quasi_static_equilibrium`, sweeps of modes and the simulated plant check
        their states; the other methods do not.

        Args:
            q: coordinates, shape (n,) or (N, n).
            stacklevel: of the warning, as for `warnings.warn`; 2 is the caller.

        Raises:
            ArgumentTypeError: q holds no real numbers.
            ShapeError: q has another shape.
            ModelError: a link is bent beyond the range in which its equations hold.
        """
        state = real_array(q, 'q of check_deflections')
        if state.ndim not in (1, 2) or state.shape[-1] != self.n:
            raise ShapeError(
                f'q of check_deflections has shape {state.shape}, expected ({self.n},) or '
                f'(N, {self.n})'
            )
        if not self.model.is_flexible:
            return
        if self._deflections is None:
            # Imported already, together with the flexible model.
            from kron_dynamics.flexible import DeflectionCheck

            self._deflections = DeflectionCheck()
        self._deflections(self.model, state, stacklevel + 1)

    @compiled(has_inertia=True)
    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the kinetic energy T = 1/2 qd^T M qd, (), J.  [T] eq. (93)."""
        energy: FloatArray = dynamics.kinetic_energy(self.model, q, qd)
        return energy

    @compiled(has_inertia=True)
    def potential_energy(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the potential energy V of gravity and elastic links, (), J; g is dV/dq."""
        energy: FloatArray = dynamics.potential_energy(self.model, q)
        return energy

    @compiled(on_demand=True, has_inertia=True)
    def acceleration_energy(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return E_A^(1) = 1/2 int a^T a dm, (), W/s, without gravity.  [N] eq. (49).

        This is the energy of accelerations (Gibbs-Appell function).
        """
        energy: FloatArray = dynamics.acceleration_energy(self.model, q, qd, qdd)
        return energy

    @compiled(on_demand=True, has_inertia=True)
    def second_order_acceleration_energy(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        qddd: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return E_A^(2) = 1/2 int j^T j dm with the jerk j, (), W/s^3.  [N] eq. (52)."""
        energy: FloatArray = dynamics.second_order_acceleration_energy(
            self.model, q, qd, qdd, qddd
        )
        return energy

    @compiled(on_demand=True, in_body_axes=True)
    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return Y, shape (n, 10 b + n): ``tau = Y pi`` with pi of `inertial_parameters`.

        b is the number of bodies. With flexible links, one more column holds the efforts of the
        beams, whose parameters are not in pi.
        """
        return dynamics.regressor(self.model, q, qd, qdd)

    def inertial_parameters(self) -> FloatArray:
        """Return pi, shape (10 b + n,), SI units: the parameters that `regressor` multiplies.

        Ten for each of b bodies (mass, first moment, inertia), then n armatures. With flexible
        links, b also counts the rigid parts on them, and a last entry 1 multiplies the beams'
        column of the regressor.
        """
        return dynamics.inertial_parameters(self.model)

    @compiled(on_demand=True, has_loops=False)
    def tree_coordinates(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the positions of all n_t joints of a robot with closed loops, (n_t,).

        They are in the order of `model.tree`; without closed loops the result is q itself.
        """
        return kinematics.tree_coordinates(self.model, q)

    @compiled(on_demand=True, has_loops=False)
    def tree_rates(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the time derivatives of `tree_coordinates`, (n_t,)."""
        return kinematics.tree_rates(self.model, q, qd)

    @compiled
    def joint_friction(self, qd: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the joint friction, (n,), N m or N: ``M qdd + c + g + friction = tau``."""
        return dynamics.joint_friction(self.model, qd)
