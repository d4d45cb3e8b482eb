# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""SDFormat: frames, axes and inertias against the same robot as a URDF; loops; errors."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sdf_texts import HINGE, joint, link

import kron_dynamics as kd
from kron_dynamics.constraints import (
    Attachment,
    HingeLoop,
    PointLoop,
    SliderLoop,
    WeldLoop,
    read_constraints,
)
from kron_dynamics.dynamics import gravity_vector, mass_matrix
from kron_dynamics.kinematics import forward_kinematics
from kron_dynamics.model import load_model

ARM = ''.join(
    (
        '<pose>0.1 0.2 0.3 0.2 -0.1 0.4</pose>',
        link('base', '0.05 0 0 0 0 0.3'),
        link('arm', '0.2 0.1 0.4 0.3 0.2 0.1', mass=3.0),
        link('slide', '0.3 0 0.1 0 0.5 0', 'elbow', mass=1.5),
        link('screw', '0.1 0.1 0 20 10 -30', 'tool_frame', 0.7).replace(
            '<pose relative_to="tool_frame">', '<pose relative_to="tool_frame" degrees="true">'
        ),
        '<frame name="tool_frame" attached_to="slide"><pose>0.1 0 0 0 0 1</pose></frame>',
        joint('feet', 'fixed', 'world', 'base'),
        joint(
            *('shoulder', 'revolute', 'base', 'arm'),
            '<xyz>0 3 4</xyz><limit><lower>-1</lower><upper>2</upper><effort>50</effort></limit>'
            '<dynamics><damping>0.3</damping><friction>0.1</friction></dynamics>',
            '<pose>0.02 0.03 0.04 0.1 0.2 0.3</pose>',
        ),
        joint(
            *('elbow', 'prismatic', 'arm', 'slide'),
            '<xyz expressed_in="__model__">0 1 1</xyz>',
            '<pose relative_to="arm">0.3 0 0.2 0 0 0.7</pose>',
        ),
        joint(
            *('wrist', 'screw', 'tool_frame', 'screw'),
            '<xyz expressed_in="base">1 0 0</xyz>',
            more='<screw_thread_pitch>0.05</screw_thread_pitch>',
        ),
    )
)


def sdf(*parts: str, version: str = '1.9') -> str:
    return f'<sdf version="{version}"><model name="m">{"".join(parts)}</model></sdf>'


def pose(x: float, y: float, z: float, roll: float, pitch: float, yaw: float) -> Any:
    made = np.eye(4)
    made[:3, :3] = Rotation.from_euler('xyz', [roll, pitch, yaw]).as_matrix()
    made[:3, 3] = x, y, z
    return made


def origin(made: Any) -> str:
    xyz = ' '.join(map(repr, made[:3, 3].tolist()))
    rpy = ' '.join(map(repr, Rotation.from_matrix(made[:3, :3]).as_euler('xyz').tolist()))
    return f'<origin xyz="{xyz}" rpy="{rpy}"/>'


def by_hand() -> str:
    """ARM as a URDF: joints where they are, links fixed behind them; poses worked out here."""
    X = pose(0.1, 0.2, 0.3, 0.2, -0.1, 0.4)
    base, arm = pose(0.05, 0, 0, 0, 0, 0.3), pose(0.2, 0.1, 0.4, 0.3, 0.2, 0.1)
    shoulder = arm @ pose(0.02, 0.03, 0.04, 0.1, 0.2, 0.3)
    elbow = arm @ pose(0.3, 0, 0.2, 0, 0, 0.7)
    slide = elbow @ pose(0.3, 0, 0.1, 0, 0.5, 0)
    tool = slide @ pose(0.1, 0, 0, 0, 0, 1)
    screw = tool @ pose(0.1, 0.1, 0, *np.deg2rad([20, 10, -30]))
    made = ['<robot name="m"><link name="world"/>']
    moments = '<inertia ixx="0.3" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="-0.02"/>'
    for name, mass in (('base', 2.0), ('arm', 3.0), ('slide', 1.5), ('screw', 0.7)):
        made.append(
            f'<link name="{name}"><inertial><origin xyz="0.1 0.02 -0.03" rpy="0.4 0.5 -0.6"/>'
            f'<mass value="{mass}"/>{moments}</inertial></link>'
        )
    made.append(f'<joint name="feet" type="fixed">{origin(X @ base)}<parent link="world"/>')
    made.append('<child link="base"/></joint>')
    for name, kind, parent, at, child, own, axis in (
        ('shoulder', 'revolute', ('base', base), shoulder, 'arm', arm, [0, 0.6, 0.8]),
        ('elbow', 'prismatic', ('arm', arm), elbow, 'slide', slide, elbow[:3, :3].T @ [0, 1, 1]),
        ('wrist', 'screw', ('slide', slide), screw, 'screw', screw, None),
    ):
        direction = (screw[:3, :3].T @ base[:3, 0]) if axis is None else np.asarray(axis)
        text = ' '.join(map(repr, (direction / np.linalg.norm(direction)).tolist()))
        more = '<screw_thread_pitch value="0.05"/>' * (kind == 'screw')
        made.append(
            f'<link name="{name}_frame"/><joint name="{name}" type="{kind}">'
            f'{origin(np.linalg.inv(parent[1]) @ at)}<parent link="{parent[0]}"/>'
            f'<child link="{name}_frame"/><axis xyz="{text}"/>{more}</joint>'
            f'<joint name="{name}_still" type="fixed">{origin(np.linalg.inv(at) @ own)}'
            f'<parent link="{name}_frame"/><child link="{child}"/></joint>'
        )
    return ''.join(made) + '</robot>'


def test_a_robot_is_the_same_as_its_urdf_by_hand(assert_close: Any) -> None:
    found, expected = load_model(sdf(ARM)), load_model(by_hand())
    assert found.joint_names == ('shoulder', 'elbow', 'wrist') == expected.joint_names
    assert [joint.kind for joint in found.joints] == ['revolute', 'prismatic', 'screw']
    assert found.root_link == 'world'
    rng = np.random.default_rng(1)
    for _ in range(3):
        q = rng.normal(size=3)
        assert_close(mass_matrix(found, q), mass_matrix(expected, q), 1e-13)
        assert_close(gravity_vector(found, q), gravity_vector(expected, q), 1e-13)
        for name in ('arm', 'slide', 'screw'):
            poses = (forward_kinematics(model, q, name) for model in (found, expected))
            assert_close(*poses, 1e-13)
        # The frame of a joint that its child's is not.
        poses = (
            forward_kinematics(model, q, name)
            for model, name in ((found, 'shoulder'), (expected, 'shoulder_frame'))
        )
        assert_close(*poses, 1e-13)
    assert found.position_lower.tolist() == [-1, -np.inf, -np.inf]
    assert found.position_upper.tolist() == [2, np.inf, np.inf]
    assert found.effort_limit.tolist() == [50, np.inf, np.inf]
    assert found.damping[0] == 0.3 and found.friction[0] == 0.1


def test_axes_of_old_versions_are_in_the_model_frame() -> None:
    def axis(text: str) -> Any:
        (found,) = load_model(text).joints
        return found.rotation @ found.axis

    parts = link('a', '0 0 0 0 0 0'), link('b', '0 0 1 0 0 1')
    hinge = joint('h', 'revolute', 'a', 'b', '<xyz>1 0 0</xyz>')
    turned = [np.cos(1), np.sin(1), 0]
    np.testing.assert_allclose(axis(sdf(*parts, hinge)), turned, atol=1e-15)
    np.testing.assert_allclose(axis(sdf(*parts, hinge, version='1.4')), [1, 0, 0], atol=1e-15)
    flag = '<use_parent_model_frame>true</use_parent_model_frame>'
    flagged = hinge.replace('</axis>', f'{flag}</axis>')
    np.testing.assert_allclose(axis(sdf(*parts, flagged, version='1.6')), [1, 0, 0], atol=1e-15)


def test_properties_of_joints() -> None:
    parts = link('a', '0 0 0 0 0 0'), link('b', '0 0 1 0 0 1'), link('c', '0 0 2 0 0 1')
    free = '<limit><lower>-1e16</lower><upper>inf</upper><effort>-1</effort></limit>'
    mimic = '<mimic joint="h"><multiplier>2</multiplier><offset>1</offset><reference>3</reference>'
    model = load_model(
        sdf(
            *parts,
            joint('h', 'revolute', 'a', 'b', f'<xyz>1 0 0</xyz>{free}'),
            joint('k', 'revolute', 'b', 'c', f'<xyz>1 0 0</xyz>{mimic}</mimic>'),
        )
    )
    assert model.joint_names == ('h',) and np.isinf(model.position_upper).all()
    follower = next(found for found in model.joints if found.name == 'k')
    assert (follower.mimics, follower.multiplier, follower.offset) == ('h', 2.0, 1.0 - 2.0 * 3.0)


@pytest.mark.parametrize(
    ('limit', 'values'),
    [
        ('<lower>-1</lower><upper>2</upper>', (-1.0, 2.0, np.inf, np.inf)),
        ('<upper>2</upper>', (-np.inf, 2.0, np.inf, np.inf)),
        ('<lower>-1</lower>', (-1.0, np.inf, np.inf, np.inf)),
        ('<lower>-inf</lower><upper>2</upper>', (-np.inf, 2.0, np.inf, np.inf)),
        ('<effort>50</effort>', (-np.inf, np.inf, 50.0, np.inf)),
        ('<velocity>3</velocity>', (-np.inf, np.inf, np.inf, 3.0)),
        ('', (-np.inf, np.inf, np.inf, np.inf)),
    ],
)
def test_each_limit_of_a_joint_counts_without_the_others(limit: str, values: Any) -> None:
    hinge = joint('h', 'revolute', 'a', 'b', f'<xyz>1 0 0</xyz><limit>{limit}</limit>')
    model = load_model(sdf(link('a', '0 0 0 0 0 0'), link('b', '0 0 1 0 0 1'), hinge))
    found = model.position_lower, model.position_upper, model.effort_limit, model.velocity_limit
    assert tuple(float(value[0]) for value in found) == values
    # Only what is stopped at neither end turns around and around.
    free = np.isinf(values[:2]).all()
    assert model.joint_types == (('continuous' if free else 'revolute'),)


@pytest.mark.parametrize(('canonical', 'moved'), [('', 'a'), (' canonical_link="b"', 'b')])
def test_a_frame_attached_to_nothing_is_fixed_to_the_canonical_link(
    canonical: str, moved: str
) -> None:
    """That link is the first one unless the model names another."""
    tree = sdf(
        *(link(name, '0 0 0 0 0 0') for name in 'abc'),
        '<frame name="f"><pose>0 0 1 0 0 0</pose></frame>',
        joint('h', 'revolute', 'a', 'b', '<xyz>1 0 0</xyz>'),
        joint('k', 'revolute', 'f', 'c', '<xyz>1 0 0</xyz>'),
    )
    model = load_model(tree.replace('<model name="m"', f'<model name="m"{canonical}'))
    last = next(found for found in model.joints if found.name == 'k')
    assert last.parent == (-1 if moved == 'a' else model.joint_names.index('h'))


def test_without_inertia_sdf_means_one_kilogram() -> None:
    parts = (
        '<link name="a"/>',
        '<link name="b"/>',
        joint('h', 'revolute', 'a', 'b', '<xyz>1 0 0</xyz>'),
    )
    model = load_model(sdf(*parts))
    assert mass_matrix(model, [0.0])[0, 0] == 1.0
    assert {warning.kind for warning in model.warnings} == {'missing_inertia'}


@pytest.mark.parametrize('empty', ['<pose/>', '<pose> </pose>'])
def test_an_empty_pose_is_the_one_of_the_parent(empty: str) -> None:
    hinge = joint('h', 'revolute', 'a', 'b', '<xyz>0 1 0</xyz>')
    links = link('a', '0 0 0 0 0 0.7'), link('b', '0.4 0 1 0 0 1')
    plain, posed = sdf(*links, hinge), sdf(*links, hinge.replace('<parent>', f'{empty}<parent>'))
    for q in (0.0, 0.3):
        np.testing.assert_array_equal(
            forward_kinematics(load_model(posed), [q], 'b'),
            forward_kinematics(load_model(plain), [q], 'b'),
        )


SQUARE = (
    link('ab', '0.1 0.2 0 0 0 0.3'),
    link('bc', '0.5 0.1 0.2 0.1 0 0'),
    link('cd', '0.7 0.3 0.1 0 0.2 0'),
    joint('a', 'revolute', 'world', 'ab', '<xyz>0 0 1</xyz>'),
    joint('c', 'revolute', 'cd', 'bc', '<xyz>0 0 1</xyz>', '<pose>0.1 0.2 0.3 0 0 0.5</pose>'),
    joint('b', 'revolute', 'ab', 'bc', '<xyz>0 0 1</xyz>'),
    joint('d', 'revolute', 'world', 'cd', '<xyz>0 0 1</xyz>'),
)


@pytest.mark.parametrize(
    ('kind', 'made'),
    [
        ('revolute', HingeLoop),
        ('continuous', HingeLoop),
        ('prismatic', SliderLoop),
        ('ball', PointLoop),
        ('fixed', WeldLoop),
    ],
)
def test_the_joint_farther_from_the_world_closes_the_loop(
    tmp_path: Path, kind: str, made: Any, assert_close: Any
) -> None:
    path = tmp_path / 'square.sdf'
    path.write_text(sdf(*SQUARE).replace('"c" type="revolute"', f'"c" type="{kind}"'))
    model = load_model(path.read_text())
    # b reaches bc before c: its parent ab is reached before cd.
    assert set(model.joint_names) == {'a', 'b', 'd'}
    assert [warning.kind for warning in model.warnings] == ['open_loops']
    (loop,) = read_constraints(path).constraints
    assert type(loop) is made and loop.name == 'c' and loop.links() == ('bc', 'cd')
    ends = []
    for side in (loop.a, loop.b):
        assert isinstance(side, Attachment)
        own = np.eye(4)
        own[:3, :3], own[:3, 3] = side.rotation(), side.point
        ends.append(forward_kinematics(model, np.zeros(3), side.link) @ own)
    rest = (
        slice(None)
        if kind in ('fixed', 'prismatic')
        else slice(2 if made is HingeLoop else 3, None)
    )
    assert_close(ends[0][:, rest], ends[1][:, rest], 1e-14, floor=1.0)
    there = pose(0.5, 0.1, 0.2, 0.1, 0, 0) @ pose(0.1, 0.2, 0.3, 0, 0, 0.5)
    assert_close(ends[0][:3, 3], there[:3, 3], 1e-14)
    if kind != 'ball':
        assert_close(ends[0][:3, 2], there[:3, 2], 1e-14, floor=1.0)


def test_a_loop_with_the_world_as_child(tmp_path: Path) -> None:
    path = tmp_path / 'square.sdf'
    back = SQUARE[-1].replace('world', 'X').replace('cd', 'world').replace('X', 'cd')
    chain = SQUARE[4].replace('<parent>cd', '<parent>bc').replace('<child>bc', '<child>cd')
    path.write_text(sdf(*SQUARE[:4], chain, SQUARE[5], back))
    (loop,) = read_constraints(path).constraints
    assert loop.name == 'd' and loop.links() == ('world', 'cd')
    robot = kd.load(path)
    closed = kd.ConstrainedRobot.described(robot, path)
    np.testing.assert_allclose(closed.residual(np.zeros(3)), 0.0, atol=1e-15)


def test_friction_of_a_loop_joint_is_told(tmp_path: Path) -> None:
    path = tmp_path / 'square.sdf'
    damped = '</xyz><dynamics><damping>0.1</damping><friction>0</friction></dynamics></axis>'
    path.write_text(sdf(*SQUARE[:4], SQUARE[4].replace('</xyz></axis>', damped), *SQUARE[5:]))
    with pytest.warns(kd.ModelWarning, match="joint 'c': it closes a loop, and its damping is"):
        read_constraints(path)


def test_limits_of_a_loop_joint_are_told(tmp_path: Path) -> None:
    path = tmp_path / 'square.sdf'
    for limits, told in (
        ('<lower>-0.02</lower><upper>0.3</upper>', 'lower -0.02, upper 0.3'),
        ('<upper>0.3</upper>', 'upper 0.3'),
        ('<lower>-1e16</lower><upper>1e16</upper><effort>3</effort>', None),
    ):
        limit = f'</xyz><limit>{limits}</limit></axis>'
        path.write_text(sdf(*SQUARE[:4], SQUARE[4].replace('</xyz></axis>', limit), *SQUARE[5:]))
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter('always')
            read_constraints(path)
        words = f"joint 'c': it closes a loop, and its limits {told} are not read"
        assert [words in str(warning.message) for warning in found] == [True] * bool(told)
    mimic = '</xyz><mimic joint="a"><multiplier>2</multiplier></mimic></axis>'
    path.write_text(sdf(*SQUARE[:4], SQUARE[4].replace('</xyz></axis>', mimic), *SQUARE[5:]))
    with pytest.raises(kd.ModelError, match="'c' .* closes a loop and has <mimic>, which is not"):
        read_constraints(path)


@pytest.mark.parametrize('kind', ['fixed', 'ball'])
def test_a_loop_joint_without_a_position_has_no_limits(tmp_path: Path, kind: str) -> None:
    path = tmp_path / 'square.sdf'
    limit = '</xyz><limit><lower>0</lower><upper>0</upper></limit></axis>'
    closing = SQUARE[4].replace('</xyz></axis>', limit).replace('revolute', kind)
    path.write_text(sdf(*SQUARE[:4], closing, *SQUARE[5:]))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert len(read_constraints(path).constraints) == 1


TWO = sdf(link('a', '0 0 0 0 0 0'), link('b', '0 0 1 0 0 1'), HINGE)


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('<model name="m">', '<model name="m"/><model name="n">', '2 elements <model>, expected'),
        ('<model name="m">', '<model name="m"><include/>', '<include> in line 1 is in a model'),
        (
            '<link name="b">',
            '<link name="a">',
            "'a' in line 1 has the name of another frame",
        ),
        ('<parent>a<', '<parent>x<', "<joint> 'h' in line 1 names 'x', expected a link or frame"),
        ('<parent>a</parent>', '', "<joint> 'h' in line 1 has no <parent>"),
        ('<parent>a<', '<parent>b<', 'is no child of a joint|not reached from the base'),
        ('<parent>a<', '<parent>world<', "<link> 'a' in line 1 is no child of a joint while"),
        (HINGE, '', 'has 2 links that are no child of a joint, expected one'),
        ('<child>b<', '<child>world<', 'has the world as child, expected it as parent'),
        (
            '"revolute"',
            '"ball"',
            "'h' in line 1 is of type 'ball', expected one of fixed",
        ),
        ('"revolute"', '"screw"', "'h' in line 1 is a screw without <screw_thread_pitch>"),
        ('<axis><xyz>0 0 1</xyz></axis>', '', "<joint> 'h' in line 1 has no <axis>"),
        ('<xyz>0 0 1</xyz>', '<xyz>0 0 0</xyz>', "of joint 'h' is 0, expected a direction"),
        ('<xyz>0 0 1</xyz>', '<xyz>0 0</xyz>', "the text '0 0', expected 3 finite number(s)"),
        ('<xyz>', '<xyz expressed_in="f">', "has no frame 'f', which a pose refers to"),
        (
            '<pose>0 0 1 0 0 1',
            '<pose relative_to="h">0 0 1 0 0 1',
            'frame that is placed in it',
        ),
        ('<pose>0 0 1 0 0 1', '<pose frame="a">0 0 1 0 0 1', "attribute 'frame' of SDF 1.6"),
        (
            '<link name="a">',
            '<pose relative_to="x">1 0 0 0 0 0</pose><link name="a">',
            'of a model has relative_to, which is not read',
        ),
        ('<pose>0 0 1 0 0 1', '<pose>0 0 1 0 0', "'0 0 1 0 0', expected 6 finite number(s)"),
        ('<mass>2.0<', '<mass>heavy<', "<mass> in line 1 has the text 'heavy', expected 1 finite"),
        ('<inertial>', '<inertial auto="true">', 'is to be found from shapes (auto)'),
        (
            '</xyz>',
            '</xyz><dynamics><spring_stiffness>3</spring_stiffness></dynamics>',
            'has a spring_stiffness, which is not read',
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / 'robot.sdf'
    path.write_text(TWO)
    assert kd.load(path).n == 1
    assert old in TWO
    path.write_text(TWO.replace(old, new, 1))
    with pytest.raises(kd.ModelError) as raised:
        kd.load(path)
    assert any(part in str(raised.value) for part in words.split('|')), str(raised.value)
    assert 'robot.sdf: ' in str(raised.value)


def test_a_model_without_loops_has_no_constraints(tmp_path: Path) -> None:
    path = tmp_path / 'robot.sdf'
    path.write_text(TWO)
    with pytest.raises(kd.ModelError, match=r'robot\.sdf: <model> .* has no loops'):
        read_constraints(path)
    path.write_text(sdf(*SQUARE).replace('"c" type="revolute"', '"c" type="universal"'))
    with pytest.raises(kd.ModelError, match="<joint> 'c' .* closes a loop and is of type 'univer"):
        read_constraints(path)
