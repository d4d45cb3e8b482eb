# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of drives, and descriptions that make no mechanism."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from closed_loops import GEAR, SLIDER_CONSTRAINTS, slider_crank
from pinocchio_oracle import arm_text

import kron_dynamics as kd
from kron_dynamics.exceptions import ConstraintError, ModelError, UnknownFrameError

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[2]


def slider(**changes):
    return {**SLIDER_CONSTRAINTS, **changes}


def place_of_slider(turn):
    """In closed form."""
    return 0.3 * np.cos(turn) + np.sqrt(0.64 - (0.3 * np.sin(turn)) ** 2)


def test_a_crank_turns_without_end():
    robot = kd.loads(slider_crank(), constraints=SLIDER_CONSTRAINTS)
    assert robot.joint_names == ('turn',)
    assert robot.model.position_lower == -np.inf
    for turn in np.linspace(-20.0, 20.0, 41):
        _, _, slide = robot.tree_coordinates([turn])
        assert slide == pytest.approx(place_of_slider(turn), abs=1e-14)


def test_limits_of_the_drive_hold():
    text = slider_crank(-0.5, 1.9, 'revolute')
    robot = kd.loads(text, constraints=SLIDER_CONSTRAINTS)
    np.testing.assert_allclose(robot.model.position_lower, [-0.5])
    np.testing.assert_allclose(robot.model.position_upper, [1.9])
    assert robot.tree_coordinates([1.7])[2] == pytest.approx(place_of_slider(1.7), abs=1e-14)


def test_a_drive_ends_where_the_mechanism_is_singular():
    """The slider drives the crank: to its dead centres, 0.5 m and 1.1 m, and not through them."""
    robot = kd.loads(slider_crank(), constraints=slider(actuated=['slide']))
    assert robot.joint_names == ('slide',)
    lower, upper = robot.model.position_lower[0], robot.model.position_upper[0]
    assert 0.5 < lower < 0.53
    assert 1.08 < upper < 1.1
    for slide in np.linspace(lower, upper, 23):
        turn, _, _ = robot.tree_coordinates([slide])
        assert 0.0 < turn < np.pi  # the branch of the start
        assert place_of_slider(turn) == pytest.approx(slide, abs=1e-13)


@pytest.fixture(scope='module')
def mechanism_of_the_cylinder():
    name = 'stacker_reclaimer_cylinder'
    return kd.load(ROOT / 'urdf' / f'{name}.urdf', constraints=ROOT / 'config' / f'{name}.yaml')


def test_a_drive_ends_where_another_joint_is_at_its_limit(mechanism_of_the_cylinder):
    """The luff joint of the stacker, which the cylinder moves."""
    robot = mechanism_of_the_cylinder
    tree = robot.model.tree
    luff = tree.joint_names.index('luff')
    for limits, of_tree in (
        (robot.model.position_lower, tree.position_lower),
        (robot.model.position_upper, tree.position_upper),
    ):
        assert robot.tree_coordinates(limits)[luff] == pytest.approx(of_tree[luff], abs=1e-5)
        cylinder = tree.joint_names.index('cylinder')
        assert abs(limits[2]) < abs(of_tree[cylinder])


def test_friction_without_a_drive_is_told(mechanism_of_the_cylinder):
    (told,) = (w for w in mechanism_of_the_cylinder.model.warnings if w.kind == 'passive_friction')
    assert told.subject == "joint 'luff'"
    assert 'damping 1.4e+07, friction 40000' in told.finding
    assert told.severity == 'hint'


def test_a_cylinder_pushes_with_its_lever_arm(mechanism_of_the_cylinder):
    """The force is the luff torque over the change of length with the angle."""
    robot = mechanism_of_the_cylinder
    q = np.array([1.0, 0.2, 0.4])
    luff = robot.model.tree.joint_names.index('luff')
    step = 1e-4
    angle = [robot.tree_coordinates(q + [0, 0, k * step])[luff] for k in (-2, -1, 1, 2)]
    arm = (8 * (angle[2] - angle[1]) - (angle[3] - angle[0])) / (12 * step)
    height = [robot.potential_energy(q + [0, 0, k * step]) for k in (-2, -1, 1, 2)]
    work = (8 * (height[2] - height[1]) - (height[3] - height[0])) / (12 * step)
    assert robot.gravity_vector(q)[2] == pytest.approx(work, rel=1e-8)
    assert robot.tree_rates(q, [0, 0, 1])[luff] == pytest.approx(arm, rel=1e-9)


def test_a_gear_is_a_mimic_joint():
    """Two descriptions of one robot."""
    text = arm_text('ur5_robot.urdf')
    before, joint, after = text.partition('name="elbow_joint"')
    place = after.index('</joint>')
    mimic = '<mimic joint="shoulder_lift_joint" multiplier="-1" offset="0.2"/>'
    mimicking = kd.loads(before + joint + after[:place] + mimic + after[place:])
    geared = kd.loads(text, constraints=GEAR)
    assert geared.joint_names == mimicking.joint_names
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 5))
    np.testing.assert_allclose(
        geared.inverse_dynamics(q, qd, qdd), mimicking.inverse_dynamics(q, qd, qdd), rtol=1e-11
    )
    np.testing.assert_allclose(
        geared.velocity_free_coriolis_matrix(q),
        mimicking.velocity_free_coriolis_matrix(q),
        atol=1e-12,
    )


TWO_DRIVES = {
    'constraints': {
        'sum': {
            'type': 'coupling',
            'ratios': {'shoulder_pan_joint': 1.0, 'shoulder_lift_joint': 1.0, 'elbow_joint': 1.0},
        }
    },
    'actuated': GEAR['actuated'],
}
ROLLING = {'constraints': {'edge': {'type': 'blade', 'link': 'slider', 'direction': [1, 0, 0]}}}


@pytest.mark.parametrize(
    ('constraints', 'error', 'said'),
    [
        (slider(actuated=['turn', 'slide']), ConstraintError, 'actuated names 2 joints'),
        (slider(actuated=[]), ConstraintError, 'has 1 degrees of freedom'),
        (slider(actuated=['turns']), ConstraintError, "'turns'"),
        (
            slider(start={'turn': 0.0, 'slide': 1.1}, actuated=['slide']),
            ConstraintError,
            'at a singularity',
        ),
        (
            slider(start={'turn': 0.5, 'slide': 1.0}, hold=['turn', 'slide']),
            ConstraintError,
            'pin',
        ),
        (ROLLING, ConstraintError, "constraint 'edge' is one of rates"),
        ({'constraints': {'pin': {'type': 'hing'}}}, ModelError, "did you mean 'hinge'"),
        (
            {'constraints': {'p': {'type': 'point', 'a': 'rods', 'b': 'slider'}}},
            UnknownFrameError,
            "'rods'",
        ),
        ('/no/such/file.yaml', ModelError, '/no/such/file.yaml'),
        ({'closed_loop': [], 'type': []}, ModelError, 'has no constraint, expected'),
    ],
)
def test_what_is_no_mechanism_is_refused(constraints, error, said):
    with pytest.raises(error) as found:
        kd.loads(slider_crank(), constraints=constraints)
    assert said in str(found.value)


def test_a_condition_that_always_holds_leaves_the_tree():
    axle = {'a': 'crank', 'b': {'link': 'base', 'point': [0, 0, 1]}}
    rod = {'constraints': {'rod': {'type': 'distance', 'length': 1.0, **axle}}}
    robot = kd.loads(slider_crank(), constraints=rod)
    assert robot.joint_names == ('turn', 'knee', 'slide')
    np.testing.assert_allclose(robot.tree_coordinates([0.1, 0.2, 0.3]), [0.1, 0.2, 0.3])


def test_joints_of_several_drives_are_refused():
    with pytest.raises(ConstraintError) as found:
        kd.loads(arm_text('ur5_robot.urdf'), constraints=TWO_DRIVES)
    for word in ('elbow_joint', 'shoulder_pan_joint', 'shoulder_lift_joint', 'ReducedRobot'):
        assert word in str(found.value)


def test_loops_that_keep_a_link_from_bending_are_refused():
    with pytest.raises(ConstraintError) as found:
        kd.load(
            ROOT / 'urdf' / 'stacker_reclaimer_cylinder.urdf',
            flexible=ROOT / 'config' / 'stacker_reclaimer_flexible.yaml',
            constraints=ROOT / 'config' / 'stacker_reclaimer_cylinder.yaml',
        )
    for word in ("'levelling_eye'", "'boom/v1'", 'components: xy', 'cylinder.yaml'):
        assert word in str(found.value)
    for word in ("'rod_eye'", "'boom/w1'"):  # hold nothing
        assert word not in str(found.value)
