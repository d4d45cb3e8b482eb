# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`SymbolicRobot`: a robot's equations in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kron_dynamics import dynamics
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.flexible import FlexibleModel
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.symbolic.exact import frozen
from kron_dynamics.symbolic.flexible_parameters import exact_flexible_model
from kron_dynamics.symbolic.frame import SymbolicFrame
from kron_dynamics.symbolic.matrix import SymbolicMatrix, exact_expression, latex
from kron_dynamics.symbolic.naming import Naming
from kron_dynamics.symbolic.parameters import Parameters, exact_model
from kron_dynamics.symbolic.scalar import symbolic_scalars

PARAMETERS = ('numeric', 'symbolic')


class SymbolicRobot:
    """A robot in closed form: the methods of `Robot` as SymPy matrices, with vectors as columns.

    Coordinate symbols have the names of the joints; time derivatives append _d, _dd, _ddd. Names
    that Python or SymPy reads as something else, such as 1, E or lambda, are preceded by q_.
    Entries are as the equations produce them; `SymbolicMatrix.simplified` shortens them. Numbers
    are exact: decimals of the URDF as fractions, rotations exactly orthogonal. Only robots with
    flexible links contain floats (integrals over mode shapes), which `with_parameters` can turn
    into symbols.

    Closed forms grow fast with the number of joints. Three joints take milliseconds. Six take a
    few seconds each for M, C* and the inverse dynamics and up to twenty more to simplify; not
    simplified, they print as megabytes of text. Eight take minutes. `SymbolicMatrix.simplified`
    leaves entries unchanged that would take longer. For computation use the kernels of `Robot`.

    Attributes:
        model: the robot's model with exact numbers or symbols in it.
        floats: the same model with floats.
        q: symbols of the coordinates, in the order of `joint_names`, rad or m.
        qd: symbols of their first derivatives.
        qdd: symbols of their second derivatives.
        qddd: symbols of their third derivatives.
        tau: symbols of the joint efforts, N m or N.
        tau_rate: symbols of their rates, N m/s or N/s.
        force: symbols of a force on a frame, base axes, N.
        moment: symbols of a moment on a frame, base axes, N m.
        values: number of each parameter's symbol, for ``.subs(values)``; empty if parameters are
            numbers.
        notation: LaTeX of all symbols.
    """

    def __init__(self, model: RobotModel, parameters: str = 'numeric') -> None:
        """Read a model; use `Robot.symbolic` instead.

        Args:
            model: model of floats.
            parameters: 'numeric' or 'symbolic'; see `with_parameters`.

        Raises:
            ParameterError: parameters is neither.
        """
        if parameters not in PARAMETERS:
            raise ParameterError(
                f"parameters is '{parameters}', expected one of {', '.join(PARAMETERS)}"
            )
        naming = Naming()
        self.q, self.qd, self.qdd, self.qddd = naming.coordinates(model.joint_names)
        self.tau = tuple(naming.quantity('tau', joint) for joint in model.joint_names)
        self.tau_rate = tuple(
            naming.quantity('tau', joint, order=1) for joint in model.joint_names
        )
        self.force = tuple(naming.quantity('F', component=axis) for axis in 'xyz')
        self.moment = tuple(naming.quantity('M', component=axis) for axis in 'xyz')
        chosen = Parameters(naming if parameters == 'symbolic' else None)
        self.floats = model
        self.model = model
        if not isinstance(model, FlexibleModel):
            self.model = exact_model(rigid_tree(model), chosen)
        elif parameters == 'symbolic':
            self.model = exact_flexible_model(model, chosen)
        self.values: Mapping[Any, Any] = MappingProxyType(chosen.values)
        self.notation: Mapping[Any, str] = MappingProxyType(naming.latex)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy through the constructor, which makes symbols and exact numbers again."""
        return type(self), (self.floats, 'symbolic' if self.values else 'numeric')

    @property
    def n(self) -> int:
        """Number of generalized coordinates."""
        return self.model.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent joints, in the order of the coordinates."""
        return self.model.joint_names

    def with_parameters(self, parameters: str) -> SymbolicRobot:
        """Return the same robot with its parameters as numbers or as symbols.

        All parameters that are not 0 in the URDF become symbols: masses m_link, mass centres
        c_link_x, inertias I_link_xx about them (of a link together with everything fixed to it),
        joint origins l_joint_x and link origins p_link_x in their bodies, gravity g (g_x, g_y, g_z
        if it is not along an axis), pitches h_joint of screws, armatures a_joint, friction d_joint
        (viscous) and f_joint (Coulomb). Orientations, axes and mimic ratios stay numbers. So do
        masses, mass centres and inertias of single links that are fixed to others, which count in
        `dynamics.field_forces`, `central_field_potential` and `wrench_forces`.

        Flexible links have b_link_xw1, the integral of x Phi_w1 over the beam's mass, and so on;
        k_link_w1w1 and r_link_w11w11, the stiffness of small and of large bending; and o_link_x,
        the root. A link mounted on a section has its position x_child along the beam, and there
        the shapes X_child_w1, slopes dX_child_w1, shortening G_child_w1w1, twist T_child_v1w1.

        Args:
            parameters: 'numeric' or 'symbolic'.

        Raises:
            ParameterError: parameters is neither.
        """
        return SymbolicRobot(self.floats, parameters)

    def evaluate(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return an equation in closed form: a matrix, or an expression if it is a scalar.

        Several results are returned in the function's tuple or named tuple, nested ones likewise.

        For instance ``symbolic.evaluate(dynamics.lagrange_velocity_free_matrix, symbolic.q)``.

        Args:
            function: function of a model and further arguments.
            arguments: the further arguments; tuples of symbols or numbers are vectors.
        """
        vectors = (
            frozen(symbolic_scalars(x), (len(x),)) if isinstance(x, tuple) else x
            for x in arguments
        )
        return self._closed_form(function(self.model, *vectors))

    def _closed_form(self, result: Any) -> Any:
        if isinstance(result, tuple):
            parts = map(self._closed_form, result)
            return type(result)(*parts) if hasattr(result, '_fields') else tuple(parts)
        if getattr(result, 'ndim', 0) == 0:
            return exact_expression(result)
        return SymbolicMatrix.of(result, self.notation)

    def latex(self, expression: Any) -> str:
        """Return LaTeX of an expression or matrix in the robot's symbols."""
        return latex(expression, self.notation)

    def frame(self, link: str) -> SymbolicFrame:
        """Return a link's frame.

        Raises:
            UnknownFrameError: the robot has no such link.
        """
        self.model.frame(link)
        return SymbolicFrame(self, link)

    def mass_matrix(self) -> Any:
        """Return the mass matrix M, shape (n, n).  [T] eq. (95)."""
        return self.evaluate(dynamics.mass_matrix, self.q)

    def mass_matrix_derivative(self) -> Any:
        """Return dM/dq, shape (n, n*n): column j*n + k is d M[:, j]/d q_k."""
        return self.evaluate(dynamics.mass_matrix_derivative, self.q)

    def velocity_free_coriolis_matrix(self) -> Any:
        """Return the symmetrised C*, shape (n, n*n): ``c = C* (qd (x) qd)``.  [T] eq. (100)."""
        return self.evaluate(dynamics.velocity_free_coriolis_matrix, self.q)

    def reduced_coriolis_matrix(self) -> Any:
        """Return the reduced C*, shape (n, n(n+1)/2): columns (1,1), (1,2), ..., (2,2), ..."""

        def reduced(model: RobotModel, q: Any) -> Any:
            return dynamics.reduced_coriolis_matrix(
                dynamics.velocity_free_coriolis_matrix(model, q)
            )

        return self.evaluate(reduced, self.q)

    def coriolis_matrix(self) -> Any:
        """Return C(q, qd), shape (n, n), of Christoffel symbols: dM/dt - 2C is skew-symmetric."""
        return self.evaluate(dynamics.coriolis_matrix, self.q, self.qd)

    def coriolis_vector(self) -> Any:
        """Return c = C qd, shape (n, 1): Coriolis and centrifugal efforts."""
        return self.evaluate(dynamics.coriolis_vector, self.q, self.qd)

    def gravity_vector(self) -> Any:
        """Return g = dV/dq, shape (n, 1): the efforts that hold the robot at rest."""
        return self.evaluate(dynamics.gravity_vector, self.q)

    def bias_forces(self) -> Any:
        """Return the bias efforts c + g, shape (n, 1)."""
        return self.evaluate(dynamics.bias_forces, self.q, self.qd)

    def inverse_dynamics(self) -> Any:
        """Return tau = M qdd + c + g, shape (n, 1), without joint friction."""
        return self.evaluate(dynamics.inverse_dynamics, self.q, self.qd, self.qdd)

    def forward_dynamics(self) -> Any:
        """Return qdd = M^-1 (tau - c - g), shape (n, 1), without joint friction."""
        return self.evaluate(dynamics.forward_dynamics, self.q, self.qd, self.tau)

    def inverse_dynamics_rate(self) -> Any:
        """Return d(tau)/dt for the jerk qddd, shape (n, 1), without joint friction."""
        return self.evaluate(dynamics.inverse_dynamics_rate, self.q, self.qd, self.qdd, self.qddd)

    def forward_jerk(self) -> Any:
        """Return qddd for efforts and their rates, shape (n, 1), without joint friction."""
        return self.evaluate(dynamics.forward_jerk, self.q, self.qd, self.tau, self.tau_rate)

    def linearization(self) -> Any:
        """Return M_L, D_L, K_L, shape (n, n) each, and tau_0, (n, 1), of `Robot.linearization`."""
        return self.evaluate(dynamics.linearization, self.q, self.qd, self.qdd)

    def kinetic_energy(self) -> Any:
        """Return the kinetic energy T = 1/2 qd^T M qd, an expression, J.  [T] eq. (93)."""
        return self.evaluate(dynamics.kinetic_energy, self.q, self.qd)

    def potential_energy(self) -> Any:
        """Return the potential energy V, an expression, J; g is dV/dq."""
        return self.evaluate(dynamics.potential_energy, self.q)

    def acceleration_energy(self) -> Any:
        """Return E_A^(1) = 1/2 int a^T a dm, an expression, W/s.  [N] eq. (49)."""
        return self.evaluate(dynamics.acceleration_energy, self.q, self.qd, self.qdd)

    def second_order_acceleration_energy(self) -> Any:
        """Return E_A^(2) = 1/2 int j^T j dm of the jerk j, an expression, W/s^3.  [N] eq. (52)."""
        function = dynamics.second_order_acceleration_energy
        return self.evaluate(function, self.q, self.qd, self.qdd, self.qddd)

    def regressor(self) -> Any:
        """Return Y, shape (n, 10 b + n): ``tau = Y pi`` with pi of `inertial_parameters`."""
        return self.evaluate(dynamics.regressor, self.q, self.qd, self.qdd)

    def inertial_parameters(self) -> Any:
        """Return pi, shape (10 b + n, 1), SI: mass, first moment, inertia per body; armatures."""
        return self.evaluate(dynamics.inertial_parameters)

    def joint_friction(self) -> Any:
        """Return the joint friction, shape (n, 1): ``M qdd + c + g + friction = tau``."""
        return self.evaluate(dynamics.joint_friction, self.qd)
