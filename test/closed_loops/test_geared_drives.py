# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Drives that turn many times while what they drive moves a little, and starts near an end."""

from __future__ import annotations

import numpy as np
import pytest
from closed_loops import SLIDER_CONSTRAINTS, slider_crank

import kron_dynamics as kd

INERTIA = '<inertia ixx="0.1" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/>'


def geared(motor, driven, pairs, driven_range=None):
    """A motor and what it drives, coupled by ratios."""
    limits = {'continuous': '', 'revolute': '-500 500'}[motor], driven_range or ''
    joints = ''
    for name, kind, range_ in zip(('motor', 'arm'), (motor, driven), limits, strict=True):
        limit = ''
        if range_:
            lower, upper = range_.split()
            limit = f'<limit lower="{lower}" upper="{upper}" effort="10" velocity="10"/>'
        joints += (
            f'<joint name="{name}" type="{kind}"><parent link="base"/><child link="{name}_link"/>'
            f'<axis xyz="0 1 0"/>{limit}</joint><link name="{name}_link"><inertial>'
            f'<origin xyz="0.1 0 0"/><mass value="2"/>{INERTIA}</inertial></link>'
        )
    gear = {'type': 'coupling', 'ratios': pairs}
    return kd.loads(
        f'<robot name="geared"><link name="base"/>{joints}</robot>',
        constraints={'constraints': {'gear': gear}, 'actuated': ['motor']},
    )


@pytest.mark.parametrize('motor', ['continuous', 'revolute'])
@pytest.mark.parametrize('ratio', [3.0, 100.0, -160.0])
def test_a_gear_motor_turns_until_its_arm_is_at_its_limit(motor, ratio):
    robot = geared(motor, 'revolute', {'motor': 1.0, 'arm': -ratio}, '-1 1.5')
    ends = sorted([-ratio, 1.5 * ratio])
    np.testing.assert_allclose(robot.model.position_lower, ends[0], rtol=1e-5)
    np.testing.assert_allclose(robot.model.position_upper, ends[1], rtol=1e-5)
    for place in np.linspace(*ends, 7):
        assert robot.tree_coordinates([place])[1] == pytest.approx(place / ratio, abs=1e-12)


def test_a_screw_goes_to_the_ends_of_its_nut():
    lead = 0.005 / (2.0 * np.pi)  # m per rad
    robot = geared('continuous', 'prismatic', {'motor': lead, 'arm': -1.0}, '-0.2 1')
    np.testing.assert_allclose(robot.model.position_lower, -0.2 / lead, rtol=1e-5)
    np.testing.assert_allclose(robot.model.position_upper, 1.0 / lead, rtol=1e-5)


@pytest.mark.parametrize('ratio', [1.0, 3.0, -7.5])
def test_gears_without_limits_turn_without_end(ratio):
    robot = geared('continuous', 'continuous', {'motor': 1.0, 'arm': -ratio})
    assert robot.model.position_lower == -np.inf
    assert robot.model.position_upper == np.inf
    assert robot.tree_coordinates([50.0])[1] == pytest.approx(50.0 / ratio, abs=1e-12)


def test_a_turn_for_a_turn_ends_at_a_limit():
    """The arm is back after every turn of the motor, and not where it was."""
    robot = geared('continuous', 'revolute', {'motor': 1.0, 'arm': -1.0}, '-8 9')
    np.testing.assert_allclose(robot.model.position_lower, -8.0, rtol=1e-5)
    np.testing.assert_allclose(robot.model.position_upper, 9.0, rtol=1e-5)


CRANK = 0.9  # rad at the start


def motor_of_a_crank(kind, lower, upper, ratio):
    """A slider-crank whose crank a motor moves, by ratio times its angle."""
    text = slider_crank().replace(
        '<link name="base"/>',
        f'<link name="base"/><joint name="motor" type="{kind}"><parent link="base"/>'
        f'<child link="rotor"/><limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>'
        f'</joint><link name="rotor"><inertial><mass value="1"/>{INERTIA}</inertial></link>',
    )
    unit = 'm' if kind == 'prismatic' else 'rad'
    gear = {'type': 'coupling', 'ratios': {'motor': 1.0, 'turn': -ratio}, 'unit': unit}
    return kd.loads(
        text,
        constraints={
            'constraints': {**SLIDER_CONSTRAINTS['constraints'], 'gear': gear},
            'actuated': ['motor'],
            'start': {'motor': ratio * CRANK, 'turn': CRANK, 'slide': 1.0},
            'hold': ['motor'],
        },
    )


def check_slider(robot, ratio):
    """Compare the slider with its closed form over the motor's range."""
    ends = robot.model.position_lower[0], robot.model.position_upper[0]
    for motor in np.linspace(*ends, 11):
        of = dict(zip(robot.model.tree.joint_names, robot.tree_coordinates([motor]), strict=True))
        turn = motor / ratio
        place = 0.3 * np.cos(turn) + np.sqrt(0.64 - (0.3 * np.sin(turn)) ** 2)
        assert of['slide'] == pytest.approx(place, abs=1e-12)


def test_a_motor_turns_its_crank_for_several_turns_and_the_kernels_pass_their_check():
    """Series that are long are without meaning far outside of their range.

    Here they have 54 terms over a part of the motor's range; those of all of it do not converge.
    """
    robot = motor_of_a_crank('revolute', '-25', '30', 2.0)
    lower, upper = robot.model.position_lower[0], robot.model.position_upper[0]
    assert 2.0 * np.pi * 2.0 < upper - lower < 50.0
    check_slider(robot, 2.0)


def test_a_rack_moves_its_crank_for_turns_about_the_start():
    """Series for all of the rack's stroke, nine turns of its pinion, do not converge."""
    robot = motor_of_a_crank('prismatic', '-0.6', '0.6', 0.02)
    lower, upper = robot.model.position_lower[0], robot.model.position_upper[0]
    assert -0.6 < lower < 0.02 * CRANK < upper < 0.6
    assert upper - lower > 2.0 * np.pi * 0.02
    check_slider(robot, 0.02)


def test_a_start_may_be_near_an_end_of_the_stroke():
    turn = 0.2  # 5 mm from the dead centre, which is at 1.1 m
    slide = 0.3 * np.cos(turn) + np.sqrt(0.64 - (0.3 * np.sin(turn)) ** 2)
    assert 1.09 < slide < 1.1
    mechanism = {
        **SLIDER_CONSTRAINTS,
        'actuated': ['slide'],
        'start': {'turn': turn, 'slide': slide},
        'hold': ['slide'],
    }
    robot = kd.loads(slider_crank(), constraints=mechanism)
    assert robot.tree_coordinates([slide])[0] == pytest.approx(turn, abs=1e-12)
    assert robot.model.position_lower[0] < slide < robot.model.position_upper[0]
