# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of joints: how each moves with its position, and in which units.

The equations, the kernels and the reports know kinds by what stands here alone. The body behind a
joint moves along one axis z, which stays where it is in the body before and in the body itself;
per unit of position it has the twist [linear; angular] = [h z; z] of a screw of pitch h, of which
turning (h = 0) and sliding ([z; 0]) are the limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kron_dynamics.elementary import cos, sin
from kron_dynamics.exceptions import ModelError
from kron_dynamics.kronecker import skew
from kron_dynamics.messages import clipped
from kron_dynamics.typing import ScalarArray

if TYPE_CHECKING:
    from kron_dynamics.model.robot_model import Joint

_NONE = np.zeros(3, dtype=int)


@dataclass(frozen=True, slots=True)
class Motion:
    """How a body moves on the one before it.

    Attributes:
        turns: whether it turns about the joint's axis: positions are rad, else m.
        slides: whether it slides along the axis, by 1 per unit of position; where it turns as
            well, by the joint's pitch.
    """

    turns: bool
    slides: bool

    def rotation(self, joint: Joint, position: Any) -> ScalarArray:
        """Return the axes of the body in those of the body before, shape (3, 3).

        Args:
            joint: that moves so.
            position: of the joint, rad or m.
        """
        if not self.turns:
            return joint.rotation
        return np.asarray(joint.rotation @ turned(joint, position))

    def offset(self, joint: Joint, position: Any) -> ScalarArray:
        """Return the origin of the body from that of the body before, in its axes, (3,), m.

        Args:
            joint: that moves so.
            position: of the joint, rad or m.
        """
        if not self.slides:
            return joint.translation
        way = joint.pitch * position if self.turns else position
        return np.asarray(joint.translation + (joint.rotation @ joint.axis) * way)

    def angular_axis(self, joint: Joint) -> ScalarArray:
        """Return the angular velocity per unit rate, shape (3,), joint's and body's axes."""
        return joint.axis if self.turns else _NONE

    def linear_axis(self, joint: Joint) -> ScalarArray:
        """Return the sliding velocity per unit rate, shape (3,), joint's and body's axes."""
        if not self.slides:
            return _NONE
        return joint.pitch * joint.axis if self.turns else joint.axis


def turned(joint: Joint, angle: Any) -> ScalarArray:
    """Return the turn about a joint's axis by an angle, rad, shape (3, 3), joint frame.

    Rodrigues' formula ([N] eq. (5)) in the form k k^T + cos (E - k k^T) + sin k~, which gives
    exact zeros and ones for axes along x, y or z.
    """
    k = joint.axis
    along = np.outer(k, k)
    turn: ScalarArray = cos(angle) * (np.eye(3, dtype=int) - along) + sin(angle) * skew(k)
    return along + turn


@dataclass(frozen=True, slots=True)
class JointKind:
    """What the kind of a joint says.

    Attributes:
        motion: of the body behind it.
        is_endless: whether positions a whole turn apart are one: there are no position limits,
            and errors go the shorter way round.
    """

    motion: Motion
    is_endless: bool = False

    def unit(self, quantity: Literal['position', 'velocity', 'effort']) -> str:
        """Return the unit of a quantity of such joints."""
        if quantity == 'effort':
            return 'N m' if self.motion.turns else 'N'
        length = 'rad' if self.motion.turns else 'm'
        return length if quantity == 'position' else f'{length}/s'


TURNING, SLIDING, SCREWING = Motion(True, False), Motion(False, True), Motion(True, True)
# Of a section: as if the flexible link were stiff.
RESTING = Motion(False, False)
MOTIONS = (TURNING, SLIDING, SCREWING, RESTING)
# The kind of a joint whose child rides on a section of a flexible link, and that of a coordinate
# that is a modal one, in m.
SECTION, MODAL = 'section', 'modal'
SCREW = 'screw'

# What moves in a URDF, by the type of <joint>.
JOINT_KINDS: Mapping[str, JointKind] = MappingProxyType(
    {
        'revolute': JointKind(TURNING),
        'continuous': JointKind(TURNING, is_endless=True),
        'prismatic': JointKind(SLIDING),
        SCREW: JointKind(SCREWING),
    }
)
_ALL_KINDS = {**JOINT_KINDS, SECTION: JointKind(RESTING), MODAL: JointKind(RESTING)}


def joint_kind(name: str) -> JointKind:
    """Return what the kind of a joint, or of a coordinate, says.

    Raises:
        ModelError: there is no such kind.
    """
    kind = _ALL_KINDS.get(name)
    if kind is None:
        raise ModelError(
            f"there is no joint of kind '{clipped(str(name))}', expected one of "
            f'{", ".join(_ALL_KINDS)}'
        )
    return kind


def endless(kinds: Iterable[str]) -> list[bool]:
    """Return which of some coordinates, given by their kinds, turn without end."""
    return [joint_kind(kind).is_endless for kind in kinds]
