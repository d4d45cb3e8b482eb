# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Model of a robot with closed loops in actuated coordinates: the data of the equations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from kron_dynamics.closed_loops.closing_map import ClosingMap, bending_map, closing_map
from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.reduction import Choice
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ModelError, ModelWarning
from kron_dynamics.messages import named
from kron_dynamics.model.joint_kinds import MODAL
from kron_dynamics.model.robot_model import Joint, RobotModel, read_only
from kron_dynamics.typing import ArrayLike, FloatArray

_PER_COORDINATE = ('velocity_limit', 'effort_limit', 'damping', 'friction', 'armature')


@dataclass(frozen=True, slots=True, eq=False)
class ClosedLoopModel(RobotModel):
    """A spanning tree of bodies with constraints that close its loops.

    The coordinates are the positions of the drives, then the modal coordinates of flexible links.
    Joints, bodies and frames are those of the tree. Limits are those of the drives; position
    limits are narrowed to where another joint of a loop is at its own limit, or the loop near a
    singularity, with undeformed links. Friction of joints without a drive is ignored.

    Attributes:
        tree: the spanning tree: the robot without the constraints.
        closing: map from the coordinates of the drives to all coordinates of the tree.
        description: description of the constraints as text, for the fingerprint.
        stiff: the same robot with rigid links; None if no link is flexible.
    """

    tree: RobotModel
    closing: ClosingMap
    description: str
    stiff: ClosedLoopModel | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that the equations take from the tree if they differ from those there.

        Raises:
            ModelError: gravity or armature is not that of the tree.
        """
        RobotModel.__post_init__(self)
        free = list(self.closing.choice.independent)
        for name, known in (
            ('gravity', self.tree.gravity),
            ('armature', self.tree.armature[free]),
        ):
            given = getattr(self, name)
            if not np.array_equal(given, known):
                raise ModelError(
                    f"{name} of model '{self.name}' is {given.tolist()}, expected that of its "
                    f'tree, {known.tolist()}: change it where the robot is loaded'
                )

    @classmethod
    def assembled(
        cls,
        tree: RobotModel,
        system: ConstraintSystem,
        start: FloatArray,
        drives: tuple[int, ...],
        stiff: ClosedLoopModel | None = None,
    ) -> ClosedLoopModel:
        """Return the model of a tree with constraints.

        Args:
            tree: the robot without them.
            system: the constraints, holonomic and independent of time.
            start: closed coordinates, shape (n,), rad or m.
            drives: coordinates with a drive, as many as the mechanism with rigid links has
                degrees of freedom.
            stiff: the same robot with rigid links, if some are flexible.

        Raises:
            ConstraintError: see `closing_map`.
        """
        free = (*drives, *range(tree.joint_count, tree.n))
        others = tuple(k for k in range(tree.n) if k not in free)
        choice = Choice(system.constraints, system.row_scale, free, others)
        if stiff is None:
            closing, lower, upper = closing_map(system, choice, start)
        else:
            endless = np.full(len(free) - len(drives), np.inf)
            lower = np.concatenate([stiff.position_lower, -endless])
            upper = np.concatenate([stiff.position_upper, endless])
            closing = bending_map(system, choice, stiff.closing, lower, upper)
        shared = {f.name: getattr(tree, f.name) for f in fields(RobotModel) if f.init}
        for name in _PER_COORDINATE:
            shared[name] = read_only(shared[name][list(free)])
        shared |= {
            'joint_names': tuple(tree.joint_names[k] for k in free),
            'position_lower': read_only(lower),
            'position_upper': read_only(upper),
            # A joint without mass in the tree may move mass through a loop; M is checked instead.
            'warnings': (
                *(w for w in tree.warnings if w.kind != 'massless_joint'),
                *_passive_friction(tree, others),
            ),
        }
        description = system.description or ''
        return cls(**shared, tree=tree, closing=closing, description=description, stiff=stiff)

    @property
    def has_closed_loops(self) -> bool:
        """Whether the robot has closed loops: always true."""
        return True

    @property
    def rigid(self) -> ClosedLoopModel:
        """The same robot with rigid links: itself if none is flexible."""
        return self.stiff or self

    @property
    def joint_count(self) -> int:
        """Number of joint coordinates, the positions of the drives, which come first."""
        return self.n - (self.tree.n - self.tree.joint_count)

    @property
    def flexible_link_names(self) -> tuple[str, ...]:
        """Names of the flexible links."""
        return self.tree.flexible_link_names

    def bends_at(self, link: str, point: ArrayLike) -> bool:
        """Return whether a link bends at a point in its frame, shape (3,), m."""
        return self.tree.bends_at(link, point)

    @property
    def independent_joints(self) -> tuple[Joint, ...]:
        """The joints of the drives, in coordinate order."""
        of_tree = self.tree.independent_joints
        return tuple(of_tree[k] for k in self.closing.choice.independent[: self.joint_count])

    @property
    def joint_types(self) -> tuple[str, ...]:
        """Kind of each coordinate: its joint's kind, or 'modal'."""
        kinds = tuple(joint.kind for joint in self.independent_joints)
        return (*kinds, *[MODAL] * (self.n - self.joint_count))

    @property
    def structural_damping(self) -> FloatArray:
        """Damping of the modal coordinates, 0 for drives, shape (n,), N s/m."""
        drives = np.zeros(self.joint_count)
        return np.concatenate([drives, self.damping[self.joint_count :]])

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints that close the loops."""
        return self.closing.choice.constraints

    @property
    def fingerprint(self) -> str:
        """Hex digest of all numbers and names that the equations depend on."""
        closing = self.closing
        digest = hashlib.sha256(f'{self.tree.fingerprint} {self.joint_names}'.encode())
        digest.update(f'{self.description} {closing.choice.independent} {closing.series}'.encode())
        digest.update(closing.targets.tobytes() + closing.start.tobytes() + self.own_numbers)
        return digest.hexdigest()


def _passive_friction(tree: RobotModel, others: tuple[int, ...]) -> Iterator[ModelWarning]:
    """Yield warnings about friction of joints without a drive, which is ignored."""
    for k in others:
        damping, friction = float(tree.damping[k]), float(tree.friction[k])
        if damping or friction:
            yield ModelWarning(
                'passive_friction',
                named('joint', tree.joint_names[k]),
                f'its friction (damping {damping:g}, friction {friction:g}) is ignored: it has no '
                'drive',
                'add the equivalent friction to the joint of the drive',
                'hint',
            )
