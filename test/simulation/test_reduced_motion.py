# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The boom luffed by its cylinder: loops stay closed, energy is work, and it tracks as before."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.reduced import ReducedRobot
from kron_dynamics.simulation.constrained_motion import runge_kutta_step, simulate_constrained
from kron_dynamics.simulation.reduced_motion import simulate_reduced

ROOT = Path(__file__).parents[2]
PERIOD = 0.02


@functools.cache
def stacker() -> ReducedRobot:
    robot = kd.load(ROOT / 'urdf' / 'stacker_reclaimer_cylinder.urdf')
    source = ROOT / 'config' / 'stacker_reclaimer_cylinder.yaml'
    return ReducedRobot(ConstrainedRobot.described(robot, source))


@functools.cache
def four_bar() -> ReducedRobot:
    robot = kd.load(ROOT / 'urdf' / 'four_bar.urdf')
    source = ROOT / 'config' / 'four_bar_constraints.yaml'
    return ReducedRobot(ConstrainedRobot.described(robot, source))


def luffed(angle: float) -> Any:
    robot = stacker().constrained
    q = robot.start.copy()
    q[robot.joint_names.index('luff')] = angle
    return robot.close(q, hold=['luff'])


def test_it_is_the_motion_of_the_general_solution(assert_close: Any) -> None:
    robot = four_bar()
    q, torque = robot.constrained.start, np.array([1.5, 0.0, 0.0])
    options: dict[str, Any] = {'duration': 0.3, 'step': 2e-3, 'friction': True}
    found = simulate_reduced(robot, q, [2.0], lambda t, q, qd: torque, **options)
    rates = robot.constrained.velocities(q, [2.0])
    expected = simulate_constrained(
        robot.constrained, q, rates, lambda t, q, qd: torque, **options
    )
    assert_close(found.times, expected.times, 1e-14)
    assert_close(found.q, expected.q, 1e-8, floor=1.0)
    assert_close(found.qd, expected.qd, 1e-7, floor=1.0)


def test_kernels_of_a_motion_are_made_in_one_go(made_together: list[set[str]]) -> None:
    robot = four_bar.__wrapped__()
    made_together.clear()
    simulate_reduced(robot, robot.constrained.start, [0.0], duration=0.01, step=0.01)
    assert made_together == [{'velocity_matrix', 'residual', 'velocities', 'forward_dynamics'}]


def test_loops_stay_closed_and_energy_is_work() -> None:
    """Two minutes of travel, slew and luff; the drives carry the weight and push to and fro."""
    seconds = 120.0
    robot = stacker()
    names = robot.joint_names
    actuated = [names.index(joint) for joint in robot.actuated]
    pushes = np.array([4e4, 3e5, 1e5])

    def efforts(t: float, q: Any, qd: Any) -> Any:
        tau = np.zeros(7)
        carry = robot.inverse_dynamics(q, np.zeros(3), np.zeros(3))
        tau[actuated] = carry + pushes * np.sin([0.3 * t, 0.2 * t, 0.25 * t])
        return tau

    found, coarse = (
        simulate_reduced(robot, luffed(0.02), np.zeros(3), efforts, duration=seconds, step=step)
        for step in (0.02, 0.25)
    )
    model = robot.constrained.robot
    for each in (found, coarse):  # long steps open the loops, which are closed again
        assert np.abs(robot.residual(each.q)).max() < 1e-10
    assert np.ptp(found.q, axis=0).min() > 1e-3
    power = np.array(
        [efforts(t, q, qd) @ qd for t, q, qd in zip(found.times, found.q, found.qd, strict=True)]
    )
    h = found.times[1]
    # Simpson's rule.
    work = h / 3 * (power[0] + power[-1] + 4 * power[1:-1:2].sum() + 2 * power[2:-1:2].sum())
    energies = [
        float(model.kinetic_energy(found.q[k], found.qd[k]) + model.potential_energy(found.q[k]))
        for k in (0, -1)
    ]
    exchanged = h * np.abs(power).sum()
    assert abs(energies[1] - energies[0] - work) < 1e-8 * exchanged


def luff_error(rates: Callable[..., Any], law: Callable[..., Any], state: Any, luff: int) -> Any:
    """Errors of the luff angle behind a reference, with efforts held between states."""
    errors = []
    half = len(state) // 2 if len(state) == 6 else 7
    for k in range(int(80.0 / PERIOD)):
        t = k * PERIOD
        share = min(t / 60.0, 1.0)
        wanted = 0.06 * share**3 * (10 - 15 * share + 6 * share**2)
        rate = 0.06 / 60.0 * 30 * share**2 * (1 - share) ** 2
        change = 0.06 / 3600.0 * 60 * share * (1 - share) * (1 - 2 * share)
        errors.append(state[luff] - wanted)
        speed = state[half + (2 if half == 7 else luff)]
        asked = change + 0.6 * (rate - speed) + 0.09 * (wanted - state[luff])
        tau = law(state, asked)
        state = runge_kutta_step(lambda t, y, tau=tau: rates(y, tau), t, state, PERIOD)
    return np.array(errors)


def test_the_cylinder_tracks_as_the_luff_torque_did() -> None:
    """Friction is in both machines and in neither law: what is left of the error is theirs."""
    robot, plain = stacker(), kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
    names = robot.joint_names
    drive, luff = names.index('cylinder'), names.index('luff')
    friction = robot.constrained.robot.joint_friction

    def with_cylinder(y: Any, tau: Any) -> Any:
        qd = robot.velocities(y[:7], y[7:])
        motion = robot.forward_dynamics(y[:7], y[7:], tau - friction(qd))
        return np.concatenate([qd, motion.u_dot])

    def cylinder_law(y: Any, asked: float) -> Any:
        tau = np.zeros(7)
        tau[:2] = friction(robot.velocities(y[:7], y[7:]))[:2]  # they rest
        tau[[0, 1, drive]] += robot.inverse_dynamics(y[:7], y[7:], np.array([0.0, 0.0, asked]))
        return tau

    def with_torque(y: Any, tau: Any) -> Any:
        net = tau - plain.joint_friction(y[3:])
        return np.concatenate([y[3:], plain.forward_dynamics(y[:3], y[3:], net)])

    def torque_law(y: Any, asked: float) -> Any:
        tau = plain.inverse_dynamics(y[:3], y[3:], np.array([0.0, 0.0, asked]))
        tau[:2] += plain.joint_friction(y[3:])[:2]
        return tau

    ours = luff_error(
        with_cylinder, cylinder_law, np.concatenate([luffed(0.0), np.zeros(3)]), luff
    )
    before = luff_error(with_torque, torque_law, np.zeros(6), 2)
    rms = [float(np.sqrt(np.mean(errors**2))) for errors in (ours, before)]
    assert 1e-4 < rms[1] < 0.01
    assert rms[0] == pytest.approx(rms[1], rel=0.05)


def test_arguments_are_refused_by_name() -> None:
    robot = four_bar()
    q = robot.constrained.start
    with pytest.raises(kd.ArgumentTypeError, match='expected a ReducedRobot'):
        simulate_reduced(robot.constrained, q, [0.0], duration=1.0)  # type: ignore[arg-type]
    with pytest.raises(kd.ShapeError, match='u has shape'):
        simulate_reduced(robot, q, [0.0, 0.0], duration=1.0)
    for friction in (False, True):
        with pytest.raises(kd.ShapeError, match='tau has shape'):
            options: dict[str, Any] = {'duration': 0.01, 'friction': friction}
            simulate_reduced(robot, q, [0.0], lambda t, q, qd: [1.0], **options)
    with pytest.raises(kd.ParameterError, match='duration is -1.0'):
        simulate_reduced(robot, q, [0.0], duration=-1.0)
    with pytest.raises(kd.ParameterError, match='time is inf s'):
        simulate_reduced(robot, q, [0.0], duration=0.01, time=np.inf)


@pytest.mark.parametrize('step', [2e-3, 3.1e-3, 4e-3])
def test_speeds_that_do_not_determine_the_motion_any_more_are_refused(step: float) -> None:
    """The rocker turns back where crank and coupler are in line: its rate says nothing there."""
    robot = kd.load(ROOT / 'urdf' / 'four_bar.urdf')
    source = {
        'constraints': {
            'pin': {
                'type': 'hinge',
                'a': {'link': 'coupler', 'point': [0.9, 0, 0], 'axis': [0, -1, 0]},
                'b': {'link': 'rocker', 'point': [0.7, 0, 0], 'axis': [0, -1, 0]},
            }
        },
        'independent': ['rocker_joint'],
        'start': {'crank_joint': 0.9, 'coupler_joint': -0.4, 'rocker_joint': 1.5},
        'hold': ['crank_joint'],
    }
    turned = ReducedRobot(ConstrainedRobot.described(robot, source))
    with pytest.raises(kd.KronDynamicsError, match="rocker_joint|'pin'"):
        simulate_reduced(turned, turned.constrained.start, [-3.0], duration=3.0, step=step)
