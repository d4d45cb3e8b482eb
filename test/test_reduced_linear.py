# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear models of constrained robots: by differences, by hand, and by how the robots move."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reduced_cases import (
    HOLONOMIC,
    crank_pose,
    five_bar,
    four_bar,
    sleigh,
    slider_crank,
    stacker,
    states_of,
)
from scipy.linalg import expm
from scipy.optimize import brentq

import kron_dynamics as kd
from kron_dynamics.simulation.reduced_motion import simulate_reduced

pytestmark = pytest.mark.interpreted


def at(robot: kd.ReducedRobot, q: Any, p: Any) -> Any:
    """Closed coordinates with the independent joints p away from q."""
    free = [robot.joint_names.index(joint) for joint in robot.independent]
    place = q + robot.constrained.speeds(q, np.zeros(robot.n)).B @ p
    place[free] = q[free] + p
    return robot.constrained.close(place, hold=robot.independent)


def forces(
    robot: kd.ReducedRobot, q: Any, u: Any, u_dot: Any, effort: Any, friction: bool = False
) -> Any:
    """What is missing in the equations of motion, by `ConstrainedRobot` alone, shape (m,)."""
    closed = robot.constrained
    qd = closed.velocities(q, u)
    tau = closed.robot.inverse_dynamics(q, qd, closed.accelerations(q, qd, u_dot))
    tau[[robot.joint_names.index(joint) for joint in robot.actuated]] -= effort
    if friction:
        tau = tau + closed.robot.joint_friction(qd)
    return closed.speeds(q, qd).B.T @ tau


@pytest.mark.parametrize('friction', [False, True])
@pytest.mark.parametrize('name', HOLONOMIC)
def test_linearization_is_the_derivative_along_the_constraints(
    name: str, friction: bool, derivative: Any, assert_close: Any
) -> None:
    robot = HOLONOMIC[name]()
    m = robot.degrees_of_freedom
    slow = 1e-6 if name == 'stacker' else 1e-3  # where Coulomb friction has a slope
    for q, u, u_dot in states_of(robot, 2):
        if friction:
            u = slow * u
        found = robot.linearize(q, u, u_dot, friction=friction)
        still = forces(robot, q, u, u_dot, found.effort, friction)
        assert np.abs(still).max() < 1e-10 * np.abs(found.effort).max()

        def force(p: Any, s: Any, state: Any = (q, u, u_dot), effort: Any = found.effort) -> Any:
            q, u, u_dot = state
            return forces(robot, at(robot, q, p), u + s, u_dot, effort, friction)

        K = derivative(lambda p: force(p, np.zeros(m)), np.zeros(m))
        step = 0.1 * slow if friction else 1e-2
        D = derivative(lambda s: force(np.zeros(m), s), np.zeros(m), h=step)
        assert_close(found.stiffness, K, 1e-8)
        assert_close(found.damping, D, 1e-8, floor=1e-2 * np.abs(found.mass).max())
        assert_close(found.mass, robot.constrained.mass_matrix(q), 1e-11)
        if not friction:
            terms = robot.linearization(q, u, u_dot)
            assert_close(found.stiffness, terms.stiffness_matrix, 1e-12)
            assert_close(found.effort, robot.inverse_dynamics(q, u, u_dot), 1e-12)


@pytest.mark.parametrize('name', ['four-bar', 'two arms'])
def test_stiffness_at_rest_is_the_slope_of_gravity(
    name: str, derivative: Any, assert_close: Any
) -> None:
    """Where the drives are on the independent joints: else their lever arms count as well."""
    robot = HOLONOMIC[name]()
    if name == 'two arms':
        closed = robot.constrained
        robot = kd.ReducedRobot(
            kd.ConstrainedRobot(
                closed.robot,
                closed.constraints,
                start=closed.start,
                independent=closed.independent,
                actuated=closed.independent,
            )
        )
    rest = np.zeros(robot.degrees_of_freedom)
    q = states_of(robot)[1][0]
    found = robot.linearization(q, rest, rest)
    slope = derivative(lambda p: robot.gravity_vector(at(robot, q, p)), rest)
    assert_close(found.stiffness_matrix, slope, 1e-8)
    assert_close(found.stiffness_matrix, found.stiffness_matrix.T, 1e-12)
    assert_close(found.effort, robot.gravity_vector(q), 1e-12)


def test_a_cylinder_that_holds_a_boom_is_a_spring(derivative: Any, assert_close: Any) -> None:
    """Its constant force on a lever arm that changes, from the triangle of its pins by hand."""
    robot = stacker()
    rest = np.zeros(3)

    def lever(luff: float) -> float:
        c, s = np.cos(luff), np.sin(luff)
        eye = np.array([11 * c + 1.2 * s, 11 * s - 1.2 * c])
        along = eye - [5.0, -3.8]
        return float((eye[0] * along[1] - eye[1] * along[0]) / np.hypot(*along))

    for luff in (-0.15, 0.0, 0.2):
        q = robot.constrained.start.copy()
        q[robot.joint_names.index('luff')] = luff
        q = robot.constrained.close(q, hold=['luff'])
        found = robot.linearization(q, rest, rest)
        force = robot.gravity_vector(q)[2] / lever(luff)
        assert_close(found.effort[2], force, 1e-9)
        assert_close(found.transmission[2, 2], lever(luff), 1e-9)
        of_gravity = derivative(lambda p, q=q: robot.gravity_vector(at(robot, q, p)), rest)[2, 2]
        of_force = force * derivative(lambda t, luff=luff: lever(luff + t))
        assert_close(found.stiffness_matrix[2, 2], of_gravity - of_force, 1e-7)
        assert abs(of_force) > 1e-2 * abs(of_gravity)


@functools.cache
def twice_driven() -> kd.ReducedRobot:
    closed = four_bar().constrained
    return kd.ReducedRobot(
        kd.ConstrainedRobot(
            closed.robot,
            closed.constraints,
            start=closed.start,
            independent=['crank_joint'],
            actuated=['crank_joint', 'rocker_joint'],
        )
    )


def test_drives_that_pull_against_each_other_are_a_spring(
    derivative: Any, assert_close: Any
) -> None:
    robot = twice_driven()
    q, u = robot.constrained.start, np.array([0.8])
    least = robot.inverse_dynamics(q, u, [0.3])
    # A pair of efforts that does no work here, on top.
    rocker = robot.velocity_matrix(q)[2, 0]
    pulled = least + 7.0 * np.array([-rocker, 1.0])
    found = robot.linearize(q, u, tau_a=pulled)
    assert_close(found.qdd, [0.3], 1e-10)
    assert_close(found.effort, pulled, 1e-14)
    K = derivative(lambda p: forces(robot, at(robot, q, p), u, found.qdd, pulled), np.zeros(1))
    assert_close(found.stiffness, K, 1e-8)
    slack = robot.linearize(q, u, [0.3])
    assert_close(slack.effort, least, 1e-12)
    assert np.abs(found.stiffness - slack.stiffness).max() > 1e-2 * np.abs(K).max()
    assert_close(found.damping, slack.damping, 1e-10, floor=1e-3)


@pytest.mark.parametrize('name', HOLONOMIC)
def test_inputs_are_the_actuated_joints(name: str, assert_close: Any) -> None:
    """A column of the state space's B is what one unit of an effort adds to du/dt."""
    robot = HOLONOMIC[name]()
    q, u, u_dot = states_of(robot)[0]
    m = robot.degrees_of_freedom
    linear = robot.linearize(q, u, u_dot)
    assert linear.joint_names == robot.independent and linear.inputs == robot.actuated
    free = [robot.joint_names.index(joint) for joint in robot.independent]
    assert_close(linear.q, q[free], 1e-15)
    system = linear.state_space()
    B, size = system.B, np.abs(linear.effort).max()
    assert B.shape == (2 * m, len(robot.actuated)) and not B[:m].any()
    before = robot.forward_dynamics(q, u, np.zeros(robot.n)).u_dot
    for k, joint in enumerate(robot.actuated):
        tau = np.zeros(robot.n)
        tau[robot.joint_names.index(joint)] = size
        change = robot.forward_dynamics(q, u, tau).u_dot - before
        assert_close(size * B[m:, k], change, 1e-8)
        response = linear.transfer(joint, robot.independent[-1], 3.0)
        resolvent = np.linalg.inv(3j * np.eye(2 * m) - system.A)
        np.testing.assert_allclose(response, (resolvent @ B)[m - 1, k], rtol=1e-8)


def test_inputs_of_a_part_and_copies() -> None:
    robot = stacker()
    linear = robot.linearize(robot.constrained.start, np.zeros(3), np.zeros(3))
    luff = linear.part([2])
    assert luff.inputs == ('travel', 'slew', 'cylinder') and luff.transmission.shape == (1, 3)
    assert luff.transmission[0, 2] == linear.transmission[2, 2] != 0.0
    for other in (pickle.loads(pickle.dumps(linear)), copy.deepcopy(linear)):
        np.testing.assert_array_equal(other.transmission, linear.transmission)
        assert other.inputs == linear.inputs
    with pytest.raises(kd.ParameterError, match="no joint 'luff', expected one of travel"):
        linear.transfer('luff', 'luff', 1.0)
    with pytest.raises(kd.ShapeError, match=r'transmission has shape \(3, 2\), expected \(3, 3\)'):
        kd.LinearizedModel(
            linear.joint_names,
            *(np.eye(3),) * 3,
            *(np.zeros(3),) * 4,
            inputs=linear.inputs,
            transmission=np.zeros((3, 2)),
        )


def balanced(robot: kd.ReducedRobot, u: Any) -> tuple[Any, Any]:
    """A pose at rest and the efforts of all joints that hold it."""
    q = robot.constrained.start
    tau = np.zeros(robot.n)
    places = [robot.joint_names.index(joint) for joint in robot.actuated]
    tau[places] = robot.inverse_dynamics(q, u, 0 * u)
    return q, tau


@pytest.mark.parametrize(
    ('make', 'duration', 'size'),
    [(four_bar, 0.25, 0.02), (five_bar, 0.08, 0.004), (stacker, 6.0, 0.01)],
    ids=['four-bar', 'five-bar', 'stacker'],
)
def test_half_the_disturbance_leaves_a_quarter_of_the_error(
    make: Callable[[], kd.ReducedRobot], duration: float, size: float
) -> None:
    """Linear against nonlinear motion, with the efforts that hold the robot at the start."""
    robot = make()
    m = robot.degrees_of_freedom
    q, tau = balanced(robot, np.zeros(m))
    system = robot.linearize(q, np.zeros(m), np.zeros(m)).state_space()
    direction = np.sin(1.0 + np.arange(2 * m))
    free = [robot.joint_names.index(joint) for joint in robot.independent]
    errors = []
    for part in (1.0, 0.5, 0.25):
        x = part * size * direction
        moved = simulate_reduced(
            robot,
            at(robot, q, x[:m]),
            x[m:],
            lambda t, q, qd: tau,
            duration=duration,
            step=duration / 400,
        )
        expected = expm(duration * system.A) @ x
        end = np.concatenate([moved.q[-1, free] - q[free], moved.qd[-1, free]])
        errors.append(np.linalg.norm(end - expected))
        assert np.linalg.norm(expected - x) > 1e-2 * np.linalg.norm(x)
        assert errors[-1] < 0.2 * np.linalg.norm(x)
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert 3.7 < errors[1] / errors[2] < 4.3


def hanging() -> tuple[kd.ReducedRobot, Any]:
    """The slider-crank where its weight holds it."""
    robot = slider_crank('turn')
    angle = brentq(lambda x: robot.gravity_vector(crank_pose(x))[0], -2.2, -0.8, xtol=1e-14)
    return robot, np.array(crank_pose(angle))


def test_a_frequency_is_that_of_small_swings() -> None:
    robot, q = hanging()
    linear = robot.linearize(q, [0.0], [0.0])
    assert abs(linear.effort[0]) < 1e-10
    period = 2 * np.pi / linear.frequencies()[0]
    np.testing.assert_allclose(np.abs(linear.poles()), 2 * np.pi / period, rtol=1e-9)
    errors = []
    for size in (2e-2, 1e-2):
        moved = simulate_reduced(
            robot, crank_pose(q[0] + size), [0.0], duration=1.2 * period, step=period / 1000
        )
        # Back at rest after one period: where its rate passes through zero.
        k = int(1.1 * period / moved.times[1])
        while moved.qd[k, 0] * moved.qd[k - 1, 0] > 0:
            k -= 1
        a, b = moved.qd[k - 1 : k + 1, 0]
        back = moved.times[k - 1] + moved.times[1] * a / (a - b)
        errors.append(abs(back / period - 1))
    assert errors[0] < 1e-3 and 3.6 < errors[0] / errors[1] < 4.4


def hanging_five_bar() -> tuple[kd.ReducedRobot, Any]:
    """With both cranks as independent joints, where the potential energy is least."""
    closed = five_bar().constrained
    robot = kd.ReducedRobot(
        kd.ConstrainedRobot(
            closed.robot,
            closed.constraints,
            start=[-1.2, -0.7, -1.4, -1.7],
            independent=['left', 'right'],
            actuated=['left', 'right'],
        )
    )
    q, rest = robot.constrained.start, np.zeros(2)
    for _ in range(30):
        g = robot.gravity_vector(q)
        values, vectors = np.linalg.eigh(robot.linearization(q, rest, rest).stiffness_matrix)
        step = -vectors @ ((vectors.T @ g) / np.abs(values))
        q = at(robot, q, step * min(1.0, 0.1 / np.abs(step).max()))
    assert np.abs(robot.gravity_vector(q)).max() < 1e-10
    return robot, q


def test_modes_of_two_freedoms_swing_by_themselves() -> None:
    """Set off along a mode shape the five-bar is back there after that mode's period."""
    robot, q = hanging_five_bar()
    cranks, rest = [0, 2], np.zeros(2)
    squares, shapes = robot.linearize(q, rest, rest).undamped_modes()
    assert 0.0 < 1.2 * squares[0] < squares[1]
    for square, shape in zip(squares, shapes.T, strict=True):
        period, start = 2 * np.pi / np.sqrt(square), shape / np.abs(shape).max()
        errors = []
        for size in (4e-3, 2e-3):
            moved = simulate_reduced(
                robot, at(robot, q, size * start), rest, duration=period, step=period / 800
            )
            errors.append(np.abs(moved.q[-1, cranks] - q[cranks] - size * start).max() / size)
        assert errors[0] < 0.05 and errors[0] / errors[1] > 1.8


def test_conditions_of_rates_have_no_linear_model_in_independent_joints() -> None:
    robot = sleigh()
    q, none = robot.constrained.start, np.zeros(2)
    for call in (robot.linearize, lambda *motion: robot.linearization(*motion)):
        with pytest.raises(kd.ConstraintError, match="constraints 'blade' are of rates alone"):
            call(q, none, none)
    robot.prepare()


@pytest.mark.parametrize(
    ('arguments', 'options', 'error', 'words'),
    [
        (([0.0], [0.0], [0.0]), {}, kd.ShapeError, r'q has shape \(1,\), expected \(3,\)'),
        (('q', [0.0, 1.0], [0.0]), {}, kd.ShapeError, r'u has shape \(2,\), expected \(1,\)'),
        (('q', [0.0], [0.0] * 3), {}, kd.ShapeError, r'u_dot has shape \(3,\)'),
        (('q', [0.0]), {}, kd.ParameterError, 'both u_dot and tau_a or neither, expected one'),
        (('q', [0.0], [0.0]), {'tau_a': [1.0]}, kd.ParameterError, 'expected one'),
        (('q', [0.0]), {'tau_a': [1.0, 2.0]}, kd.ShapeError, r'tau_a has shape \(2,\)'),
        (('q', [np.nan], [0.0]), {}, kd.NonFiniteError, 'u holds a NaN'),
        (('q', [0.0], [0.0]), {'friction': 1}, kd.ArgumentTypeError, 'friction is 1'),
    ],
)
def test_arguments_of_linearize_are_refused_by_name(
    arguments: Any, options: Any, error: type[Exception], words: str
) -> None:
    robot = slider_crank('turn')
    given = [crank_pose(0.3) if isinstance(x, str) else x for x in arguments]
    with pytest.raises(error, match=words):
        robot.linearize(*given, **options)


def test_linear_models_do_not_depend_on_the_choice_of_speeds(assert_close: Any) -> None:
    """Poles at rest are those of the machine: of the slider's position as of the crank's."""
    closed = slider_crank('turn').constrained
    robots = [
        kd.ReducedRobot(
            kd.ConstrainedRobot(
                closed.robot,
                closed.constraints,
                start=closed.start,
                independent=[joint],
                actuated=['slide'],
            )
        )
        for joint in ('turn', 'slide', 'wrist')
    ]
    # Sorted: the two have the same magnitude, by which they are in order, but for rounding.
    poles = [
        np.sort_complex(robot.linearize(closed.start, [0.0], [0.0]).poles()) for robot in robots
    ]
    np.testing.assert_allclose(poles[1], poles[0], rtol=1e-9)
    np.testing.assert_allclose(poles[2], poles[0], rtol=1e-9)
    effort = [robot.linearize(closed.start, [0.0], [0.0]).effort for robot in robots]
    assert_close(effort[1], effort[0], 1e-10)
