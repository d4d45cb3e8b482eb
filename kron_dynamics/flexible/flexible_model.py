# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Model of a robot with flexible links: the data that the equations use."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields

import numpy as np

from kron_dynamics.exceptions import ModelError
from kron_dynamics.flexible.deformation import ModalState
from kron_dynamics.flexible.flexible_body import FlexibleBody
from kron_dynamics.model.joint_kinds import MODAL
from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.model.robot_model import Joint, RobotModel, read_only
from kron_dynamics.reproducible import inner
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray

# Tolerance of a point's distance from the root, relative to the length.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class FlexibleModel(RobotModel):
    """A tree of rigid and flexible bodies.

    The coordinates are those of the joints, in the order of the rigid robot, then the modal
    coordinates, named ``link/v1``, ``link/v2``, ..., ``link/w1``, ...; `joint_names` has all n
    names, and arrays of shape (n,) have all values. Joints, bodies and frames are those of the
    rigid robot, which describe the machine; the equations traverse `skeleton`.

    Modal coordinates have no limits, no drive (effort limit 0) and the structural damping.

    Attributes:
        rigid: the same robot with all links rigid.
        skeleton: tree of rigid bodies with a separate body for every section of a beam that
            carries something; it does not contain the beams' own mass.
        flexible_links: the flexible links.
    """

    rigid: RigidModel
    skeleton: RigidModel
    flexible_links: tuple[FlexibleBody, ...]

    @classmethod
    def assembled(
        cls, rigid: RigidModel, skeleton: RigidModel, links: tuple[FlexibleBody, ...]
    ) -> FlexibleModel:
        """Return the model of a rigid robot, its skeleton and its flexible links.

        Raises:
            ModelError: a joint has the name of a modal coordinate.
        """
        names = [*rigid.joint_names, *(name for link in links for name in _modal_names(link))]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f"joint '{name}' has the name of a modal coordinate")
        count = len(names) - rigid.n
        damping = [link.planes[plane].damping for link in links for plane in range(2)]
        added = {
            'position_lower': np.full(count, -np.inf),
            'position_upper': np.full(count, np.inf),
            'velocity_limit': np.full(count, np.inf),
            'effort_limit': np.zeros(count),
            'damping': np.concatenate(damping),
            'friction': np.zeros(count),
            'armature': np.zeros(count),
        }
        shared = {f.name: getattr(rigid, f.name) for f in fields(rigid) if f.init}
        for name, values in added.items():
            shared[name] = read_only(np.concatenate([shared[name], values]))
        shared['joint_names'] = tuple(names)
        return cls(**shared, rigid=rigid, skeleton=skeleton, flexible_links=links)

    @property
    def joint_count(self) -> int:
        """Number of joint coordinates, which come first."""
        return self.rigid.n

    @property
    def flexible_link_names(self) -> tuple[str, ...]:
        """Names of the flexible links."""
        return tuple(link.link for link in self.flexible_links)

    def bends_at(self, link: str, point: ArrayLike) -> bool:
        """Return whether a link bends at a point in its frame, shape (3,), m.

        What is at or before the root of a beam is rigid.
        """
        place = self.skeleton.frame(link).locate(point)
        return any(
            inner(beam.rotation[:, 0], place - beam.translation) > _ROUNDING * beam.length
            for beam in self.flexible_links
            if beam.link == link
        )

    @property
    def independent_joints(self) -> tuple[Joint, ...]:
        """The joints with a coordinate of their own, in coordinate order."""
        return self.rigid.independent_joints

    @property
    def joint_types(self) -> tuple[str, ...]:
        """Kind of each coordinate: its joint's kind, or 'modal'."""
        return (*self.rigid.joint_types, *[MODAL] * (self.n - self.rigid.n))

    @property
    def structural_damping(self) -> FloatArray:
        """Damping of the modal coordinates, 0 for joints, shape (n,), N s/m."""
        return np.concatenate([np.zeros(self.rigid.n), self.damping[self.rigid.n :]])

    @property
    def fingerprint(self) -> str:
        """Hex digest of all numbers and names that the equations depend on."""
        digest = hashlib.sha256(f'{self.rigid.fingerprint} {self.skeleton.fingerprint}'.encode())
        digest.update(repr(self.joint_names).encode() + self.own_numbers)
        for link in self.flexible_links:
            sections = list(link.sections)
            digest.update(f'{link.link} {link.body} {link.mode_counts} {sections}'.encode())
            for array in (
                link.rotation,
                link.translation,
                link.axes,
                link.shape_integrals,
                link.pair_stiffness,
            ):
                digest.update(np.ascontiguousarray(array).tobytes())
            for plane in link.planes:
                digest.update(plane.stiffness.tobytes())
            for at in link.sections.values():
                for array in (*at.shapes, *at.slopes, *at.shortening, at.twist):
                    digest.update(array.tobytes())
                digest.update(repr(at.x).encode())
        return digest.hexdigest()

    def states(self, *derivatives: ArrayLike) -> list[ModalState]:
        """Return every flexible link's modal state from q and its derivatives, (n,) each."""
        arrays: list[ScalarArray] = [np.asarray(x) for x in derivatives]
        return [link.state(*arrays) for link in self.flexible_links]


def _modal_names(link: FlexibleBody) -> list[str]:
    return [
        f'{link.link}/{plane}{i + 1}'
        for plane, count in zip(('v', 'w'), link.mode_counts, strict=True)
        for i in range(count)
    ]
