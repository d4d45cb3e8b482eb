# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A tree of six bodies with five coordinates and no symmetry, at an exact state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy
from shared.exact import rationals

import kron_dynamics as kd

GRAVITY = (0.6, -1.2, -9.4)
# Parent, type, origin and axis of each joint (rational unit vector); mass, centre of mass and
# inertia of its link.
_LINKS = {
    'waist': ('base', 'continuous', '0 0 0.4', '0 0 1')
    + (3, '0.1 -0.2 0.3', (0.4, 0.5, 0.3, 0.02, -0.03, 0.05)),
    'arm': ('waist', 'continuous', '0.2 0.1 0.5', '0.48 0.6 0.64')
    + (2, '0.3 0.1 -0.1', (0.1, 0.3, 0.25, -0.02, 0.04, 0.01)),
    'slide': ('arm', 'prismatic', '0.5 -0.1 0.2', '0.6 0 0.8')
    + (1.5, '-0.1 0.2 0.1', (0.2, 0.1, 0.15, 0.01, 0.03, -0.02)),
    'wrist': ('slide', 'continuous', '0.1 0.2 0.3', '0 0.6 0.8')
    + (1, '0.2 0.1 0.1', (0.05, 0.08, 0.06, 0.01, -0.01, 0.02)),
    'finger': ('wrist', 'prismatic', '0.2 0 0.1', '0 1 0')
    + (0.5, '0 0.1 0.05', (0.02, 0.03, 0.025, 0.001, 0.002, -0.003)),
    'tail': ('waist', 'continuous', '-0.3 0.2 0.1', '0.8 0.6 0')
    + (2.5, '-0.4 0.1 0.2', (0.3, 0.2, 0.4, 0.05, 0.02, -0.04)),
}
# The finger mimics the slide.
MULTIPLIER = 0.5
MIMIC = {'finger': f'<mimic joint="to_slide" multiplier="{MULTIPLIER}"/>'}
# By joint: parent, link, axis, and whether it is prismatic.
JOINTS: Mapping[str, tuple[str, str, str, bool]] = {
    f'to_{link}': (given[0], link, given[3], given[1] == 'prismatic')
    for link, given in _LINKS.items()
}
LINKS = tuple(_LINKS)
_LIMIT = '<limit lower="-9" upper="9" effort="99" velocity="9"/>'


def text() -> str:
    """Return the URDF."""
    parts = ['<robot name="tree"><link name="base"/>']
    for link, (parent, kind, place, axis, mass, center, inertia) in _LINKS.items():
        moments = zip(('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'), inertia, strict=True)
        parts.append(
            f'<link name="{link}"><inertial><origin xyz="{center}"/><mass value="{mass}"/>'
            f'<inertia {" ".join(f"{name}={str(x)!r}" for name, x in moments)}/></inertial></link>'
            f'<joint name="to_{link}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{link}"/><origin xyz="{place}"/><axis xyz="{axis}"/>'
            f'{_LIMIT * (kind == "prismatic")}{MIMIC.get(link, "")}</joint>'
        )
    return ''.join([*parts, '</robot>'])


class State:
    """The tree with exact numbers, and a state whose sines and cosines are rational.

    Attributes:
        model: the tree.
        q: coordinates: turn, lift, slide, roll and swing, shape (5,).
        qd: their rates.
        qdd: their second derivatives.
    """

    def __init__(self) -> None:
        """Choose the state."""
        self.model = kd.loads(text(), gravity=GRAVITY).symbolic.model
        tangents = rationals('3/4', '5/12', '0', '8/15', '-7/24')
        self.q = np.array([sympy.atan(x) for x in tangents], dtype=object)
        self.q[2] = sympy.Rational(1, 3)
        self.qd = rationals('1/2', '-2/3', '3/4', '1', '4/5')
        self.qdd = rationals('1/3', '2', '-1/2', '-4/3', '5/4')

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.q)

    def along(self, t: Any) -> tuple[Any, Any]:
        """Return coordinates and rates at time t of a motion that passes the state at time 0."""
        return self.q + self.qd * t + self.qdd * t * t / 2, self.qd + self.qdd * t
