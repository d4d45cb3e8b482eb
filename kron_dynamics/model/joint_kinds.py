# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of joints: their motion as a function of position, and their units.

No other code names kinds of moving joints; the rest asks whether they turn or slide.
CONTRIBUTING.md lists the files to change for a new kind with elements or parameters of its own.
Every joint moves its body along one axis z that is fixed in both bodies; per unit of position the
twist is [linear; angular] = [h z; z], a screw of pitch h, with turning (h = 0) and sliding ([z;
0]) as its limits.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from kron_dynamics.elementary import cos, sin
from kron_dynamics.exceptions import ModelError
from kron_dynamics.kronecker import skew
from kron_dynamics.messages import clipped
from kron_dynamics.typing import ScalarArray

if TYPE_CHECKING:
    from kron_dynamics.model.robot_model import Joint

_NONE = np.zeros(3, dtype=int)


class Motion(NamedTuple):
    """Motion of a body relative to its parent body.

    Attributes:
        turns: whether it turns about the joint's axis; positions are then in rad, else in m.
        slides: whether it slides along the axis, by 1 per unit of position, or by the joint's
            pitch if it turns as well.
    """

    turns: bool
    slides: bool

    def rotation(self, joint: Joint, position: Any) -> ScalarArray:
        """Return the rotation of the body in its parent's frame, shape (3, 3).

        Args:
            joint: a joint with this motion.
            position: position of the joint, rad or m.
        """
        if not self.turns:
            return joint.rotation
        return np.asarray(joint.rotation @ turned(joint, position))

    def offset(self, joint: Joint, position: Any) -> ScalarArray:
        """Return the origin of the body in its parent's frame, shape (3,), m.

        Args:
            joint: a joint with this motion.
            position: position of the joint, rad or m.
        """
        if not self.slides:
            return joint.translation
        way = joint.pitch * position if self.turns else position
        return np.asarray(joint.translation + (joint.rotation @ joint.axis) * way)

    def angular_axis(self, joint: Joint) -> ScalarArray:
        """Return the angular velocity per unit rate, shape (3,), in joint (and body) axes."""
        return joint.axis if self.turns else _NONE

    def linear_axis(self, joint: Joint) -> ScalarArray:
        """Return the linear velocity per unit rate, shape (3,), in joint (and body) axes."""
        if not self.slides:
            return _NONE
        return joint.pitch * joint.axis if self.turns else joint.axis


def turned(joint: Joint, angle: Any) -> ScalarArray:
    """Return the rotation about a joint's axis by an angle, rad, shape (3, 3), joint frame.

    Rodrigues' formula ([N] eq. (5)) in the form k k^T + cos (E - k k^T) + sin k~, which gives
    exact zeros and ones for axes along x, y or z.
    """
    along, across, ahead = _about(joint)
    turn: ScalarArray = cos(angle) * across + sin(angle) * ahead
    return along + turn


# Not computed again at every position: joints do not change. Few are in use at the same time.
@functools.lru_cache(maxsize=256)
def _about(joint: Joint) -> tuple[ScalarArray, ScalarArray, ScalarArray]:
    """Return k k^T, E - k k^T and k~ of the joint's axis k, shape (3, 3) each."""
    k = joint.axis
    along = np.outer(k, k)
    return along, np.eye(3, dtype=int) - along, skew(k)


class JointKind(NamedTuple):
    """Properties of a kind of joint.

    Attributes:
        motion: motion of the joint's body.
        is_endless: whether positions wrap around after a whole turn: there are no position
            limits, and position errors are taken the shorter way round.
    """

    motion: Motion
    is_endless: bool = False

    def unit(self, quantity: Literal['position', 'velocity', 'effort']) -> str:
        """Return the unit of a quantity of joints of this kind."""
        if quantity == 'effort':
            return 'N m' if self.motion.turns else 'N'
        length = 'rad' if self.motion.turns else 'm'
        return length if quantity == 'position' else f'{length}/s'


ROTATION, TRANSLATION, HELICAL = Motion(True, False), Motion(False, True), Motion(True, True)
# Motion of a section: none, as if the flexible link were rigid.
STATIONARY = Motion(False, False)
MOTIONS = (ROTATION, TRANSLATION, HELICAL, STATIONARY)
# Kind of a joint whose child is mounted on a section of a flexible link, and kind of a modal
# coordinate (in m).
SECTION, MODAL = 'section', 'modal'
SCREW = 'screw'

# Kinds of moving joints in a URDF, by the type of <joint>.
JOINT_KINDS: Mapping[str, JointKind] = MappingProxyType(
    {
        'revolute': JointKind(ROTATION),
        'continuous': JointKind(ROTATION, is_endless=True),
        'prismatic': JointKind(TRANSLATION),
        SCREW: JointKind(HELICAL),
    }
)
_ALL_KINDS = {**JOINT_KINDS, SECTION: JointKind(STATIONARY), MODAL: JointKind(STATIONARY)}


def joint_kind(name: str) -> JointKind:
    """Return the properties of the kind of a joint or coordinate.

    Raises:
        ModelError: the kind is unknown.
    """
    kind = _ALL_KINDS.get(name)
    if kind is None:
        raise ModelError(
            f"there is no joint of kind '{clipped(str(name))}', expected one of "
            f'{", ".join(_ALL_KINDS)}'
        )
    return kind


def endless(kinds: Iterable[str]) -> list[bool]:
    """Return whether each coordinate, given by its kind, turns without end."""
    return [joint_kind(kind).is_endless for kind in kinds]
