# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot as plain, frozen data for the equations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from kron_dynamics.arguments import instance
from kron_dynamics.exceptions import InvalidInertiaError, ModelWarning, UnknownFrameError
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.joint_kinds import Motion, joint_kind
from kron_dynamics.model.pickling import restored_model
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray

STANDARD_GRAVITY = (0.0, 0.0, -9.80665)
# Coordinate index of a section of a flexible link, which moves with the link's modal coordinates.
NO_COORDINATE = -1
_MASSLESS = 'massless_joint'


def read_only(values: object) -> FloatArray:
    """Return a copy of values, same shape, as a read-only float array."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """A joint and its place in the tree.

    Joint k carries body k. It has one degree of freedom, or it is a section: the mount of a child
    on a flexible link, which moves with the link's modal coordinates, with rotation and
    translation of the undeformed link. The position of other joints is ``multiplier *
    q[coordinate] + offset``: an independent joint has multiplier 1 and offset 0, a mimic joint
    uses its master's coordinate. The kinds of joints are defined in `model.joint_kinds`.

    Attributes:
        name: name in the URDF.
        kind: 'revolute', 'continuous', 'prismatic', 'screw' or 'section'.
        parent: index of the body it is mounted on, -1 for the base.
        rotation: shape (3, 3), axes of the joint frame in the parent body's frame.
        translation: shape (3,), origin of the joint frame in the parent body's frame, m.
        axis: shape (3,), unit vector in the joint frame; 0 for a section.
        coordinate: index of the generalized coordinate that moves it; -1 for a section.
        multiplier: joint position per unit of that coordinate.
        offset: joint position at coordinate zero, rad or m.
        mimics: name of the joint it follows, or None.
        pitch: displacement of a screw along its axis per angle, m/rad; else 0.

    Raises:
        ModelError: the kind is unknown.
    """

    name: str
    kind: str
    parent: int
    rotation: FloatArray
    translation: FloatArray
    axis: FloatArray
    coordinate: int
    multiplier: float = 1.0
    offset: float = 0.0
    mimics: str | None = None
    pitch: float = 0.0

    def __post_init__(self) -> None:
        """Refuse an unknown kind."""
        joint_kind(self.kind)

    @property
    def motion(self) -> Motion:
        """Motion of the joint's body as a function of position."""
        return joint_kind(self.kind).motion


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A rigid body: a link with everything that is fixed to it lumped in.

    Attributes:
        mass: kg.
        center_of_mass: shape (3,), in the body's frame (the frame of its joint's child link), m.
        inertia: shape (3, 3), about the centre of mass in the body's axes, kg m^2.
        links: names of the lumped links that have inertia, for reports.
        parts: the lumped links as separate bodies in the body's frame, if there are several.
    """

    mass: float
    center_of_mass: FloatArray
    inertia: FloatArray
    links: tuple[str, ...] = ()
    parts: tuple[Body, ...] = ()

    @property
    def first_moment(self) -> FloatArray:
        """Mass times centre of mass, shape (3,), body frame, kg m."""
        return self.mass * self.center_of_mass

    @property
    def second_moment(self) -> FloatArray:
        """Integral of r r^T dm about the body frame's origin, shape (3, 3), kg m^2."""
        c = self.center_of_mass
        half_trace = np.trace(self.inertia) / 2
        centered: FloatArray = half_trace * np.eye(3, dtype=int) - self.inertia
        return centered + self.mass * np.outer(c, c)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A link as a frame fixed to a body.

    Attributes:
        body: index of the body, -1 for the base.
        rotation: shape (3, 3), axes of the link in the body's frame.
        translation: shape (3,), origin of the link in the body's frame, m.
    """

    body: int
    rotation: FloatArray
    translation: FloatArray

    def locate(self, point: ArrayLike | None) -> ScalarArray:
        """Return a point given in the link's frame, in the body's frame, shape (3,), m.

        None is the link's origin.
        """
        if point is None:
            return self.translation
        return np.asarray(self.translation + self.rotation @ np.asarray(point))


@dataclass(frozen=True, slots=True, eq=False)
class RobotModel(ABC):
    """A tree of bodies on a fixed base, rigid (`RigidModel`) or some of them flexible.

    Joints are ordered so that a parent comes before its children. Arrays of limits, friction and
    armature have shape (n,), in the order of `joint_names`, and are read-only.

    Attributes:
        name: the robot's name in the URDF.
        joints: every moving joint, mimic joints included.
        bodies: body k is moved by joint k.
        frames: every link of the URDF by name.
        joint_names: names of the n independent joints, in the order of the coordinates.
        root_link: the fixed link; the base axes are its axes.
        tip_link: the default frame: the moving link with the most joints between it and the root.
        gravity: gravity acceleration in base axes, shape (3,), m/s^2.
        position_lower: lower position limits, rad or m (-inf where there is none).
        position_upper: upper position limits, rad or m (+inf where there is none).
        velocity_limit: rad/s or m/s (+inf where there is none).
        effort_limit: N m or N (+inf where there is none).
        damping: viscous friction, N m s/rad or N s/m.
        friction: Coulomb friction, N m or N.
        armature: rotor inertia reflected to the joint, kg m^2 or kg.
        warnings: warnings about the description, in the order of the document.
    """

    name: str
    joints: tuple[Joint, ...]
    bodies: tuple[Body, ...]
    frames: Mapping[str, Frame]
    joint_names: tuple[str, ...]
    root_link: str
    tip_link: str
    gravity: FloatArray
    position_lower: FloatArray
    position_upper: FloatArray
    velocity_limit: FloatArray
    effort_limit: FloatArray
    damping: FloatArray
    friction: FloatArray
    armature: FloatArray
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Freeze the frames."""
        object.__setattr__(self, 'frames', MappingProxyType(dict(self.frames)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the values of the fields, with the fingerprint."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        values['frames'] = dict(self.frames)
        return restored_model, (type(self), self.fingerprint, values)

    @property
    def n(self) -> int:
        """Number of generalized coordinates."""
        return len(self.joint_names)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, in the order of the tree."""
        return tuple(self.frames)

    @property
    def is_flexible(self) -> bool:
        """Whether the model has flexible links, with modal coordinates beside those of joints."""
        return bool(self.flexible_link_names)

    @property
    def has_closed_loops(self) -> bool:
        """Whether the model has closed loops beside its tree."""
        return False

    def coordinates(self) -> Iterator[int]:
        """Yield the indices of the coordinates."""
        return iter(range(self.n))

    def per_coordinate(self, function: Callable[..., Any]) -> Any:
        """Return the constants of every coordinate that `function` computes from the model."""
        return function(self)

    @property
    def mimics(self) -> tuple[tuple[str, str, float, float], ...]:
        """(joint, master, multiplier, offset) of each mimic joint."""
        return tuple(
            (joint.name, joint.mimics, joint.multiplier, joint.offset)
            for joint in self.joints
            if joint.mimics is not None
        )

    @property
    def total_mass(self) -> float:
        """Mass of all moving bodies, kg."""
        return float(sum(body.mass for body in self.bodies))

    @property
    def is_massless(self) -> bool:
        """Whether a joint moves no mass in any pose, so that M is singular."""
        return any(found.kind == _MASSLESS for found in self.warnings)

    def require_mass(self) -> None:
        """Refuse a singular M before its inverse is needed; see `is_massless`.

        Raises:
            InvalidInertiaError: a joint moves no mass; the message names it.
        """
        if self.is_massless:
            subject = next(w.subject for w in self.warnings if w.kind == _MASSLESS)
            raise InvalidInertiaError(
                f'{subject} moves no mass: the mass matrix is singular and has no inverse, '
                f'which forward dynamics and linear models need; give its link a mass and an '
                f'inertia, or the joint an armature'
            )

    def frame(self, link: str) -> Frame:
        """Return the frame of a link.

        Raises:
            ArgumentTypeError: the link is not given by its name.
            UnknownFrameError: the model has no such link.
        """
        instance(link, str, 'link', 'the name of a link')
        try:
            return self.frames[link]
        except KeyError:
            raise UnknownFrameError(
                f"link '{clipped(str(link))}' does not exist in model '{clipped(self.name)}'; "
                f'its links: {listed(self.frames)}'
            ) from None

    @property
    def joint_count(self) -> int:
        """Number of joint coordinates, which come first."""
        return self.n

    @property
    def flexible_link_names(self) -> tuple[str, ...]:
        """Names of the flexible links."""
        return ()

    def bends_at(self, link: str, point: ArrayLike) -> bool:
        """Return whether a link bends at a point in its frame, shape (3,), m."""
        return False

    @property
    def structural_damping(self) -> FloatArray:
        """Modal damping of flexible links, 0 for joint coordinates, shape (n,), N s/m."""
        return np.zeros(self.n)

    @property
    def independent_joints(self) -> tuple[Joint, ...]:
        """The joints that own a coordinate, in the order of `joint_names`."""
        own = {joint.name: joint for joint in self.joints}
        return tuple(own[name] for name in self.joint_names)

    @property
    def joint_types(self) -> tuple[str, ...]:
        """Kind of each coordinate's joint, of `model.joint_kinds`, or 'modal'."""
        return tuple(joint.kind for joint in self.independent_joints)

    @property
    def own_numbers(self) -> bytes:
        """Gravity and the numbers per coordinate that equations read, for the fingerprint.

        Of every kind of model: `dataclasses.replace` changes these, and not those of its parts.
        """
        own = (self.gravity, self.damping, self.friction, self.velocity_limit, self.armature)
        return b''.join(array.tobytes() for array in own)

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Hex digest of all numbers and names that the equations depend on."""
