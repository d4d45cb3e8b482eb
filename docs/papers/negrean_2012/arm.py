# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""An arm with five skew joints, one of them prismatic, at an exact state."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.derivatives import axial, rate
from shared.exact import rationals

import kron_dynamics as kd
from kron_dynamics.kinematics import forward_kinematics, joint_screws, zero_pose

RIGHT = 1.5707963267948966
# Of each joint: whether it is prismatic, origin, rpy and axis (a rational unit vector); of its
# link: mass, centre of mass and inertia.
JOINTS = (
    (False, '0.1 0.2 0.4', '0 0 0', '0 0 1')
    + (3, '0.1 -0.2 0.3', (0.4, 0.5, 0.3, 0.02, -0.03, 0.05)),
    (False, '0.2 -0.1 0.5', f'{RIGHT} 0 0', '0.48 0.6 0.64')
    + (2, '0.3 0.1 -0.1', (0.1, 0.3, 0.25, -0.02, 0.04, 0.01)),
    (True, '0.3 0.1 0.2', f'0 0 {RIGHT}', '0.6 0 0.8')
    + (1.5, '-0.1 0.2 0.1', (0.2, 0.1, 0.15, 0.01, 0.03, -0.02)),
    (False, '0.1 0.2 0.3', f'0 {RIGHT} 0', '0 0.6 0.8')
    + (1, '0.2 0.1 0.1', (0.05, 0.08, 0.06, 0.01, -0.01, 0.02)),
    (False, '-0.2 0.3 0.1', '0 0 0', '0.8 0.6 0')
    + (0.5, '0 0.1 0.05', (0.02, 0.03, 0.025, 0.001, 0.002, -0.003)),
)
TOOL = '0.1 -0.3 0.2', f'{RIGHT} 0 {RIGHT}'
LINK = 'tool'
_LIMIT = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'


def text() -> str:
    """Return the URDF."""
    parts = ['<robot name="arm"><link name="link0"/>']
    for k, (slides, place, turn, axis, mass, center, inertia) in enumerate(JOINTS):
        kind = 'prismatic' if slides else 'continuous'
        moments = zip(('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'), inertia, strict=True)
        parts.append(
            f'<link name="link{k + 1}"><inertial><origin xyz="{center}"/><mass value="{mass}"/>'
            f'<inertia {" ".join(f"{name}={str(x)!r}" for name, x in moments)}/></inertial></link>'
            f'<joint name="joint{k + 1}" type="{kind}">'
            f'<parent link="link{k}"/><child link="link{k + 1}"/>'
            f'<origin xyz="{place}" rpy="{turn}"/><axis xyz="{axis}"/>{_LIMIT * slides}</joint>'
        )
    parts.append(
        f'<link name="{LINK}"/><joint name="mount" type="fixed"><parent link="link{len(JOINTS)}"/>'
        f'<child link="{LINK}"/><origin xyz="{TOOL[0]}" rpy="{TOOL[1]}"/></joint></robot>'
    )
    return ''.join(parts)


class Arm:
    """The arm with exact numbers, and a state whose sines and cosines are rational.

    Attributes:
        model: the arm.
        q: coordinates, shape (5,).
        rates: first three time derivatives of q, shape (5,) each.
        screws: screws of the joints.
        home: zero pose of the tool, shape (4, 4).
    """

    def __init__(self) -> None:
        """Choose the state."""
        self.model = kd.loads(text()).symbolic.model
        tangents = rationals('3/4', '5/12', '0', '8/15', '-7/24')
        self.q = np.array([sympy.atan(x) for x in tangents], dtype=object)
        self.q[2] = sympy.Rational(1, 3)
        self.rates = (
            rationals('1/2', '-2/3', '3/4', '1', '4/5'),
            rationals('1/3', '2', '-1/2', '-4/3', '5/4'),
            rationals('-3/2', '1', '5/3', '2/5', '-1'),
        )
        self.screws = joint_screws(self.model)
        self.home = zero_pose(self.model, LINK)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.q)

    def along(self, t: Any) -> Any:
        """Return the coordinates at time t of a motion that passes the state at time 0."""
        qd, qdd, qddd = self.rates
        return self.q + qd * t + qdd * t * t / 2 + qddd * t * t * t / 6

    def pose(self, t: Any, link: str = LINK) -> Any:
        """Return the pose of a link along this motion, by recursion, shape (4, 4)."""
        return forward_kinematics(self.model, self.along(t), link)

    def spin(self, t: Any, link: str = LINK) -> Any:
        """Return omega of a link along this motion, base axes, by dR/dt R^T, shape (3,)."""
        R = self.pose(t, link)[:3, :3]
        return axial(rate(lambda s: self.pose(t + s, link)[:3, :3]) @ R.T)
