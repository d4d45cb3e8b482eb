# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a kind of joint means, and that nothing else in the package knows kinds by name."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import ModelError, dynamics
from kron_dynamics.kronecker import skew
from kron_dynamics.model import Joint, load_model
from kron_dynamics.model.joint_kinds import JOINT_KINDS, MODAL, SECTION, endless, joint_kind
from kron_dynamics.model.robot_model import read_only

PACKAGE = Path(kd.__file__).parent
ROTATION = np.array([[0.0, -1, 0], [0.6, 0, -0.8], [0.8, 0, 0.6]])
DRAKE = 'xmlns:drake="http://drake.mit.edu"'


def joint(kind: str, pitch: float = 0.3) -> Joint:
    axis = read_only([0.48, 0.6, 0.64])
    return Joint('j', kind, -1, ROTATION, np.array([0.1, 0.2, 0.3]), axis, 0, pitch=pitch)


def pose(moved: Joint, position: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = moved.motion.rotation(moved, position)
    T[:3, 3] = moved.motion.offset(moved, position)
    return T


@pytest.mark.parametrize('kind', [*JOINT_KINDS, SECTION])
@pytest.mark.parametrize('position', [0.0, 0.7, -5.0])
def test_the_pose_changes_by_the_twist(
    kind: str, position: float, derivative: Any, assert_close: Any
) -> None:
    """T^-1 dT/dposition is the twist in the body's axes, dT/dposition T^-1 in the joint's."""
    moved = joint(kind)
    rate = derivative(lambda h: pose(moved, position + h), h=1e-2)
    twist = np.zeros((4, 4))
    twist[:3, :3] = skew(moved.motion.angular_axis(moved))
    twist[:3, 3] = moved.motion.linear_axis(moved)
    assert_close(np.linalg.inv(pose(moved, position)) @ rate, twist, 1e-8, floor=1)
    assert_close(
        rate @ np.linalg.inv(pose(moved, position)) @ pose(moved, 0),
        pose(moved, 0) @ twist,
        1e-8,
        floor=1,
    )
    at_rest = np.eye(4)
    at_rest[:3] = np.column_stack([moved.rotation, moved.translation])
    assert_close(pose(moved, 0.0), at_rest)


def test_twists_of_the_kinds() -> None:
    z = joint('screw').axis
    expected = {
        'revolute': (0 * z, z),
        'continuous': (0 * z, z),
        'prismatic': (z, 0 * z),
        'screw': (0.3 * z, z),
        SECTION: (0 * z, 0 * z),
    }
    for kind in (*JOINT_KINDS, SECTION):
        moved = joint(kind)
        np.testing.assert_array_equal(moved.motion.linear_axis(moved), expected[kind][0])
        np.testing.assert_array_equal(moved.motion.angular_axis(moved), expected[kind][1])


def test_units_and_turns_without_end() -> None:
    units = {
        kind: [joint_kind(kind).unit(x) for x in ('position', 'velocity', 'effort')]
        for kind in (*JOINT_KINDS, MODAL)
    }
    turning, sliding = ['rad', 'rad/s', 'N m'], ['m', 'm/s', 'N']
    assert units == {
        **dict.fromkeys(('revolute', 'continuous', 'screw'), turning),
        **dict.fromkeys(('prismatic', MODAL), sliding),
    }
    # A screw is somewhere else after a turn.
    assert endless(['screw', 'continuous', 'revolute', 'prismatic']) == [False, True, False, False]


@pytest.mark.parametrize('kind', ['spherical', 'Revolute', '', 'fixed'])
def test_unknown_kinds_are_refused(kind: str) -> None:
    with pytest.raises(ModelError, match=f"no joint of kind '{kind}', expected one of revolute"):
        joint(kind)


def test_kinds_are_named_nowhere_else() -> None:
    """Whoever asks for a kind by name forgets the others: its motion and units are to be asked."""
    naming = []
    for path in sorted(PACKAGE.rglob('*.py')):
        text = path.read_text(encoding='utf-8')
        if not any(kind in text for kind in JOINT_KINDS):
            continue  # which takes much less than parsing it
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and node.value in JOINT_KINDS:
                naming.append(path.relative_to(PACKAGE).as_posix())
    assert set(naming) == {'model/joint_kinds.py'}


def screw(parts: Any, thread: str, kind: str = 'screw') -> str:
    text: str = parts.robot(hinge=parts.joint(kind=kind, more=thread))
    return text


@pytest.mark.parametrize('value', ['0.02', '-0.02'])
def test_a_screw_has_the_pitch_of_its_thread(parts: Any, value: str) -> None:
    (moved,) = load_model(screw(parts, f'<screw_thread_pitch value="{value}"/>')).joints
    assert moved.kind == 'screw'
    # A turn takes it one thread further: forward if it is right-handed.
    way = moved.motion.offset(moved, 2 * np.pi) - moved.motion.offset(moved, 0.0)
    np.testing.assert_allclose(way, float(value) * moved.axis, rtol=1e-15, atol=1e-17)


def test_a_screw_as_drake_writes_it(parts: Any) -> None:
    plain = screw(parts, '<screw_thread_pitch value="0.02"/>')
    drakes = plain.replace('<robot ', f'<robot {DRAKE} ').replace('<screw_', '<drake:screw_')
    drakes = drakes.replace('<joint ', '<drake:joint ').replace('</joint>', '</drake:joint>')
    assert drakes.count('drake:') == 3
    model = load_model(drakes)
    assert model.warnings == ()
    assert model.fingerprint == load_model(plain).fingerprint


def test_joints_of_other_namespaces_are_left_aside(parts: Any) -> None:
    other = '<sim:joint xmlns:sim="http://sim" name="hinge" type="ball"/>'
    assert load_model(parts.robot(other)).joint_types == ('revolute',)


@pytest.mark.parametrize(
    ('thread', 'words'),
    [
        ('', ['without a pitch', '<screw_thread_pitch value="..."/>', 'per turn in m']),
        ('<screw_thread_pitch/>', ['without a pitch']),
        ('<screw_thread_pitch value="0"/>', ['the pitch 0 m', 'not 0']),
        ('<screw_thread_pitch value="1e200"/>', ['the pitch 1e+200 m', 'finite square']),
        ('<screw_thread_pitch value="fine"/>', ["value of <screw_thread_pitch> is 'fine'"]),
    ],
)
def test_screws_without_a_usable_pitch_are_refused(
    parts: Any, assert_refused: Any, thread: str, words: list[str]
) -> None:
    assert_refused(screw(parts, thread), ModelError, "'hinge'", *words)


def test_a_pitch_is_part_of_the_fingerprint(parts: Any) -> None:
    one, other = (
        load_model(screw(parts, f'<screw_thread_pitch value="{value}"/>')).fingerprint
        for value in (0.02, 0.03)
    )
    assert one != other


def test_many_turns_of_a_screw_are_not_taken_for_degrees(parts: Any) -> None:
    thread = '<screw_thread_pitch value="0.01"/>'
    text = screw(parts, thread).replace('lower="-1" upper="1"', 'lower="-90" upper="90"')
    assert load_model(text).warnings == ()
    (warning,) = load_model(text.replace('"screw"', '"revolute"').replace(thread, '')).warnings
    assert warning.kind == 'limit_in_degrees'


def test_a_screw_moves_mass_that_only_slides(parts: Any) -> None:
    """The link has no inertia about the axis, but its mass moves along it."""
    bare = 'ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"'
    thread = '<screw_thread_pitch value="0.5"/>'
    hinge = parts.joint(kind='screw', more=thread)
    model = load_model(parts.robot(arm=parts.link('arm', '2', bare), hinge=hinge))
    assert not model.is_massless
    pitch = 0.5 / (2 * np.pi)
    np.testing.assert_allclose(dynamics.mass_matrix(model, [0.3]), [[2 * pitch**2]], rtol=1e-14)
    nothing = load_model(parts.robot(arm=parts.link('arm', '0', bare), hinge=hinge))
    assert nothing.is_massless


@pytest.mark.interpreted  # kernels of screws are compiled in test_pinocchio_oracle.py
def test_a_nut_falls_down_its_screw(parts: Any, assert_close: Any) -> None:
    """(I + m h^2) qdd = -m g h + tau, whichever way the thread goes."""
    for thread in (0.7, -0.7):
        text = screw(parts, f'<screw_thread_pitch value="{thread}"/>')
        robot, h = kd.loads(text), thread / (2 * np.pi)
        inertia = 0.1 + h**2
        assert_close(robot.mass_matrix([0.4]), [[inertia]])
        assert_close(robot.gravity_vector([0.4]), [9.80665 * h])
        assert_close(robot.coriolis_vector([0.4], [3.0]), [0.0], floor=1)
        qdd = robot.forward_dynamics([0.4], [3.0], [0.2])
        assert_close(qdd, [(0.2 - 9.80665 * h) / inertia])
        assert_close(robot.potential_energy([0.4]), 9.80665 * h * 0.4)


def test_closed_form_of_a_screw(parts: Any) -> None:
    """Threads are decimals: nothing but pi is irrational."""
    import sympy

    robot = kd.loads(screw(parts, '<screw_thread_pitch value="0.004"/>')).symbolic
    (entry,) = robot.mass_matrix()
    assert sympy.simplify(entry - sympy.Rational(1, 10) - 1 / (500 * sympy.pi) ** 2) == 0
    (entry,) = robot.with_parameters('symbolic').mass_matrix()
    assert {str(symbol) for symbol in entry.free_symbols} == {'m_arm', 'I_arm_zz', 'h_hinge'}
