# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix exponentials of joints, and the table of screws that they are made from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from public_vectors import cases_of
from scipy.linalg import expm

import kron_dynamics as kd
from kron_dynamics.dual import derivatives_of
from kron_dynamics.kinematics import (
    Screw,
    forward_kinematics,
    joint_screws,
    rotation_exponential,
    rotation_exponential_rate,
    screw_exponential,
    screw_exponential_derivatives,
    screw_table,
    zero_pose,
)
from kron_dynamics.kronecker import cross, skew
from kron_dynamics.model import load_model

AXIS, POINT = np.array([0.36, 0.48, 0.8]), np.array([0.5, -0.2, 0.7])
SCREWS = {
    'turns': Screw.turning(AXIS, POINT),
    'slides': Screw.sliding(AXIS, POINT),
    'does both': Screw.turning(AXIS, POINT, pitch=-0.3),
}


@pytest.mark.parametrize('case', cases_of('screw_exponential'), ids=lambda case: case['id'])
def test_reference_vectors(case: Any, assert_close: Any) -> None:
    """[N] (2)-(7)."""
    given, expected = case['inputs'], case['expected']
    made = Screw.turning if given['type'] == 'R' else Screw.sliding
    screw = made(np.array(given['k']), np.array(given['p']))
    found = screw_exponential(screw, given['q'])
    assert_close(screw.linear, expected['v'], 1e-15)
    assert_close(screw.matrix, expected['A'], 1e-15)
    assert_close(found, expected['exp_Aq'], 1e-14)
    assert_close(found[:3, 3], expected['b'], 1e-14)


@pytest.mark.parametrize('kind', SCREWS)
@pytest.mark.parametrize('position', [0.0, 1.1, -0.4, 2e-7, 40.0])
def test_the_exponential_is_that_of_its_series(
    kind: str, position: float, assert_close: Any
) -> None:
    """[N] (3)-(7): (6) with either right bracket, which is that of joints of all kinds."""
    screw = SCREWS[kind]
    found = screw_exponential(screw, position)
    assert_close(found, expm(screw.matrix * position), 1e-13)
    assert_close(rotation_exponential(screw.angular, position), found[:3, :3], 1e-15)
    k, angle = screw.axis, position * np.linalg.norm(screw.angular)  # q*
    c, s = np.cos(angle), np.sin(angle)
    bracket = np.eye(3) * s + skew(k) * (1 - c) + np.outer(k, k) * (position - s)
    assert_close(bracket @ screw.linear, found[:3, 3], 1e-14, floor=1.0)
    printed = bracket + np.eye(3) * (position - s)
    if kind == 'slides':
        np.testing.assert_allclose(printed @ screw.linear, 2 * found[:3, 3])
    elif abs(position) > 0.1:
        assert np.abs(printed @ screw.linear - found[:3, 3]).max() > 1e-3


@pytest.mark.parametrize('kind', SCREWS)
def test_points_of_the_axis_move_along_it(kind: str, assert_close: Any) -> None:
    """[N] (2): by the pitch in a unit of turning, by 1 in a unit of sliding."""
    screw, along = SCREWS[kind], {'turns': 0.0, 'slides': 1.0, 'does both': -0.3}[kind]
    for point in (POINT, POINT + 2 * AXIS):
        velocity = screw.linear + cross(screw.angular, point)
        assert_close(velocity, along * AXIS, 1e-15, floor=1.0)


@pytest.mark.parametrize('kind', SCREWS)
def test_derivatives_of_the_exponential_are_exact(kind: str, assert_close: Any) -> None:
    screw, rates = SCREWS[kind], [1.3, -0.6, 0.7]

    def along(t: Any) -> Any:
        position = 0.4 + rates[0] * t[0] + rates[1] * t[0] ** 2 / 2 + rates[2] * t[0] ** 3 / 6
        return screw_exponential(screw, position)

    found = screw_exponential_derivatives(screw, 0.4, rates)
    for order, exact in enumerate(derivatives_of(along, np.zeros(1), 3)):
        assert_close(found[order], np.reshape(exact, (4, 4)), 1e-14, floor=1.0)


def test_rate_of_a_turn_is_its_derivative(derivative: Any, assert_close: Any) -> None:
    """[N] (44)."""
    exact = derivative(lambda t: rotation_exponential(AXIS, 0.7 - 1.9 * t))
    assert_close(rotation_exponential_rate(AXIS, 0.7, -1.9), exact, 1e-9)


def test_table_of_an_arm_by_hand() -> None:
    """[N] (1), (2): of a joint that turns, one that slides and one that does both."""
    turned = '<origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/>'
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>'
        '<joint name="1" type="continuous"><parent link="a"/><child link="b"/>'
        '<origin xyz="0.2 0 0"/><axis xyz="0 0 1"/></joint>'
        '<joint name="2" type="prismatic"><parent link="b"/><child link="c"/>'
        f'{turned}<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        '<joint name="3" type="screw"><parent link="c"/><child link="d"/>'
        f'<origin xyz="1 0 0"/><axis xyz="0 0 1"/>'
        f'<screw_thread_pitch value="{2 * np.pi * 0.1}"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    model = load_model(text)
    expected = [
        [0.2, 0, 0, 0, 0, 1, 0, -0.2, 0],
        [0.2, 0, 0.5, 0, 1, 0, 0, 1, 0],
        [0.2, 1, 0.5, 0, 0, 1, 1, -0.2, 0.1],
        [0.2, 1, 0.5, 0, 0, 0, 0, 0, 0],
    ]
    np.testing.assert_allclose(screw_table(model, 'd'), expected, atol=1e-15)
    np.testing.assert_allclose(screw_table(model, 'a'), np.zeros((1, 9)))
    np.testing.assert_array_equal(screw_table(model, 'b')[0], joint_screws(model)[0].row)


def test_screws_lie_where_the_joints_are(model: Any, assert_close: Any) -> None:
    """[N] (1)-(3), of every small robot."""
    for k, (joint, screw) in enumerate(zip(model.joints, joint_screws(model), strict=True)):
        link = next(name for name, frame in model.frames.items() if frame.body == k)
        pose = zero_pose(model, link)
        if not any(other.offset for other in model.joints):
            assert_close(pose, forward_kinematics(model, np.zeros(model.n), link), 1e-14)
        turn = pose[:3, :3] @ model.frames[link].rotation.T
        origin = pose[:3, 3] - turn @ model.frames[link].translation
        assert_close(screw.point, origin, 1e-14, floor=1.0)
        assert_close(screw.axis, turn @ joint.axis, 1e-14)
        slides = turn @ joint.motion.linear_axis(joint)
        assert_close(screw.linear - cross(origin, screw.angular), slides, 1e-14, floor=1.0)


def test_wrong_arguments_are_named(robot_text: Any) -> None:
    with pytest.raises(kd.ShapeError, match='axis has shape'):
        Screw.turning(np.zeros(2), POINT)
    with pytest.raises(kd.ShapeError, match='point has shape'):
        Screw.sliding(AXIS, np.zeros(4))
    model = load_model(robot_text('rrp'))
    for function in (screw_table, zero_pose):
        with pytest.raises(kd.UnknownFrameError, match="link 'nose' does not exist"):
            function(model, 'nose')
