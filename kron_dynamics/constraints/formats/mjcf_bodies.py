# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of the bodies and sites of an MJCF file in its reference configuration, qpos0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from kron_dynamics.constraints.formats.mjcf_file import MjcfFile
from kron_dynamics.constraints.formats.mjcf_includes import below
from kron_dynamics.constraints.formats.poses import frame_on
from kron_dynamics.constraints.loops import Attachment
from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.poses import inverse
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.reproducible import norm, product
from kron_dynamics.typing import FloatArray

WORLD = 'world'
# Elements that generate bodies which are not written in the file.
_MAKERS = ('attach', 'replicate', 'composite', 'flexcomp')


class _Site(NamedTuple):
    """A site: its element, the name of its body, and the pose of the frame around it there."""

    node: Node
    body: str
    within: FloatArray


class JointReference(NamedTuple):
    """A hinge or slide.

    Attributes:
        position: position in qpos0, rad or m.
        unit: unit of positions, 'rad' of a hinge or 'm' of a slide.
        axis: unit vector of the axis in the frame of its body, shape (3,).
        bodies: names of the bodies before and after it.
    """

    position: float
    unit: str
    axis: FloatArray
    bodies: tuple[str, str]


class MjcfBodies:
    """The tree of an MJCF file.

    Attributes:
        poses: poses of bodies in the world at qpos0, shape (4, 4) each, m. If the robot's root
            link is not a body, it has the pose of the world.
        joints: hinges and slides by name.
    """

    def __init__(self, file: MjcfFile, root_link: str = WORLD) -> None:
        """Traverse the tree.

        Args:
            file: the file.
            root_link: root link of the robot, which is fixed in the world.

        Raises:
            ModelError: a pose, a joint or a class cannot be read.
        """
        self._file = file
        self.poses: dict[str, FloatArray] = {WORLD: np.eye(4)}
        self._sites: dict[str, _Site] = {}
        self.joints: dict[str, JointReference] = {}
        self._makers: set[str] = set()
        for world in below(file.root, 'worldbody'):
            self._walk(world, (WORLD, WORLD), np.eye(4), np.eye(4), None)
        self._root_link = root_link
        self.poses.setdefault(root_link, np.eye(4))

    def _walk(
        self,
        node: Node,
        bodies: tuple[str, str],
        at: FloatArray,
        within: FloatArray,
        around: str | None,
    ) -> None:
        """Record the children of an element.

        Args:
            node: a body, or a frame in it.
            bodies: names of its parent and of the body.
            at: pose of the body in the world.
            within: pose of the frame in the body.
            around: childclass of the enclosing elements.
        """
        body = bodies[1]
        for child in below(node):
            if child.tag in ('body', 'frame'):
                inside = child.text('childclass') or around
                own = product(within, self._file.pose(child))
                if child.tag == 'frame':
                    self._walk(child, bodies, at, own, inside)
                    continue
                name = child.text('name') or ''
                if name:
                    self.poses[name] = product(at, own)
                self._walk(child, (body, name), product(at, own), np.eye(4), inside)
            elif child.tag == 'site' and child.text('name'):
                site = self._file.with_defaults(child, 'site', around)
                self._sites[site.name] = _Site(site, body, within)
            elif child.tag == 'joint' and child.text('name'):
                given = self._file.with_defaults(child, 'joint', around)
                self._read_joint(given, bodies, within)
            elif child.tag in _MAKERS:
                self._makers.add(child.tag)

    def _read_joint(self, joint: Node, bodies: tuple[str, str], within: FloatArray) -> None:
        kind, given = joint.text('type') or 'hinge', joint.numbers('ref', 1)
        if kind not in ('hinge', 'slide'):
            return
        position, axis = 0.0 if given is None else float(given[0]), joint.numbers('axis', 3)
        axis = np.array([0.0, 0.0, 1.0]) if axis is None else axis
        if not axis.any():
            raise joint.error('has axis 0, expected a direction')
        axis = product(within[:3, :3], axis / norm(axis))
        unit = 'rad' if kind == 'hinge' else 'm'
        position = self._file.angle(position) if kind == 'hinge' else position
        self.joints[joint.name] = JointReference(position, unit, axis, bodies)

    def body(self, node: Node, attribute: str, default: str | None = None) -> str:
        """Return the body that an attribute names.

        Raises:
            ModelError: the attribute or the body does not exist.
        """
        name = node.text(attribute) or default or node.need(attribute)
        if name not in self.poses:
            raise self._unknown(node, attribute, name, self.poses)
        return name

    def site(self, node: Node, attribute: str) -> Attachment:
        """Return the frame of the site that an attribute names.

        Raises:
            ModelError: the attribute or the site does not exist, its body has no name, or its
                pose cannot be read.
        """
        name = node.need(attribute)
        if name not in self._sites:
            raise self._unknown(node, attribute, name, self._sites)
        site, body, within = self._sites[name]
        if not body:
            raise node.error(f"names the site '{clipped(name)}' of a body without a name")
        if site.text('fromto') is not None:
            raise site.error('has fromto, which is not read, expected pos and quat')
        return self.frame(body, product(within, self._file.pose(site)))

    def joint(self, node: Node, attribute: str) -> JointReference:
        """Return the joint that an attribute names.

        Raises:
            ModelError: the attribute does not exist, or names no hinge or slide.
        """
        name = node.need(attribute)
        if name not in self.joints:
            raise self._unknown(node, attribute, name, self.joints)
        return self.joints[name]

    def _unknown(self, node: Node, attribute: str, name: str, known: Iterable[str]) -> ModelError:
        makers = listed(f'<{tag}>' for tag in sorted(self._makers))
        more = f' (what {makers} makes is not read)' if makers else ''
        return node.error(
            f"has {attribute} '{clipped(name)}', expected one of {listed(known)}{more}"
        )

    def frame(self, body: str, pose: FloatArray) -> Attachment:
        """Return a frame on a body's link; for the world, on the root link.

        Args:
            body: name of the body.
            pose: pose of the frame in the body's frame, shape (4, 4), m.
        """
        if body == WORLD:
            return frame_on(self._root_link, product(self.between(self._root_link, WORLD), pose))
        return frame_on(body, pose)

    def between(self, first: str, second: str) -> FloatArray:
        """Return the pose of the second body in the first at qpos0, shape (4, 4), m."""
        return product(inverse(self.poses[first]), self.poses[second])
