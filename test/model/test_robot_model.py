# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The model as data: frozen, identified by its fingerprint."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from kron_dynamics import ModelError, UnknownFrameError
from kron_dynamics.model import load_model

ARRAYS = (
    'gravity',
    'position_lower',
    'position_upper',
    'velocity_limit',
    'effort_limit',
    'damping',
    'friction',
)


def test_arrays_are_read_only_and_in_coordinate_order(model: Any) -> None:
    for name in ARRAYS:
        array = getattr(model, name)
        assert array.shape == ((3,) if name == 'gravity' else (model.n,))
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 7.0


def test_model_is_frozen(model: Any) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.gravity = np.zeros(3)
    with pytest.raises(TypeError):
        model.frames['x'] = None


def test_parents_come_before_children(model: Any) -> None:
    for k, joint in enumerate(model.joints):
        assert joint.parent < k
        assert model.path(k)[-1] == k
        assert model.path(k)[:-1] == model.path(joint.parent)
    assert model.path(-1) == ()


def test_total_mass_is_what_moves(robot_text: Any) -> None:
    assert load_model(robot_text('rail_boom')).total_mass == 402000
    assert load_model(robot_text('branched')).total_mass == pytest.approx(13.2)


def test_tip_is_the_moving_link_farthest_from_the_root(robot_text: Any) -> None:
    tips = {name: load_model(robot_text(name)).tip_link for name in ('rail_boom', 'gripper')}
    assert tips == {'rail_boom': 'wheel', 'gripper': 'flap'}


def test_kinds_are_those_of_the_coordinates(robot_text: Any) -> None:
    kinds = load_model(robot_text('rrp')).joint_types
    assert kinds == ('continuous', 'revolute', 'prismatic')


def test_unknown_frame_names_the_links_there_are(model: Any) -> None:
    with pytest.raises(UnknownFrameError, match='nowhere') as caught:
        model.frame('nowhere')
    for link in model.link_names:
        assert link in str(caught.value)
    assert isinstance(caught.value, LookupError)


@pytest.mark.parametrize('gravity', [(0, 0), (0, 0, np.nan), (0, 0, np.inf), 9.81])
def test_gravity_must_be_three_finite_numbers(gravity: Any, parts: Any) -> None:
    with pytest.raises(ModelError, match='gravity'):
        load_model(parts.robot(), gravity=gravity)


def test_fingerprint_is_that_of_the_text(model: Any, robot_text: Any) -> None:
    again = load_model(robot_text(model.name))
    assert again.fingerprint == model.fingerprint
    int(model.fingerprint, 16)


@pytest.mark.parametrize(
    ('old', 'new'),
    [
        ('value="2"', 'value="2.0000001"'),
        ('xyz="0.25 0 0"', 'xyz="0.25 0 1e-9"'),
        ('xyz="1 0 0"', 'xyz="1 0 1e-9"'),
        ('izz="0.09375"', 'izz="0.0937501"'),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 -1"/>'),
        ('damping="0.25"', 'damping="0.5"'),
        ('name="hand"', 'name="fist"'),
        ('xyz="0.5 0 0"/>\n  </joint>', 'xyz="0.6 0 0"/>\n  </joint>'),
        ('type="revolute"', 'type="prismatic"'),
    ],
)
def test_fingerprint_changes_with_whatever_the_equations_read(
    old: str, new: str, robot_text: Any
) -> None:
    text = robot_text('planar_2r')
    changed = text.replace(old, new).replace('child link="hand"', f'child {link_of(new)}')
    assert changed != text
    assert load_model(changed).fingerprint != load_model(text).fingerprint


def link_of(new: str) -> str:
    return 'link="fist"' if 'fist' in new else 'link="hand"'


def test_fingerprint_changes_with_gravity_and_order(robot_text: Any) -> None:
    text = robot_text('rrp')
    prints = {
        load_model(text).fingerprint,
        load_model(text, gravity=(0, 0, -9.81)).fingerprint,
        load_model(text, joints=('slide', 'turn', 'lift')).fingerprint,
    }
    assert len(prints) == 3
