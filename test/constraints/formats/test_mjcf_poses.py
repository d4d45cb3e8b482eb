# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of MJCF bodies against those of the links: what has to agree, and what may differ."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mechanisms import joint, link
from uncompiled import uncompiled

import kron_dynamics as kd
from kron_dynamics.constraints import read_constraints
from kron_dynamics.model.poses import pose_of

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / 'config' / 'four_bar_equality.xml'


def test_bodies_have_to_be_where_the_links_are(tmp_path: Path) -> None:
    robot = kd.load(ROOT / 'urdf' / 'four_bar.urdf')
    text = SAMPLE.read_text('utf-8').replace('body name="rocker" pos="1 0 0"', 'BODY')
    path = tmp_path / 'moved.xml'
    path.write_text(text.replace('BODY', 'body name="rocker" pos="1.01 0 0"'))
    with pytest.raises(kd.ConstraintError) as raised:
        read_constraints(path, robot.model)
    assert "<connect> 'pin' in line" in str(raised.value)
    assert "body 'rocker' as seen from 'coupler' is not where the link is" in str(raised.value)
    assert len(read_constraints(path).constraints) == 1  # nothing to compare with


def test_bodies_around_coupled_joints_have_to_be_where_the_links_are(tmp_path: Path) -> None:
    """Without the ref the sample's bodies are turned: the joints would count from elsewhere."""
    model = kd.load(ROOT / 'urdf' / 'four_bar.urdf').model
    gear = '<joint name="gear" joint1="rocker_joint" joint2="crank_joint"/>'
    before, _, rest = SAMPLE.read_text('utf-8').partition('<connect')
    path = tmp_path / 'gear.xml'
    path.write_text(before + gear + rest.partition('/>')[2])
    assert read_constraints(path, model).constraints == read_constraints(path).constraints
    for body, degrees in (('rocker', '103.4639475069347'), ('crank', '90')):
        lost = path.read_text().replace(f' ref="{degrees}"', '')
        (tmp_path / 'lost.xml').write_text(lost)
        with pytest.raises(kd.ConstraintError) as raised:
            read_constraints(tmp_path / 'lost.xml', model)
        assert "<joint> 'gear' in line" in str(raised.value)
        assert f"body '{body}' as seen from 'base' is not where the link is" in str(raised.value)


def test_couplings_hold_wherever_the_base_stands(tmp_path: Path) -> None:
    """Without a body for the base: where its hinges are does not matter, how they turn does."""
    model = kd.load(ROOT / 'urdf' / 'four_bar.urdf').model
    gear = '<joint name="gear" joint1="rocker_joint" joint2="crank_joint"/>'
    before, _, rest = SAMPLE.read_text('utf-8').partition('<connect')
    text = before + gear + rest.partition('/>')[2]
    path = tmp_path / 'gear.xml'
    for pose, is_read in (('pos="3 2 0.5"', True), ('euler="0 20 0"', False)):
        raised = text.replace('<worldbody>', f'<worldbody><frame {pose}>')
        path.write_text(raised.replace('</worldbody>', '</frame></worldbody>'))
        with contextlib.nullcontext() if is_read else pytest.raises(kd.ConstraintError):
            assert read_constraints(path, model).constraints[0].name == 'gear'


@pytest.mark.parametrize(
    ('place', 'is_read'), [('0 0 0', True), ('0 3 2', True), ('0.1 0 0', False)]
)
def test_slides_count_from_where_the_links_are(tmp_path: Path, place: str, is_read: bool) -> None:
    """Beside its axis a slide may stand anywhere; along it the position is another one."""
    model = uncompiled(
        '<robot name="rail"><link name="rail"/>'
        + link('cart', 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
        + joint('way', 'rail', 'cart', (0.0, 0.0, 0.0), '1 0 0', 'prismatic')
        + '</robot>'
    ).model
    path = tmp_path / 'rail.xml'
    path.write_text(
        f'<mujoco><worldbody><body name="cart" pos="{place}">'
        '<joint name="way" type="slide" axis="1 0 0"/></body></worldbody>'
        '<equality><joint joint1="way"/></equality></mujoco>'
    )
    with contextlib.nullcontext() if is_read else pytest.raises(kd.ConstraintError):
        assert len(read_constraints(path, model).constraints) == 1


@pytest.mark.parametrize(
    ('given', 'error'),
    [
        ('axis="0 1 0"', ''),
        ('axis="0 7 0"', ''),
        ('axis="0 -1 0"', "'j2' has the axis [0.0, -1.0, 0.0] in body 'b', expected that of the"),
        ('axis="1 0 0"', "robot's joint, [0.0, 1.0, 0.0]"),
        ('', 'axis [0.0, 0.0, 1.0]'),
        ('axis="0 1 0" type="slide"', "'j2' is a slide, expected the kind of the robot's joint"),
        ('class="x"', ''),
        ('axis="0 0 0"', 'has axis 0, expected a direction'),
    ],
)
@pytest.mark.parametrize('turn', ['', 'axisangle="0 1 0 90"'])
def test_coupled_joints_move_about_the_same_axis(
    tmp_path: Path, given: str, error: str, turn: str
) -> None:
    """A gear on a joint that counts the other way would turn the other way."""
    model = uncompiled(
        '<robot name="two"><link name="base"/>'
        + link('a', 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
        + link('b', 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
        + joint('j1', 'base', 'a', (0.0, 0.0, 1.0), '0 0 1')
        + joint('j2', 'a', 'b', (1.0, 0.0, 0.0), '0 1 0')
        + '</robot>'
    ).model
    path = tmp_path / 'gear.xml'
    path.write_text(
        '<mujoco><default><default class="x"><joint axis="0 1 0"/></default></default><worldbody>'
        f'<body name="a" pos="0 0 1"><joint name="j1"/><body name="b" pos="1 0 0"><frame {turn}>'
        f'<joint name="j2" {given}/></frame></body></body></worldbody>'
        '<equality><joint joint1="j2" joint2="j1" polycoef="0 2"/></equality></mujoco>'
    )
    if turn:  # turns z into x, and leaves y
        error = error.replace('0.0, 0.0, 1.0', '1.0, 0.0, 0.0')
    with pytest.raises(kd.KronDynamicsError) if error else contextlib.nullcontext() as raised:
        read_constraints(path, model)
    assert raised is None or error in str(raised.value)


def test_the_world_is_the_root_link_wherever_it_stands(tmp_path: Path, assert_close: Any) -> None:
    """The base of the URDF as a body of its own, raised and turned in the world."""
    robot = kd.load(ROOT / 'urdf' / 'four_bar.urdf')
    text = SAMPLE.read_text('utf-8')
    text = text.replace('<connect name', '<weld name').replace('anchor="0.9 0 0"', '')
    text = text.replace('body1="coupler" body2="rocker"', 'body1="rocker"')
    path = tmp_path / 'base.xml'
    path.write_text(text)
    (fixed,) = read_constraints(path, robot.model).constraints
    raised = '<worldbody><body name="base" pos="0.3 0.2 0.5" euler="20 30 40">'
    path.write_text(
        text.replace('<worldbody>', raised).replace('</worldbody>', '</body></worldbody>')
    )
    (loop,) = read_constraints(path, robot.model).constraints
    assert loop.links() == fixed.links() == ('rocker', 'base')
    poses = [
        [pose_of(side.rotation(), side.point) for side in (one.b, one.a)] for one in (loop, fixed)
    ]
    assert_close(*(b @ np.linalg.inv(a) for b, a in poses), 1e-14, floor=1.0)
