# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of constraints: what they mean, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mechanisms import two_arms_text

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import (
    Attachment,
    BladeConstraint,
    Coupling,
    DistanceLoop,
    HingeLoop,
    PlanarLoop,
    PointLoop,
    PolynomialCoupling,
    PrescribedMotion,
    RollingWheel,
    SliderLoop,
    WeldLoop,
    read_constraints,
)

ROOT = Path(__file__).parents[2]
ALL = """
constraints:
  ball: {type: point, a: left3, b: {link: right3, point: [0.1, 0, 2e-1]}, components: xz}
  pin: {type: hinge, a: {link: left3, axis: [0, 1, 0]}, b: right3}
  table: {type: planar, a: left3, b: right3}
  rail: {type: slider, a: left3, b: {link: right3, axis: [1, 0, 0]}}
  glue: {type: weld, a: left3, b: {link: base, rpy: [0, 1, 2]}}
  rod: {type: distance, a: left3, b: right3, length: 0.5}
  gear: {type: coupling, ratios: {turn: 2, left1_joint: -0.5}, offset: 0.1, unit: '1'}
  cam: {type: polynomial, joint: turn, driver: left1_joint, coefficients: [1, 0, 0.5], about: 2}
  brake: {type: lock, joint: turn, position: 0.3}
  skate: {type: blade, link: left3, direction: [0, 1, 0], point: [0.1, 0, 0]}
  roll: {type: wheel, link: right3, radius: 0.2, normal: [0, 1, 0]}
start: {turn: 0.1}
hold: [turn]
independent: [left1_joint]
actuated: [turn, left1_joint]
"""


def test_every_type_is_the_class_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / 'all.yaml'
    path.write_text(ALL)
    found = read_constraints(path)
    assert found.constraints == (
        PointLoop('ball', 'left3', Attachment('right3', (0.1, 0.0, 0.2)), components='xz'),
        HingeLoop('pin', Attachment('left3', axis=(0.0, 1.0, 0.0)), 'right3'),
        PlanarLoop('table', 'left3', 'right3'),
        SliderLoop('rail', 'left3', Attachment('right3', axis=(1.0, 0.0, 0.0))),
        WeldLoop('glue', 'left3', Attachment('base', rpy=(0.0, 1.0, 2.0))),
        DistanceLoop('rod', 'left3', 'right3', length=0.5),
        Coupling('gear', {'turn': 2.0, 'left1_joint': -0.5}, signal=0.1, unit='1'),
        PolynomialCoupling('cam', 'turn', 'left1_joint', (1.0, 0.0, 0.5), about=2.0),
        PrescribedMotion('brake', 'turn', 0.3),
        BladeConstraint('skate', 'left3', (0.0, 1.0, 0.0), (0.1, 0.0, 0.0)),
        RollingWheel('roll', 'right3', 0.2, (0.0, 1.0, 0.0)),
    )
    assert dict(found.start) == {'turn': 0.1}
    assert (found.hold, found.independent) == (('turn',), ('left1_joint',))
    assert found.actuated == ('turn', 'left1_joint')
    only = read_constraints({'constraints': {'pin': {'type': 'hinge', 'a': 'x', 'b': 'y'}}})
    assert (only.hold, only.independent, only.actuated, dict(only.start)) == ((), None, None, {})


def test_the_four_bar_of_the_package(assert_close: Any) -> None:
    robot = kd.load(ROOT / 'urdf' / 'four_bar.urdf')
    closed = ConstrainedRobot.described(robot, ROOT / 'config' / 'four_bar_constraints.yaml')
    assert closed.independent == closed.actuated == ('crank_joint',)
    assert closed.start[0] == 0.9
    ends = [
        robot.frame(link).pose(closed.start) @ [length, 0, 0, 1]
        for link, length in (('coupler', 0.9), ('rocker', 0.7))
    ]
    assert_close(*ends, 1e-10)
    # At rest, gravity alone: the motor holds the slope of the potential along the motion.
    q, zero = closed.start, np.zeros(3)
    tau = closed.inverse_dynamics(q, zero, zero)
    heights = [
        robot.potential_energy(closed.close([0.9 + h, *q[1:]], hold=['crank_joint']))
        for h in (-1e-4, 1e-4)
    ]
    assert_close(tau, [(heights[1] - heights[0]) / 2e-4, 0, 0], 1e-6)


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('constraints:', 'constrains:', "key 'constrains' is unknown, did you mean 'constraints'"),
        ('type: hinge', 'type: hinges', "'pin': key 'type' is 'hinges', did you mean 'hinge'"),
        ('{type: hinge,', '{', "constraint 'pin': key 'type' is missing"),
        ('length: 0.5', 'lenght: 0.5', "'rod': key 'lenght' is unknown, did you mean 'length'"),
        ('length: 0.5', 'length: -1', "'rod': key 'length' is -1, expected a positive number"),
        (', b: {link: base, rpy: [0, 1, 2]}', '', "'glue': key 'b' is missing"),
        ('b: {link: base, rpy: [0, 1, 2]}', 'b: 3', "'glue': key 'b' is 3, expected a mapping"),
        ('axis: [0, 1, 0]', 'axis: [0, 1]', "'pin': key 'a.axis' is"),
        ('axis: [0, 1, 0]', 'axes: [0, 1, 0]', "key 'a.axes' is unknown, did you mean 'axis'"),
        ('turn: 2,', 'turn: fast,', "'gear': key 'ratios.turn' is 'fast'"),
        ("unit: '1'", 'unit: mm', "'gear': key 'unit' is 'mm'"),
        (
            'joint: turn, position',
            'joint: 3, position',
            "'brake': key 'joint' is 3, expected text",
        ),
        ('[1, 0, 0.5]', '[]', "constraint 'cam' has coefficients of shape (0,)"),
        ('[1, 0, 0.5]', '[1, x]', "'cam': key 'coefficients' is [1, 'x'], expected a list"),
        ('driver: left1_joint', 'driver: turn', "'cam' has joint 'turn' twice, expected two"),
        ('radius: 0.2', 'radius: 0', "'roll': key 'radius' is 0, expected a positive"),
        ('hold: [turn]', 'hold: turn', "key 'hold' is 'turn', expected a list of joint names"),
        ('{turn: 0.1}', '{turn: .nan}', "key 'start.turn' is nan"),
        ('components: xz', 'components: xu', "constraint 'ball' has components 'xu'"),
        ('gear: {', 'gear: 3 #', "constraint 'gear' is 3, expected a mapping"),
        ('[turn, left1_joint]', '[turn, 3]', "key 'actuated' is"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_key(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in ALL
    path = tmp_path / 'loops.yaml'
    path.write_text(ALL.replace(old, new, 1))
    with pytest.raises(kd.KronDynamicsError) as raised:
        read_constraints(path)
    assert words in str(raised.value)
    assert str(path) in str(raised.value) or isinstance(raised.value, kd.ConstraintError)
    assert '\n' not in str(raised.value)


@pytest.mark.parametrize('source', [None, 3, {'constraints': {}}, {'constraints': 3}, {}])
def test_what_is_no_description_is_refused(source: Any) -> None:
    with pytest.raises(kd.ModelError, match='description of constraints'):
        read_constraints(source)


def test_files_and_joints_that_do_not_exist(tmp_path: Path) -> None:
    robot = kd.loads(two_arms_text())
    with pytest.raises(kd.ModelError, match='does not exist'):
        ConstrainedRobot.described(robot, tmp_path / 'none.yaml')
    (tmp_path / 'list.yaml').write_text('[1, 2]')
    with pytest.raises(kd.ModelError, match="expected a mapping 'constraints'"):
        read_constraints(tmp_path / 'list.yaml')
    lock = {'constraints': {'b': {'type': 'lock', 'joint': 'turn', 'position': 0}}}
    with pytest.raises(kd.ConstraintError, match="start names no joints .*'elbow'"):
        ConstrainedRobot.described(robot, {**lock, 'start': {'elbow': 1.0}})
