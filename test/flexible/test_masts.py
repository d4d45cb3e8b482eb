# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Flexible links that stand on the ground, and payloads that only their bending moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import dynamics
from kron_dynamics.exceptions import ModelError

pytestmark = pytest.mark.interpreted

# The pole fixed in the ground, a motor and a lamp at its top.
MAST = """<robot name="mast"><link name="pole"><inertial><origin xyz="0 0 1"/>
<mass value="3"/><inertia ixx="1.01" iyy="1.01" izz="0.02" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="motor" type="continuous"><parent link="pole"/>
<child link="arm"/><origin xyz="0 0 2"/><axis xyz="1 0 0"/></joint><link name="arm">
<inertial><origin xyz="0 0.4 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="top" type="fixed"><parent link="pole"/><child link="lamp"/>
<origin xyz="0 0 1.9"/></joint><link name="lamp"/>
<joint name="bolts" type="fixed"><parent link="pole"/><child link="foot"/></joint>
<link name="foot"/></robot>"""
UP: dict[str, Any] = {
    'length': 2.0,
    'axis': [0, 0, 1],
    'bending_stiffness': 40.0,
    'modes': {'v': 1, 'w': 1},
}


def mast(text: str = MAST, *, payload: Any = None, **changes: Any) -> kd.Robot:
    flexible = {'flexible_links': {'pole': UP | changes}}
    return kd.loads(text, flexible=flexible, payload=payload, strict=True)


def test_a_link_on_the_base_bends_too(assert_close: Callable[..., None]) -> None:
    robot = mast()
    q, qd, qdd = 0.1 * np.arange(9.0).reshape(3, 3)
    tau = robot.inverse_dynamics(q, qd, qdd)
    terms = robot.mass_matrix(q) @ qdd + robot.coriolis_matrix(q, qd) @ qd
    assert_close(terms + robot.gravity_vector(q), tau, 1e-12)
    h = 1e-6
    slopes = [
        (robot.potential_energy(q + h * e) - robot.potential_energy(q - h * e)) / (2 * h)
        for e in np.eye(3)
    ]
    assert_close(robot.gravity_vector(q), slopes, 1e-8)
    held = robot.linearize(np.zeros(3), np.zeros(3), np.zeros(3))
    assert held.stiffness[1, 1] > 0


def point_mass(kg: float, height: float) -> str:
    return MAST.replace(
        '</robot>',
        f'<joint name="point" type="fixed"><parent link="pole"/><child link="point"/>'
        f'<origin xyz="0 0 {height}"/></joint><link name="point"><inertial><mass value="{kg}"/>'
        f'<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>',
    )


@pytest.mark.parametrize(
    ('payload', 'height'),
    [
        ({'lamp': 2.0}, 1.9),
        ({'pole': (2.0, (0, 0, 0.7))}, 0.7),
        ({'lamp': (2.0, (0, 0, -0.9))}, 1),
    ],
)
def test_a_payload_moves_by_bending_alone(
    payload: dict[str, Any], height: float, assert_close: Callable[..., None]
) -> None:
    loaded = mast(payload=payload).model
    place = {'attachments': {'point': 1.9}} if 'lamp' in payload else {}
    other = mast(point_mass(2.0, height), **place).model
    state = 0.1 * np.arange(9.0).reshape(3, 3)
    assert_close(
        dynamics.inverse_dynamics(loaded, *state), dynamics.inverse_dynamics(other, *state), 1e-12
    )


def test_a_payload_that_only_bending_moves_is_set_later(assert_close: Callable[..., None]) -> None:
    carrying = kd.CarryingRobot(mast(mode_shapes='clamped_free'), 'lamp', 'arm')
    carrying.set_payload('lamp', 2.0)
    carrying.set_payload('arm', 1.0)
    loaded = mast(payload=carrying.payloads, mode_shapes='clamped_free')
    q = np.array([0.2, 0.01, 0.02])
    assert_close(carrying.gravity_vector(q), dynamics.gravity_vector(loaded.model, q), 1e-10)
    # With rigid links it stands still, and the other one moves.
    assert isinstance(carrying.rigid, kd.CarryingRobot)
    assert list(carrying.rigid.payloads) == ['arm']


@pytest.mark.parametrize('payload', [{'foot': 2.0}, {'pole': 2.0}, {'pole': (2.0, (0, 0, -0.3))}])
def test_a_payload_at_the_foot_of_a_mast_does_not_move(payload: dict[str, Any]) -> None:
    (link,) = payload
    with pytest.raises(ModelError, match=f"payload: link '{link}' does not move"):
        mast(payload=payload)
