# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Products of exponentials, against the recursion from body to body and the printed matrices."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from long_runs import some_of
from pinocchio_oracle import example_robots

import kron_dynamics as kd
from kron_dynamics.kernels import KernelCollection
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.kinematics import (
    forward_kinematics,
    frame_acceleration,
    frame_jerk,
    frame_velocity,
    jacobian,
    joint_screws,
    link_components,
    product_of_exponentials,
    rotation_exponential,
    rotation_to_link,
    screw_acceleration,
    screw_exponential,
    screw_jacobian,
    screw_jerk,
    screw_velocity,
    zero_pose,
)
from kron_dynamics.kronecker import cross, skew
from kron_dynamics.model import RobotModel, load_model, read_urdf_file

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[2]
FLEXIBLE = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
CLOSED = ROOT / 'config' / 'four_bar_constraints.yaml'
POINT = np.array([0.1, -0.2, 0.3])
# Function by screws, the same by recursion, and how many derivatives of q they take.
BOTH_WAYS: dict[str, tuple[Callable[..., Any], Callable[..., Any], int]] = {
    'Jacobian': (screw_jacobian, jacobian, 1),
    'velocity': (screw_velocity, frame_velocity, 2),
    'acceleration': (screw_acceleration, frame_acceleration, 3),
    'jerk': (screw_jerk, frame_jerk, 4),
}


def worst_difference(model: RobotModel, state: Any, link: str) -> float:
    """The largest of everything, relative to the largest entry or 1."""
    q, rest = state[0], state[1:]
    pairs = [(product_of_exponentials(model, q, link), forward_kinematics(model, q, link))]
    for by_screws, by_recursion, count in BOTH_WAYS.values():
        for point in (None, POINT):
            arguments = (model, q, *rest[: count - 1], link, point)
            pairs.append((by_screws(*arguments), by_recursion(*arguments)))
    return max(
        float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(b).max(initial=0.0)))
        for a, b in pairs
    )


def test_two_ways_agree_on_small_robots(model: RobotModel, state: Any) -> None:
    """[N] (8)-(23), every link of trees, mimic joints and screws."""
    full = (state.q, state.qd, state.qdd, state.qddd)
    for link in model.link_names:
        assert worst_difference(model, full, link) < 1e-13, link


@given(data=st.data())
def test_two_ways_agree_on_random_trees(data: Any, random_robots: Any) -> None:
    """[N] (8)-(23)."""
    model, s = data.draw(random_robots)
    for link in model.link_names[-3:]:
        assert worst_difference(model, (s.q, s.qd, s.qdd, s.qddd), link) < 1e-12, link


MOVING = re.compile(r'type\s*=\s*["\'](revolute|continuous|prismatic)')
REAL = [name for name, path in example_robots().items() if MOVING.search(path.read_text('utf-8'))]
CHOSEN = [
    name
    for name in REAL
    if name.endswith(('panda.urdf', 'tiago.urdf', 'allegro_left_hand.urdf', 'talos_reduced.urdf'))
]


def test_there_are_real_robots_to_agree_on() -> None:
    assert len(REAL) >= 60
    assert len(CHOSEN) == 4


@pytest.mark.parametrize('name', some_of(REAL, CHOSEN))
def test_two_ways_agree_on_real_robots(name: str, record_property: Any) -> None:
    """[N] (8)-(23), at the end of every chain."""
    model = load_model(read_urdf_file(example_robots()[name]))
    state = np.random.default_rng(7).uniform(-1.2, 1.2, (4, model.n))
    inner = {joint.parent for joint in model.joints}
    ends = {k for k in range(len(model.joints)) if k not in inner}
    links = {frame.body: link for link, frame in model.frames.items() if frame.body in ends}
    worst = max(worst_difference(model, state, link) for link in links.values())
    record_property('worst', worst)
    assert worst < 1e-12


def chain_of(model: RobotModel, q: Any, link: str) -> tuple[list[Any], list[float], Any]:
    """Screws and positions on the way to a link, and its place where positions are 0."""
    screws = joint_screws(model)
    path = model.path(model.frame(link).body)
    joints = [model.joints[k] for k in path]
    positions = [joint.multiplier * q[joint.coordinate] + joint.offset for joint in joints]
    return [screws[k] for k in path], positions, zero_pose(model, link)[:3, 3]


def printed_column(screws: list[Any], positions: list[float], origin: Any, i: int) -> Any:
    """A column by the matrices that the paper multiplies, joint i counted from 0."""
    R = [rotation_exponential(s.angular, x) for s, x in zip(screws, positions, strict=True)]
    b = [screw_exponential(s, x)[:3, 3] for s, x in zip(screws, positions, strict=True)]
    n, zero = len(screws), np.zeros
    V1 = np.linalg.multi_dot([np.eye(3), np.eye(3), *R[:i]])
    V2 = np.hstack([np.eye(3), skew(screws[i].angular)])
    V32, turned = [], np.eye(3)
    for k in range(i, n):
        V32.append(turned)
        turned = turned @ R[k]
    V3 = np.block([[np.eye(3), zero((3, 3 * (n - i + 1)))], [zero((3, 3)), *V32, turned]])
    assert V3.shape == (6, 9 + 3 * (n - 1 - i))
    J1 = np.block([[V1, zero((3, 3))], [zero((3, 3)), V1]])
    J2 = np.block([[V2, zero((3, 3))], [zero((3, 6)), np.eye(3)]])
    width = V3.shape[1]
    J3 = np.block([[V3, zero((6, 3))], [zero((3, width)), np.eye(3)]])
    assert J3.shape == (9, 12 + 3 * (n - 1 - i))
    M = np.concatenate([screws[i].linear, *b[i:], origin, screws[i].angular])
    return J1 @ J2 @ J3 @ M


def test_jacobian_is_the_product_of_the_printed_matrices(
    model: RobotModel, state: Any, assert_close: Any
) -> None:
    """[N] (11)-(17), with Delta_i k_i in the last entry of (16)."""
    for link in model.link_names[1:]:
        screws, positions, origin = chain_of(model, state.q, link)
        J = np.zeros((6, model.n))
        for i, k in enumerate(model.path(model.frame(link).body)):
            joint = model.joints[k]
            column = printed_column(screws, positions, origin, i)
            J[:, joint.coordinate] += joint.multiplier * column
        assert_close(screw_jacobian(model, state.q, link), J, 1e-13, floor=1.0)


def test_positions_are_the_sum_of_translations_turned(
    model: RobotModel, state: Any, assert_close: Any
) -> None:
    """[N] (8)-(10): the sum of (9) ends with b_i, at j = i - 1."""
    for link in model.link_names[1:]:
        screws, positions, origin = chain_of(model, state.q, link)
        turned, moved = np.eye(3), np.zeros(3)
        for screw, position in zip(screws, positions, strict=True):
            moved = moved + turned @ screw_exponential(screw, position)[:3, 3]
            turned = turned @ rotation_exponential(screw.angular, position)
        pose = product_of_exponentials(model, state.q, link)
        assert_close(pose[:3, 3], moved + turned @ origin, 1e-13, floor=1.0)
        assert_close(pose[:3, :3], turned @ zero_pose(model, link)[:3, :3], 1e-13)


def test_components_in_axes_of_the_link(
    model: RobotModel, state: Any, derivative: Any, assert_close: Any
) -> None:
    """[N] (24), (25): of d2 omega/dt2 they are omega's second derivatives and omega x alpha."""
    s, link = state, model.tip_link

    def moved(t: float) -> tuple[Any, ...]:
        q = s.q + s.qd * t + s.qdd * t**2 / 2 + s.qddd * t**3 / 6
        return q, s.qd + s.qdd * t + s.qddd * t**2 / 2, s.qdd + s.qddd * t

    def own(t: float) -> Any:
        q, qd, _ = moved(t)
        return link_components(model, q, link, screw_velocity(model, q, qd, link))

    def own_rate(t: float) -> Any:
        q, qd, qdd = moved(t)
        return link_components(model, q, link, screw_acceleration(model, q, qd, qdd, link))

    turn = rotation_to_link(model, s.q, link)
    assert_close(turn, product_of_exponentials(model, s.q, link)[:3, :3].T, 1e-13)
    velocity, acceleration = own(0.0), own_rate(0.0)
    jerk = screw_jerk(model, s.q, s.qd, s.qdd, s.qddd, link)
    own_jerk = link_components(model, s.q, link, jerk)
    np.testing.assert_array_equal(own_jerk[3:], link_components(model, s.q, link, jerk[3:]))
    omega, alpha = velocity[3:], acceleration[3:]
    assert_close(alpha, derivative(own)[3:], 1e-8, floor=1.0)
    second = derivative(own_rate)[3:]
    assert_close(own_jerk[3:] + cross(alpha, omega), second, 1e-8, floor=1.0)
    # The velocity's components change with the axes besides.
    slid = derivative(own)[:3] + cross(omega, velocity[:3])
    assert_close(acceleration[:3], slid, 1e-8, floor=1.0)


def test_float_is_sympy_is_traced(robot_text: Any, rng: Any, assert_close: Any) -> None:
    """[N] (10), (17), (23), exact numbers of the model included."""
    robot = kd.loads(robot_text('planar_2r'))
    model, link = robot.model, robot.model.tip_link
    state = rng.uniform(-1.2, 1.2, (4, model.n))

    def together(model: RobotModel, *s: Any) -> Any:
        parts = [product_of_exponentials(model, s[0], link), screw_jacobian(model, s[0], link)]
        parts.append(screw_jerk(model, *s, link))
        return np.concatenate([part.reshape(-1) for part in parts])

    expected = together(model, *state)
    symbols = np.array(sympy.symbols(f'x:{state.size}'), dtype=object).reshape(state.shape)
    evaluate = sympy.lambdify(
        list(symbols.flat), list(together(robot.symbolic.model, *symbols)), cse=True
    )
    assert_close(evaluate(*state.flat), expected, 1e-13)
    names = ['q', 'qd', 'qdd', 'qddd']
    kernel = KernelCollection(model).get(KernelSpecification('together', names, together))
    assert_close(kernel(*state), expected, 1e-13)


@pytest.mark.parametrize('kind', ['flexible', 'closed'])
def test_what_is_no_rigid_tree_is_refused(kind: str) -> None:
    if kind == 'flexible':
        model = kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf', flexible=FLEXIBLE).model
    else:
        model = kd.load(ROOT / 'urdf' / 'four_bar.urdf', constraints=CLOSED).model
    with pytest.raises(
        kd.ModelError, match='is flexible' if kind == 'flexible' else 'closed loop'
    ):
        screw_jacobian(model, np.zeros(model.n), model.tip_link)


def test_wrong_arguments_are_named(robot_text: Any) -> None:
    model = load_model(robot_text('rrp'))
    q = np.zeros(model.n)
    for function in (product_of_exponentials, screw_jacobian, rotation_to_link):
        with pytest.raises(kd.UnknownFrameError, match="link 'nose' does not exist"):
            function(model, q, 'nose')
    with pytest.raises(kd.ShapeError, match='values has shape'):
        link_components(model, q, model.tip_link, np.zeros(4))
    for wrong in (q[:1], np.zeros(model.n + 1)):
        for function in (product_of_exponentials, screw_jacobian, rotation_to_link):
            with pytest.raises(kd.ShapeError, match='q has shape'):
                function(model, wrong, model.tip_link)
        with pytest.raises(kd.ShapeError, match='qd has shape'):
            screw_velocity(model, q, wrong, model.tip_link)
        with pytest.raises(kd.ShapeError, match='qddd has shape'):
            screw_jerk(model, q, q, q, wrong, model.tip_link)
    with pytest.raises(kd.ShapeError, match='point has shape'):
        screw_jacobian(model, q, model.tip_link, np.zeros(2))
