# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Loop closures: constraints between a frame on one link and a frame on another.

They are formulated in the pose of frame a relative to frame b, its twist [v; omega] = J qd and
H = dJ/dq, which depend on the joints of the loop only.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.arguments import finite_array, real_number
from kron_dynamics.constraints.constraint import Constraint, Geometry
from kron_dynamics.constraints.exact_text import python_number, python_numbers
from kron_dynamics.constraints.time_functions import Signal
from kron_dynamics.kinematics.relative import (
    relative_hessian,
    relative_pose,
    relative_pose_and_jacobian,
    rotation_between,
)
from kron_dynamics.kinematics.scalars import as_scalars
from kron_dynamics.kronecker import contract_last, cross
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.tree import placement
from kron_dynamics.reproducible import norm
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray

Triple = tuple[float, float, float]
_X, _Y, _Z = (np.eye(3, dtype=int)[k] for k in range(3))
_UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Attachment:
    """A frame on a link, with z along the axis of the constraint.

    Attributes:
        link: name of the link.
        point: origin, in the link's frame, m.
        axis: direction of z in the link's axes. The frame is rotated from the link's axes by the
            smallest angle; by default it has the link's axes.
        rpy: alternative to `axis`: roll, pitch and yaw of the frame as in a URDF, rad.
    """

    link: str
    point: Triple = (0.0, 0.0, 0.0)
    axis: Triple = _UP
    rpy: Triple | None = None

    def rotation(self) -> FloatArray:
        """Return the frame's axes in the link's axes, shape (3, 3)."""
        return self._rotation

    @functools.cached_property
    def _rotation(self) -> FloatArray:
        if self.rpy is not None:
            return placement(urdf.Pose(xyz=(0.0, 0.0, 0.0), rpy=list(self.rpy)))[0]
        x, y, z = np.asarray(self.axis, dtype=float) / norm(self.axis)
        across = x * x + y * y
        if across == 0.0:
            return np.diag([1.0, np.sign(z), np.sign(z)])
        # The smallest rotation of z; 1 / (1 + z), rewritten where 1 + z cancels near z = -1.
        less = (1 - z) / across if z < 0 else 1 / (1 + z)
        return np.array(
            [
                [1 - x * x * less, -x * y * less, x],
                [-x * y * less, 1 - y * y * less, y],
                [-x, -y, z],
            ]
        )


class _Placed(NamedTuple):
    """Pose and Jacobian of frame a relative to frame b, in the axes of b.

    Attributes:
        p: position, shape (3,), m.
        R: rotation, shape (3, 3).
        J: [v; omega] per unit rates, shape (6, n).
    """

    p: ScalarArray
    R: ScalarArray
    J: ScalarArray


class _Moving(NamedTuple):
    """Motion of frame a relative to frame b, in the axes of b.

    Attributes:
        J_dot: time derivative of J, shape (6, n).
        v: velocity of the origin of a, shape (3,), m/s.
        omega: angular velocity of a, shape (3,), rad/s.
        to_base: axes of b in base axes, shape (3, 3).
    """

    J_dot: ScalarArray
    v: ScalarArray
    omega: ScalarArray
    to_base: ScalarArray


@dataclass(frozen=True)
class _Loop(Constraint):
    """Base class of the loop closures.

    Attributes:
        name: name in messages and reports.
        a: frame on one link.
        b: frame on the other link.
        signal: required values of the conditions' left-hand sides, in `units`, or a function of
            time.
    """

    name: str
    a: Attachment | str
    b: Attachment | str
    signal: Signal = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        for side in ('a', 'b'):
            given = getattr(self, side)
            frame = Attachment(given) if isinstance(given, str) else given
            if not isinstance(frame, Attachment):
                raise self.refuse(f'has {given!r} as frame {side}, expected a link or Attachment')
            axis, *others = (
                finite_array(values, f'{what} of {side} of {self.name}')
                for what, values in (
                    ('axis', frame.axis),
                    ('point', frame.point),
                    ('rpy', (0.0, 0.0, 0.0) if frame.rpy is None else frame.rpy),
                )
            )
            if {values.shape for values in (axis, *others)} != {(3,)} or not axis.any():
                raise self.refuse(f'has frame {side} {given!r}, expected a point and a direction')
            if frame.rpy is not None and tuple(frame.axis) != _UP:
                raise self.refuse(f'has frame {side} {given!r}, expected axis or rpy, not both')
            frame = replace(
                frame,
                point=python_numbers(frame.point),
                axis=python_numbers(frame.axis),
                rpy=None if frame.rpy is None else python_numbers(frame.rpy),
            )
            object.__setattr__(self, side, frame)

    @property
    def _frames(self) -> tuple[Attachment, Attachment]:
        return self.a, self.b  # type: ignore[return-value]

    def check(self, model: RobotModel) -> None:
        """Check that the model has the links, and that they are on different bodies."""
        bodies = []
        for frame in self._frames:
            self.known_link(model, frame.link)
            bodies.append(model.frame(frame.link).body)
        if bodies[0] == bodies[1]:
            a, b = (frame.link for frame in self._frames)
            raise self.refuse(f"is between '{a}' and '{b}', which are fixed to each other")

    def links(self) -> tuple[str, str]:
        """Return the links of frames a and b."""
        a, b = self._frames
        return a.link, b.link

    def point(self) -> Triple:
        """Return the origin of frame a in its link's frame, shape (3,), m."""
        return self._frames[0].point

    def point_on_b(self, model: RobotModel, q: ArrayLike) -> ScalarArray:
        """Return the origin of frame a in the frame of b's link, shape (3,), m."""
        a, b = self._frames
        return relative_pose(model, q, a.link, b.link, point=a.point)[:3, 3]

    def _placed(self, model: RobotModel, q: ArrayLike) -> _Placed:
        a, b = self._frames
        turn = b.rotation()
        pose, J = relative_pose_and_jacobian(model, q, a.link, b.link, a.point)
        return _Placed(
            turn.T @ (pose[:3, 3] - np.asarray(b.point)),
            turn.T @ pose[:3, :3] @ a.rotation(),
            _turned(turn, J),
        )

    def _moving(self, model: RobotModel, q: ArrayLike, qd: ArrayLike, J: ScalarArray) -> _Moving:
        a, b = self._frames
        turn = b.rotation()
        H = relative_hessian(model, q, a.link, b.link, point=a.point)
        return _Moving(
            _turned(turn, contract_last(H, as_scalars(qd))),
            J[:3] @ as_scalars(qd),
            J[3:] @ as_scalars(qd),
            rotation_between(model, q, model.root_link, b.link) @ turn,
        )

    def _aligned(self) -> tuple[tuple[ScalarArray, ScalarArray], ...]:
        """Return pairs (t, w): axis t of b and axis w of a stay perpendicular."""
        return ()

    def _places(self) -> tuple[ScalarArray, ...]:
        """Return the axes of b along which the origins coincide."""
        return _X, _Y, _Z

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each condition: m for positions, then rad for directions."""
        return ('m',) * len(self._places()) + ('rad',) * len(self._aligned())

    def geometry(self, model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Geometry:
        """Return f, A, dA/dt and N, shapes (k,), (k, n), (k, n) and (k, 6)."""
        placed = self._placed(model, q)
        moving = self._moving(model, q, qd, placed.J)
        f, rows = self._closed(placed)
        rates = self._rates(placed, moving)
        turn = moving.to_base.T
        base = np.concatenate([rows[:, :3] @ turn, rows[:, 3:] @ turn], axis=1)
        return Geometry(f, rows @ placed.J, rates @ placed.J + rows @ moving.J_dot, base)

    def conditions(self, model: RobotModel, q: ArrayLike) -> tuple[ScalarArray, ScalarArray]:
        """Return f and A, shapes (k,) and (k, n), without second derivatives."""
        placed = self._placed(model, q)
        f, rows = self._closed(placed)
        return f, rows @ placed.J

    def _closed(self, placed: _Placed) -> tuple[ScalarArray, ScalarArray]:
        """Return f, shape (k,), and the rows that map [v; omega] to df/dt, (k, 6), axes of b."""
        nothing = np.zeros(3, dtype=int)
        f = [axis @ placed.p for axis in self._places()]
        rows = [np.concatenate([axis, nothing]) for axis in self._places()]
        for t, axis in self._aligned():
            # d(t . w)/dt = omega . (w x t), as w rotates with frame a.
            w = placed.R @ axis
            f.append(t @ w)
            rows.append(np.concatenate([nothing, cross(w, t)]))
        return np.array(f), np.array(rows)

    def _rates(self, placed: _Placed, moving: _Moving) -> ScalarArray:
        """Return the time derivatives of the rows of `_closed`, shape (k, 6)."""
        nothing = np.zeros(3, dtype=int)
        rates = [np.concatenate([nothing, nothing]) for _ in self._places()]
        for t, axis in self._aligned():
            w = placed.R @ axis
            rates.append(np.concatenate([nothing, cross(cross(moving.omega, w), t)]))
        return np.array(rates)

    def sense(self, model: RobotModel, q: ArrayLike) -> float:
        """Return the least cosine between axes that must be parallel."""
        if not self._aligned():
            return 1.0
        R = self._placed(model, q).R
        used = {int(np.argmax(w)) for _, w in self._aligned()}
        return float(min(R[k, k] for k in used))


def _turned(turn: FloatArray, rows: ScalarArray) -> ScalarArray:
    """Return a Jacobian, (6, n), in axes whose rotation relative to the present ones is given."""
    return np.concatenate([turn.T @ rows[:3], turn.T @ rows[3:]])


@dataclass(frozen=True)
class PointLoop(_Loop):
    """The origins of two frames coincide: a ball joint, or a pin of a planar mechanism.

    Attributes:
        components: constrained components, in the axes of b, of the vector from b to a: 'xyz',
            'xy', ...
        base_axes: whether components are in base axes instead; lambda is then the force on a in
            base axes.
    """

    components: str = field(default='xyz', kw_only=True)
    base_axes: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check the frames and components."""
        super().__post_init__()
        given = self.components
        is_text = isinstance(given, str) and given != ''
        if not is_text or set(given) - set('xyz') or len(set(given)) < len(given):
            raise self.refuse(f"has components {given!r}, expected some of 'xyz'")

    def point_on_b(self, model: RobotModel, q: ArrayLike) -> ScalarArray:
        """Return the point of action of the opposite force in b's link frame, shape (3,), m."""
        if not self.base_axes:
            return super().point_on_b(model, q)
        return np.asarray(self._frames[1].point, dtype=float)

    def _places(self) -> tuple[ScalarArray, ...]:
        return tuple({'x': _X, 'y': _Y, 'z': _Z}[axis] for axis in self.components)

    def geometry(self, model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Geometry:
        """Return f, A, dA/dt and N, shapes (k,), (k, n), (k, n) and (k, 6).

        In base axes A = J_a - J_b and dA/dt qd = (H_a - H_b)(qd (x) qd).
        """
        if not self.base_axes:
            return super().geometry(model, q, qd)
        rows = np.array(self._places())
        N = np.concatenate([rows, np.zeros((len(rows), 3), dtype=int)], axis=1)
        H_a, H_b = (
            relative_hessian(model, q, frame.link, model.root_link, point=frame.point)
            for frame in self._frames
        )
        A_dot = rows @ contract_last((H_a - H_b)[:3], as_scalars(qd))
        return Geometry(*self.conditions(model, q), A_dot, N)

    def conditions(self, model: RobotModel, q: ArrayLike) -> tuple[ScalarArray, ScalarArray]:
        """Return f and A, shapes (k,) and (k, n)."""
        if not self.base_axes:
            return super().conditions(model, q)
        rows = np.array(self._places())
        (place_a, J_a), (place_b, J_b) = (
            relative_pose_and_jacobian(model, q, frame.link, model.root_link, frame.point)
            for frame in self._frames
        )
        return rows @ (place_a - place_b)[:3, 3], rows @ (J_a - J_b)[:3]


@dataclass(frozen=True)
class HingeLoop(_Loop):
    """The origins coincide and the z axes are parallel: a pin, five conditions."""

    def _aligned(self) -> tuple[tuple[ScalarArray, ScalarArray], ...]:
        return (_X, _Z), (_Y, _Z)


@dataclass(frozen=True)
class PlanarLoop(_Loop):
    """The origin of a stays in the xy plane of b, z axes parallel: three conditions."""

    def _places(self) -> tuple[ScalarArray, ...]:
        return (_Z,)

    def _aligned(self) -> tuple[tuple[ScalarArray, ScalarArray], ...]:
        return (_X, _Z), (_Y, _Z)


@dataclass(frozen=True)
class WeldLoop(_Loop):
    """The two frames coincide: six conditions."""

    def _aligned(self) -> tuple[tuple[ScalarArray, ScalarArray], ...]:
        return (_Z, _Y), (_X, _Z), (_Y, _X)


@dataclass(frozen=True)
class SliderLoop(WeldLoop):
    """The origin of a stays on the z axis of b, all axes parallel: five conditions."""

    def _places(self) -> tuple[ScalarArray, ...]:
        return _X, _Y


@dataclass(frozen=True)
class DistanceLoop(_Loop):
    """The origins keep a distance: a massless rod between two ball joints.

    The condition is (p.p - length^2)/(2 length) = 0, near its zero the distance minus the length.

    Attributes:
        length: length of the rod, m.
    """

    length: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        """Check the frames and the length."""
        super().__post_init__()
        if not real_number(self.length, f'length of {self.name}') > 0.0:
            raise self.refuse(f'has length {self.length!r}, expected more than 0 m')
        object.__setattr__(self, 'length', python_number(self.length))

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of the condition: m."""
        return ('m',)

    def _closed(self, placed: _Placed) -> tuple[ScalarArray, ScalarArray]:
        f = (placed.p @ placed.p - self.length**2) / (2 * self.length)
        row = np.concatenate([placed.p / self.length, np.zeros(3, dtype=int)])
        return np.array([f]), np.array([row])

    def _rates(self, placed: _Placed, moving: _Moving) -> ScalarArray:
        return np.array([np.concatenate([moving.v / self.length, np.zeros(3, dtype=int)])])
