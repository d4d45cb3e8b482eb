# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear models: kernels, state space, poles, frequencies, modes, response, the true motion."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np
import pytest
from long_runs import some_of
from scipy.integrate import solve_ivp

import kron_dynamics as kd
from kron_dynamics import dynamics
from kron_dynamics.linearized import LinearizedModel

LENGTH, MASS, G = 0.7, 1.6, 9.81
REST = ([0.0], [0.0], [0.0])


def pendulum(mass: float = MASS, friction: str = '') -> kd.Robot:
    """A point mass at the end of a bar that hangs along -z and turns about y."""
    return kd.loads(
        f"""<robot name="pendulum"><link name="base"/><link name="bob"><inertial>
        <origin xyz="0 0 {-LENGTH}"/><mass value="{mass}"/>
        <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="pivot" type="continuous"><parent link="base"/><child link="bob"/>
        <axis xyz="0 1 0"/>{friction}</joint></robot>""",
        gravity=(0, 0, -G),
        armature={'pivot': 0.0},
    )


@pytest.fixture(scope='module', params=some_of(['rrp', 'gripper', 'branched'], ['gripper']))
def robot(request: pytest.FixtureRequest, robot_text: Any) -> kd.Robot:
    return kd.loads(robot_text(request.param))


def test_kernel_is_the_equation_state_by_state(
    robot: kd.Robot, rng: np.random.Generator, assert_close: Any
) -> None:
    states = rng.uniform(-1.3, 1.3, (3, 5, robot.n))
    batch = robot.linearization(*states)
    for k in range(5):
        single = robot.linearization(*states[:, k])
        for term, made, row in zip(
            dynamics.linearization(robot.model, *states[:, k]), single, batch, strict=True
        ):
            assert_close(made, term, floor=robot.model.total_mass)
            np.testing.assert_array_equal(row[k], made)
    assert batch.stiffness_matrix.shape == (5, robot.n, robot.n)
    out = dynamics.Linearization(*map(np.empty_like, batch))
    assert robot.linearization(*states, out=out) is out
    np.testing.assert_array_equal(out.damping_matrix, batch.damping_matrix)


# The branch is at the sixth joint; loops take over from the tenth.
@pytest.mark.parametrize('joints', some_of([7, 9, 12], [12]))
def test_large_robots_by_straight_code_and_by_loops(
    joints: int, rng: np.random.Generator, assert_close: Any
) -> None:
    links = ''.join(
        f"""<link name="l{k + 1}"><inertial><origin xyz="0.1 {0.01 * k} 0.2"/>
        <mass value="{1 + k / 9}"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001"
        ixz="0" iyz="0.002"/></inertial></link><joint name="j{k}" type="continuous">
        <parent link="l{k if k != 5 else 3}"/><child link="l{k + 1}"/>
        <origin xyz="0.1 0 0.3" rpy="0.3 {k} 0"/><axis xyz="0 {k % 2} 1"/></joint>"""
        for k in range(joints)
    )
    robot = kd.loads(f'<robot name="chain"><link name="l0"/>{links}</robot>')
    states = rng.uniform(-1, 1, (3, robot.n))
    expected = dynamics.linearization(robot.model, *states)
    for made, term in zip(robot.linearization(*states), expected, strict=True):
        assert_close(made, term, 1e-11)


def test_hanging_pendulum_swings_with_root_g_over_l() -> None:
    model = pendulum().linearize(*REST)
    w = sqrt(G / LENGTH)
    np.testing.assert_allclose(model.frequencies(), [w], rtol=1e-14)
    np.testing.assert_allclose(model.poles(), [1j * w, -1j * w], rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(model.damping_ratios(), [0, 0], atol=1e-15)
    np.testing.assert_allclose(model.effort, [0], atol=1e-15)
    omega = np.array([0.0, 1.0, 9.0])
    expected = 1 / (MASS * (G * LENGTH - omega**2 * LENGTH**2))
    np.testing.assert_allclose(model.transfer('pivot', 0, omega), expected, rtol=1e-13)


def test_poles_of_a_pair_are_neighbours_where_pairs_have_one_frequency() -> None:
    one, still = np.eye(3), np.zeros((4, 3))
    for damping in (0.0, 0.1):
        model = LinearizedModel(('a', 'b', 'c'), one, damping * one, 4.0 * one, *still)
        first, second = model.poles().reshape(3, 2).T
        np.testing.assert_array_equal(first, second.conj())
        assert (first.imag > 0.0).all()


def test_standing_pendulum_falls_and_says_so() -> None:
    model = pendulum().linearize([pi], [0.0], [0.0])
    rate = sqrt(G / LENGTH)
    np.testing.assert_allclose(model.frequencies(), [-rate], rtol=1e-14)
    np.testing.assert_allclose(np.sort(model.poles().real), [-rate, rate], rtol=1e-14)
    np.testing.assert_allclose(np.sort(model.damping_ratios()), [-1, 1], rtol=1e-14)


def test_free_coordinate_has_no_frequency() -> None:
    cart = kd.loads(
        '<robot name="cart"><link name="base"/><link name="cart"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="rail" type="prismatic"><parent link="base"/><child link="cart"/>'
        '<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    ).linearize(*REST)
    np.testing.assert_array_equal(cart.frequencies(), [0])
    np.testing.assert_array_equal(cart.damping_ratios(), [0, 0])
    np.testing.assert_allclose(cart.transfer('rail', 'rail', 3.0), -1 / 18)
    with pytest.raises(kd.ParameterError, match='resonance'):
        cart.transfer('rail', 'rail', [1.0, 0.0])


def test_free_coordinate_of_a_badly_scaled_machine_has_no_frequency(assert_close: Any) -> None:
    """Three masses on a rail that nothing holds, 1 mg to 1 t, with springs 1 N/m to 1 GN/m."""
    M = np.diag([1e-6, 1.0, 1e3])
    K = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0 + 1e9, -1e9], [0.0, -1e9, 1e9]])
    turned = np.array([[1.0, 0.3, -0.2], [0.5, 1.0, 0.7], [-0.4, 0.6, 1.0]])
    zero = np.zeros(3)
    model = LinearizedModel(
        ('a', 'b', 'c'), turned.T @ M @ turned, 0 * M, turned.T @ K @ turned, *[zero] * 4
    )
    frequencies = model.frequencies()
    assert frequencies[0] == 0
    assert_close(frequencies[1:], np.sqrt([1e6, 1e9 * (1 + 1e-3)]), 1e-3)


def test_friction_counts_where_it_is_asked_for() -> None:
    robot = pendulum(friction='<dynamics damping="0.5" friction="0.2"/>')
    state = [0.2], [1e-3], [0.0]
    without, having = (robot.linearize(*state, friction=f) for f in (False, True))
    added = having.damping - without.damping
    np.testing.assert_allclose(added, [[0.5 + 0.2 / 1e-3 / np.cosh(1) ** 2]], rtol=1e-12)
    friction = robot.joint_friction(state[1])
    np.testing.assert_allclose(having.effort, without.effort + friction, rtol=1e-14)
    viscous = pendulum(friction='<dynamics damping="0.5"/>').linearize(*REST, friction=True)
    inertia, w = MASS * LENGTH**2, sqrt(G / LENGTH)
    np.testing.assert_allclose(viscous.damping_ratios(), [0.5 / (2 * inertia * w)] * 2)
    np.testing.assert_allclose(np.abs(viscous.poles()), [w, w])


def test_modes_solve_the_equation(robot: kd.Robot, rng: np.random.Generator) -> None:
    model = robot.linearize(*rng.uniform(-1, 1, (3, robot.n)))
    poles, shapes = model.modes()
    assert shapes.shape == (robot.n, 2 * robot.n)
    np.testing.assert_array_equal(poles, model.poles())
    np.testing.assert_allclose(np.abs(shapes).max(axis=0), 1)
    scale = np.abs(model.mass).max() * np.abs(poles).max() ** 2
    for pole, shape in zip(poles, shapes.T, strict=True):
        rest = (model.mass * pole**2 + model.damping * pole + model.stiffness) @ shape
        np.testing.assert_allclose(rest, 0, atol=1e-9 * scale)


def test_response_is_that_of_the_state_space(robot: kd.Robot, rng: np.random.Generator) -> None:
    model = robot.linearize(*rng.uniform(-1, 1, (3, robot.n)))
    system, w = model.state_space(), np.array([[0.3, 2.0], [5.0, 40.0]])
    for column, name in enumerate(model.joint_names):
        for row in range(robot.n):
            response = model.transfer(name, row, w)
            for place, omega in np.ndenumerate(w):
                resolvent = np.linalg.inv(1j * omega * np.eye(2 * robot.n) - system.A)
                expected = (system.C @ resolvent @ system.B)[row, column]
                np.testing.assert_allclose(response[place], expected, rtol=1e-7, atol=1e-12)


def test_error_of_the_linear_motion_falls_with_the_square_of_the_deviation(
    robot: kd.Robot, rng: np.random.Generator
) -> None:
    """About rest, held by constant efforts."""
    n, none, time = robot.n, np.zeros(robot.n), 0.3
    q = rng.uniform(-1, 1, n)
    model = robot.linearize(q, none, none)
    direction = rng.uniform(-1, 1, 2 * n)
    A = model.state_space().A

    def error(size: float) -> float:
        start = size * direction

        def nonlinear(_: float, x: Any) -> Any:
            qdd = robot.forward_dynamics(q + x[:n], x[n:], model.effort)
            return np.concatenate([x[n:], qdd])

        def linear(_: float, x: Any) -> Any:
            return A @ x

        ends = [
            solve_ivp(f, (0, time), start, method='DOP853', rtol=1e-12, atol=1e-14).y[:, -1]
            for f in (nonlinear, linear)
        ]
        return float(np.abs(ends[0] - ends[1]).max())

    errors = [error(1e-3 / 2**k) for k in range(3)]
    ratios = [large / small for large, small in zip(errors, errors[1:], strict=False)]
    np.testing.assert_allclose(ratios, 4, rtol=0.05)


def test_what_is_no_state_or_joint_is_refused(robot: kd.Robot) -> None:
    good = np.zeros(robot.n)
    with pytest.raises(kd.ShapeError, match='qd of linearization has shape'):
        robot.linearize(good, np.zeros(robot.n + 1), good)
    with pytest.raises(kd.ShapeError, match='2 states, expected one'):
        robot.linearize(np.zeros((2, robot.n)), good, good)
    model = robot.linearize(good, good, good)
    for joint in ('nowhere', robot.n, -1):
        with pytest.raises(kd.ParameterError, match=f'{joint!r}, expected one of'):
            model.transfer(joint, 0, 1.0)
    with pytest.raises(ValueError, match='read-only'):
        model.q[0] = 1.0


def test_a_part_is_the_model_with_the_others_held(robot: kd.Robot) -> None:
    state = np.linspace(0.1, 0.9, 3 * robot.n).reshape(3, robot.n)
    whole = robot.linearize(*state)
    places = list(reversed(range(robot.n - 1)))
    part = whole.part(places)
    assert part.joint_names == tuple(robot.joint_names[k] for k in places)
    omega = [0.3, 2.0]
    if robot.n > 1:
        # Held still by a spring that gives no way, a coordinate is left out.
        stiff = whole.stiffness.copy()
        stiff[-1, -1] += 1e12
        held = kd.LinearizedModel(
            whole.joint_names, whole.mass, whole.damping, stiff, whole.effort, *state
        )
        name = part.joint_names[0]
        np.testing.assert_allclose(
            part.transfer(name, name, omega), held.transfer(name, name, omega), rtol=1e-6
        )
    for values, given in zip((part.q, part.qd, part.qdd), state, strict=True):
        np.testing.assert_array_equal(values, given[places])
