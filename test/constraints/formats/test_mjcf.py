# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equalities of MJCF: what they mean, defaults and includes, against MuJoCo, and errors."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kron_dynamics as kd
from kron_dynamics.constraints import (
    Attachment,
    Coupling,
    PointLoop,
    PolynomialCoupling,
    PrescribedMotion,
    WeldLoop,
    read_constraints,
)

ROOT = Path(__file__).parents[3]
INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
TREE = f"""
<mujoco><compiler eulerseq="zYx"/>
<default>
  <site euler="10 20 30"/><joint axis="0 0 1" ref="5"/>
  <default class="slow"><joint type="slide" ref="0.2"/></default>
</default>
<worldbody>
  <site name="wall" pos="0.3 0.2 0.1" zaxis="1 2 3"/>
  <frame pos="0.01 0.02 0.03" euler="3 4 5">
    <body name="a1" pos="0.1 0.2 0.3" euler="10 20 30">
      <joint name="ja1" ref="30"/>{INERTIAL}
      <frame pos="0.3 0 0.1" axisangle="1 2 3 40">
        <site name="left" pos="0.1 0 0"/>
        <body name="a2" pos="0.5 0 0" xyaxes="1 1 0 0 1 1">
          <joint name="ja2" axis="0 1 0" pos="0.05 0 0"/>{INERTIAL}
        </body>
      </frame>
    </body>
  </frame>
  <body name="b1" pos="-0.1 0.5 0.1" quat="1 2 3 4" childclass="slow">
    <joint name="jb1"/>{INERTIAL}
    <body name="b2" pos="0.5 0 0" euler="0 40 0">
      <joint name="jb2" class="main"/>{INERTIAL}
      <site name="right" pos="0 0 0.2" quat="0.5 0.4 0.3 0.2"/>
      <site name="line" type="capsule" size="0.1" quat="1 0 0 0" fromto="0 0 0 1 0 0"/>
    </body>
  </body>
</worldbody>
<equality>
  LOOPS
</equality></mujoco>
"""
LOOPS = (
    '<connect name="c" body1="a2" body2="b2" anchor="0.1 0.2 0.3"/>',
    '<connect body1="a2" anchor="0.1 0.2 0.3"/>',
    '<connect site1="left" site2="right"/>',
    '<connect site1="left" site2="wall"/>',
    '<weld body1="a2" body2="b2" anchor="0.01 0.02 0.03"/>',
    '<weld site1="left" site2="right"/>',
    '<weld body1="a2" body2="b2" relpose="0.1 0.2 0.3 0.9 0.1 0.2 0.3" anchor="0.01 0 0.03"/>',
    '<weld body1="a2" body2="b2" relpose="0.1 0.2 0.3 0 0 0 0"/>',
    '<weld body1="b2"/>',
    '<joint joint1="ja1" joint2="jb1" polycoef="0.1 2 0.3 0 0.2"/>',
    '<joint joint1="ja2" joint2="jb1" polycoef="0.1 2"/>',
    '<joint joint1="ja2" joint2="jb1" polycoef="0.1 0 0"/>',
    '<joint joint1="ja1" polycoef="0.1 2 0.3 0 0"/>',
)


def read(tmp_path: Path, *loops: str, text: str = TREE) -> Any:
    path = tmp_path / 'robot.xml'
    path.write_text(text.replace('LOOPS', '\n'.join(loops)))
    return read_constraints(path)


def turn(order: str, *degrees: float) -> Any:
    return Rotation.from_euler(order, degrees, degrees=True).as_matrix()


def place(R: Any, *p: float) -> Any:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = R, p
    return pose


def bodies() -> dict[str, Any]:
    """Poses of the bodies at qpos0, by SciPy's rotations: z turns along, Y stands, x along."""

    def euler(z: float, y: float, x: float) -> Any:
        return turn('y', y) @ turn('z', z) @ turn('x', x)

    a1 = place(euler(3, 4, 5), 0.01, 0.02, 0.03) @ place(euler(10, 20, 30), 0.1, 0.2, 0.3)
    axis = np.array([1, 2, 3]) / np.sqrt(14)
    frame = place(Rotation.from_rotvec(np.deg2rad(40) * axis).as_matrix(), 0.3, 0, 0.1)
    x = np.array([1, 1, 0]) / np.sqrt(2)
    y = np.array([0, 1, 1]) - (np.array([0, 1, 1]) @ x) * x
    y /= np.linalg.norm(y)
    a2 = a1 @ frame @ place(np.column_stack([x, y, np.cross(x, y)]), 0.5, 0, 0)
    b1 = place(Rotation.from_quat([2, 3, 4, 1]).as_matrix(), -0.1, 0.5, 0.1)
    left = a1 @ frame @ place(euler(10, 20, 30), 0.1, 0, 0)
    b2 = b1 @ place(euler(0, 40, 0), 0.5, 0, 0)
    right = b2 @ place(Rotation.from_quat([0.4, 0.3, 0.2, 0.5]).as_matrix(), 0, 0, 0.2)
    return {'world': np.eye(4), 'a1': a1, 'a2': a2, 'b1': b1, 'b2': b2, 'l': left, 'r': right}


def in_world(frame: Attachment) -> Any:
    return bodies()[frame.link] @ place(frame.rotation(), *frame.point)


def test_connects_hold_what_is_together_at_the_reference(
    tmp_path: Path, assert_close: Any
) -> None:
    between, ground, sites, _ = read(tmp_path, *LOOPS[:4]).constraints
    assert (between.name, ground.name) == ('c', 'connect 2')
    at = bodies()
    for loop in (between, ground):
        assert isinstance(loop, PointLoop) and loop.a == Attachment('a2', (0.1, 0.2, 0.3))
        assert_close(in_world(loop.a)[:3, 3], in_world(loop.b)[:3, 3], 1e-14)
    assert between.b.link == 'b2' and ground.b.link == 'world'
    assert sites.links() == ('a1', 'b2')
    assert_close(in_world(sites.a)[:3, 3], at['l'][:3, 3], 1e-14)
    assert_close(in_world(sites.b)[:3, 3], at['r'][:3, 3], 1e-14)


def test_welds_hold_the_pose_of_the_reference_or_their_own(
    tmp_path: Path, assert_close: Any
) -> None:
    kept, sites, own, default, ground = read(tmp_path, *LOOPS[4:9]).constraints
    at = bodies()
    for loop in (kept, default, ground):
        assert isinstance(loop, WeldLoop)
        assert_close(in_world(loop.a), in_world(loop.b), 1e-14)
    assert kept.b == Attachment('b2', (0.01, 0.02, 0.03)) and ground.b.link == 'world'
    assert_close(in_world(sites.a), at['l'], 1e-14)
    assert_close(in_world(sites.b), at['r'], 1e-14)
    # With a pose of its own the anchor of body2 goes there, not the origin of body2.
    assert own.a.point == (0.1, 0.2, 0.3) and own.b == Attachment('b2', (0.01, 0.0, 0.03))
    quaternion = Rotation.from_quat([0.1, 0.2, 0.3, 0.9]).as_matrix()
    assert_close(own.a.rotation(), quaternion, 1e-14)


def test_joints_count_from_the_reference(tmp_path: Path) -> None:
    found = read(tmp_path, *LOOPS[9:])
    ja1, ja2 = np.deg2rad(30), np.deg2rad(5)
    cam, gear, level, lock = found.constraints
    assert cam == PolynomialCoupling(
        'joint 1', 'ja1', 'jb1', (ja1 + 0.1, 2, 0.3, 0, 0.2), about=0.2, unit='rad'
    )
    assert isinstance(gear, Coupling) and gear.ratios == {'ja2': 1.0, 'jb1': -2.0}
    np.testing.assert_allclose(gear.signal, ja2 + 0.1 - 2 * 0.2, atol=1e-15)
    assert level == PrescribedMotion('joint 3', 'ja2', ja2 + 0.1, unit='rad')
    assert lock == PrescribedMotion('joint 4', 'ja1', ja1 + 0.1, unit='rad')
    assert dict(found.start) == {'ja1': ja1, 'ja2': ja2, 'jb1': 0.2, 'jb2': ja2}
    (slide,) = read(tmp_path, '<joint joint1="jb1"/>').constraints
    assert slide == PrescribedMotion('joint 1', 'jb1', 0.2, unit='m')


def test_mujoco_has_the_same_residuals(tmp_path: Path) -> None:
    """In configurations that obey none; of a weld's turn the sine of half of it."""
    mujoco = pytest.importorskip('mujoco')
    found = read(tmp_path, *LOOPS)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / 'robot.xml'))
    data, rng = mujoco.MjData(model), np.random.default_rng(4)
    for _ in range(5):
        data.qpos[:] = model.qpos0 + rng.normal(size=model.nq) * 0.3
        mujoco.mj_forward(model, data)

        def pose(frame: Attachment) -> Any:
            body = model.body(frame.link).id
            at = place(data.xmat[body].reshape(3, 3), *data.xpos[body])
            return at @ place(frame.rotation(), *frame.point)

        q = {name: data.qpos[model.joint(name).qposadr[0]] for name in found.start}
        rows = list(data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY])
        for loop in found.constraints:
            if isinstance(loop, PointLoop | WeldLoop):
                a, b = pose(loop.a), pose(loop.b)
                np.testing.assert_allclose(
                    (a - b)[:3, 3], [rows.pop(0) for _ in 'xyz'], atol=1e-13
                )
            if isinstance(loop, WeldLoop):
                angle = Rotation.from_matrix(a[:3, :3].T @ b[:3, :3]).magnitude()
                rest = np.linalg.norm([rows.pop(0) for _ in 'xyz'])
                np.testing.assert_allclose(np.sin(angle / 2), rest, atol=1e-13)
            if isinstance(loop, Coupling):
                f = sum(ratio * q[name] for name, ratio in loop.ratios.items()) - loop.signal
                np.testing.assert_allclose(f, rows.pop(0), atol=1e-13)
            if isinstance(loop, PolynomialCoupling):
                x = q[loop.driver] - loop.about
                f = q[loop.joint] - np.polyval(loop.coefficients[::-1], x)
                np.testing.assert_allclose(f, rows.pop(0), atol=1e-13)
        assert rows == []


def test_what_is_not_active_is_left_out(tmp_path: Path) -> None:
    tendon = '<tendon name="t" tendon1="x" active="false"/>'
    found = read(tmp_path, LOOPS[0], LOOPS[2].replace('/>', ' active="false"/>'), tendon)
    assert [loop.name for loop in found.constraints] == ['c']
    text = TREE.replace('<default>', '<default><equality active="false"/>', 1)
    assert read(tmp_path, *LOOPS, text=text).constraints == ()
    again = LOOPS[0].replace('/>', ' active="true"/>')
    assert len(read(tmp_path, *LOOPS[1:], again, text=text).constraints) == 1


def test_included_files_stand_where_they_are_included(tmp_path: Path) -> None:
    expected = read(tmp_path, *LOOPS)
    head, _, rest = TREE.partition('<worldbody>')
    tree, _, _ = rest.partition('</worldbody>')
    (tmp_path / 'parts').mkdir()
    (tmp_path / 'parts' / 'tree.xml').write_text(f'<mujoco>{tree}</mujoco>')
    (tmp_path / 'parts' / 'all.xml').write_text(
        '<mujoco><worldbody><include file="tree.xml"/></worldbody></mujoco>'
    )
    loops = '\n'.join(LOOPS)
    text = f'{head}<include file="parts/all.xml"/><equality>{loops}</equality></mujoco>'
    assert read(tmp_path, text=text) == expected
    twice = text.replace('<equality>', '<include file="parts/all.xml"/><equality>')
    with pytest.raises(kd.ModelError, match=r"<include> in line 7 .*'parts/all.xml' again"):
        read(tmp_path, text=twice)
    with pytest.raises(kd.ModelError, match=r"file 'parts/none.xml': .* does not exist"):
        read(tmp_path, text=text.replace('all.xml', 'none.xml'))
    (tmp_path / 'parts' / 'tree.xml').write_text('<mujoco>')
    with pytest.raises(kd.ModelError, match=r"all.xml.*'tree.xml': it is not well-formed"):
        read(tmp_path, text=text)


def test_actuators_of_joints_are_the_drives(tmp_path: Path) -> None:
    drives = '<motor joint="ja1"/><position jointinparent="jb1"/><velocity joint="ja1"/>'
    text = TREE.replace('</mujoco>', f'<actuator>{drives}</actuator></mujoco>')
    assert read(tmp_path, *LOOPS, text=text).actuated == ('ja1', 'jb1')
    text = text.replace(drives, f'{drives}<general name="hand" tendon="split"/>')
    with pytest.warns(kd.ModelWarning, match=r"<general> 'hand' in line \d+: it drives no joint"):
        assert read(tmp_path, *LOOPS, text=text).actuated == ('ja1', 'jb1')


@pytest.mark.parametrize('axis', ['1 0 0', '0 1 0', '0 0 1'])
def test_half_a_turn_as_quaternion(tmp_path: Path, axis: str, assert_close: Any) -> None:
    made = [
        read(tmp_path, LOOPS[0], text=TREE.replace('quat="1 2 3 4"', turn)).constraints[0]
        for turn in (f'quat="0 {axis}"', f'axisangle="{axis} 180"')
    ]
    assert_close(made[0].b.point, made[1].b.point, 1e-14)


@pytest.mark.parametrize(
    ('loop', 'words'),
    [
        ('<tendon name="t" tendon1="x"/>', "<tendon> 't' in line 30 is an equality that is not"),
        ('<flex flex="cloth"/>', '<flex> in line 30 is an equality that is not read'),
        ('<conect body1="a1"/>', 'expected <connect>, <weld>, <joint>'),
        ('<connect body1="a9" anchor="0 0 0"/>', "body1 'a9', expected one of world, a1, a2, b1"),
        ('<connect anchor="0 0 0"/>', "has no attribute 'body1'"),
        ('<connect body1="a1"/>', "has no attribute 'anchor'"),
        ('<connect body1="a1" anchor="0 0"/>', "attribute 'anchor' '0 0', expected 3 finite"),
        ('<connect body1="a1" anchor="0 0 x"/>', "attribute 'anchor' '0 0 x', expected 3"),
        ('<connect site1="left"/>', "has no attribute 'site2'"),
        ('<connect site1="left" site2="top"/>', "site2 'top', expected one of wall, left, right"),
        ('<connect site1="left" site2="line"/>', "<site> 'line' in line 25 has fromto"),
        ('<connect site1="left" site2="wall" body1="a1"/>', 'has sites and a body'),
        ('<weld body1="a1" torquescale="0"/>', 'has torquescale 0, which leaves it free'),
        ('<weld body1="a1" relpose="1 2 3"/>', "'relpose' '1 2 3', expected 7 finite"),
        ('<joint joint1="ja9"/>', "joint1 'ja9', expected one of ja1, ja2, jb1, jb2"),
        ('<joint joint1="ja1" joint2="ja2" polycoef="1 2 3 4 5 6"/>', 'has 6 numbers as polycoef'),
        ('<connect body1="a1" anchor="0 0 0" active="no"/>', "has active 'no', expected true"),
        ('<connect body1="a1" anchor="0 0 0" class="fast"/>', "has the class 'fast', expected"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, loop: str, words: str) -> None:
    with pytest.raises(kd.ModelError) as raised:
        read(tmp_path, loop)
    assert words in str(raised.value) and 'robot.xml: <' in str(raised.value)
    assert 'in line' in str(raised.value)


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('eulerseq="zYx"', 'coordinate="global"', 'has coordinate other than local'),
        ('eulerseq="zYx"', 'angle="grad"', "<compiler> in line 2 has angle 'grad', expected"),
        ('eulerseq="zYx"', 'eulerseq="zw"', "has eulerseq 'zw', expected such as xyz"),
        ('class="slow"><', '><', "<default> in line 5 has no attribute 'class'"),
        ('childclass="slow"', 'childclass="slo"', "<joint> 'jb1' in line 21 has the class 'slo'"),
        ('quat="1 2 3 4"', 'quat="0 0 0 0"', "has quat '0 0 0 0', expected a direction"),
        ('axisangle="1 2 3 40"', 'axisangle="0 0 0 40"', "axisangle '0 0 0 40', expected a dir"),
        (
            'xyaxes="1 1 0 0 1 1"',
            'xyaxes="1 1 0 2 2 0"',
            "'a2' in line 14 has xyaxes '1 1 0 2 2 0'",
        ),
        (
            'quat="1 2 3 4"',
            'quat="1 0 0 0" euler="1 2 3"',
            'orientations quat, euler, expected',
        ),
        (
            '<body name="b2"',
            '<attach/><body name="c"',
            '(what <attach> makes is not read)',
        ),
    ],
)
def test_what_is_wrong_around_the_loops_is_named(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in TREE
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        with pytest.raises(kd.ModelError) as raised:
            read(tmp_path, *LOOPS, text=TREE.replace(old, new))
    assert words in str(raised.value)
