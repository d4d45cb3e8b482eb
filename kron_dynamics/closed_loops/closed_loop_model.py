# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A robot whose loops are closed, in the coordinates of its drives: what the equations read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields

from kron_dynamics.closed_loops.closing_map import ClosingMap, closing_map
from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.reduction import Choice
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ModelWarning
from kron_dynamics.messages import named
from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.model.robot_model import RobotModel, read_only
from kron_dynamics.typing import FloatArray

_PER_COORDINATE = ('velocity_limit', 'effort_limit', 'damping', 'friction', 'armature')


@dataclass(frozen=True, slots=True, eq=False)
class ClosedLoopModel(RobotModel):
    """A tree of rigid bodies whose loops are closed.

    The coordinates are the positions of the drives, and every effort is one of a drive. Joints,
    bodies and frames are those of the tree. Limits are those of the drives; position limits end
    where another joint of a loop is at its own, or the loop at a singularity. Friction of joints
    without a drive has no part.

    Attributes:
        tree: the robot without the constraints that close its loops.
        closing: all coordinates of the tree for those of the drives.
        told: all that the constraints are, as text.
    """

    tree: RigidModel
    closing: ClosingMap
    told: str

    @classmethod
    def assembled(
        cls,
        tree: RigidModel,
        system: ConstraintSystem,
        start: FloatArray,
        drives: tuple[int, ...],
    ) -> ClosedLoopModel:
        """Return the model of a tree with constraints.

        Args:
            tree: the robot without them.
            system: the constraints, of positions, and of a fixed geometry.
            start: closed coordinates, shape (n,), rad or m.
            drives: coordinates with a drive, as many as the mechanism has degrees of freedom.

        Raises:
            ConstraintError: see `closing_map`.
        """
        others = tuple(k for k in range(tree.n) if k not in drives)
        choice = Choice(system.constraints, system.row_scale, drives, others)
        closing, lower, upper = closing_map(system, choice, start)
        shared = {f.name: getattr(tree, f.name) for f in fields(tree) if f.init}
        for name in _PER_COORDINATE:
            shared[name] = read_only(shared[name][list(drives)])
        shared |= {
            'joint_names': tuple(tree.joint_names[k] for k in drives),
            'position_lower': read_only(lower),
            'position_upper': read_only(upper),
            # What moves no mass of its own moves some through a loop; M tells.
            'warnings': (
                *(w for w in tree.warnings if w.kind != 'massless_joint'),
                *_passive_friction(tree, others),
            ),
        }
        return cls(**shared, tree=tree, closing=closing, told=system.description or '')

    @property
    def has_closed_loops(self) -> bool:
        """Whether the equations go through loops."""
        return True

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What closes the loops."""
        return self.closing.choice.constraints

    @property
    def fingerprint(self) -> str:
        """Hex digest of all numbers and names that the equations depend on."""
        closing = self.closing
        digest = hashlib.sha256(f'{self.tree.fingerprint} {self.joint_names}'.encode())
        digest.update(f'{self.told} {closing.choice.independent} {closing.series}'.encode())
        digest.update(closing.targets.tobytes() + closing.start.tobytes())
        return digest.hexdigest()


def _passive_friction(tree: RigidModel, others: tuple[int, ...]) -> Iterator[ModelWarning]:
    """Tell of friction that has no part in the equations."""
    for k in others:
        damping, friction = float(tree.damping[k]), float(tree.friction[k])
        if damping or friction:
            yield ModelWarning(
                'passive_friction',
                named('joint', tree.joint_names[k]),
                f'its friction (damping {damping:g}, friction {friction:g}) has no part: it has '
                'no drive',
                'give what it comes to at the drive to the joint of the drive',
                'hint',
            )
