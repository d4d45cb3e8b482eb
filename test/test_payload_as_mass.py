# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A payload that is all the mass a joint moves: with it M has an inverse, without it none."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hurried_compiler import hurry

import kron_dynamics as kd
from kron_dynamics.carrying import PayloadChange
from kron_dynamics.simulation import Plant

pytestmark = pytest.mark.interpreted

ARM = (Path(__file__).parent / 'robots' / 'planar_2r.urdf').read_text(encoding='utf-8')
BARE = ARM.replace(
    '</robot>',
    '<link name="flange"/><joint name="wrist" type="continuous"><parent link="hand"/>'
    '<child link="flange"/><axis xyz="0 0 1"/></joint></robot>',
)
BEAM = {
    'length': 1.0,
    'mass_per_length': 2.0,
    'bending_stiffness': {'v': 2000.0},
    'modes': {'v': 1},
    'mode_shapes': 'clamped_free',  # those of the payload would be others
}
GEAR = {'type': 'coupling', 'ratios': {'shoulder': 1.0, 'elbow': 2.0}}
OPTIONS: dict[str, dict[str, Any]] = {
    'rigid': {},
    'flexible': {'flexible': {'flexible_links': {'upper_arm': BEAM}}},
    'closed': {'constraints': {'constraints': {'gear': GEAR}, 'actuated': ['shoulder', 'wrist']}},
}
TOOL = kd.RigidPayload(2.0, np.array([0.1, -0.05, 0.2]), np.diag([0.02, 0.03, 0.04]))
POINT = kd.RigidPayload(2.0, np.array([0.0, 0.0, 0.2]))  # on the axis of the wrist
REFUSAL = pytest.raises(kd.InvalidInertiaError, match="joint 'wrist'")


def loaded(kind: str, **payload: Any) -> kd.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.ModelWarning)
        return kd.loads(BARE, **OPTIONS[kind], **payload)


@pytest.mark.parametrize('kind', OPTIONS)
def test_the_payload_may_be_the_mass_that_a_joint_moves(
    kind: str, assert_close: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurry(monkeypatch)
    robot = kd.CarryingRobot(loaded(kind), 'flange')
    described = loaded(kind, payload={'flange': TOOL})
    state = np.random.default_rng(2).uniform(-0.1, 0.1, (3, robot.n))
    for payload in (0.0, POINT):
        robot.set_payload('flange', payload)
        assert robot.singular_mass is not None
        with REFUSAL:
            robot.forward_dynamics(*state)
        with REFUSAL:
            Plant(robot, np.zeros(robot.model.joint_count))
    robot.set_payload('flange', TOOL)
    assert robot.singular_mass is None
    assert_close(robot.forward_dynamics(*state), described.forward_dynamics(*state), 1e-9)
    start = np.full(robot.model.joint_count, 0.1)
    assert_close(Plant(robot, start).q, Plant(described, start).q, 1e-9)
    # It is looked at again when the payload is gone, also where it had been fetched.
    robot.set_payload('flange', 0.0)
    with REFUSAL:
        robot.forward_dynamics(*state)


def test_a_share_of_the_payload_is_mass_enough() -> None:
    robot = kd.CarryingRobot(loaded('rigid'), 'flange')
    change = PayloadChange(robot, robot.with_payload('flange', TOOL))
    assert robot.singular_mass is not None
    change.advance(0.1)
    assert robot.singular_mass is None


def test_the_joint_that_is_left_without_mass_is_named() -> None:
    text = BARE.replace('</robot>', '<link name="tip"/></robot>').replace(
        '</robot>',
        '<joint name="finger" type="continuous"><parent link="hand"/><child link="tip"/>'
        '<axis xyz="0 0 1"/></joint></robot>',
    )
    with pytest.warns(kd.ModelWarning):
        robot = kd.CarryingRobot(kd.loads(text), 'flange', 'tip')
    robot.set_payload('flange', TOOL)
    with pytest.raises(kd.InvalidInertiaError, match="joint 'finger' moves no mass"):
        robot.forward_dynamics(*np.zeros((3, 4)))
    robot.set_payload('tip', TOOL)
    assert robot.singular_mass is None
