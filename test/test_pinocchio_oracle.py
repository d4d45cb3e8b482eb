# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every quantity against Pinocchio, on UR5, on Panda, on screws and on random trees, to 1e-10."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from compiled_together import compile_together
from hypothesis import given, settings
from hypothesis import strategies as st
from pinocchio_oracle import ALIGNED, Oracle, arm_text, pin

from kron_dynamics import dynamics, kinematics
from kron_dynamics.model import load_model

REL = 1e-10
ARMS = {'ur5': 'ur5_robot.urdf', 'panda': 'panda.urdf', 'screws': None}
COMPILED = (
    *('inverse_dynamics', 'linearization', 'inverse_dynamics_rate', 'mass_matrix'),
    *('gravity_vector', 'coriolis_matrix', 'coriolis_vector', 'bias_forces'),
    *('velocity_free_coriolis_matrix', 'forward_dynamics', 'pose', 'velocity', 'acceleration'),
    *('jacobian', 'kinematic_hessian', 'jacobian_dot'),
)


@pytest.fixture(scope='module', params=list(ARMS))
def arm(
    request: pytest.FixtureRequest, make_robot: Callable[..., Any], robot_text: Any
) -> Iterator[SimpleNamespace]:
    file = ARMS[request.param]
    text = robot_text(request.param) if file is None else arm_text(file)
    robot = make_robot(text)
    with pytest.MonkeyPatch.context() as patch:
        if request.param == 'panda' and not request.config.getoption('--long'):
            # Its machine code takes longest, and test_kernel_conformance compares it.
            patch.setenv('CC', 'no-compiler')
        compile_together(robot, robot.model.tip_link, *COMPILED)
        yield SimpleNamespace(robot=robot, model=robot.model, oracle=Oracle(text, robot.model))


@pytest.fixture
def states(
    arm: SimpleNamespace, rng: np.random.Generator, random_state: Callable[..., SimpleNamespace]
) -> list[SimpleNamespace]:
    return [random_state(arm.model.n, rng) for _ in range(4)]


def test_the_arms_are_what_they_should_be(arm: SimpleNamespace) -> None:
    # Panda's second finger mimics the first, as the nut the quill: reduced coordinates.
    expected = {'ur5': (6, 0), 'panda': (8, 1), 'screws': (3, 1)}[arm.model.name]
    assert (arm.model.n, len(arm.model.mimics)) == expected
    assert arm.oracle.pin.nv == sum(expected)


def test_inverse_dynamics_is_rnea(arm: Any, states: Any, assert_close: Any) -> None:
    for s in states:
        tau = arm.robot.inverse_dynamics(s.q, s.qd, s.qdd)
        assert_close(tau, arm.oracle.inverse_dynamics(s.q, s.qd, s.qdd), REL)


def test_linearization_is_that_of_rneas_derivatives(
    arm: Any, states: Any, assert_close: Any
) -> None:
    for s in states:
        made = arm.robot.linearization(s.q, s.qd, s.qdd)
        by_rate, by_position = arm.oracle.inverse_dynamics_derivatives(s.q, s.qd, s.qdd)
        assert_close(made.mass_matrix, arm.oracle.mass_matrix(s.q), REL)
        assert_close(made.damping_matrix, by_rate, REL)
        assert_close(made.stiffness_matrix, by_position, REL)
        assert_close(made.effort, arm.oracle.inverse_dynamics(s.q, s.qd, s.qdd), REL)


def test_rate_of_efforts_is_that_of_rneas_derivatives(
    arm: Any, states: Any, assert_close: Any
) -> None:
    for s in states:
        rate = arm.oracle.inverse_dynamics_rate(s.q, s.qd, s.qdd, s.qddd)
        assert_close(arm.robot.inverse_dynamics_rate(s.q, s.qd, s.qdd, s.qddd), rate, REL)


def test_mass_matrix_is_crba(arm: Any, states: Any, assert_close: Any) -> None:
    for s in states:
        assert_close(arm.robot.mass_matrix(s.q), arm.oracle.mass_matrix(s.q), REL)


def test_gravity_vector_is_generalized_gravity(arm: Any, states: Any, assert_close: Any) -> None:
    for s in states:
        assert_close(arm.robot.gravity_vector(s.q), arm.oracle.gravity_vector(s.q), REL)


def test_coriolis_matrix_is_pinocchios(arm: Any, states: Any, assert_close: Any) -> None:
    for s in states:
        C = arm.robot.coriolis_matrix(s.q, s.qd)
        assert_close(C, arm.oracle.coriolis_matrix(s.q, s.qd), REL)


def test_coriolis_vector_is_bias_without_gravity(arm: Any, states: Any, assert_close: Any) -> None:
    for s in states:
        bias = arm.oracle.inverse_dynamics(s.q, s.qd, np.zeros(arm.model.n))
        c = bias - arm.oracle.gravity_vector(s.q)
        assert_close(arm.robot.coriolis_vector(s.q, s.qd), c, REL)
        assert_close(arm.robot.bias_forces(s.q, s.qd), bias, REL)


def test_velocity_free_coriolis_matrix_holds_the_christoffel_symbols(
    arm: Any, states: Any, assert_close: Any
) -> None:
    """[T] eq. (101), symmetrised."""
    n = arm.model.n
    for s in states:
        C = arm.robot.velocity_free_coriolis_matrix(s.q).reshape(n, n, n)
        assert_close(C, arm.oracle.christoffel_symbols(s.q), REL)


def test_mass_matrix_derivative_is_that_of_crba(
    arm: Any, states: Any, assert_close: Any, derivative: Any
) -> None:
    n = arm.model.n
    for s in states:
        dM = dynamics.mass_matrix_derivative(arm.model, s.q).reshape(n, n, n)
        Gamma = arm.oracle.christoffel_symbols(s.q)
        assert_close(dM, Gamma + Gamma.transpose(1, 0, 2), REL)
        assert_close(dM, derivative(arm.oracle.mass_matrix, s.q), 1e-9)


def test_forward_dynamics_is_the_inverse_of_rnea(arm: Any, states: Any, assert_close: Any) -> None:
    for s in states:
        tau = arm.oracle.inverse_dynamics(s.q, s.qd, s.qdd)
        assert_close(arm.robot.forward_dynamics(s.q, s.qd, tau), s.qdd, REL)


def test_pose_velocity_and_acceleration_of_the_tip(
    arm: Any, states: Any, assert_close: Any
) -> None:
    tip = arm.model.tip_link
    frame, there = arm.robot.frame(tip), arm.oracle.pin.getFrameId(tip, pin.BODY)
    for s in states:
        arm.oracle.move(s.q, s.qd, s.qdd)
        here = arm.oracle.pin, arm.oracle.data, there, ALIGNED
        assert_close(frame.pose(s.q), arm.oracle.data.oMf[there].homogeneous, REL)
        assert_close(frame.velocity(s.q, s.qd), pin.getFrameVelocity(*here).vector, REL)
        expected = pin.getFrameClassicalAcceleration(*here).vector
        assert_close(frame.acceleration(s.q, s.qd, s.qdd), expected, REL)


def test_jacobian_is_local_world_aligned(arm: Any, states: Any, assert_close: Any) -> None:
    tip = arm.model.tip_link
    for s in states:
        J = arm.robot.frame(tip).jacobian(s.q)
        assert_close(J, arm.oracle.jacobian(s.q, tip), REL)


def test_kinematic_hessian_is_the_joints_hessian(arm: Any, states: Any, assert_close: Any) -> None:
    n = arm.model.n
    last = max(arm.model.joints, key=lambda joint: len(arm.model.path(joint.parent)))
    link = next(
        name
        for name, frame in arm.model.frames.items()
        if frame.body >= 0 and arm.model.joints[frame.body] is last
    )
    for s in states:
        H = arm.robot.frame(link).kinematic_hessian(s.q).reshape(6, n, n)
        assert_close(H, arm.oracle.kinematic_hessian_of_joint(s.q, last.name), REL)


def test_kinematic_hessian_is_the_derivative_of_pinocchios_jacobian(
    arm: Any, states: Any, assert_close: Any, derivative: Any
) -> None:
    n, tip = arm.model.n, arm.model.tip_link
    for s in states[:2]:
        H = arm.robot.frame(tip).kinematic_hessian(s.q).reshape(6, n, n)
        assert_close(H, derivative(lambda q: arm.oracle.jacobian(q, tip), s.q), 1e-9)


def test_jacobian_dot_gives_the_drift_acceleration(
    arm: Any, states: Any, assert_close: Any
) -> None:
    tip = arm.model.tip_link
    there = arm.oracle.pin.getFrameId(tip, pin.BODY)
    for s in states:
        arm.oracle.move(s.q, s.qd, np.zeros(arm.model.n))
        here = arm.oracle.pin, arm.oracle.data, there, ALIGNED
        drift = pin.getFrameClassicalAcceleration(*here).vector
        assert_close(arm.robot.frame(tip).jacobian_dot(s.q, s.qd) @ s.qd, drift, REL)


def test_pinocchios_own_mimic_joints_agree_with_the_projection(
    rng: np.random.Generator, random_state: Any, assert_close: Any
) -> None:
    text = arm_text(ARMS['panda'])
    model = load_model(text)
    reduced = pin.buildModelFromXML(text, mimic=True)
    data = reduced.createData()
    reduced.gravity.linear = np.array(model.gravity)
    assert list(reduced.names)[1 : model.n + 1] == list(model.joint_names)
    s = random_state(model.n, rng)
    tau = pin.rnea(reduced, data, s.q, s.qd, s.qdd)
    assert_close(dynamics.inverse_dynamics(model, s.q, s.qd, s.qdd), tau, REL)
    upper = np.triu(pin.crba(reduced, data, s.q))
    assert_close(dynamics.mass_matrix(model, s.q), upper + np.triu(upper, 1).T, REL)


@given(data=st.data())
@settings(max_examples=4 * settings.default.max_examples)
def test_random_trees(random_trees: Any, random_state: Any, assert_close: Any, data: Any) -> None:
    text = data.draw(random_trees)
    model = load_model(text)
    oracle = Oracle(text, model)
    s = random_state(model.n, np.random.default_rng(data.draw(st.integers(0, 99))))
    n, link = model.n, data.draw(st.sampled_from(model.link_names))
    # What is zero by symmetry is compared with the weight and size of the machine.
    floor = model.total_mass
    tau = dynamics.inverse_dynamics(model, s.q, s.qd, s.qdd)
    assert_close(tau, oracle.inverse_dynamics(s.q, s.qd, s.qdd), REL, floor)
    assert_close(dynamics.mass_matrix(model, s.q), oracle.mass_matrix(s.q), REL)
    assert_close(dynamics.gravity_vector(model, s.q), oracle.gravity_vector(s.q), REL, floor)
    Gamma = dynamics.velocity_free_coriolis_matrix(model, s.q).reshape(n, n, n)
    assert_close(Gamma, oracle.christoffel_symbols(s.q), REL, floor)
    made = dynamics.linearization(model, s.q, s.qd, s.qdd)
    by_rate, by_position = oracle.inverse_dynamics_derivatives(s.q, s.qd, s.qdd)
    assert_close(made.damping_matrix, by_rate, REL, floor)
    assert_close(made.stiffness_matrix, by_position, REL, floor)
    rate = dynamics.inverse_dynamics_rate(model, s.q, s.qd, s.qdd, s.qddd)
    expected = oracle.inverse_dynamics_rate(s.q, s.qd, s.qdd, s.qddd)
    assert_close(rate, expected, REL, floor)
    J = kinematics.jacobian(model, s.q, link)
    assert_close(J, oracle.jacobian(s.q, link), REL, floor=1.0)
    oracle.move(s.q, s.qd, s.qdd)
    there = oracle.pin.getFrameId(link, pin.BODY)
    acceleration = pin.getFrameClassicalAcceleration(oracle.pin, oracle.data, there, ALIGNED)
    a = kinematics.frame_acceleration(model, s.q, s.qd, s.qdd, link)
    assert_close(a, acceleration.vector, REL, floor=1.0)
