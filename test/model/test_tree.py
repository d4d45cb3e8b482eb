# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""One root, one parent each, known names, known kinds of joint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from urdf_parser_py import urdf

from kron_dynamics import ModelError, UnsupportedJointError
from kron_dynamics.model import load_model
from kron_dynamics.model.tree import placement, roll_pitch_yaw


def test_two_roots(parts: Any, assert_refused: Any) -> None:
    assert_refused(parts.robot('<link name="stray"/>'), ModelError, "'base'", "'stray'", 'root')


def test_loop_beside_the_tree(parts: Any, assert_refused: Any) -> None:
    loop = parts.joint('k', parent='x', child='y') + parts.joint('l', parent='y', child='x')
    text = parts.robot(parts.link('x'), parts.link('y'), loop)
    assert_refused(text, ModelError, "'x'", 'loop')


def test_loop_without_a_root(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(parts.joint('back', parent='arm', child='base'))
    assert_refused(text, ModelError, "'base'", 'loop')


def test_joint_from_a_link_to_itself(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(hinge=parts.joint(parent='arm', child='arm'))
    assert_refused(text, ModelError, "'arm'")


def test_link_with_two_parents(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(
        parts.link('other'), parts.joint('k', child='other'), parts.joint('l', parent='other')
    )
    assert_refused(text, ModelError, "'arm'", "'hinge'", "'l'", 'tree')


def test_duplicate_link_name(parts: Any, assert_refused: Any) -> None:
    assert_refused(parts.robot('<link name="arm"/>'), ModelError, "links named 'arm'")


def test_duplicate_joint_name(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(parts.link('other'), parts.joint('hinge', child='other'))
    assert_refused(text, ModelError, "joints named 'hinge'")


def test_duplicate_names_of_fixed_joints_are_harmless(parts: Any, assert_warned: Any) -> None:
    bolts = (f'<link name="{name}"/>' + parts.joint('bolt', 'fixed', child=name) for name in 'xyz')
    model = assert_warned(parts.robot(*bolts), 'duplicate_name', ModelError, "'bolt'", '3 fixed')
    assert model.link_names == ('base', 'arm', 'x', 'y', 'z')


@pytest.mark.parametrize('kind', ['floating', 'planar'])
def test_base_that_floats_is_held_where_it_is(
    kind: str, parts: Any, assert_warned: Any, assert_refused: Any
) -> None:
    stand = '<link name="world"/><link name="post"/>' + parts.joint(
        'bolt', 'fixed', 'world', 'post'
    )
    base = parts.joint('free', kind, 'post', 'base', more='<origin xyz="0 0 2"/>')
    text = parts.robot(stand, base)
    assert_refused(text, UnsupportedJointError, "'free'", f"'{kind}'", 'hold_base=True')
    words = "'free'", f"'{kind}'", 'held'
    model = assert_warned(text, 'joint_held', UnsupportedJointError, *words, hold_base=True)
    assert model.joint_names == ('hinge',)
    assert model.frame('base').translation.tolist() == [0, 0, 2]


def test_float_behind_a_joint_that_moves_cannot_be_held(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(parts.link('hand'), parts.joint('grip', 'floating', 'arm', 'hand'))
    for hold_base in (False, True):
        assert_refused(
            text, UnsupportedJointError, "'grip'", 'cannot be held', hold_base=hold_base
        )


@pytest.mark.parametrize('role', ['parent', 'child'])
def test_unknown_link(role: str, parts: Any, assert_refused: Any) -> None:
    text = parts.robot(hinge=parts.joint(**{role: 'nowhere'}))
    assert_refused(text, ModelError, "'hinge'", role, "'nowhere'")


@pytest.mark.parametrize('kind', ['floating', 'planar'])
def test_kinds_of_joint_that_have_no_meaning_here(
    kind: str, parts: Any, assert_refused: Any
) -> None:
    text = parts.robot(hinge=parts.joint(kind=kind))
    assert_refused(text, UnsupportedJointError, "'hinge'", f"'{kind}'", 'expected one of')


def test_kind_of_joint_that_is_no_urdf(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(hinge=parts.joint(kind='spherical'))
    assert_refused(text, ModelError, "'hinge'", 'spherical')


def test_no_moving_joint(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(hinge=parts.joint(kind='fixed'))
    assert_refused(text, ModelError, "'toy'", 'no moving joints')


def test_order_is_depth_first_in_document_order(robot_text: Any) -> None:
    model = load_model(robot_text('branched'))
    assert model.joint_names == (
        'trunk_turn',
        'left_slide',
        'left_spindle',
        'right_elbow',
        'right_wrist',
        'camera_slide',
    )
    assert model.link_names[:4] == ('floor', 'cabinet', 'trunk', 'ballast')


def test_order_of_elements_in_the_file_does_not_matter(parts: Any) -> None:
    # A child may stand before its parent, and joints before links.
    hand, grip = parts.link('hand'), parts.joint('grip', parent='arm', child='hand')
    elements = grip, hand, parts.joint(), parts.link('arm'), '<link name="base"/>'
    text = f'<robot name="toy">{"".join(elements)}</robot>'
    model = load_model(text)
    assert model.joint_names == ('hinge', 'grip')
    assert model.root_link == 'base'


def test_right_angles_are_exact(parts: Any) -> None:
    origin = '<origin rpy="1.5707963267948966 0 -1.5707963267948966"/>'
    (joint,) = load_model(parts.robot(hinge=parts.joint(more=origin))).joints
    np.testing.assert_array_equal(joint.rotation, [[0, 0, -1], [-1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize('pitch', [0.4, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 2.0])
def test_roll_pitch_and_yaw_are_those_of_an_origin(pitch: float, assert_close: Any) -> None:
    """The inverse of `placement`, also where roll and yaw turn about one axis."""
    for roll, yaw in ((0.3, -2.0), (-3.0, 1.0), (0.0, 0.0), (np.pi, np.pi / 2)):
        rotation, _ = placement(urdf.Pose(xyz=[0, 0, 0], rpy=[roll, pitch, yaw]))
        again, _ = placement(urdf.Pose(xyz=[0, 0, 0], rpy=list(roll_pitch_yaw(rotation))))
        assert_close(again, rotation, 1e-15, floor=1.0)


@pytest.mark.parametrize('rpy', ['0.3 0 0', '0 0 0.3', '0 0.3 0', '0 0 3.141592653589793'])
def test_a_zero_with_a_sign_makes_no_other_robot(parts: Any, rpy: str) -> None:
    signed = ' '.join('-0' if part == '0' else part for part in rpy.split())
    models = [
        load_model(parts.robot(hinge=parts.joint(more=f'<origin xyz="{xyz}" rpy="{angles}"/>')))
        for xyz, angles in (('0 0 1', rpy), ('-0 -0 1', signed))
    ]
    assert models[0].fingerprint == models[1].fingerprint
    for model in models:
        placed = np.append(model.joints[0].rotation, model.joints[0].translation)
        assert not np.signbit(placed[placed == 0.0]).any()
