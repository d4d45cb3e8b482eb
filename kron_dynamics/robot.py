# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`Robot`: a model with its compiled quantities, the object a user holds."""

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
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from kron_dynamics.flexible import DeflectionCheck, FlexibleModel
    from kron_dynamics.symbolic import SymbolicRobot


class Robot:
    """A robot with compiled dynamics: ``M qdd + C* (qd (x) qd) + g = tau``.

    Every method takes one state, shape (n,), or a batch, shape (N, n), and puts N in front of the
    result's shape for a batch. Coordinates are in the order of `joint_names`, in rad or m;
    efforts in N m or N. `out` takes a ready array for the result. Wrong shapes raise
    `ShapeError`, what is no real number `ArgumentTypeError`; NaN in gives NaN out. A kernel is
    compiled when it is first needed. A pickle or a copy holds the model and no kernels: they come
    back from the cache.
    """

    _kernel_prefix = ''

    def __init__(self, model: RobotModel, *, threads: int = 1) -> None:
        """Wrap a model, `threads` sharing a batch; use `load` or `loads`.

        Raises:
            ArgumentTypeError: model is no `RobotModel`, or threads no whole number.
            ParameterError: threads is negative.
        """
        instance(model, RobotModel, 'model', 'a RobotModel; load and loads make robots of URDFs')
        self.model = model
        self._threads = thread_count(threads)
        self._kernels = KernelCollection(model, self._threads)
        self._frames: dict[str, RobotFrame] = {}
        self._deflections: DeflectionCheck | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made again: kernels and closed forms."""
        state = state_without_kernels(self)
        state.pop('symbolic', None)
        return state

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
        """Return a link's frame; `RobotFrame.relative_to` has it seen from another link.

        Raises:
            ArgumentTypeError: link is no text.
            UnknownFrameError: the robot has no such link.
        """
        instance(link, str, 'link', 'the name of a link')
        if link not in self._frames:
            self.model.frame(link)
            self._frames[link] = RobotFrame(link, self.model, self._kernels)
        return self._frames[link]

    @cached_property
    def rigid(self) -> Robot:
        """The same robot with stiff links: itself where none bends."""
        if not self.model.is_flexible:
            return self
        return Robot(cast('FlexibleModel', self.model).rigid, threads=self._threads)

    @cached_property
    def singular_mass(self) -> str | None:
        """Why M has no inverse in any pose, in a sentence; None where it has one.

        Forward dynamics and modes have no answer without it.
        """
        return singular_mass(self.model)

    def kernel_report(self) -> list[KernelReport]:
        """Return what has been compiled so far."""
        return self._kernels.reports

    def prepare(self, *links: str, batches: bool = False) -> None:
        """Compile the dynamics and the kinematics of some links now, all at once.

        No later call waits for the compiler then; the regressor, the linearization and what is of
        third order are left for their first use. The code for batches, which takes as long again,
        is compiled by the first batch of 16 states or more, or here.

        Args:
            links: names of links.
            batches: whether to compile the code for batches now.

        Raises:
            UnknownFrameError: the robot has no such link.
            KernelBuildError: there is a compiler and it failed.
        """
        prepare(self, *(self.frame(link) for link in links), batches=batches)

    @compiled(has_inertia=True)
    def mass_matrix(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return M, (n, n), symmetric positive definite.  [T] eq. (95)."""
        return dynamics.mass_matrix(self.model, q)

    @compiled(has_inertia=True)
    def velocity_free_coriolis_matrix(
        self, q: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the symmetrised C*, (n, n*n): ``C* (qd (x) qd)`` is c.  [T] eq. (100)."""
        return dynamics.velocity_free_coriolis_matrix(self.model, q)

    @compiled(has_inertia=True)
    def mass_matrix_derivative(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return dM/dq, (n, n*n): column j*n + k is d M[:, j]/d q_k."""
        return dynamics.mass_matrix_derivative(self.model, q)

    @compiled(has_inertia=True)
    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the Christoffel C(q, qd), (n, n), for which dM/dt - 2C is skew."""
        return dynamics.coriolis_matrix(self.model, q, qd)

    @compiled(has_inertia=True)
    def coriolis_vector(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return c = C qd, (n,): Coriolis and centrifugal terms."""
        return dynamics.coriolis_vector(self.model, q, qd)

    @compiled(has_inertia=True)
    def gravity_vector(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return g = dV/dq, (n,): the efforts that hold the robot still."""
        return dynamics.gravity_vector(self.model, q)

    @compiled(has_inertia=True)
    def bias_forces(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return c + g, (n,)."""
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
        """Return d(tau)/dt of a motion with jerk, (n,), N m/s or N/s, without joint friction."""
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
        """Return qddd of efforts and their rates d(tau)/dt, (n,), without joint friction.

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

        Raises:
            ArgumentTypeError: an argument holds no real numbers, or friction is no truth value.
            ShapeError: an argument has another shape.
            ModelError: a flexible link is bent too far; see `check_deflections`.
        """
        motion = [
            real_array(values, f'{name} of linearize').copy()
            for name, values in (('q', q), ('qd', qd), ('qdd', qdd))
        ]
        terms = self.linearization(*motion)
        linear = LinearizedModel.about(self.model, terms, motion, friction)
        self.check_deflections(motion[0], stacklevel=3)
        return linear

    def check_deflections(self, q: ArrayLike, *, stacklevel: int = 2) -> None:
        """Warn once of each flexible link that a state, (n,), or one of N, (N, n), bends far.

        `linearize`, `quasi_static_equilibrium`, sweeps of modes and the simulated plant check
        their states; the other methods do not.

        Raises:
            ArgumentTypeError: q holds no real numbers.
            ShapeError: q has another shape.
            ModelError: a link is bent further than its equations hold.
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
            from kron_dynamics.flexible import DeflectionCheck  # there with the flexible model

            self._deflections = DeflectionCheck()
        self._deflections(self.model, state, stacklevel + 1)

    @compiled(has_inertia=True)
    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return T = 1/2 qd^T M qd, (), J.  [T] eq. (93)."""
        energy: FloatArray = dynamics.kinetic_energy(self.model, q, qd)
        return energy

    @compiled(has_inertia=True)
    def potential_energy(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return V, (), J; g is its derivative."""
        energy: FloatArray = dynamics.potential_energy(self.model, q)
        return energy

    @compiled(on_demand=True, has_inertia=True)
    def acceleration_energy(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return E_A^(1) = 1/2 int a^T a dm, (), W/s, without gravity.  [N] eq. (49)."""
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
        """Return E_A^(2) = 1/2 int j^T j dm of the jerk, (), W/s^3.  [N] eq. (52)."""
        energy: FloatArray = dynamics.second_order_acceleration_energy(
            self.model, q, qd, qdd, qddd
        )
        return energy

    @compiled(on_demand=True, in_body_axes=True)
    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return Y, shape (n, 10 b + n): ``tau = Y pi`` with pi of `inertial_parameters`.

        With flexible links it has one column more: what the beams take as they are.
        """
        return dynamics.regressor(self.model, q, qd, qdd)

    def inertial_parameters(self) -> FloatArray:
        """Return pi, shape (10 b + n,): mass, first moment, inertia a body, armatures, SI.

        With flexible links b counts what is rigid of them too, and a last number 1 stands for the
        beams.
        """
        return dynamics.inertial_parameters(self.model)

    @compiled(on_demand=True, has_loops=False)
    def tree_coordinates(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the positions of all joints of `model.tree`, (n_t,), where loops are closed.

        Of a robot without closed loops they are q itself.
        """
        return kinematics.tree_coordinates(self.model, q)

    @compiled(on_demand=True, has_loops=False)
    def tree_rates(
        self, q: ArrayLike, qd: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return their rates, (n_t,)."""
        return kinematics.tree_rates(self.model, q, qd)

    @compiled
    def joint_friction(self, qd: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the friction efforts, (n,): ``M qdd + c + g + friction = tau``."""
        return dynamics.joint_friction(self.model, qd)
