# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Which measured states are plausible, and which of those are problems."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from closed_loops import SLIDER_CONSTRAINTS, slider_crank

import kron_dynamics as kd
from kron_dynamics.control.supervision.state_gate import (
    StateGate,
    position_jumps,
    position_margins,
)
from kron_dynamics.model import RobotModel, load_model

# A rail with 0.5 m/s, a turntable with 2 rad/s, a boom from -0.2 to 0.3 with 0.1 rad/s.
TEXT = """
<robot name="gate">
  <link name="base"/>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="10" velocity="0.5" effort="1e4"/></joint>
  <link name="a"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial></link>
  <joint name="table" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit velocity="2" effort="1e3"/></joint>
  <link name="b"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial></link>
  <joint name="boom" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>
    <limit lower="-0.2" upper="0.3" velocity="0.1" effort="1e3"/></joint>
  <link name="c"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    iyz="0"/></inertial></link>
</robot>"""
Q, REST = np.array([4.0, 3.1, 0.1]), np.zeros(3)
PERIOD = 0.02


def at(time: float) -> list[float]:
    """The stamps of a state whose positions are of one time."""
    return [time] * len(Q)


@pytest.fixture
def model() -> RobotModel:
    return load_model(TEXT)


def default_gate(model: RobotModel) -> StateGate:
    """A gate with the margins that the node has by default."""
    return StateGate(
        model,
        position_margin=position_margins(model),
        position_jump=position_jumps(model),
        velocity_factor=1.5,
    )


@pytest.fixture
def gate(model: RobotModel) -> StateGate:
    """One that has plausible a state at rest at 100 s."""
    made = default_gate(model)
    assert made.judge(Q, REST, at(100.0)) == (True, None)
    return made


def changed(values: np.ndarray, k: int, value: float) -> np.ndarray:
    other = values.copy()
    other[k] = value
    return other


@pytest.mark.parametrize(
    ('k', 'q', 'said'),
    [
        (0, 4.0 + 2 * np.pi, "'rail' jumped from 4 to 10.28"),
        (2, 0.17, "'boom' jumped from 0.1 to 0.17 in 0.02 s, its velocity limit is 0.1"),
        (1, 3.1 - 0.5, "'table' jumped"),
        (2, 5.0, "'boom' is 5, which is far outside its range -0.2 to 0.3"),
        (0, 1e300, "'rail' is 1e+300, which is far outside"),
        (1, -1e300, "'table' is -1e+300, which is far outside"),
    ],
)
def test_impossible_positions_are_not_believed(
    gate: StateGate, k: int, q: float, said: str
) -> None:
    verdict = gate.judge(changed(Q, k, q), REST, at(100.0 + PERIOD))
    assert not verdict.plausible
    assert verdict.problem is not None
    assert re.search(re.escape(said), verdict.problem)
    # It has left no trace: the next one is compared with the last that was plausible.
    assert gate.judge(Q, REST, at(100.0 + 2 * PERIOD)) == (True, None)


@pytest.mark.parametrize(
    ('k', 'qd', 'said'),
    [
        (1, 100.0, "velocity of joint 'table' is 100, its limit is 2: more than 10 times"),
        (0, -6.0, "velocity of joint 'rail' is -6, its limit is 0.5"),
        (2, 0.25, "velocity of joint 'boom' is 0.25, its limit is 0.1: its position hardly moves"),
        (1, 1e300, "velocity of joint 'table' is 1e+300"),
    ],
)
def test_impossible_velocities_are_not_believed(
    gate: StateGate, k: int, qd: float, said: str
) -> None:
    verdict = gate.judge(Q, changed(REST, k, qd), at(100.0 + PERIOD))
    assert not verdict.plausible
    assert said in (verdict.problem or '')


def test_a_joint_without_end_may_turn_over(gate: StateGate) -> None:
    for k, angle in enumerate((3.13, -3.13, -3.1)):  # a driver that wraps
        stamp = 100.0 + (k + 1) * PERIOD
        assert gate.judge(changed(Q, 1, angle), changed(REST, 1, 1.5), at(stamp)) == (True, None)


def test_a_sensor_that_was_set_anew_is_believed_after_a_while(gate: StateGate) -> None:
    moved = changed(Q, 0, 5.0)
    plausible = [gate.judge(moved, REST, at(100.0 + k * PERIOD)).plausible for k in range(1, 100)]
    first = plausible.index(True)
    assert 0.9 < (first + 1) * PERIOD < 1.0  # 1 m, less what may always be, at twice 0.5 m/s
    assert all(plausible[first:])


@pytest.mark.parametrize('step', [0.1, 0.2])
def test_a_position_that_jumped_and_stays_is_a_problem_once(gate: StateGate, step: float) -> None:
    moved = changed(Q, 0, Q[0] + step)
    verdicts = [gate.judge(moved, REST, at(100.0 + k * PERIOD)) for k in range(1, 30)]
    first = [verdict.plausible for verdict in verdicts].index(True)
    assert first > 0
    assert "'rail' jumped from 4 and stayed at" in (verdicts[first].problem or '')
    assert verdicts[first + 1 :] == [(True, None)] * (28 - first)


def test_a_position_that_jumped_and_came_back_is_no_problem(gate: StateGate) -> None:
    assert not gate.judge(changed(Q, 0, 4.3), REST, at(100.0 + PERIOD)).plausible
    rate = changed(REST, 0, 0.4)  # it moves meanwhile, slower than its limit
    back = changed(Q, 0, 4.0 + 2 * PERIOD * 0.4)
    assert gate.judge(back, rate, at(100.0 + 2 * PERIOD)) == (True, None)


def test_a_position_is_compared_over_its_own_time(gate: StateGate) -> None:
    """Publishers that share the joints: the others' states say nothing of how far it moved."""
    way, long = np.array([0.06, 0.24, 0.0]), 0.2  # at 60 % of the limits
    assert gate.judge(Q, REST, [100.1, 100.0, 100.1]) == (True, None)
    rail, table = changed(Q, 0, Q[0] + way[0]), Q + way
    assert gate.judge(rail, REST, [100.1 + long, 100.0, 100.1]) == (True, None)
    assert gate.judge(table, REST, [100.1 + long, 100.0 + long, 100.1]) == (True, None)
    # The boom could have moved that far in the time of the others, not in its own.
    moved = changed(table, 2, Q[2] + 0.03)
    verdict = gate.judge(moved, REST, [101.1, 101.0, 100.11])
    assert "'boom' jumped from 0.1 to 0.13 in 0.01 s" in (verdict.problem or '')
    assert gate.judge(moved, REST, [101.2, 101.1, 100.31]).plausible


def test_limits_are_a_problem_beyond_the_margin(gate: StateGate, model: RobotModel) -> None:
    margin = position_margins(model)
    np.testing.assert_allclose(margin, [0.2, 0.1, 0.01])
    for k, limit, sign in ((2, 0.3, 1), (2, -0.2, -1)):
        gate.reset()
        for share, bad in ((0.99, False), (1.01, True)):
            q = changed(Q, k, limit + sign * share * margin[k])
            verdict = gate.judge(q, REST, at(200.0))
            assert verdict.plausible
            assert (verdict.problem is not None) == bad
    assert "position of joint 'boom' is -0.2101, which is outside" in (verdict.problem or '')


@pytest.mark.parametrize(
    ('length', 'speed', 'margin'),
    [
        (600.0, 0.5, 0.5),
        (10.0, 0.5, 0.2),
        (0.1, 0.5, 0.025),
        (600.0, 0.0, 12.0),
        (10.0, 1e3, 50.0),
    ],
)
def test_the_margin_of_a_long_rail_is_not_a_share_of_it(
    length: float, speed: float, margin: float
) -> None:
    """A joint that is faster than its range is long may rest as far outside as it jumps."""
    text = TEXT.replace('upper="10" velocity="0.5"', f'upper="{length}" velocity="{speed}"')
    assert position_margins(load_model(text))[0] == pytest.approx(margin)


def test_a_runaway_is_believed_and_a_problem_from_the_third_state_on(gate: StateGate) -> None:
    q, qd, problems = Q.copy(), changed(REST, 1, 3.5), []
    for k in range(1, 5):
        q = q + PERIOD * qd
        verdict = gate.judge(q, qd, at(100.0 + k * PERIOD))
        assert verdict.plausible
        problems.append(verdict.problem)
    assert problems[:2] == [None, None]
    assert "velocity of joint 'table' is 3.5, its limit is 2: 1.5 times" in (problems[2] or '')


def test_no_limits_no_problem(model: RobotModel) -> None:
    endless = replace(
        model,
        position_lower=np.full(3, -np.inf),
        position_upper=np.full(3, np.inf),
        velocity_limit=np.full(3, np.inf),
    )
    gate = default_gate(endless)
    rng = np.random.default_rng(1)
    for k in range(20):
        assert gate.judge(*rng.normal(size=(2, 3)) * 1e3, at(float(k))) == (True, None)


ROBOTS = ['stacker_reclaimer', 'ur5_robot.urdf', 'panda.urdf']


@pytest.mark.parametrize('name', ROBOTS)
def test_machines_that_move_as_they_may_are_believed(name: str, machine: Any) -> None:
    """Full speed, to and fro, with jitter of half a period, lost states and noise."""
    model = machine(name).model
    gate = default_gate(model)
    rng = np.random.default_rng(7)
    lower = np.where(np.isfinite(model.position_lower), model.position_lower, -3.0)
    upper = np.where(np.isfinite(model.position_upper), model.position_upper, 3.0)
    middle, limit = (lower + upper) / 2, model.velocity_limit
    amplitude = (upper - lower) / 2
    frequency = limit / amplitude
    time = 50.0
    for _ in range(3000):
        time += 0.01 * rng.integers(1, 4)
        late = time - 0.005 * rng.random()
        q = middle + amplitude * np.sin(frequency * time)
        qd = limit * np.cos(frequency * time)
        q += rng.normal(size=len(q)) * 0.002 * limit
        qd = qd + rng.normal(size=len(q)) * 0.05 * limit
        assert gate.judge(q, qd, [late] * len(q)) == (True, None)


def test_closed_loops_are_not_believed_where_they_cannot_be_closed():
    """A crank that its slider drives: 1.1 m is its dead centre."""
    robot = kd.loads(slider_crank(), constraints={**SLIDER_CONSTRAINTS, 'actuated': ['slide']})
    (margin,), (upper,) = position_margins(robot.model), robot.model.position_upper
    assert 0.0 < margin < 1.1 - upper
    assert margin == pytest.approx(1e-3 * (upper - robot.model.position_lower[0]))
    turn, _, slide = robot.tree_coordinates([upper + margin])
    assert slide == upper + margin
    crank = 0.3 * np.cos(turn) + np.sqrt(0.64 - (0.3 * np.sin(turn)) ** 2)
    assert crank == pytest.approx(slide, abs=1e-9)
