# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The model of an SDFormat file: frames of links and joints, a spanning tree, and its loops."""

from __future__ import annotations

import numpy as np
from lxml import etree
from urdf_parser_py import urdf

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped
from kron_dynamics.model.poses import inverse, pose_of
from kron_dynamics.model.sdf_values import truth_below, truth_of
from kron_dynamics.model.tree import placement
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.reproducible import norm, product
from kron_dynamics.typing import FloatArray

WORLD = 'world'
_MODEL = '__model__'
_NESTED = ('model', 'include')


class SdfModel:
    """An SDF model: its links and joints, which may form loops.

    Attributes:
        node: the element <model>.
        links: the elements <link> by name.
        joints: the elements <joint> by name, in the file's order.
        tree: joints of a spanning tree from the world, breadth first: each link by the first
            joint that reaches it.
        loops: the remaining joints, which close loops: their child is in the tree already.
        base: the link that is implicitly fixed to the world; None if joints connect all links
            to the world.
    """

    def __init__(self, root: Node) -> None:
        """Read names, parents and children.

        Args:
            root: the element <sdf>.

        Raises:
            ModelError: there is no model or several, a name is unknown or duplicate, or a link
                is not connected.
        """
        self.node = _the_model(root)
        # Up to version 1.4, axes are given in the model's frame.
        self._is_old = (root.text('version') or '').startswith(('1.0', '1.2', '1.3', '1.4'))
        self._frames = dict[str, Node]()
        for node in self.node.children('link', 'joint', 'frame', *_NESTED):
            if node.tag in _NESTED:
                raise node.error('is in a model, which is not read: expected one model in itself')
            if node.name in self._frames:
                raise node.error('has the name of another frame, expected one of its own')
            self._frames[node.name] = node
        self.links = {name: node for name, node in self._frames.items() if node.tag == 'link'}
        self.joints = {name: node for name, node in self._frames.items() if node.tag == 'joint'}
        if not self.links:
            raise self.node.error('has no <link>')
        self.base = self._base()
        self.tree, self.loops = self._spanning_tree()

    def _base(self) -> str | None:
        joints = self.joints.values()
        children = {self.child(joint) for joint in joints}
        roots = [link for link in self.links if link not in children]
        if any(self.parent(joint) == WORLD for joint in joints):
            if roots:
                raise self.links[roots[0]].error(
                    'is no child of a joint while others hang on the world'
                )
            return None
        for joint in joints:
            if self.child(joint) == WORLD:
                raise joint.error('has the world as child, expected it as parent of a joint')
        if len(roots) != 1:
            raise self.node.error(
                f'has {len(roots)} links that are no child of a joint, expected one, the base'
            )
        return roots[0]

    def _spanning_tree(self) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        reached = [WORLD] if self.base is None else [self.base]
        tree, loops = list[Node](), list[Node]()
        for link in reached:  # breadth-first queue, extended below
            for joint in self.joints.values():
                if self.parent(joint) == link:
                    child = self.child(joint)
                    (loops if child in reached else tree).append(joint)
                    if child not in reached:
                        reached.append(child)
        for link, node in self.links.items():
            if link not in reached:
                raise node.error('is not reached from the base along joints, parent to child')
        return tuple(tree), tuple(loops)

    def parent(self, joint: Node) -> str:
        """Return the name of a joint's parent link, or the world."""
        return self._body(joint, joint.needed_child('parent').content())

    def child(self, joint: Node) -> str:
        """Return the name of a joint's child link; the world if that closes a loop."""
        return self._body(joint, joint.needed_child('child').content())

    def _body(self, node: Node, name: str, depth: int = 0) -> str:
        """Return the name of the link that a frame is fixed to."""
        if name in (WORLD, *self.links):
            return name
        if name == _MODEL:
            return self.node.text('canonical_link') or next(iter(self.links))
        frame = self._frames.get(name)
        if frame is None or depth > len(self._frames):
            raise node.error(f"names '{clipped(name)}', expected a link or frame of the model")
        if frame.tag == 'joint':
            return self._body(frame, frame.needed_child('child').content(), depth + 1)
        return self._body(frame, frame.text('attached_to') or _MODEL, depth + 1)

    def pose(self, name: str, depth: int = 0) -> FloatArray:
        """Return the pose of a link, joint or frame in the model's frame, shape (4, 4), m.

        Raises:
            ModelError: the name is unknown, or the poses of frames are circular.
        """
        if name == _MODEL:
            return np.eye(4)
        if name == WORLD:
            return self._world()
        node = self._frames.get(name)
        if node is None:
            raise self.node.error(f"has no frame '{clipped(name)}', which a pose refers to")
        if depth > len(self._frames):
            raise node.error('has a pose in a frame that is placed in it')
        default = {
            'link': lambda: _MODEL,
            'joint': lambda: node.needed_child('child').content(),
            'frame': lambda: node.text('attached_to') or _MODEL,
        }[node.tag]()
        given = node.child('pose')
        within = (given.text('relative_to') if given is not None else None) or default
        placed: FloatArray = product(self.pose(within, depth + 1), read_pose(node))
        return placed

    def _world(self) -> FloatArray:
        """Return the pose of the world in the model's frame, shape (4, 4), m."""
        given = self.node.child('pose')
        if given is not None and given.text('relative_to') not in (None, '', WORLD):
            raise given.error('of a model has relative_to, which is not read, expected none')
        placed = self.node.text('placement_frame')
        frame = self.pose(placed) if placed and placed != WORLD else np.eye(4)
        return product(frame, inverse(read_pose(self.node)))

    def pose_in(self, link: str, name: str) -> FloatArray:
        """Return the pose of a frame in the frame of a link or the world, shape (4, 4), m."""
        placed: FloatArray = product(inverse(self.pose(link)), self.pose(name))
        return placed

    def axis(self, joint: Node) -> FloatArray:
        """Return the unit vector of a joint's axis in the joint's frame, shape (3,).

        Raises:
            ModelError: there is no axis, or it is zero.
        """
        axis = joint.needed_child('axis')
        xyz = axis.child('xyz')
        if xyz is None:
            return np.array([0.0, 0.0, 1.0])
        direction = xyz.parse(xyz.content(), 'the text', 3)
        if not direction.any():
            raise xyz.error(f"of joint '{clipped(joint.name)}' is 0, expected a direction")
        within = xyz.text('expressed_in')
        if truth_below(axis, 'use_parent_model_frame', self._is_old):
            within = _MODEL
        if within:
            direction = product(self.pose_in(joint.name, within)[:3, :3], direction)
        unit: FloatArray = direction / norm(direction)
        return unit


def world_gravity(root: etree._Element) -> FloatArray | None:
    """Return the gravity acceleration of an SDF's world, shape (3,), m/s^2; None without any.

    Raises:
        ModelError: the element does not hold three numbers.
    """
    world = Node('SDF', root).child('world')
    given = None if world is None else world.child('gravity')
    return None if given is None else given.parse(given.content(), 'the text', 3)


def _the_model(root: Node) -> Node:
    holders = [root, *root.children('world')]
    models = [model for holder in holders for model in holder.children('model')]
    if len(models) != 1:
        raise ModelError(f'{root.file}: <sdf> has {len(models)} elements <model>, expected one')
    return models[0]


def read_pose(node: Node) -> FloatArray:
    """Return the <pose> of an element in its own frame of reference, shape (4, 4), m.

    Raises:
        ModelError: the pose is malformed.
    """
    given = node.child('pose')
    if given is None or not given.content():
        return np.eye(4)
    if given.text('frame'):
        raise given.error("has the attribute 'frame' of SDF 1.6, expected relative_to")
    if given.text('rotation_format') not in (None, 'euler_rpy'):
        raise given.error('has another rotation_format than euler_rpy, which alone is read')
    values = given.parse(given.content(), 'the text', 6)
    angles = np.deg2rad(values[3:]) if truth_of(given, 'degrees') else values[3:]
    return pose_of(*placement(urdf.Pose(xyz=values[:3].tolist(), rpy=angles.tolist())))
