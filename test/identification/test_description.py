# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The URDF with identified parameters: loaded again, it is the robot that was identified."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.exceptions import ModelError
from kron_dynamics.identification.described_elements import described_elements
from kron_dynamics.identification.description import identified_urdf

ROBOTS = Path(__file__).parents[1] / 'robots'
GRIPPER = (ROBOTS / 'gripper.urdf').read_text(encoding='utf-8')
ARM = (ROBOTS / 'planar_2r.urdf').read_text(encoding='utf-8')
DRAKE = 'xmlns:drake="http://drake.mit.edu"'


@dataclass
class Found:
    """What a description is made of."""

    inertial: np.ndarray
    described_friction: np.ndarray


def heavier(robot: kd.Robot) -> Found:
    """Return 1.5 times the masses and inertias, and friction that no joint has."""
    friction = 3.0 + np.arange(2.0 * robot.n).reshape(-1, 2)
    return Found(1.5 * robot.inertial_parameters(), friction)


def assert_says(written: str, found: Found) -> None:
    new = kd.loads(written)
    np.testing.assert_allclose(new.model.friction, found.described_friction[:, 0])
    np.testing.assert_allclose(new.model.damping, found.described_friction[:, 1])
    count = 10 * len(new.model.bodies)
    np.testing.assert_allclose(
        new.inertial_parameters()[:count], found.inertial[:count], atol=1e-12
    )


def test_friction_of_mimic_joints_is_not_counted_twice() -> None:
    robot = kd.loads(GRIPPER)
    assert robot.model.damping[1] > 1.0  # the finger that mimics has friction of its own
    found = heavier(robot)
    written, notes = identified_urdf(GRIPPER, robot.model, found)
    assert_says(written, found)
    assert notes == ("the friction of joint 'finger_b' is in that of 'finger_a'",)


def test_friction_of_a_joint_that_mimics_a_fixed_one_is_its_own() -> None:
    text = GRIPPER.replace('"finger_a" multiplier', '"weld" multiplier').replace(
        '</robot>',
        '<joint name="weld" type="fixed"><parent link="flap"/><child link="tip"/></joint>'
        '<link name="tip"/></robot>',
    )
    with pytest.warns(UserWarning):
        robot = kd.loads(text)
    written, notes = identified_urdf(text, robot.model, heavier(robot))
    assert '<dynamics damping="4" friction="6"/>' in written and notes == ()


@pytest.mark.parametrize(
    'text',
    [
        ARM.replace('<robot ', '<robot xmlns="http://example.org/urdf" '),
        ARM.replace('<robot ', f'<robot {DRAKE} ').replace('joint', 'drake:joint'),
        ARM.replace('version="1.0"', 'version="1.0" encoding="UTF-16"').replace('hand', 'mü'),
        ARM.replace('version="1.0"', 'version="1.0" encoding="ISO-8859-1"').replace('hand', 'mü'),
    ],
    ids=['default namespace', 'drake', 'utf-16', 'latin-1'],
)
def test_whatever_can_be_loaded_can_be_written(text: str) -> None:
    robot = kd.loads(text)
    found = heavier(robot)
    written, _ = identified_urdf(text, robot.model, found)
    assert_says(written, found)
    assert written.count('drake:joint') == text.count('drake:joint')


def test_elements_of_other_namespaces_stay_as_they_are() -> None:
    """They stand before those of the same name that are read, and inside of them."""
    text = ARM.replace('<robot ', '<robot xmlns:g="urn:g" ')
    others = []
    for tag in ('inertial', 'child', 'mass', 'dynamics', 'origin'):
        others.append(f'<g:{tag} value="0" mass="0"/>')
        text = text.replace(f'<{tag}', f'{others[-1]}<{tag}')
    text = text.replace('</joint>', f'{others[3]}</joint>')
    robot = kd.loads(text)
    found = heavier(robot)
    written, _ = identified_urdf(text, robot.model, found)
    assert_says(written, found)
    assert [written.count(each) for each in others] == [text.count(each) for each in others]


def test_a_text_without_a_joint_or_link_of_the_robot_is_refused() -> None:
    model = kd.loads(ARM).model
    for text, expected in (
        (ARM.replace('"elbow"', '"knee"'), "no joint 'elbow'"),
        (ARM.replace('link name="hand"', 'link name="foot"'), "no link 'hand'"),
        ('<sdf version="1.6"/>', 'root element <sdf>, expected <robot>'),
    ):
        with pytest.raises(ModelError, match=expected):
            described_elements(text, model)
