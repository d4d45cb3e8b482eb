# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Prefixes without a declaration: a warning, and read as if they were declared."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import etree

from kron_dynamics.exceptions import ModelError
from kron_dynamics.model import load_model
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.urdf_xml import xml_root

SENSOR = '<gazebo my:mode="1"><sensor:camera name="a"/></gazebo>'
SCREW = '<drake:screw_thread_pitch value="0.01"/>'
ROTOR = (
    '<transmission name="t"><joint name="hinge"/><actuator><drake:rotor_inertia value="0.5"/>'
    '<drake:gear_ratio value="2"/></actuator></transmission>'
)
DRAKE = 'xmlns:drake="http://drake.mit.edu" xmlns:sensor="s" xmlns:my="m"'


@pytest.mark.parametrize('before', ['', '<?xml version="1.0"?>\n<!-- <robot name="x"> -->\n'])
def test_the_robot_is_that_of_declared_prefixes(
    before: str, parts: Any, assert_warned: Any
) -> None:
    screw = parts.joint('feed', 'screw', 'arm', 'nut', more=SCREW)
    screw = screw.replace('<joint', '<drake:joint').replace('/joint', '/drake:joint')
    text = before + parts.robot(SENSOR, screw, parts.link('nut'), ROTOR)
    kept = before + text.removeprefix(before).replace('<robot ', f'<robot {DRAKE} ', 1)
    words = "'my', 'sensor', 'drake'", 'not declared', 'xmlns:my='
    model = assert_warned(text, 'undeclared_prefix', ModelError, *words)
    declared = load_model(kept)
    assert model.fingerprint == declared.fingerprint
    assert model.armature[0] == 2.0 and model.joint_names == ('hinge', 'feed')
    assert [w.kind for w in declared.warnings] == [
        w.kind for w in model.warnings if w.kind != 'undeclared_prefix'
    ]


def test_lines_and_comments_stay() -> None:
    text = '<?xml version="1.0"?>\n<!-- first -->\n\n<a>\n<b:c/><!-- in -->\n<d/>\n</a>'
    for is_whole in (False, True):
        root = xml_root(text, 'URDF', Findings(), is_whole=is_whole)
        assert etree.tostring(root.getroottree()).count(b'<!--') == 2 * is_whole
    root = xml_root(text, 'URDF', Findings())
    assert (root[0].sourceline, root[1].sourceline) == (5, 6)
    assert (root[0].prefix, root[1].tag) == ('b', 'd')


def test_what_is_no_xml_besides_is_refused(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(SENSOR)
    assert_refused(text.replace('</gazebo>', ''), ModelError, 'not well-formed')
    assert_refused(text.replace('name="a"', 'name=a'), ModelError, 'not well-formed')
