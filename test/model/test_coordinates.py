# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Coordinates: limits, friction, mimic joints and the order wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kron_dynamics import ModelError
from kron_dynamics.dynamics import mass_matrix
from kron_dynamics.model import load_model


def limit(lower: Any = -1, upper: Any = 1, effort: Any = 10, velocity: Any = 2) -> str:
    return f'<limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"/>'


def test_limits_are_read(parts: Any) -> None:
    model = load_model(parts.robot(hinge=parts.joint(limit=limit(-0.5, 1.5, 30, 4))))
    assert (model.position_lower, model.position_upper) == ([-0.5], [1.5])
    assert (model.effort_limit, model.velocity_limit) == ([30], [4])


@pytest.mark.parametrize('given', ['', limit()])
def test_continuous_joints_have_no_position_limits(given: str, parts: Any) -> None:
    model = load_model(parts.robot(hinge=parts.joint(kind='continuous', limit=given)))
    assert (model.position_lower, model.position_upper) == ([-np.inf], [np.inf])
    expected = (np.inf, np.inf) if not given else (10, 2)
    assert (model.effort_limit, model.velocity_limit) == expected


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_missing_limit(kind: str, parts: Any, assert_refused: Any) -> None:
    text = parts.robot(hinge=parts.joint(kind=kind, limit=''))
    assert_refused(text, ModelError, "'hinge'", kind, '<limit>')


def test_lower_above_upper(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(hinge=parts.joint(limit=limit(2, 1)))
    assert_refused(text, ModelError, "'hinge'", 'lower limit 2', 'upper limit 1')


@pytest.mark.parametrize('key', ['effort', 'velocity'])
def test_negative_limit(key: str, parts: Any, assert_refused: Any) -> None:
    text = parts.robot(hinge=parts.joint(limit=limit(**{key: -3})))
    assert_refused(text, ModelError, "'hinge'", key, '-3')


@pytest.mark.parametrize('key', ['damping', 'friction'])
def test_negative_friction(key: str, parts: Any, assert_refused: Any) -> None:
    text = parts.robot(hinge=parts.joint(more=f'<dynamics {key}="-3"/>'))
    assert_refused(text, ModelError, "'hinge'", key, '-3')


def test_friction_is_read(parts: Any) -> None:
    text = parts.robot(hinge=parts.joint(more='<dynamics damping="3" friction="0.5"/>'))
    model = load_model(text)
    assert (model.damping, model.friction) == ([3], [0.5])


def test_infinite_limits_mean_none(parts: Any) -> None:
    text = parts.robot(hinge=parts.joint(limit=limit('-inf', 'inf', 'inf', 'inf')))
    model = load_model(text)
    assert (model.position_lower, model.position_upper) == ([-np.inf], [np.inf])
    assert (model.effort_limit, model.velocity_limit) == ([np.inf], [np.inf])


@pytest.mark.parametrize('axis', ['0 0 0', '1e-9 0 0'])
def test_zero_axis(axis: str, parts: Any, assert_refused: Any) -> None:
    text = parts.robot(hinge=parts.joint(axis=f'<axis xyz="{axis}"/>'))
    assert_refused(text, ModelError, "'hinge'", 'axis')


def test_axis_is_made_a_unit_vector_and_x_by_default(parts: Any) -> None:
    (joint,) = load_model(parts.robot(hinge=parts.joint(axis='<axis xyz="0 3 4"/>'))).joints
    np.testing.assert_allclose(joint.axis, [0, 0.6, 0.8], rtol=1e-15)
    (joint,) = load_model(parts.robot(hinge=parts.joint(axis=''))).joints
    np.testing.assert_array_equal(joint.axis, [1, 0, 0])


def second(parts: Any, mimic: str, kind: str = 'revolute') -> str:
    return parts.link('hand') + parts.joint('grip', kind, 'arm', 'hand', more=mimic)


def test_mimic_of_an_unknown_joint(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(second(parts, '<mimic joint="nothing"/>'))
    assert_refused(text, ModelError, "'grip'", "'nothing'")


def test_mimic_of_a_fixed_joint(parts: Any, assert_refused: Any) -> None:
    bolt = '<link name="plate"/>' + parts.joint('bolt', 'fixed', child='plate')
    text = parts.robot(bolt, second(parts, '<mimic joint="bolt"/>'))
    assert_refused(text, ModelError, "'grip'", "'bolt'")


def test_mimic_circle(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(
        second(parts, '<mimic joint="hinge"/>'),
        hinge=parts.joint(more='<mimic joint="grip"/>'),
    )
    assert_refused(text, ModelError, "'hinge'", "'grip'", 'circle')


def test_mimic_of_itself(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(hinge=parts.joint(more='<mimic joint="hinge"/>'))
    assert_refused(text, ModelError, "'hinge'", 'circle')


def test_mimic_defaults_are_one_and_zero(parts: Any) -> None:
    model = load_model(parts.robot(second(parts, '<mimic joint="hinge"/>')))
    assert model.joint_names == ('hinge',)
    assert model.mimics == (('grip', 'hinge', 1.0, 0.0),)


def test_mimic_of_a_mimic_leads_to_the_independent_joint(robot_text: Any) -> None:
    (finger, cover) = load_model(robot_text('gripper')).mimics
    assert finger == ('finger_b', 'finger_a', -0.5, 0.02)
    assert cover[:2] == ('cover', 'finger_a')
    np.testing.assert_allclose(cover[2:], [-1.5, 0.16], rtol=1e-15)


def test_joints_orders_the_coordinates(robot_text: Any) -> None:
    order = ('luff', 'travel', 'slew')
    model = load_model(robot_text('rail_boom'), joints=order)
    assert model.joint_names == order
    assert model.joint_types == ('revolute', 'prismatic', 'revolute')
    np.testing.assert_array_equal(model.position_upper, [0.25, 600, 1.9])
    np.testing.assert_array_equal(model.damping, [0, 8000, 0])


@pytest.mark.parametrize(
    'joints',
    [(), ('hinge', 'hinge'), ('hing',), ('hinge', 'grip')],
    ids=['none', 'twice', 'misspelt', 'too many'],
)
def test_wrong_joints_are_refused(joints: Any, parts: Any, assert_refused: Any) -> None:
    assert_refused(parts.robot(), ModelError, 'joints=', "'hinge'", joints=joints)


def test_mimic_joints_cannot_be_coordinates(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(second(parts, '<mimic joint="hinge"/>'))
    assert_refused(text, ModelError, 'joints=', "'grip'", joints=('hinge', 'grip'))


ROTOR = '<rotor_inertia value="0.02"/>'
GEAR = '<gear_ratio value="50"/>'


def transmission(actuator: str, joint: str = '<joint name="hinge"/>') -> str:
    return (
        f'<transmission name="drive"><type>simple</type>{joint}'
        f'<actuator name="motor">{actuator}</actuator></transmission>'
    )


NAMESPACED = (ROTOR + GEAR).replace('<', '<drake:').replace('/>', ' xmlns:drake="http://drake"/>')


@pytest.mark.parametrize(
    ('actuator', 'expected'),
    [(ROTOR + GEAR, 2500 * 0.02), (ROTOR, 0.02), (GEAR, 0.0), ('', 0.0)]
    + [(NAMESPACED, 2500 * 0.02)],
    ids=['geared', 'direct', 'no rotor', 'nothing', 'namespace'],
)
def test_rotor_weighs_the_square_of_the_gear_ratio(
    actuator: str, expected: float, parts: Any
) -> None:
    model = load_model(parts.robot(transmission(actuator)))
    np.testing.assert_allclose(model.armature, [expected], rtol=1e-15)


def test_armature_given_wins_over_the_transmission(parts: Any) -> None:
    text = parts.robot(transmission(ROTOR + GEAR))
    assert load_model(text, armature={'hinge': 3.0}).armature == [3.0]


def test_armature_is_in_the_mass_matrix(parts: Any) -> None:
    bare, geared = (parts.robot(*more) for more in ((), (transmission(ROTOR + GEAR),)))
    inertias = [mass_matrix(load_model(text), [0.3]) for text in (bare, geared)]
    np.testing.assert_allclose(inertias[1] - inertias[0], [[50.0]], rtol=1e-13)


def test_armature_of_a_mimic_joint_weighs_the_square_of_its_ratio(parts: Any) -> None:
    text = parts.robot(second(parts, '<mimic joint="hinge" multiplier="-3"/>'))
    np.testing.assert_allclose(load_model(text, armature={'grip': 0.5}).armature, [4.5])


def test_armature_for_an_unknown_joint(parts: Any, assert_refused: Any) -> None:
    assert_refused(parts.robot(), ModelError, "'hing'", 'hinge', armature={'hing': 1.0})
    text = parts.robot(transmission(ROTOR, '<joint name="hing"/>'))
    assert_refused(text, ModelError, "'hing'", 'hinge')


@pytest.mark.parametrize('inertia', [-1.0, np.inf, np.nan])
def test_armature_that_no_rotor_has(inertia: float, parts: Any, assert_refused: Any) -> None:
    assert_refused(parts.robot(), ModelError, "'hinge'", 'armature', armature={'hinge': inertia})


@pytest.mark.parametrize(
    ('actuator', 'joint'),
    [
        ('<rotor_inertia value="heavy"/>', '<joint name="hinge"/>'),
        ('<rotor_inertia/>', '<joint name="hinge"/>'),
        (ROTOR + '<gear_ratio value="1:50"/>', '<joint name="hinge"/>'),
        (ROTOR + '<gear_ratio/>', '<joint name="hinge"/>'),
        (ROTOR, ''),
    ],
)
def test_malformed_rotor(actuator: str, joint: str, parts: Any, assert_refused: Any) -> None:
    assert_refused(parts.robot(transmission(actuator, joint)), ModelError, "transmission 'drive'")
