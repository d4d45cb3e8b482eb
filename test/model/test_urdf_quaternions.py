# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Origins with quaternions, against the same rotations by SciPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree
from scipy.spatial.transform import Rotation

from kron_dynamics import ModelError
from kron_dynamics.identification.description import _set_inertial
from kron_dynamics.model import load_model


def described(parts: Any, origin: str, version: str = '1.1') -> str:
    """A robot whose hinge has an origin."""
    text = str(parts.robot(hinge=parts.joint(more=origin)))
    return text.replace('<robot ', f'<robot version="{version}" ')


@pytest.mark.parametrize('k', range(8))
def test_a_quaternion_is_the_rotation_that_it_stands_for(k: int, parts: Any) -> None:
    """Also half turns, and a pitch of a right angle, where roll and yaw are not determined."""
    special = [[0, 0, 0, 1], [1, 0, 0, 0], [0, 0.5**0.5, 0, 0.5**0.5], [0.5, 0.5, 0.5, -0.5]]
    drawn = np.random.default_rng(k).normal(size=4)
    quaternion = np.array(special[k]) if k < len(special) else drawn / np.linalg.norm(drawn)
    text = ' '.join(f'{value:.5f}' for value in quaternion)
    found = load_model(described(parts, f'<origin xyz="1 2 3" quat_xyzw="{text}"/>'))
    assert not found.warnings
    right = Rotation.from_quat([float(word) for word in text.split()]).as_matrix()
    np.testing.assert_allclose(found.joints[0].rotation, right, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(found.joints[0].translation, [1, 2, 3])
    diagonal = parts.robot(
        arm=parts.link('arm', moments='ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"')
    )
    turned = diagonal.replace('<inertial>', f'<inertial><origin quat_xyzw="{text}"/>')
    body = load_model(turned.replace('<robot ', '<robot version="1.1" ')).bodies[0]
    np.testing.assert_allclose(
        body.inertia, right @ np.diag([1.0, 2.0, 2.5]) @ right.T, rtol=0, atol=4e-15
    )


@pytest.mark.parametrize(
    ('origin', 'words'),
    [
        ('rpy="0 0 0" quat_xyzw="0 0 0 1"', 'rpy and quat_xyzw, expected one of them'),
        ('quat_xyzw="0 0 1"', "'0 0 1', expected the four numbers"),
        ('quat_xyzw="0 0 0 0"', 'expected the four numbers x y z w of a unit quaternion'),
        ('quat_xyzw="0 0 1 1"', 'of a unit quaternion'),
        ('quat_xyzw="0 0 nan 1"', 'of a unit quaternion'),
        ('quat_xyzw="a b c d"', "'a b c d'"),
    ],
)
def test_what_is_no_rotation_is_refused(
    origin: str, words: str, parts: Any, assert_refused: Any
) -> None:
    assert_refused(described(parts, f'<origin {origin}/>'), ModelError, "joint 'hinge'", words)


def test_a_quaternion_in_a_file_of_version_1_0_is_a_warning(
    parts: Any, assert_warned: Any
) -> None:
    """Other readers ignore it, so that the file may be right without it."""
    text = described(parts, '<origin quat_xyzw="1 0 0 0"/>', '1.0')
    found = assert_warned(
        text, 'quaternion_not_read', ModelError, "joint 'hinge'", 'version="1.1"'
    )
    np.testing.assert_array_equal(found.joints[0].rotation, np.eye(3))


def test_identified_inertia_replaces_a_quaternion(tmp_path: Path) -> None:
    link = etree.fromstring(
        '<link name="arm"><inertial><origin xyz="1 0 0" quat_xyzw="1 0 0 0"/></inertial></link>'
    )
    _set_inertial(link, np.array([2.0, 0.2, 0.0, 0.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.5]))
    origin = link.find('inertial/origin')
    assert set(origin.attrib) == {'xyz', 'rpy'}
    assert origin.get('rpy') == '0 0 0'
