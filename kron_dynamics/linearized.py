# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`LinearizedModel`: small deviations from a motion as a linear system."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kron_dynamics.arguments import finite_array, instance, real_array, whole_number
from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics import Linearization, joint_friction
from kron_dynamics.dynamics.forward import rounding_of_mass, smallest_mass
from kron_dynamics.dynamics.linearization import state_matrix
from kron_dynamics.exceptions import (
    InvalidInertiaError,
    NonFiniteError,
    ParameterError,
    ShapeError,
)
from kron_dynamics.messages import listed, shown
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import ArrayLike, ComplexArray, FloatArray

if TYPE_CHECKING:
    from scipy.signal import StateSpace

_MATRICES = ('mass', 'damping', 'stiffness')


class Modes(NamedTuple):
    """The free motions ``dq = shape * exp(pole t)``.

    Attributes:
        poles: shape (2n,), 1/s.
        shapes: column k belongs to pole k, shape (n, 2n), its largest entry 1.
    """

    poles: ComplexArray
    shapes: ComplexArray


def structurally_damped(model: RobotModel, terms: Linearization, qd: FloatArray) -> Linearization:
    """Return a linearization with the structural damping of flexible links added.

    Structural damping is always included; the option `friction` concerns the joints alone.

    Args:
        model: the robot.
        terms: its linearization, of one motion or N.
        qd: rates of the motion, shape (n,) or (N, n).
    """
    mass, damping, stiffness, effort = terms
    coefficients = model.structural_damping
    return Linearization(
        mass, damping + np.diag(coefficients), stiffness, effort + coefficients * qd
    )


@dataclass(frozen=True, slots=True, eq=False)
class LinearizedModel:
    """``M_L dqdd + D_L dqd + K_L dq = T dtau`` about a motion; `Robot.linearize` makes it.

    For a constrained robot, which `ReducedRobot.linearize` linearizes, q are the independent
    joints, and T maps the efforts of the actuated joints to them; otherwise T is the identity.

    About a state of rest, or a steady one, the system is time-invariant. About any other motion it
    is frozen at the instant of (q, qd, qdd), and so are its poles. Arrays are read-only copies.
    If they contain NaN or infinities, poles, modes and response raise `NonFiniteError`.

    Attributes:
        joint_names: names of the coordinates, in order.
        mass: M_L, shape (n, n), kg m^2, kg m, kg.
        damping: D_L, shape (n, n), N m s/rad, N s/m and the like. Not symmetric.
        stiffness: K_L, shape (n, n), N m/rad, N/m and the like. Symmetric at rest.
        effort: tau_0, efforts of the motion, shape (a,), N m or N; a = n without constraints.
        q: coordinates of the motion, shape (n,), rad or m.
        qd: their rates, shape (n,).
        qdd: their second derivatives, shape (n,).
        inputs: names of the a joints that the efforts act on; `joint_names` by default.
        transmission: T, shape (n, a); the identity by default.
    """

    joint_names: tuple[str, ...]
    mass: FloatArray
    damping: FloatArray
    stiffness: FloatArray
    effort: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    inputs: tuple[str, ...] = field(default=(), kw_only=True)
    transmission: FloatArray = field(default=None, kw_only=True)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check their shapes.

        Raises:
            ArgumentTypeError: an array holds no real numbers, or a name is not a string.
            ParameterError: two coordinates, or two inputs, have the same name.
            ShapeError: an array has another shape.
        """
        for name in ('joint_names', 'inputs'):
            joints = getattr(self, name)
            instance(joints, (tuple, list), name, 'names of coordinates')
            for joint in joints:
                instance(joint, str, f'a name in {name}', 'text')
                if joints.count(joint) > 1:
                    raise ParameterError(f"{name} has '{joint}' twice, expected different names")
            object.__setattr__(self, name, tuple(joints))
        if self.transmission is None:
            object.__setattr__(self, 'inputs', self.inputs or self.joint_names)
            object.__setattr__(self, 'transmission', np.eye(self.n))
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(_MATRICES, (self.n, self.n))
        shapes |= {'effort': (len(self.inputs),), 'transmission': (self.n, len(self.inputs))}
        for name in (*_MATRICES, 'effort', 'q', 'qd', 'qdd', 'transmission'):
            array = real_array(getattr(self, name), name).copy()
            shape = shapes.get(name, (self.n,))
            if array.shape != shape:
                raise ShapeError(f'{name} has shape {array.shape}, expected {shape}')
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy through the constructor, so that the copy's arrays are read-only too."""
        values = {known.name: getattr(self, known.name) for known in fields(self)}
        return functools.partial(type(self), **values), ()

    @classmethod
    def about(
        cls,
        model: RobotModel,
        terms: Linearization,
        motion: Sequence[FloatArray],
        friction: bool = False,
    ) -> LinearizedModel:
        """Return the linear model about a motion.

        Args:
            model: the robot.
            terms: its linearization at (q, qd, qdd).
            motion: q, qd, qdd, shape (n,) each.
            friction: whether to include joint friction and its slope at qd.

        Raises:
            ArgumentTypeError: an argument is of another type.
            ShapeError: the linearization is of a batch.
        """
        instance(model, RobotModel, 'model', 'a RobotModel')
        instance(terms, Linearization, 'terms', 'a Linearization')
        instance(friction, (bool, np.bool_), 'friction', 'True or False')
        if terms.effort.ndim != 1:
            raise ShapeError(
                f'linearize got {len(terms.effort)} states, expected one: shapes ({model.n},)'
            )
        if friction:
            mass, damping, stiffness, effort = terms
            efforts, slopes = jacobian_of(lambda qd: joint_friction(model, qd), motion[1])
            terms = Linearization(mass, damping + slopes, stiffness, effort + efforts)
        else:
            terms = structurally_damped(model, terms, motion[1])
        return cls(model.joint_names, *terms, *motion)

    @property
    def n(self) -> int:
        """Number of generalized coordinates."""
        return len(self.joint_names)

    def part(self, places: Sequence[int]) -> LinearizedModel:
        """Return the model of some coordinates, in the order given; all others are fixed.

        If T is the identity, the inputs are reduced to those of the coordinates kept.

        Args:
            places: indices of the coordinates to keep, each once.

        Raises:
            ArgumentTypeError: an index is not a whole number.
            ParameterError: an index is out of range, or given twice.
        """
        instance(places, Iterable, 'places', 'a list of places')
        kept = [self._place(whole_number(k, 'a place')) for k in places]
        if len(set(kept)) < len(kept):
            raise ParameterError(f'places is {shown(kept)}, expected each place once')
        pairs = np.ix_(kept, kept)
        has_own = np.array_equal(self.transmission, np.eye(self.n))
        inputs = kept if has_own else list(range(len(self.inputs)))
        mass, damping, stiffness = (getattr(self, name)[pairs] for name in _MATRICES)
        q, qd, qdd = (values[kept] for values in (self.q, self.qd, self.qdd))
        names = tuple(self.joint_names[k] for k in kept)
        return LinearizedModel(
            *(names, mass, damping, stiffness, self.effort[inputs], q, qd, qdd),
            inputs=tuple(self.inputs[k] for k in inputs),
            transmission=self.transmission[np.ix_(kept, inputs)],
        )

    def state_space(self) -> StateSpace:
        """Return the state-space model from dtau to dq; its state is (dq, dqd).

        ``A = [0 1; -M^-1 K, -M^-1 D]``, ``B = [0; M^-1 T]``, ``C = [1 0]``, D = 0: shapes
        (2n, 2n), (2n, a), (n, 2n), (n, a).

        Raises:
            NonFiniteError: the model is not finite.
            InvalidInertiaError: M_L has no inverse; the message names a joint.
        """
        self._require_mass()
        from scipy.signal import StateSpace  # imported here because it takes long

        n = self.n
        zero, one = np.zeros((n, n)), np.eye(n)
        nothing = np.zeros((n, len(self.inputs)))
        A = self._state_matrix()
        B = np.vstack([nothing, np.linalg.inv(self.mass) @ self.transmission])
        return StateSpace(A, B, np.hstack([one, zero]), nothing)

    def poles(self) -> ComplexArray:
        """Return the eigenvalues of A, shape (2n,), 1/s, in ascending magnitude.

        A positive real part means that the deviation grows.

        Raises:
            NonFiniteError: the model is not finite.
            ModelError: the mass matrix is singular.
        """
        return self.modes().poles

    def modes(self) -> Modes:
        """Return poles and mode shapes in ascending magnitude of the poles.

        The poles of a complex pair are neighbours; that with positive imaginary part comes first.

        Raises:
            NonFiniteError: the model is not finite.
            InvalidInertiaError: M_L has no inverse; the message names a joint.
        """
        if not self.n:
            return Modes(np.empty(0, np.complex128), np.empty((0, 0), np.complex128))
        self._require_mass()
        poles, vectors = np.linalg.eig(self._state_matrix())
        # LAPACK puts the poles of a pair one after the other, which are of equal magnitude: a
        # stable order keeps them together where several pairs have one frequency.
        order = np.argsort(np.abs(poles), kind='stable')
        shapes = vectors[: self.n, order].astype(np.complex128)
        largest = np.abs(shapes).argmax(axis=0)
        return Modes(
            poles[order].astype(np.complex128), shapes / shapes[largest, np.arange(2 * self.n)]
        )

    def frequencies(self) -> FloatArray:
        """Return the undamped natural frequencies, shape (n,), rad/s, ascending.

        They solve ``det(K - w^2 M) = 0`` with the symmetric part of K. The joints are free; use
        `part` to fix them. Flexible links vibrate about the given q, whose modal coordinates
        `quasi_static_equilibrium` finds under gravity.

        Where the stiffness is negative, w^2 < 0, the deviation diverges: the entry is minus the
        rate of growth, in 1/s. `poles` shows whether the motion is unstable with damping and
        gyroscopic terms included.

        Raises:
            NonFiniteError: mass or stiffness is not finite.
            ModelError: the mass matrix is not positive definite.
        """
        squares, _ = self.undamped_modes()
        roots: FloatArray = np.sign(squares) * np.sqrt(np.abs(squares))
        return roots

    def undamped_modes(self) -> tuple[FloatArray, FloatArray]:
        """Return the squared undamped natural frequencies and the mode shapes.

        They solve ``(K - w^2 M) phi = 0`` with the symmetric part of K.

        Returns:
            w^2, shape (n,), 1/s^2, ascending, negative where the stiffness is; and phi, shape
            (n, n), one mode per column, normalized to a modal mass of 1 in SI units.

        Raises:
            NonFiniteError: mass or stiffness is not finite.
            InvalidInertiaError: M_L is not positive definite; the message names a joint.
        """
        from scipy.linalg import eigh  # imported here because it takes long

        self._require_finite('mass', 'stiffness')
        if not self.n:
            return np.empty(0), np.empty((0, 0))
        self._require_mass()
        try:
            squares, shapes = eigh(self.stiffness / 2 + self.stiffness.T / 2, self.mass)
        except np.linalg.LinAlgError:
            raise InvalidInertiaError(
                f'mass of {listed(self.joint_names)} is not positive definite: there are no modes'
            ) from None
        # Coordinates without stiffness have w = 0, but for rounding.
        rounding = 8 * self.n * np.finfo(float).eps * np.abs(squares).max(initial=0.0)
        squares[np.abs(squares) <= rounding] = 0.0
        return squares, shapes

    def damping_ratios(self) -> FloatArray:
        """Return the damping ratio ``-Re(p) / |p|`` of every pole, shape (2n,), unit 1.

        The order is that of `poles`. A ratio is negative where deviations grow, and 0 for p = 0.

        Raises:
            NonFiniteError: the model is not finite.
            ModelError: the mass matrix is singular.
        """
        poles = self.poles()
        size = np.abs(poles)
        ratios: FloatArray = np.divide(-poles.real, size, out=np.zeros(len(poles)), where=size > 0)
        return ratios

    def transfer(self, input: int | str, output: int | str, omega: ArrayLike) -> ComplexArray:
        """Return the frequency response from an effort to a coordinate, shape of omega.

        Entry (output, input) of ``(K + i w D - w^2 M)^-1 T``, rad or m per N m or N.

        Args:
            input: joint that the effort acts on, by name or by index in `inputs`.
            output: joint whose coordinate responds, by name or by index in `joint_names`.
            omega: angular frequencies w, any shape, rad/s.

        Raises:
            ArgumentTypeError: a joint is neither, or omega holds no real numbers.
            ParameterError: there is no such joint, or w is an undamped resonance.
            NonFiniteError: the model, omega or the response is not finite.
        """
        column, row = self._place(input, self.inputs), self._place(output)
        w = finite_array(omega, 'omega')[..., None, None]
        self._require_finite(*_MATRICES)
        force = self.transmission[:, [column]].astype(np.complex128)
        with np.errstate(all='ignore'):
            dynamic: Any = self.stiffness + 1j * w * self.damping - w**2 * self.mass
            try:
                answers = np.linalg.solve(
                    dynamic, np.broadcast_to(force, (*dynamic.shape[:-1], 1))
                )
            except np.linalg.LinAlgError:
                self._require_mass()
                raise ParameterError('omega holds a resonance without damping') from None
        response: ComplexArray = np.asarray(answers[..., row, 0], dtype=np.complex128)
        if not np.isfinite(response).all():
            raise NonFiniteError('omega is too large: the response overflows')
        return response

    def _require_mass(self) -> None:
        """Raise if a finite mass matrix is not positive definite."""
        if not self.n or not np.isfinite(self.mass).all():
            return
        smallest, weakest = smallest_mass(self.mass)
        if smallest > rounding_of_mass(self.n):
            return
        raise InvalidInertiaError(
            f"joint '{self.joint_names[weakest]}' can move without moving mass: the mass matrix "
            f'is not positive definite, and the linear model has no poles; give its link a mass '
            f'and an inertia, or the joint an armature'
        )

    def _place(self, joint: int | str, among: tuple[str, ...] | None = None) -> int:
        names = self.joint_names if among is None else among
        if isinstance(joint, str):
            if joint in names:
                return names.index(joint)
        elif 0 <= (place := whole_number(joint, 'joint')) < len(names):
            return place
        raise ParameterError(
            f'there is no joint {shown(joint)}, expected one of {listed(names)} '
            f'or an index below {len(names)}'
        )

    def _require_finite(self, *names: str) -> None:
        for name in names:
            finite_array(getattr(self, name), f'{name} of the linear model')

    def _state_matrix(self) -> FloatArray:
        """Return the state matrix A, shape (2n, 2n), which is finite."""
        self._require_finite(*_MATRICES)
        try:
            with np.errstate(all='ignore'):
                A = state_matrix(self.mass, self.damping, self.stiffness)
        except np.linalg.LinAlgError:
            raise InvalidInertiaError(
                f'mass of {listed(self.joint_names)} is singular: there are no poles'
            ) from None
        return finite_array(A, 'state matrix of the linear model')
