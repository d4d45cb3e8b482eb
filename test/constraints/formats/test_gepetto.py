# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gepetto's robot.yaml: against Pinocchio with the same frames, and what is refused."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from mechanisms import joint, two_arms_text
from pinocchio_oracle import Oracle, pin
from uncompiled import ConstrainedOnFloats, uncompiled

import kron_dynamics as kd
from kron_dynamics.constraints import PrescribedMotion, read_constraints
from kron_dynamics.kinematics.relative import relative_pose
from kron_dynamics.model import load_model
from kron_dynamics.model.tree import roll_pitch_yaw

START = [0.2, 0.5, -0.4, 0.1, 0.6, 0.3, 0.2]


@functools.cache
def arms_text() -> str:
    """Two arms with a frame on each, turned against the links; at the start they are one."""
    left = joint('left_fixed', 'left3', 'left_tip', (0.3, 0.1, 0.0), kind='fixed', rpy='0.4 1 -2')
    text = two_arms_text().replace('</robot>', f'<link name="left_tip"/>{left}</robot>')
    pose = np.asarray(relative_pose(load_model(text), START, 'left_tip', 'right3'), dtype=float)
    rpy = ' '.join(map(repr, roll_pitch_yaw(pose[:3, :3])))
    place = tuple(pose[:3, 3].tolist())
    right = joint('right_fixed', 'right3', 'right_tip', place, kind='fixed', rpy=rpy)
    return text.replace('</robot>', f'<link name="right_tip"/>{right}</robot>')


def pinocchio_acceleration(text: str, loops: Any, closed: Any, state: Any) -> Any:
    """By its contact models of frames that are found by name, as Gepetto's loader makes them."""
    if not hasattr(pin, 'PointAnchorConstraintModel'):
        pytest.skip(f'Pinocchio {pin.__version__}, the last for this Python, is called otherwise')
    oracle = Oracle(text, closed.robot.model)
    model = oracle.pin
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for pair, kind in zip(loops['closed_loop'], loops['type'], strict=True):
        sides: list[Any] = []
        for name in pair:
            frame = model.frames[model.getFrameId(name)]
            sides += [frame.parentJoint, frame.placement]
        contact = pin.ContactType.CONTACT_3D if kind == '3d' else pin.ContactType.CONTACT_6D
        models.append(pin.RigidConstraintModel(contact, model, *sides, pin.ReferenceFrame.LOCAL))
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(model, oracle.data, models, datas)
    q, qd, tau = state
    full = oracle.configuration(q), oracle.G @ qd, oracle.G @ tau
    settings = pin.ProximalSettings(1e-14, 1e-10, 100)
    qdd = pin.constraintDynamics(model, oracle.data, *full, models, datas, settings)
    return np.linalg.pinv(oracle.G) @ qdd, [data.contact_force for data in datas]


@pytest.mark.parametrize(
    ('kind', 'pair'),
    [
        ('3d', ['left_tip', 'right_tip']),
        ('3d', ['left_tip', 'right3_joint']),  # the frame of a moving joint
        ('6d', ['left_tip', 'right_tip']),
    ],
)
def test_pinocchio_has_the_same_motion(kind: str, pair: Any, assert_close: Any) -> None:
    text = arms_text()
    loops = {'closed_loop': [pair], 'type': [kind], 'name_mot': ['turn', 'left1_joint']}
    robot = uncompiled(text)
    found = read_constraints(loops, robot.model)
    closed = ConstrainedOnFloats(robot, found.constraints, start=START, actuated=found.actuated)
    assert closed.actuated == ('turn', 'left1_joint')
    assert closed.rank == (3 if kind == '3d' else 6)
    rng = np.random.default_rng(3)
    q = closed.start
    state = q, closed.close_rates(q, rng.normal(size=robot.n)), rng.normal(size=robot.n)
    motion = closed.forward_dynamics(*state)
    qdd, (force,) = pinocchio_acceleration(text, loops, closed, state)
    assert_close(motion.qdd, qdd, 1e-9)
    link = closed.constraints[0].links()[0]
    turn = robot.frame(link).pose(q)[:3, :3]
    (wrench,) = closed.reactions(q, state[1], motion.qdd, state[2]).wrenches.values()
    assert_close(wrench[:3], turn @ force.linear, 1e-8)
    if kind == '6d':
        assert_close(wrench[3:], turn @ force.angular, 1e-8, floor=0.1)


def test_joints_that_the_loader_fixes_are_held_at_zero() -> None:
    text = {
        'closed_loop': [],
        'type': [],
        'joint_name': ['turn', 'left3_joint'],
        'joint_type': ['FIXED', 'FIXED'],
    }
    found = read_constraints(text, load_model(two_arms_text()))
    assert found.constraints == (
        PrescribedMotion('fixed turn', 'turn', 0.0),
        PrescribedMotion('fixed left3_joint', 'left3_joint', 0.0),
    )
    assert found.actuated is None


GOOD = """
closed_loop: [[left3, right3], [left2, right2]]
type: [3d, 6D]
name_mot: [turn]
joint_name: [left1_joint]
joint_type: [FIXED]
"""


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('name_mot', 'name_mots', "key 'name_mots' is unknown, did you mean 'name_mot'"),
        ('name_mot', 'rotor_inertia', "key 'rotor_inertia' is unknown"),
        ('type: [3d, 6D]', '', "key 'type' is missing"),
        (
            '[3d, 6D]',
            '[3d]',
            "key 'type' has 1 entries, expected 2, one for each of 'closed_loop'",
        ),
        ('[3d, 6D]', '[3d, 5d]', "key 'type' has '5d' of pair 2, expected '3d' or '6d'"),
        ('[3d, 6D]', '3d', "key 'type' is '3d', expected a list"),
        ('[left2, right2]', '[left2]', "has ['left2'] as pair 2, expected names of two frames"),
        ('[left2, right2]', 'left2', "has 'left2' as pair 2, expected names of two frames"),
        ('right2]', 'rigth2]', "names the frame 'rigth2', which is no link and no moving joint"),
        ('[turn]', 'turn', "key 'name_mot' is 'turn', expected a list of joint names"),
        ('[FIXED]', '[SPHERICAL]', "makes 'left1_joint' a joint 'SPHERICAL', expected 'FIXED'"),
        ('[FIXED]', '[]', "key 'joint_type' has 0 entries, expected 1"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    model = load_model(two_arms_text())
    path = tmp_path / 'robot.yaml'
    path.write_text(GOOD)
    assert len(read_constraints(path, model).constraints) == 3
    assert len(read_constraints(yaml.safe_load(GOOD)).constraints) == 3
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(kd.ModelError) as raised:
        read_constraints(path, model)
    assert words in str(raised.value) and str(path) in str(raised.value)
