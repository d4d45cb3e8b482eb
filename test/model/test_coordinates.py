# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Coordinates: limits, friction, mimic joints and the order wanted."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kron_dynamics import ModelError, dynamics, kinematics
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
def test_missing_limit(kind: str, parts: Any, assert_warned: Any) -> None:
    text = parts.robot(hinge=parts.joint(kind=kind, limit=''))
    model = assert_warned(text, 'missing_limit', ModelError, "'hinge'", kind, '<limit>')
    assert (model.position_lower, model.position_upper) == ([-np.inf], [np.inf])
    assert (model.effort_limit, model.velocity_limit) == ([np.inf], [np.inf])


@pytest.mark.parametrize('key', ['effort', 'velocity'])
def test_limit_without_one_of_its_numbers(key: str, parts: Any, assert_warned: Any) -> None:
    bare = re.sub(f'{key}="[^"]*"', '', limit())
    text = parts.robot(hinge=parts.joint(limit=bare))
    model = assert_warned(text, 'missing_limit', ModelError, "'hinge'", f'no {key}')
    assert getattr(model, f'{key}_limit') == [np.inf]


def test_lower_above_upper(parts: Any, assert_warned: Any) -> None:
    text = parts.robot(hinge=parts.joint(limit=limit(2, 1)))
    words = "'hinge'", 'lower limit 2', 'upper limit 1'
    model = assert_warned(text, 'limits_reversed', ModelError, *words)
    assert (model.position_lower, model.position_upper) == ([1], [2])


@pytest.mark.parametrize('key', ['effort', 'velocity'])
def test_negative_limit(key: str, parts: Any, assert_warned: Any) -> None:
    text = parts.robot(hinge=parts.joint(limit=limit(**{key: -3})))
    model = assert_warned(text, 'negative_limit', ModelError, "'hinge'", key, '-3')
    assert getattr(model, f'{key}_limit') == [3]


@pytest.mark.parametrize('key', ['effort', 'velocity'])
def test_limit_of_zero(key: str, parts: Any, assert_warned: Any) -> None:
    text = parts.robot(hinge=parts.joint(limit=limit(**{key: 0})))
    model = assert_warned(text, 'zero_limit', ModelError, "'hinge'", key)
    assert getattr(model, f'{key}_limit') == [0]


def test_no_range(parts: Any, assert_warned: Any) -> None:
    text = parts.robot(hinge=parts.joint(limit='<limit effort="1" velocity="1"/>'))
    model = assert_warned(text, 'no_range', ModelError, "'hinge'", 'both 0')
    assert (model.position_lower, model.position_upper) == ([0], [0])


@pytest.mark.parametrize(('lower', 'upper'), [(-180, 180), (0, 90), (-360, 360)])
def test_limits_in_degrees(lower: int, upper: int, parts: Any, assert_warned: Any) -> None:
    text = parts.robot(hinge=parts.joint(limit=limit(lower, upper)))
    told = f'{upper * np.pi / 180:.4g}'
    assert_warned(text, 'limit_in_degrees', ModelError, "'hinge'", str(upper), told)


@pytest.mark.parametrize(
    ('kind', 'upper'),
    [
        ('revolute', 2 * np.pi),
        ('revolute', 6.2832),
        ('revolute', 12),
        ('revolute', 15.708),
        ('revolute', 100),
        ('revolute', 1e4),
        ('prismatic', 180),
        ('continuous', 180),
        ('revolute', np.inf),
    ],
)
def test_limits_that_are_no_degrees(kind: str, upper: float, parts: Any) -> None:
    hinge = parts.joint(kind=kind, limit=limit(-upper, upper))
    assert load_model(parts.robot(hinge=hinge)).warnings == ()


@pytest.mark.parametrize('key', ['damping', 'friction'])
def test_negative_friction_counts_as_it_is(key: str, parts: Any, assert_warned: Any) -> None:
    text = parts.robot(hinge=parts.joint(more=f'<dynamics {key}="-3"/>'))
    model = assert_warned(text, 'negative_friction', ModelError, "'hinge'", key, '-3')
    assert getattr(model, key) == [-3]


def test_friction_is_read(parts: Any) -> None:
    text = parts.robot(hinge=parts.joint(more='<dynamics damping="3" friction="0.5"/>'))
    model = load_model(text)
    assert (model.damping, model.friction) == ([3], [0.5])


def test_infinite_limits_mean_none(parts: Any) -> None:
    text = parts.robot(hinge=parts.joint(limit=limit('-inf', 'inf', 'inf', 'inf')))
    model = load_model(text)
    assert (model.position_lower, model.position_upper) == ([-np.inf], [np.inf])
    assert (model.effort_limit, model.velocity_limit) == ([np.inf], [np.inf])


@pytest.mark.parametrize('size', ['1e300', '1e-5'])
def test_axis_of_any_length(size: str, parts: Any, assert_warned: Any) -> None:
    text = parts.robot(hinge=parts.joint(axis=f'<axis xyz="{size} {size} 0"/>'))
    model = assert_warned(text, 'axis_not_unit', ModelError, "'hinge'", 'unit vector')
    np.testing.assert_allclose(model.joints[0].axis, [0.5**0.5, 0.5**0.5, 0], rtol=1e-15)


def test_axis_without_a_direction_is_x(parts: Any, assert_warned: Any) -> None:
    text = parts.robot(hinge=parts.joint(axis='<axis/>'))
    model = assert_warned(text, 'missing_axis', ModelError, "'hinge'", '1 0 0')
    np.testing.assert_array_equal(model.joints[0].axis, [1, 0, 0])


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


def test_mimic_of_an_unknown_joint_is_independent(parts: Any, assert_warned: Any) -> None:
    text = parts.robot(second(parts, '<mimic joint="nothing" multiplier="7"/>'))
    model = assert_warned(text, 'mimic_of_unknown', ModelError, "'grip'", "'nothing'")
    assert model.joint_names == ('hinge', 'grip')
    assert [joint.multiplier for joint in model.joints] == [1, 1]


def test_mimic_of_a_fixed_joint_stands_still_at_its_offset(
    parts: Any, assert_warned: Any, assert_close: Any
) -> None:
    bolt = '<link name="plate"/>' + parts.joint('bolt', 'fixed', child='plate')
    clamp = parts.link('clamp') + parts.joint(
        'turned', parent='hand', child='clamp', more='<mimic joint="grip" multiplier="2"/>'
    )
    mimic = '<mimic joint="bolt" multiplier="3" offset="0.5"/>'
    text = parts.robot(bolt, second(parts, mimic), clamp)
    model = assert_warned(text, 'mimic_of_fixed', ModelError, "'grip'", "'bolt'", '0.5')
    assert model.joint_names == ('hinge',)
    # The same robot with the joints turned by their offsets and bolted.
    turned = text.replace(mimic, '').replace('<mimic joint="grip" multiplier="2"/>', '')
    for name, offset in (('grip', 0.5), ('turned', 1.0)):
        turned = turned.replace(
            f'<joint name="{name}" type="revolute">',
            f'<joint name="{name}" type="fixed"><origin rpy="0 0 {offset}"/>',
        )
    fixed = load_model(turned)
    q, qd, qdd = np.array([0.3]), np.array([0.7]), np.array([-1.1])
    assert_close(
        dynamics.inverse_dynamics(model, q, qd, qdd), dynamics.inverse_dynamics(fixed, q, qd, qdd)
    )
    assert_close(
        kinematics.forward_kinematics(model, q, 'clamp'),
        kinematics.forward_kinematics(fixed, q, 'clamp'),
    )


def test_nothing_but_mimics_of_fixed_joints(parts: Any, assert_refused: Any) -> None:
    bolt = '<link name="plate"/>' + parts.joint('bolt', 'fixed', child='plate')
    hinge = parts.joint(more='<mimic joint="bolt"/>')
    assert_refused(parts.robot(bolt, hinge=hinge), ModelError, 'no moving joints')


@pytest.mark.parametrize(
    'mimic', ['<mimic joint="hinge" multiplier="1e200"/>', '<mimic joint="m" multiplier="1e100"/>']
)
def test_mimic_beyond_the_range_of_numbers(mimic: str, parts: Any, assert_refused: Any) -> None:
    between = parts.link('rod') + parts.joint(
        'm', parent='arm', child='rod', more='<mimic joint="hinge" multiplier="1e100"/>'
    )
    assert_refused(parts.robot(between, second(parts, mimic)), ModelError, "'grip'", 'multiplier')


def test_long_chain_of_mimics_is_followed_once(parts: Any) -> None:
    count = 1500  # quadratic, and recursive, this would not end well
    more = [
        parts.link(f'l{k}')
        + parts.joint(
            f'j{k}', parent='arm', child=f'l{k}', more=f'<mimic joint="j{k + 1}" offset="1"/>'
        )
        for k in range(count)
    ]
    end = parts.link('end') + parts.joint(f'j{count}', parent='arm', child='end')
    mimics = load_model(parts.robot(*more, end)).mimics
    assert mimics[0] == ('j0', f'j{count}', 1.0, count)


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


def test_rotors_of_several_motors_add_up(parts: Any) -> None:
    motors = transmission(f'{ROTOR}{GEAR}</actuator><actuator name="second">{ROTOR}')
    model = load_model(parts.robot(motors, transmission('<rotor_inertia value="0.5"/>')))
    np.testing.assert_allclose(model.armature, [2500 * 0.02 + 0.02 + 0.5], rtol=1e-15)
    assert not model.warnings


def test_rotors_that_couple_joints_are_left_out_and_reported(parts: Any) -> None:
    both = transmission(ROTOR + GEAR, '<joint name="hinge"/><joint name="grip"/>')
    model = load_model(parts.robot(second(parts, ''), both))
    assert not model.armature.any()
    (warning,) = (found for found in model.warnings if found.kind == 'coupled_rotors')
    assert "transmission 'drive'" in str(warning) and 'hinge, grip' in str(warning)


@pytest.mark.parametrize('spelling', ['mechanicalReduction', 'mechanical_reduction'])
def test_a_reduction_that_is_not_read_beside_a_rotor_is_reported(
    parts: Any, spelling: str
) -> None:
    """Those of ROS 1 and of ros2_control, which may also have it below the joint."""
    reduction = f'<{spelling}>50</{spelling}>'
    of_joint = f'<joint name="hinge">{reduction}</joint>'
    for text in (transmission(ROTOR + reduction), transmission(ROTOR, of_joint)):
        model = load_model(parts.robot(text))
        (warning,) = (found for found in model.warnings if found.kind == 'missing_gear_ratio')
    assert f'{spelling} 50' in str(warning) and "transmission 'drive'" in str(warning)
    assert not load_model(parts.robot(transmission(ROTOR + GEAR + reduction))).warnings
    assert not load_model(parts.robot(transmission(reduction))).warnings


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


@pytest.mark.parametrize(
    ('kind', 'options', 'why'),
    [
        (None, {}, 'does not exist'),
        ('fixed', {}, 'is fixed'),
        ('floating', {'hold_base': True}, 'is fixed'),  # held
    ],
)
def test_rotors_of_joints_that_do_not_move_are_left_out_and_reported(
    kind: str | None, options: dict[str, Any], why: str, parts: Any, assert_warned: Any
) -> None:
    stand = parts.joint('stand', kind, 'world', 'base') + '<link name="world"/>' if kind else ''
    text = parts.robot(
        stand, transmission(ROTOR, '<joint name="stand"/>'), transmission(ROTOR + GEAR)
    )
    words = "joint 'stand'", 'rotor of 0.02', why
    model = assert_warned(text, 'rotor_of_fixed', ModelError, *words, **options)
    np.testing.assert_allclose(model.armature, [2500 * 0.02])


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


def test_friction_of_a_mimic_joint_counts_by_its_power(parts: Any) -> None:
    """Viscous friction by the square of its ratio, Coulomb friction by its size."""
    more = '<dynamics damping="2" friction="5"/><mimic joint="hinge" multiplier="-3"/>'
    hinge = parts.joint(more='<dynamics damping="0.5" friction="0.25"/>')
    model = load_model(parts.robot(second(parts, more), hinge=hinge))
    assert model.damping.tolist() == [0.5 + 9 * 2]
    assert model.friction.tolist() == [0.25 + 3 * 5]
