# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Loops and couplings of a URDF+: each type, chains of a coupling, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mechanisms import two_arms_text
from scipy.spatial.transform import Rotation

import kron_dynamics as kd
from kron_dynamics.constraints import (
    Attachment,
    Coupling,
    HingeLoop,
    PlanarLoop,
    SliderLoop,
    WeldLoop,
    read_constraints,
)
from kron_dynamics.model import load_model

LOOP = """
<loop name="pin" type="revolute">
  <predecessor link="left3"><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.4 0.5"/></predecessor>
  <successor link="right3"><origin rpy="0 0 1"/></successor>
  <axis xyz="0 3 4"/>
</loop>
"""


def text(*parts: str) -> str:
    return two_arms_text().replace('</robot>', '\n'.join((*parts, '</robot>')))


def read(tmp_path: Path, *parts: str) -> Any:
    path = tmp_path / 'robot.urdf'
    path.write_text(text(*parts))
    return read_constraints(path)


def turn(*rpy: float) -> Any:
    return Rotation.from_euler('xyz', rpy).as_matrix()


@pytest.mark.parametrize(
    ('kind', 'made'),
    [
        ('revolute', HingeLoop),
        ('continuous', HingeLoop),
        ('planar', PlanarLoop),
        ('prismatic', SliderLoop),
        ('fixed', WeldLoop),
    ],
)
def test_each_type_is_a_loop(tmp_path: Path, kind: str, made: Any, assert_close: Any) -> None:
    (loop,) = read(tmp_path, LOOP.replace('revolute', kind)).constraints
    assert type(loop) is made and loop.name == 'pin'
    assert loop.links() == ('left3', 'right3')
    assert loop.a.point == (0.1, 0.2, 0.3) and loop.b.point == (0.0, 0.0, 0.0)
    # One frame of the loop on both sides; its z is the axis but for a weld, that needs none.
    across = loop.a.rotation() @ loop.b.rotation().T
    ends = turn(0.3, -0.4, 0.5), turn(0, 0, 1)
    if kind in ('prismatic', 'fixed'):
        assert_close(across, ends[0] @ ends[1].T, 1e-14, floor=1.0)
    z = [0, 0.6, 0.8] if kind != 'fixed' else [0, 0, 1]
    for side, end in zip((loop.a, loop.b), ends, strict=True):
        assert_close(side.rotation()[:, 2], end @ z, 1e-14, floor=1.0)


def test_without_an_axis_it_is_x(tmp_path: Path) -> None:
    loop = LOOP.replace('<axis xyz="0 3 4"/>', '').replace(' rpy="0.3 -0.4 0.5"', '')
    (hinge,) = read(tmp_path, loop).constraints
    assert hinge.a == Attachment('left3', (0.1, 0.2, 0.3), (1.0, 0.0, 0.0))


def coupling(first: str, second: str, ratio: str = '6') -> str:
    return (
        f'<coupling name="gear" type="rolling"><predecessor link="{first}"/>'
        f'<successor link="{second}"/><ratio value="{ratio}"/></coupling>'
    )


def test_a_coupling_goes_along_the_joints_from_the_last_link_of_both(tmp_path: Path) -> None:
    (gear,) = read(tmp_path, coupling('left1', 'right2')).constraints
    ratios = {'left1_joint': 6.0, 'right1_joint': -1.0, 'right2_joint': -1.0}
    assert gear == Coupling('gear', ratios)
    (below,) = read(tmp_path, coupling('left1', 'left2', '-0.5')).constraints
    assert below == Coupling('gear', {'left2_joint': -1.0})


def test_independent_joints_are_those_that_are_not_said_to_depend(tmp_path: Path) -> None:
    assert read(tmp_path, LOOP).independent is None
    path = tmp_path / 'robot.urdf'
    said = text(LOOP).replace('name="turn"', 'name="turn" independent="true"')
    for joint in ('left1', 'right2', 'right3'):
        said = said.replace(f'"{joint}_joint"', f'"{joint}_joint" independent="false"')
    path.write_text(said)
    found = read_constraints(path).independent
    assert found == ('turn', 'left2_joint', 'left3_joint', 'right1_joint')
    robot = kd.loads(said)
    kinds = {warning.kind for warning in robot.model.warnings}
    assert kinds - {'axis_not_unit'} == {'open_loops'}


def test_loading_tells_that_loops_are_open_and_nothing_else() -> None:
    plain = load_model(two_arms_text()).warnings
    told, *others = load_model(text(LOOP, coupling('left1', 'right1')), strict=True).warnings
    assert [str(other) for other in others] == [str(warning) for warning in plain]
    assert (told.kind, told.severity) == ('open_loops', 'hint')
    assert "loop 'pin', coupling 'gear'" in told.finding


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('revolute', 'ball', "<loop> 'pin' in line 2 has type 'ball', expected one of revolute"),
        (' type="revolute"', '', "<loop> 'pin' in line 2 has no attribute 'type'"),
        ('name="pin" ', '', "<loop> in line 2 has no attribute 'name'"),
        ('"left3"', '"left9"', "has the unknown predecessor link 'left9'"),
        ('<successor link="right3">', '<successor>', '<successor> in line 4 has no attribute'),
        ('predecessor', 'predecesor', '<predecesor>, which is not read, expected <predecessor>'),
        ('<origin rpy="0 0 1"/>', '<pose/>', 'holds <pose>, which is not read, expected <origin>'),
        (
            'rpy="0 0 1"',
            'quat_xyzw="0 0 0 1"',
            'has quat_xyzw, which is not read in a <loop>, expected rpy',
        ),
        ('"0 0 1"', '"0 0"', "attribute 'rpy' '0 0', expected 3 finite number(s)"),
        ('"0 3 4"', '"0 0 0"', 'has the axis 0 0 0, expected a direction'),
    ],
)
def test_what_is_wrong_with_a_loop_is_named(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in LOOP
    with pytest.raises(kd.ModelError) as raised:
        read(tmp_path, LOOP.replace(old, new))
    assert words in str(raised.value) and str(tmp_path) in str(raised.value)


@pytest.mark.parametrize(
    ('part', 'words'),
    [
        (coupling('left1', 'right1', '0'), 'has no ratio but 0'),
        (coupling('left1', 'right1', 'x'), "attribute 'value' 'x', expected 1 finite"),
        (coupling('left1', 'up'), "unknown successor link 'up'"),
        (coupling('left1', 'left1'), 'is between links with no moving joint between them'),
        (coupling('left1', 'right1').replace('<ratio value="6"/>', ''), 'has no <ratio>'),
        (
            '<link name="up2"/><joint name="up_joint" type="spherical"><parent link="left3"/>'
            '<child link="up2"/></joint>' + coupling('left1', 'up2'),
            "<joint> 'up_joint' in line 1 is of type 'spherical', expected one of revolute",
        ),
        ('', "<robot> 'two_arms' in line 1 has no <loop> and no <coupling>"),
    ],
)
def test_what_is_wrong_with_a_coupling_is_named(tmp_path: Path, part: str, words: str) -> None:
    with pytest.raises(kd.ModelError) as raised:
        read(tmp_path, part)
    assert words in str(raised.value) and str(tmp_path) in str(raised.value)
