# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`frame(c).relative_to(a, axes=k, point=p)`: compiled, against Pinocchio and by differences."""

from __future__ import annotations

import functools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from long_runs import some_of
from pinocchio_oracle import ALIGNED, Oracle, arm_text, pin
from uncompiled import OnFloats

import kron_dynamics as kd
from kron_dynamics import kinematics
from kron_dynamics.exceptions import (
    ArgumentTypeError,
    NonFiniteError,
    ShapeError,
    UnknownFrameError,
)
from kron_dynamics.kronecker import skew

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[1]
ARMS = {'ur5': 'ur5_robot.urdf', 'panda': 'panda.urdf'}
# c, a, k: behind one another in either direction, and on branches of their own.
PLACES = {
    'ur5': ('tool0', 'upper_arm_link', 'wrist_1_link'),
    'panda': ('panda_link2', 'panda_rightfinger', 'panda_link5'),
    'rigid': ('bucket_wheel', 'counterweight', 'slew_deck'),
    'flexible': ('bucket_wheel', 'counterweight', 'boom_head'),
}
POINT = (0.3, -0.2, 0.5)
RATES = {
    'pose': 0,
    'jacobian': 0,
    'kinematic_hessian': 0,
    'jacobian_derivative': 0,
    'jacobian_dot': 1,
    'velocity': 1,
    'acceleration': 2,
    'jerk': 3,
}


@functools.cache
def robot_called(name: str) -> kd.Robot:
    if name in ARMS:
        return kd.loads(arm_text(ARMS[name]))
    flexible = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml' if name == 'flexible' else None
    return kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf', flexible=flexible)


def motion_of(robot: kd.Robot, count: int) -> Any:
    """q, qd, qdd, qddd, each (count, n)."""
    motion = np.random.default_rng(5).uniform(-1, 1, (4, count, robot.n))
    motion[:, :, robot.model.joint_count :] *= 0.01  # modal coordinates
    return motion


def place_of(robot: kd.Robot, q: Any, c: str, a: str, point: Any) -> tuple[Any, Any]:
    """Axes of c in those of a, and place of the point, by the poses of both in the base frame."""
    T = np.linalg.solve(robot.frame(a).pose(q), robot.frame(c).pose(q))
    return T[:3, :3], T[:3, :3] @ point + T[:3, 3]


@pytest.mark.parametrize('name', ['ur5', 'flexible'])
def test_compiled_is_the_equation(name: str, assert_close: Any) -> None:
    robot, (c, a, k) = robot_called(name), PLACES[name]
    frame = robot.frame(c).relative_to(a, axes=k, point=POINT)
    motion = motion_of(robot, 3)
    for quantity in RATES:
        known = {'kinematic_hessian': 'hessian'}.get(quantity, quantity)
        function = getattr(kinematics, f'relative_{known}')
        arrays = motion[: RATES[quantity] + 1]
        expected = [
            function(robot.model, *(x[i] for x in arrays), c, a, k, POINT) for i in range(3)
        ]
        found = getattr(frame, quantity)(*arrays)
        assert_close(found, expected, 1e-11)
        np.testing.assert_array_equal(getattr(frame, quantity)(*(x[1] for x in arrays)), found[1])
        out = np.empty_like(found)
        assert getattr(frame, quantity)(*arrays, out=out) is out
        np.testing.assert_array_equal(out, found)


@pytest.mark.parametrize('kind', some_of([OnFloats, kd.Robot], [OnFloats]))
@pytest.mark.parametrize('name', PLACES)
def test_derivatives_are_those_that_the_observer_takes(name: str, kind: type[kd.Robot]) -> None:
    """Along a motion, of the place that the poses in the base frame give."""
    robot, (c, a, k) = kind(robot_called(name).model), PLACES[name]
    q, qd, qdd, qddd = motion_of(robot, 1)[:, 0]
    in_a, in_k = (robot.frame(c).relative_to(a, axes=x, point=POINT) for x in (None, k))

    def at(t: float) -> tuple[Any, Any]:
        state = q + qd * t + qdd * t**2 / 2 + qddd * t**3 / 6
        return place_of(robot, state, c, a, POINT)

    # Seven points: the sixth order for first and second derivatives, the fourth for third ones.
    h, steps = 0.01, range(-3, 4)
    turns, places = (np.array(x) for x in zip(*(at(i * h) for i in steps), strict=True))
    weights = {
        1: np.array([-1, 9, -45, 0, 45, -9, 1]) / 60,
        2: np.array([2, -27, 270, -490, 270, -27, 2]) / 180,
        3: np.array([1, -8, 13, 0, -13, 8, -1]) / 8,
    }
    # The axes' derivatives: A' = W A, A'' = (W' + W W) A.
    A, A1, A2 = turns[3], *(np.tensordot(weights[m], turns, 1) / h**m for m in (1, 2))
    W, W1 = A1 @ A.T, A2 @ A.T - A1 @ A.T @ A1 @ A.T
    motions = in_a.velocity(q, qd), in_a.acceleration(q, qd, qdd), in_a.jerk(q, qd, qdd, qddd)
    for m, motion in enumerate(motions, start=1):
        expected = np.tensordot(weights[m], places, 1) / h**m
        tolerance = (1e-8, 1e-7, 1e-3)[m - 1]
        np.testing.assert_allclose(motion[:3], expected, rtol=tolerance, atol=tolerance)
    for motion, expected in zip(motions, (W, W1), strict=False):
        np.testing.assert_allclose(skew(motion[3:]), expected, rtol=1e-7, atol=1e-7)

    # Other axes give other components of the same vectors.
    turn = np.linalg.solve(robot.frame(k).pose(q), robot.frame(a).pose(q))[:3, :3]
    others = in_k.velocity(q, qd), in_k.acceleration(q, qd, qdd), in_k.jerk(q, qd, qdd, qddd)
    for motion, other in zip(motions, others, strict=True):
        expected = np.concatenate([turn @ motion[:3], turn @ motion[3:]])
        np.testing.assert_allclose(other, expected, rtol=1e-9, atol=1e-10)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turn @ A, turn @ places[3]
    np.testing.assert_allclose(in_k.pose(q), pose, rtol=1e-9, atol=1e-9)

    square = np.kron(qd, qd)
    for frame, motion in ((in_a, motions), (in_k, others)):
        steady = np.array([frame.jacobian(q + qd * i * h) for i in steps])
        rate = np.tensordot(weights[1], steady, 1) / h
        np.testing.assert_allclose(frame.jacobian_dot(q, qd), rate, rtol=1e-7, atol=1e-8)
        J, H = frame.jacobian(q), frame.kinematic_hessian(q)
        np.testing.assert_allclose(J @ qd, motion[0], rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(J @ qdd + H @ square, motion[1], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize('name', ['ur5', 'panda', 'rigid'])
def test_place_and_jacobian_are_pinocchios(name: str, assert_close: Any) -> None:
    robot, (c, a, _) = robot_called(name), PLACES[name]
    text = (
        arm_text(ARMS[name])
        if name in ARMS
        else (ROOT / 'urdf' / 'stacker_reclaimer.urdf').read_text(encoding='utf-8')
    )
    oracle, q = Oracle(text, robot.model), motion_of(robot, 1)[0, 0]
    oracle.move(q, np.zeros(robot.n), np.zeros(robot.n))
    numbers = [oracle.pin.getFrameId(link, pin.BODY) for link in (c, a)]
    to_c, to_a = (oracle.data.oMf[number] for number in numbers)
    J_c, J_a = (
        pin.getFrameJacobian(oracle.pin, oracle.data, number, ALIGNED) @ oracle.G
        for number in numbers
    )
    frame = robot.frame(c).relative_to(a, point=POINT)
    relative = to_a.actInv(to_c)
    assert_close(frame.pose(q)[:3, :3], relative.rotation)
    assert_close(frame.pose(q)[:3, 3], relative.act(np.array(POINT)))
    p = to_c.rotation @ POINT
    d = to_c.translation + p - to_a.translation
    J_T = J_c[:3] - skew(p) @ J_c[3:] - (J_a[:3] - skew(d) @ J_a[3:])
    turned = to_a.rotation.T
    expected = np.concatenate([turned @ J_T, turned @ (J_c[3:] - J_a[3:])])
    assert_close(frame.jacobian(q), expected, 1e-10, floor=1.0)


@pytest.mark.parametrize('kind', some_of([OnFloats, kd.Robot], [OnFloats]))
def test_seen_from_the_base_with_a_point_it_is_the_absolute_motion(
    assert_close: Any, kind: type[kd.Robot]
) -> None:
    """[T] (79), (85): a point fixed on the link."""
    robot = kind(robot_called('panda').model)
    model, link = robot.model, 'panda_hand'
    q, qd, qdd, qddd = motion_of(robot, 1)[:, 0]
    frame = robot.frame(link).relative_to(model.root_link, point=POINT)
    assert_close(frame.velocity(q, qd), kinematics.frame_velocity(model, q, qd, link, POINT))
    acceleration = kinematics.frame_acceleration(model, q, qd, qdd, link, POINT)
    assert_close(frame.acceleration(q, qd, qdd), acceleration)
    jerk = kinematics.frame_jerk(model, q, qd, qdd, qddd, link, POINT)
    assert_close(frame.jerk(q, qd, qdd, qddd), jerk)
    p = kinematics.forward_kinematics(model, q, link)[:3, :3] @ POINT
    own = kinematics.frame_motion(model, q, qd, qdd, qddd, link)
    (v, a, _), (w, wd, _) = own.linear, own.angular
    expected = a + np.cross(wd, p) + np.cross(w, np.cross(w, p))
    assert_close(acceleration[:3], expected)
    assert_close(frame.velocity(q, qd)[:3], v + np.cross(w, p))


def test_composed_and_seen_from_are_inverse(rng: np.random.Generator) -> None:
    """[T] (83), (84): transport, Coriolis' terms and the relative motion add up to the whole."""
    b, bc = (
        kinematics.FrameMotion(tuple(rng.normal(size=(3, 3))), tuple(rng.normal(size=(3, 3))))
        for _ in range(2)
    )
    d = rng.normal(size=3)
    c = b.composed(bc, d)
    (w, wd, _), (v_bc, a_bc, _), (r, r1, _) = b.angular, bc.linear, bc.angular
    expected = b.linear[1] + np.cross(wd, d) + np.cross(w, np.cross(w, d))
    expected = expected + 2 * np.cross(w, v_bc) + a_bc
    np.testing.assert_allclose(c.linear[1], expected, rtol=1e-13)
    np.testing.assert_allclose(c.angular[1], wd + r1 + np.cross(w, r), rtol=1e-13)
    again = c.seen_from(b, d)
    for found, given in zip(
        (*again.linear, *again.angular), (*bc.linear, *bc.angular), strict=True
    ):
        np.testing.assert_allclose(found, given, rtol=1e-11, atol=1e-12)


def test_closed_forms(robot_text: Any) -> None:
    robot = kd.loads(robot_text('planar_2r'))
    links = [link for link, frame in robot.model.frames.items() if frame.body >= 0]
    place = {'axes': links[1], 'point': POINT}
    compiled = robot.frame(links[-1]).relative_to(links[0], **place)
    symbolic = robot.symbolic
    closed = symbolic.frame(links[-1]).relative_to(links[0], **place)
    motion = motion_of(robot, 1)[:, 0]
    symbols = [*symbolic.q, *symbolic.qd, *symbolic.qdd, *symbolic.qddd]
    for quantity, order in RATES.items():
        if quantity == 'jerk':
            continue  # pages of symbols
        form = getattr(closed, quantity)()
        found = sympy.lambdify(symbols, form.tolist(), 'numpy', cse=True)(*motion.ravel())
        expected = getattr(compiled, quantity)(*motion[: order + 1])
        np.testing.assert_allclose(
            np.reshape(found, expected.shape), expected, rtol=1e-10, atol=1e-12
        )


@pytest.mark.parametrize('name', ['rigid', 'flexible'])
def test_joints_that_carry_both_links_have_no_part(name: str) -> None:
    """Not even where they are not known."""
    robot = robot_called(name)
    frame = robot.frame('bucket_wheel').relative_to('boom', axes='slew_deck', point=POINT)
    motion = motion_of(robot, 1)[:, 0]
    unknown = motion.copy()
    unknown[:, :2] = np.nan  # travel and slew
    for quantity, order in RATES.items():
        found, expected = (getattr(frame, quantity)(*x[: order + 1]) for x in (unknown, motion))
        np.testing.assert_array_equal(found, expected)


def test_closed_forms_of_links_fixed_to_one_body_are_numbers() -> None:
    symbolic = robot_called('rigid').symbolic
    frame = symbolic.frame('bucket_wheel').relative_to('counterweight', point=POINT)
    pose = frame.pose()
    assert not pose.free_symbols
    expected = robot_called('rigid').frame('bucket_wheel').relative_to('counterweight')
    place = expected.pose(np.zeros(3))[:3, 3] + POINT
    np.testing.assert_allclose(np.array(pose[:3, 3], dtype=float).ravel(), place, rtol=1e-14)


def test_names_of_links_cannot_mix_up_kernels() -> None:
    """Frames of one link, at two points or in two axes, have kernels of their own."""
    robot = robot_called('ur5')
    q, tip = motion_of(robot, 1)[0, 0], robot.frame('tool0')
    places = [{}, {'point': POINT}, {'axes': 'wrist_1_link'}, {'axes': 'forearm_link'}]
    found = [tip.relative_to('upper_arm_link', **place).jacobian(q) for place in places]
    for i, J in enumerate(found):
        assert all(not np.allclose(J, other) for other in found[:i])
    assert len({row.name for row in robot.kernel_report() if 'jacobian' in row.name}) >= 4


def test_many_joints_and_their_loops(assert_close: Any) -> None:
    from benchmarks.chain import chain_urdf

    robot = kd.loads(chain_urdf(11))
    frame = robot.frame('link_11').relative_to('link_2', axes='link_5', point=POINT)
    q = motion_of(robot, 1)[0, 0]
    H = kinematics.relative_hessian(robot.model, q, 'link_11', 'link_2', 'link_5', POINT)
    assert_close(frame.kinematic_hessian(q), H, 1e-10)


def test_a_pickle_finds_its_kernels() -> None:
    robot = robot_called('ur5')
    q = motion_of(robot, 1)[0, 0]
    frame = robot.frame('tool0').relative_to('forearm_link', point=POINT)
    again = pickle.loads(pickle.dumps(frame))
    np.testing.assert_array_equal(again.jacobian(q), frame.jacobian(q))
    assert (again.name, again.reference, again.point) == ('tool0', 'forearm_link', POINT)


@pytest.mark.parametrize('symbolic', [False, True])
@pytest.mark.parametrize(
    ('reference', 'place', 'error', 'words'),
    [
        ('nowhere', {}, UnknownFrameError, "link 'nowhere' does not exist"),
        (3, {}, ArgumentTypeError, 'reference is 3, expected the name of a link'),
        ('base_link', {'axes': 'nowhere'}, UnknownFrameError, "link 'nowhere'"),
        ('base_link', {'axes': 1.0}, ArgumentTypeError, 'axes is 1.0'),
        ('base_link', {'point': [1, 2]}, ShapeError, r'point has shape \(2,\), expected \(3,\)'),
        ('base_link', {'point': 'tip'}, ArgumentTypeError, "point is or holds 'tip'"),
        ('base_link', {'point': [0, 0, np.nan]}, NonFiniteError, 'point holds a NaN'),
    ],
)
def test_refused_by_name(
    symbolic: bool, reference: Any, place: Any, error: Any, words: str
) -> None:
    robot: Any = robot_called('ur5')
    frame = (robot.symbolic if symbolic else robot).frame('tool0')
    with pytest.raises(error, match=words) as caught:
        frame.relative_to(reference, **place)
    assert '\n' not in str(caught.value)
