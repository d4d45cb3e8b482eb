# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps in C go where the same equations in Python go, to the same bits every time."""

from __future__ import annotations

import copy
import hashlib
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loop_cases import chain_text, tree_text
from pinocchio_oracle import arm_text

import kron_dynamics as kd
from kron_dynamics.simulation import Plant
from kron_dynamics.simulation.motion import Motion
from kron_dynamics.simulation.stepper import Stepper

ROOT = Path(__file__).parents[2]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
BOOM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
FREE = """<robot name="free"><link name="world"/><joint name="root" type="floating">
  <parent link="world"/><child link="body"/></joint><link name="body"/>
  <joint name="hinge" type="continuous"><parent link="body"/><child link="arm"/>
  <axis xyz="0 1 0"/><dynamics damping="0.1" friction="0.2"/></joint><link name="arm"><inertial>
  <origin xyz="0.3 0 0.1"/><mass value="2"/>
  <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0.02" iyz="0"/></inertial></link></robot>"""
MACHINES = {
    'stacker': lambda: kd.load(STACKER),
    'boom': lambda: kd.load(STACKER, flexible=BOOM),
    'ur5': lambda: kd.loads(arm_text('ur5_robot.urdf')),
    'panda with its fingers': lambda: kd.loads(arm_text('panda.urdf')),
    'chain of 30': lambda: kd.loads(chain_text(30)),
    'tree with slides and mimics': lambda: kd.loads(tree_text(8)),
    'free base held': lambda: kd.loads(FREE, hold_base=True),
}
STEP, STEPS = 0.001, 40


@pytest.fixture(scope='module', params=MACHINES)
def robot(request: pytest.FixtureRequest) -> kd.Robot:
    return MACHINES[request.param]()


@pytest.fixture(scope='module')
def boom() -> kd.Robot:
    return MACHINES['boom']()


def started(robot: kd.Robot, share: float, seed: int = 3) -> Plant:
    """A machine in motion, its joints at some share of the way from the middle to a stop."""
    rng, count = np.random.default_rng(seed), robot.model.joint_count
    lower, upper = robot.model.position_lower[:count], robot.model.position_upper[:count]
    ends = np.where(np.isfinite(lower) & np.isfinite(upper), [lower, upper], [[-1.0], [1.0]])
    side = rng.choice([-1.0, 1.0], count)
    middle, half = ends.sum(0) / 2, np.ptp(ends, axis=0) / 2
    plant = Plant(robot, middle + min(share, 1.0) * side * half)
    plant.q[:count] = middle + share * side * half
    plant.qd[:count] = 0.3 * half * rng.uniform(-1.0, 1.0, count)
    return plant


def in_python(plant: Plant, command: Any, steps: int, brakes: bool = False) -> list[np.ndarray]:
    """State and accelerations after steps by the text in Python, efforts limited here."""
    model, count = plant.robot.model, len(plant.effort)
    motion = Motion(plant.robot, count, model.position_lower, model.position_upper)
    motion.fit_stops(STEP)
    limit = model.effort_limit[:count]
    effort = None if brakes else np.clip(command, -limit, limit)
    return list(motion.after(plant.q, plant.qd, effort, steps, STEP))


def assert_same(plant: Plant, expected: list[np.ndarray]) -> None:
    for got, right in zip((plant.q, plant.qd, plant.qdd), expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=0.0, atol=1e-9 * np.abs(right).max())


def steppers(plant: Plant) -> set[type]:
    return {type(stepper) for stepper in plant._steppers.values()}


# 1.001: beyond the stops; 1e9: far more than any drive gives.
@pytest.mark.parametrize('size', [0.0, 0.2, 1e9])
@pytest.mark.parametrize('share', [0.3, 1.001])
def test_steps_in_c_and_in_python_are_the_same(robot: kd.Robot, share: float, size: float) -> None:
    plant = started(robot, share)
    limit = robot.model.effort_limit[: len(plant.effort)]
    command = size * np.where(np.isfinite(limit), limit, 1.0) * (-1.0) ** np.arange(len(limit))
    if size > 1 and not np.isfinite(limit).all():
        command = np.clip(command, -10.0, 10.0)
    expected = in_python(plant, command, STEPS)
    begin = plant.q
    plant.advance(command, STEPS * STEP, STEP)
    assert steppers(plant) == {Stepper}
    assert np.abs(plant.q - begin).max() > 1e-4
    assert_same(plant, expected)
    at_end = plant.acceleration(plant.q, plant.qd)
    np.testing.assert_allclose(plant.qdd, at_end, rtol=0.0, atol=1e-9 * np.abs(at_end).max())


def test_braked_steps_in_c_and_in_python_are_the_same(robot: kd.Robot) -> None:
    plant = started(robot, 0.5)
    plant.brakes_set = True
    plant.q[len(plant.effort) :] += 0.1
    expected = in_python(plant, None, STEPS, brakes=True)
    plant.advance(np.zeros(len(plant.effort)), STEPS * STEP, STEP)
    assert steppers(plant) == {Stepper}
    assert_same(plant, expected)


def test_stops_push_in_c_as_in_python(boom: kd.Robot) -> None:
    """Both of a joint, arriving and leaving faster than they spring back."""
    lower, upper = boom.model.position_lower[:3], boom.model.position_upper[:3]
    for end, out in ((upper, 1.0), (lower, -1.0)):
        for rate in (0.1, -0.5, 0.0):
            plant = Plant(boom, end)
            plant.q[:3] += out * 1e-3
            plant.qd[:3] = out * rate
            expected = in_python(plant, np.zeros(3), 100)
            free = boom.forward_dynamics(plant.q, plant.qd, -boom.joint_friction(plant.qd))
            pushed = plant.acceleration(plant.q, plant.qd)
            assert (np.abs(pushed - free).max() > 0.1) == (rate > -0.1)
            plant.advance(np.zeros(3), 100 * STEP, STEP)
            assert_same(plant, expected)


@pytest.mark.parametrize('brakes', [False, True])
@pytest.mark.parametrize('step', [0.004, 0.005, 0.003, 0.1 / 3])
def test_the_way_a_duration_is_cut_into_whole_steps_changes_no_bit(
    boom: kd.Robot, step: float, brakes: bool
) -> None:
    command, ends = [1e5, -2e6, 3e6], set()
    for cuts in ([120], [1] * 120, [7, 50, 3, 60], [119, 1]):
        plant = started(boom, 0.4)
        plant.brakes_set = brakes
        for steps in cuts:
            plant.advance(command, steps * step, step)
        ends.add(plant.q.tobytes() + plant.qd.tobytes() + plant.qdd.tobytes())
    assert len(ends) == 1


def test_more_steps_than_are_taken_at_once_change_no_bit(
    robot_text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = kd.loads(robot_text('planar_2r'))
    ends = []
    for at_once in (10_000, 7):
        monkeypatch.setattr('kron_dynamics.simulation.stepper._AT_ONCE', at_once)
        plant = Plant(robot, np.zeros(2))
        plant.qd += 0.3
        plant.advance(np.zeros(2), 0.5, STEP)
        ends.append(plant.q)
    assert np.abs(ends[0]).max() > 0.01
    np.testing.assert_array_equal(*ends)


RUN = """
import sys
import numpy as np
import kron_dynamics as kd
from kron_dynamics.simulation import Plant
pad = np.ones(int(sys.argv[1]))  # other addresses
plant = Plant(kd.load(sys.argv[2]), [0.0, 0.1, 0.2])
plant.advance([1e5, -2e6, 3e6], 0.5, 0.001)
print((plant.q.tobytes() + plant.qd.tobytes() + plant.qdd.tobytes()).hex())
"""


def test_another_process_finds_the_same_bits() -> None:
    plant = Plant(MACHINES['stacker'](), [0.0, 0.1, 0.2])
    plant.advance([1e5, -2e6, 3e6], 0.5, 0.001)
    here = (plant.q.tobytes() + plant.qd.tobytes() + plant.qdd.tobytes()).hex()
    command = [sys.executable, '-c', RUN, '3333', str(STACKER)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.strip() == here


@pytest.mark.parametrize('name', ['boom', 'chain of 30'])
def test_where_the_numbers_lie_changes_no_bit(name: str) -> None:
    robot = MACHINES[name]()
    digests = set()
    keep = []
    for k in range(12):
        keep.append(np.empty(k + 1))
        plant = started(robot, 0.4)
        plant.advance(np.zeros(len(plant.effort)), 5 * STEP, STEP)
        digests.add(hashlib.sha256(plant.q.tobytes() + plant.qd.tobytes()).hexdigest())
    assert len(digests) == 1


def test_machines_may_move_in_threads_of_their_own(boom: kd.Robot) -> None:
    plants = [started(boom, 0.4, seed) for seed in range(4)]
    alone = [copy.deepcopy(plant) for plant in plants]

    def move(plant: Plant) -> None:
        for _ in range(50):
            plant.advance(np.zeros(3), 10 * STEP, STEP)

    threads = [threading.Thread(target=move, args=[plant]) for plant in plants]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for plant, other in zip(plants, alone, strict=True):
        move(other)
        np.testing.assert_array_equal(plant.q, other.q)
    assert len({plant.q.tobytes() for plant in plants}) == 4


@pytest.mark.parametrize(
    'way', [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
)
def test_a_copy_goes_on_by_itself(boom: kd.Robot, way: Any) -> None:
    plant = started(boom, 0.4)
    plant.advance(np.zeros(3), 0.1, STEP)
    other = way(plant)
    at = plant.q.copy()
    other.advance(np.zeros(3), 0.1, STEP)
    np.testing.assert_array_equal(plant.q, at)
    plant.advance(np.zeros(3), 0.1, STEP)
    np.testing.assert_array_equal(plant.q, other.q)
    assert not np.array_equal(plant.q, at)


def test_states_of_before_are_left_alone(boom: kd.Robot) -> None:
    plant = started(boom, 0.4)
    before = plant.q, plant.qd, plant.qdd
    values = copy.deepcopy(before)
    plant.advance(np.zeros(3), 0.1, STEP)
    for array, value in zip(before, values, strict=True):
        np.testing.assert_array_equal(array, value)


@pytest.mark.parametrize('name', ['q', 'qd'])
@pytest.mark.parametrize('shape', [(4,), (1,), (2, 5), ()])
def test_states_of_another_shape_are_refused(boom: kd.Robot, name: str, shape: Any) -> None:
    plant = Plant(boom, np.zeros(3))
    setattr(plant, name, np.zeros(shape))
    with pytest.raises(kd.ShapeError, match=rf'^{name} of .* expected \(5,\)'):
        plant.advance(np.zeros(3), 0.1, STEP)


def test_states_may_be_given_as_lists_and_columns(boom: kd.Robot) -> None:
    plants = [started(boom, 0.4) for _ in range(2)]
    plants[0].q = plants[0].q.tolist()
    plants[0].qd = np.stack([plants[0].qd] * 3, axis=1)[:, 1]
    for plant in plants:
        plant.advance(np.zeros(3), 0.1, STEP)
    np.testing.assert_array_equal(plants[0].q, plants[1].q)


def test_a_robot_with_dynamics_of_its_own_moves_by_these() -> None:
    """Kernels stand for what the class says, not for what one of its subclasses says."""

    class Pushed(kd.Robot):
        def joint_friction(self, qd: Any, **options: Any) -> Any:
            return super().joint_friction(qd) - 5.0

    robot = MACHINES['free base held']()
    plants = [Plant(Pushed(robot.model), [0.3]), Plant(robot, [0.3])]
    for plant in plants:
        plant.advance([0.0], 0.1, STEP)
    assert steppers(plants[0]) == {Motion}
    assert plants[0].qd[0] - plants[1].qd[0] > 0.1


def test_without_a_compiler_the_numbers_are_the_same(
    monkeypatch: pytest.MonkeyPatch, robot_text: Any
) -> None:
    def ends() -> tuple[list[np.ndarray], set[type]]:
        robot, states, kinds = kd.loads(robot_text('rrp')), [], set()
        for brakes in (False, True):
            plant = Plant(robot, np.full(3, 0.1))
            plant.brakes_set = brakes
            plant.qd += 0.2
            plant.advance([1.0, -1.0, 0.5], 0.1, STEP)
            states += [plant.q, plant.qd, plant.qdd, plant.effort]
            kinds |= steppers(plant)
        return states, kinds

    compiled, in_c = ends()
    monkeypatch.setenv('CC', '/nonexistent/compiler')
    interpreted, in_python = ends()
    assert (in_c, in_python) == ({Stepper}, {Motion})
    for one, other in zip(interpreted, compiled, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-11 * np.abs(other).max())
