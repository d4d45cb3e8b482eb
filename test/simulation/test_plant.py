# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated machine keeps its energy, the order of its integrator, its stops and brakes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kron_dynamics as kd
from kron_dynamics.simulation import Plant

GRAVITY = 9.80665
PENDULUM = """<robot name="pendulum"><link name="base"/>
  <joint name="upper" type="continuous"><parent link="base"/><child link="rod"/>
    <axis xyz="0 1 0"/></joint>
  <link name="rod"><inertial><origin xyz="0 0.02 -0.4" rpy="0.2 0.1 0"/><mass value="3"/>
    <inertia ixx="0.2" iyy="0.22" izz="0.05" ixy="0.01" ixz="0" iyz="-0.02"/></inertial></link>
  <joint name="lower" type="continuous"><parent link="rod"/><child link="bob"/>
    <origin xyz="0 0 -0.8"/><axis xyz="0 1 0"/></joint>
  <link name="bob"><inertial><origin xyz="0 0 -0.3" rpy="0 0.4 0.2"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.12" izz="0.06" ixy="0" ixz="0.01" iyz="0"/></inertial></link>
</robot>"""
# Horizontal: gravity does no work. Mass and limits are the numbers of the formulas below.
MASS, LIMIT, UPPER = 4.0, 20.0, 0.5
SLEDGE = f"""<robot name="sledge"><link name="rail"/>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="body"/>
    <axis xyz="1 0 0"/>
    <limit lower="-1" upper="{UPPER}" effort="{LIMIT}" velocity="2"/>
    <dynamics damping="0" friction="0"/></joint>
  <link name="body"><inertial><mass value="{MASS}"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""
# Of the stops and brakes, as the module documents them.
STOP_FREQUENCY, BRAKE_RATE = 40.0, 5.0


@pytest.fixture(scope='module')
def pendulum():
    return kd.loads(PENDULUM)


@pytest.fixture(scope='module')
def sledge():
    return kd.loads(SLEDGE)


@pytest.fixture
def swing(pendulum):
    """A double pendulum that falls from far out, after a time in steps."""

    def run(duration, step):
        plant = Plant(pendulum, [2.0, -1.0])
        plant.qd[:] = 0.5, -1.0
        plant.advance([0.0, 0.0], duration, step)
        return plant

    return run


def moving(robot, q, qd):
    plant = Plant(robot, q)
    plant.qd[:] = qd
    return plant


def test_energy_is_conserved_on_screws(robot_text):
    """Two screws, one with a follower, and an arm between them, falling; no friction, no stops."""
    text = re.sub('<dynamics .*?/>', '', robot_text('screws'))
    robot = kd.loads(re.sub('lower=".*?" upper=".*?"', 'lower="-1e3" upper="1e3"', text))
    plant = moving(robot, [0.4, -0.7, 1.1], [0.5, -1.0, 3.0])
    energies, heights = [], []
    for _ in range(10):
        heights.append(float(robot.potential_energy(plant.q)))
        energies.append(heights[-1] + float(robot.kinetic_energy(plant.q, plant.qd)))
        plant.advance(np.zeros(3), 0.05, 1e-3)
    assert np.ptp(heights) > 1.0
    assert np.ptp(energies) < 1e-7 * np.ptp(heights)


def test_energy_is_conserved_without_friction(pendulum):
    plant = moving(pendulum, [2.0, -1.0], [0.5, -1.0])

    def energy():
        potential = pendulum.potential_energy(plant.q)
        return float(pendulum.kinetic_energy(plant.q, plant.qd) + potential)

    energies = [energy()]
    for _ in range(100):
        plant.advance([0.0, 0.0], 0.1, 1e-3)
        energies.append(energy())
    assert np.ptp(plant.q) > 0.5
    # What a fall of its centre of mass by its own length is worth.
    scale = (3.0 + 2.0) * GRAVITY * 1.6
    assert np.abs(np.array(energies) - energies[0]).max() < 1e-8 * scale


def test_halving_the_step_cuts_the_error_sixteen_times(pendulum, swing):
    def rates(_, y):
        return np.concatenate((y[2:], pendulum.forward_dynamics(y[:2], y[2:], [0.0, 0.0])))

    begin = [2.0, -1.0, 0.5, -1.0]
    exact = solve_ivp(rates, (0.0, 1.0), begin, method='DOP853', rtol=1e-13, atol=1e-13).y[:, -1]
    errors = []
    for step in (0.004, 0.002, 0.001):
        plant = swing(1.0, step)
        errors.append(np.abs(np.concatenate((plant.q, plant.qd)) - exact).max())
    assert errors[0] < 1e-5
    for coarse, fine in zip(errors, errors[1:], strict=False):
        assert 14.0 < coarse / fine < 18.0


def test_a_duration_is_divided_evenly_into_steps_no_longer_than_asked_for(swing):
    for duration, step, count in (
        (0.02, 0.003, 7),
        (0.02, 0.004, 5),
        (0.02, 1.0, 1),
        (0.07, 0.005, 14),
    ):
        whole, parts = swing(duration, step), swing(0.0, step)
        for _ in range(count):
            parts.advance([0.0, 0.0], duration / count, duration / count)
        np.testing.assert_array_equal(whole.q, parts.q)


def test_a_constant_effort_accelerates_by_newtons_law(sledge):
    plant = Plant(sledge, [0.0])
    plant.advance([8.0], 0.5, 0.01)
    np.testing.assert_allclose(plant.qd, 8.0 / MASS * 0.5, rtol=1e-12)
    np.testing.assert_allclose(plant.q, 0.5 * 8.0 / MASS * 0.25, rtol=1e-12)
    np.testing.assert_allclose(plant.qdd, 8.0 / MASS, rtol=1e-12)
    assert list(plant.effort) == [8.0]


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_drives_give_no_more_than_their_limit(sledge, sign):
    plant = Plant(sledge, [0.0])
    plant.advance([sign * 1e9], 0.1, 0.01)
    assert list(plant.effort) == [sign * LIMIT]
    np.testing.assert_allclose(plant.qdd, sign * LIMIT / MASS)


def test_damping_takes_the_speed_exponentially():
    damped = kd.loads(SLEDGE.replace('damping="0"', 'damping="2"'))
    plant = moving(damped, [0.0], [0.3])
    plant.advance([0.0], 1.0, 0.01)
    np.testing.assert_allclose(plant.qd, 0.3 * np.exp(-2.0 / MASS), rtol=1e-9)


def test_coulomb_friction_stops_and_holds_what_pushes_less(sledge):
    """It creeps by less than 1 % of the velocity limit, as the friction is smooth."""
    rough = kd.loads(SLEDGE.replace('friction="0"', 'friction="5"'))
    plant = moving(rough, [0.0], [0.3])
    plant.advance([0.0], 0.1, 0.001)
    np.testing.assert_allclose(plant.qd, 0.3 - 5.0 / MASS * 0.1, rtol=1e-6)
    plant.advance([3.0], 5.0, 0.001)
    creep = 0.01 * 2.0 * np.arctanh(3.0 / 5.0)
    np.testing.assert_allclose(plant.qd, creep, rtol=1e-6)


def light_joint(friction):
    """A link of 0.012 kg m^2 about a vertical axis, which gravity does not move."""
    return kd.loads(
        f"""<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
        <origin xyz="0.1 0 0"/><inertia ixx="0.002" ixy="0" ixz="0" iyy="0.002" iyz="0"
        izz="0.002"/></inertial></link><joint name="j" type="revolute"><parent link="base"/>
        <child link="arm"/><axis xyz="0 0 1"/><dynamics friction="{friction}"/>
        <limit lower="-3" upper="3" velocity="2" effort="50"/></joint></robot>"""
    )


@pytest.mark.parametrize('step', [1e-4, 1e-3, 5e-3])
def test_friction_of_a_light_joint_holds_it_at_any_step(step):
    """With long steps it chattered about standstill, and friction held less than it should."""
    plant = Plant(light_joint(2.0), [0.5])
    plant.advance([1.0], 1.0, step)
    # 2 tanh(qd / 0.02) = 1: it creeps.
    creep = 0.02 * np.arctanh(0.5)
    np.testing.assert_allclose(plant.qd, creep, rtol=1e-6)
    np.testing.assert_allclose(plant.q, 0.5 + creep, rtol=1e-4)
    assert abs(plant.qdd[0]) < 1e-6
    once = plant.q.tolist()
    other = Plant(light_joint(2.0), [0.5])
    for _ in range(10):
        other.advance([1.0], 0.1, step)
    assert other.q.tolist() == once
    assert other.record([1.0], 20 * step, step, every=10).time.tolist() == [10 * step, 20 * step]


def test_friction_that_needs_very_many_parts_of_a_step_is_told():
    plant = Plant(light_joint(2000.0), [0.5])
    with pytest.warns(kd.ModelWarning, match=r"joint 'j': friction stops it at 8\.3.*e\+06 1/s"):
        plant.advance([1.0], 0.01, 1e-3)


def test_a_stop_catches_the_joint_and_holds_it(sledge):
    """At arrival, and against a push that goes on."""
    plant = moving(sledge, [0.4], [1.0])
    deepest = 0.0
    for _ in range(2000):
        plant.advance([LIMIT], 0.001, 0.001)
        deepest = max(deepest, plant.q[0] - UPPER)
    arrival = np.sqrt(1.0 + 2.0 * LIMIT / MASS * 0.1)
    static = LIMIT / (MASS * STOP_FREQUENCY**2)
    assert 0.0 < deepest < arrival / (np.e * STOP_FREQUENCY) + static
    assert abs(plant.qd[0]) < 1e-9
    np.testing.assert_allclose(plant.q[0] - UPPER, static, rtol=1e-6)


def test_a_stop_pushes_and_never_pulls(sledge):
    """A joint that leaves it is not held back."""
    plant = moving(sledge, [UPPER], [0.0])
    plant.q[0] = UPPER + 1e-3
    plant.qd[0] = -1.0  # faster than the stop springs back
    plant.advance([0.0], 1e-4, 1e-4)
    np.testing.assert_allclose(plant.qd[0], -1.0, rtol=1e-12)
    lower = moving(sledge, [-1.0], [-0.5])
    lower.advance([0.0], 1.0, 0.001)
    assert lower.q[0] > -1.0
    assert 0.0 <= lower.qd[0] < 0.5


def test_brakes_stop_the_machine_and_carry_it(pendulum):
    plant = moving(pendulum, [2.0, -1.0], [0.5, -1.0])
    plant.brakes_set = True
    q, qd = plant.q.copy(), plant.qd.copy()
    plant.advance([0.0, 0.0], 1.0, 0.01)
    np.testing.assert_allclose(plant.qd, qd * np.exp(-BRAKE_RATE), rtol=1e-5)
    travelled = qd / BRAKE_RATE * (1.0 - np.exp(-BRAKE_RATE))
    np.testing.assert_allclose(plant.q, q + travelled, rtol=1e-6)
    # What they carry is told as the effort, whatever was commanded.
    carried = pendulum.inverse_dynamics(plant.q, plant.qd, -BRAKE_RATE * plant.qd)
    np.testing.assert_allclose(plant.effort, carried, rtol=1e-12)
    rubbing = moving(kd.loads(SLEDGE.replace('damping="0"', 'damping="8"')), [0.0], [0.4])
    rubbing.brakes_set = True
    rubbing.advance([0.0], 0.1, 0.01)
    np.testing.assert_allclose(rubbing.effort, (8.0 - MASS * BRAKE_RATE) * rubbing.qd)
    at_rest = Plant(pendulum, [2.0, -1.0])
    at_rest.brakes_set = True
    at_rest.advance([7.0, 7.0], 10.0, 0.1)
    np.testing.assert_array_equal(at_rest.q, [2.0, -1.0])
    np.testing.assert_allclose(at_rest.effort, pendulum.gravity_vector([2.0, -1.0]))


def test_no_time_changes_nothing_but_the_effort(pendulum):
    plant = moving(pendulum, [2.0, -1.0], [0.5, -1.0])
    plant.advance([1.0, 2.0], 0.0, 0.01)
    np.testing.assert_array_equal(plant.q, [2.0, -1.0])
    np.testing.assert_array_equal(plant.qd, [0.5, -1.0])
    assert list(plant.effort) == [1.0, 2.0]


@pytest.mark.filterwarnings('error')
def test_a_step_that_is_too_long_is_said(robot_text):
    plant = moving(kd.loads(robot_text('rrp')), np.zeros(3), [3e3, -4e3, 5e2])
    with pytest.raises(kd.NonFiniteError, match=r'the step of 0\.1 s is too long'):
        plant.advance(np.zeros(3), 100.0, 0.1)


def test_damping_may_act_within_a_step():
    """It made the motion diverge."""
    stiff = kd.loads(SLEDGE.replace('damping="0"', 'damping="4000"'))
    plant = moving(stiff, [0.0], [0.3])
    plant.advance([0.0], 1.0, 0.1)
    np.testing.assert_allclose(plant.q, 0.3 * 4.0 / 4000.0, rtol=1e-3)


@pytest.mark.parametrize(
    ('start', 'error', 'said'),
    [
        ([0.6], kd.ParameterError, r"'slide' starts at 0\.6, expected .* \[-1, 0\.5\]"),
        ([-1.1], kd.ParameterError, "'slide' starts at -1.1"),
        ([np.nan], kd.ParameterError, "'slide' starts at nan"),
        ([0.0, 0.0], kd.ShapeError, r'shape \(2,\), expected \(1,\)'),
    ],
)
def test_a_start_that_cannot_be_is_refused(sledge, start, error, said):
    with pytest.raises(error, match=said):
        Plant(sledge, start)


def test_kernels_of_a_motion_are_made_in_one_go(made_together):
    """The compiler is started once for them, not for each."""
    plant = Plant(kd.loads(SLEDGE), [0.0])
    plant.advance([1.0], 0.01, 0.01)
    assert made_together == [{'joint_friction', 'forward_dynamics', 'mass_matrix'}]
    plant.brakes_set = True
    plant.advance([0.0], 0.01, 0.01)
    assert made_together[1:] == [{'inverse_dynamics'}]
    braked = Plant(kd.loads(SLEDGE), [0.0])
    braked.brakes_set = True
    braked.advance([0.0], 0.01, 0.01)
    assert made_together[2:] == [{'joint_friction', 'inverse_dynamics'}]
