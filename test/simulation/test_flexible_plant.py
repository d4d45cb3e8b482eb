# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated machine with flexible links: drives, brakes and stops are at the joints alone."""

from __future__ import annotations

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.simulation import JointSensors, Plant

BRAKE_RATE, STOP_FREQUENCY = 5.0, 40.0
REST = [0.0, 0.0, 0.0]
V1, W1 = 3, 4  # sideways and vertical bending of the boom
SAG, RATIO = -0.4685, 0.02  # of the boom's tip, m; damping by the description's file


def braked(robot):
    plant = Plant(robot, REST)
    plant.brakes_set = True
    return plant


def record(plant, duration, period=0.01, step=2e-3):
    """Coordinates at the end of every period, shape (k, n)."""
    rows = []
    for _ in range(round(duration / period)):
        plant.advance(np.zeros(len(plant.effort)), period, step)
        rows.append(plant.q.copy())
    return np.array(rows)


def held_pole(robot, q, coordinate):
    """Pole of a mode with the joints held: by its own row alone."""
    model = robot.linearize(q, np.zeros(robot.n), np.zeros(robot.n))
    mass, damping, stiffness = (
        matrix[coordinate, coordinate] for matrix in (model.mass, model.damping, model.stiffness)
    )
    return np.roots([mass, damping, stiffness])[0]


def vibration(values, period):
    """Angular frequency and damping ratio of what dies out about 0, from its zeros and peaks."""
    signs = np.flatnonzero(values[:-1] * values[1:] < 0.0)
    zeros = signs + values[signs] / (values[signs] - values[signs + 1])
    frequency = np.pi * (len(zeros) - 1) / ((zeros[-1] - zeros[0]) * period)
    before, at, after = values[:-2], values[1:-1], values[2:]
    tops = (np.abs(at) >= np.abs(before)) & (np.abs(at) > np.abs(after)) & (at * before > 0.0)
    # A parabola through three values tells the height of a top.
    bend = 2.0 * at - before - after
    heights = np.abs(at + (after - before) ** 2 / (8.0 * bend))[tops]
    decrement = np.log(heights[0] / heights[-1]) / (len(heights) - 1) / np.pi
    return frequency, decrement / np.hypot(1.0, decrement)


def test_it_starts_at_rest_bent_by_its_weight_and_brakes_keep_it_so(stacker):
    plant = braked(stacker)
    assert plant.q.shape == plant.qd.shape == plant.qdd.shape == (5,)
    assert list(plant.q[:3]) == REST
    np.testing.assert_allclose(plant.q[W1], SAG, rtol=1e-4)
    np.testing.assert_allclose(stacker.gravity_vector(plant.q)[V1:], 0.0, atol=1e-3)
    begin = plant.q
    plant.advance(REST, 10.0, 0.01)
    np.testing.assert_allclose(plant.q, begin, rtol=0.0, atol=1e-12)
    # Brakes carry the weight of the joints; nothing carries the links but their stiffness.
    assert plant.effort.shape == (3,)
    np.testing.assert_allclose(plant.effort, stacker.gravity_vector(begin)[:3], atol=1e-3)


@pytest.mark.parametrize(('coordinate', 'hertz'), [(V1, 1.095), (W1, 0.821)])
def test_a_held_boom_vibrates_at_its_eigenfrequency_and_dies_out(stacker, coordinate, hertz):
    plant = braked(stacker)
    rest = plant.q.copy()
    plant.q[coordinate] += 1e-4
    period = 0.02
    rows = record(plant, 20.0, period) - rest
    assert not rows[:, :3].any()
    frequency, ratio = vibration(rows[:, coordinate], period)
    pole = held_pole(stacker, rest, coordinate)
    np.testing.assert_allclose(frequency, pole.imag, rtol=1e-5)
    np.testing.assert_allclose(ratio, -pole.real / abs(pole), rtol=1e-4)
    # What the file says of the clamped boom holds for it but for its static bending.
    np.testing.assert_allclose(np.hypot(pole.real, pole.imag) / (2.0 * np.pi), hertz, rtol=1e-3)
    np.testing.assert_allclose(ratio, RATIO, rtol=1e-2)


def test_brakes_stop_the_joints_and_the_boom_rings_on(stacker):
    plant = braked(stacker)
    rest = plant.q.copy()
    joint_rates = np.array([0.3, 0.05, 0.04])
    plant.qd[:3] = joint_rates
    period = 0.02
    rows = record(plant, 20.0, period)
    ends = rest[:3] + joint_rates / BRAKE_RATE
    np.testing.assert_allclose(rows[-1, :3], ends, rtol=1e-6)
    assert np.ptp(rows[200:, :3], axis=0).max() < 1e-9
    at_rest = Plant(stacker, ends).q
    for coordinate in (V1, W1):
        ringing = rows[200:, coordinate] - at_rest[coordinate]
        assert np.abs(ringing).max() > 1e-3
        frequency, ratio = vibration(ringing, period)
        np.testing.assert_allclose(
            frequency, held_pole(stacker, at_rest, coordinate).imag, rtol=1e-3
        )
        np.testing.assert_allclose(ratio, RATIO, rtol=0.02)


def test_braked_accelerations_solve_the_equations_with_brakes_at_the_joints(chain, rng):
    """What is missing in M qdd + c + g + friction acts on joints, and is told as the effort."""
    plant = Plant(chain, [0.7, -1.1])
    plant.brakes_set = True
    plant.q[2:] += rng.uniform(-0.05, 0.05, 4)
    plant.qd = rng.uniform(-1.0, 1.0, 6)
    plant.advance([3.0, 4.0], 0.0, 0.001)
    np.testing.assert_array_equal(plant.qdd[:2], -BRAKE_RATE * plant.qd[:2])
    acting = np.zeros(6)
    acting[:2] = plant.effort
    acting -= chain.joint_friction(plant.qd)
    expected = chain.forward_dynamics(plant.q, plant.qd, acting)
    np.testing.assert_allclose(plant.qdd, expected, rtol=1e-9, atol=1e-9)


def test_power_of_the_drives_and_of_damping_is_what_the_energy_changes_by(chain):
    plant = Plant(chain, [0.7, -1.1])
    command, period = np.array([2.0, -1.0]), 0.002

    def state():
        energy = chain.kinetic_energy(plant.q, plant.qd) + chain.potential_energy(plant.q)
        lost = plant.qd @ chain.joint_friction(plant.qd)
        return energy, command @ plant.qd[:2], lost

    rows = [state()]
    for _ in range(500):
        plant.advance(command, period, period / 2)
        rows.append(state())
    energy, driving, lost = np.array(rows).T
    weights = np.where(np.arange(501) % 2, 4.0, 2.0) * period / 3.0
    weights[[0, -1]] /= 2.0
    assert weights @ lost > 1e-4
    expected = weights @ (driving - lost)
    np.testing.assert_allclose(energy[-1] - energy[0], expected, rtol=1e-5)


def test_a_stop_catches_the_joint_of_a_boom_that_swings_on(stacker):
    upper, speed = stacker.model.position_upper[2], 0.05
    plant = Plant(stacker, [0.0, 0.0, upper - 0.01])
    plant.qd[2] = speed
    rows = record(plant, 2.0)
    depth = rows[:, 2].max() - upper
    assert 0.0 < depth < speed / (np.e * STOP_FREQUENCY)
    swing = np.ptp(rows[:, W1])
    assert 0.05 < swing < 5.0


def test_a_step_too_long_for_the_vibrations_is_refused_before_it_is_taken(stacker, chain):
    for robot, position in ((stacker, REST), (chain, [0.7, -1.1])):
        plant = Plant(robot, position)
        begin, command = plant.q.copy(), np.zeros(len(position))
        frequencies = robot.linearize(begin, plant.qd, plant.qdd).frequencies()
        assert plant.highest_frequency == frequencies[-1]
        step = 2.01 / frequencies[-1]
        with pytest.raises(kd.ParameterError, match='too long for flexible links') as refused:
            plant.advance(command, 10 * step, step)
        np.testing.assert_array_equal(plant.q, begin)
        words = str(refused.value).split()
        assert f'{step:g}' in words
        assert f'{frequencies[-1]:.4g}' in words
        allowed = float(words[-2])
        assert 1.97 < allowed * frequencies[-1] <= 2.0
        plant.advance(command, 1.5 * step, step)  # two steps, which are shorter
        plant = Plant(robot, position)
        # The step that the message tells does for vibrations: they die out.
        plant.brakes_set = True
        plant.q[len(position) :] += 1e-3
        plant.advance(command, 400 * allowed, allowed)
        assert np.abs(plant.q - begin).max() < 5e-4


def test_a_step_too_long_for_overdamped_modes_is_refused_before_it_is_taken(monkeypatch):
    """Damping that grows with the frequency: a pole is farther out than any frequency."""
    monkeypatch.setenv('CC', 'no-compiler')
    text = """<robot name="rod"><link name="base"/><joint name="pin" type="continuous">
      <parent link="base"/><child link="rod"/><axis xyz="0 0 1"/></joint><link name="rod">
      <inertial><origin xyz="0.5 0 0"/><mass value="1.2"/><inertia ixx="0.01" iyy="0.11" izz="0.11"
      ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    beam = {
        'length': 1.0,
        'mass_per_length': 1.2,
        'bending_stiffness': {'v': 300.0},
        'modes': {'v': 3},
        'damping_ratio': 0.1,
        'damping': 'stiffness_proportional',
    }
    robot = kd.loads(text, gravity=(0, 0, 0), flexible={'flexible_links': {'rod': beam}})
    plant = Plant(robot, [0.0])
    fastest = abs(robot.linearize(plant.q, plant.qd, plant.qdd).poles()[-1])
    assert fastest > 1.5 * plant.highest_frequency
    with pytest.raises(kd.ParameterError, match=rf'decay at up to {fastest:.4g} 1/s') as refused:
        plant.advance([0.0], 0.01, 1.9 / plant.highest_frequency)
    allowed = float(str(refused.value).split()[-2])
    assert 1.97 < allowed * fastest <= 2.0
    plant.qd[-1] = 1e-3
    energy = robot.kinetic_energy(plant.q, plant.qd)
    for _ in range(20):
        plant.advance([0.0], allowed, allowed)
        left = robot.kinetic_energy(plant.q, plant.qd) + robot.potential_energy(plant.q)
        assert left < energy * (1.0 + 1e-9)


def test_a_rigid_machine_has_no_highest_frequency():
    text = """<robot name="sledge"><link name="rail"/><link name="body"><inertial>
      <mass value="4"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="slide" type="prismatic"><parent link="rail"/><child link="body"/>
      <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="20" velocity="2"/></joint></robot>"""
    plant = Plant(kd.loads(text), [0.0])
    assert plant.highest_frequency == 0.0
    plant.advance([8.0], 0.5, 100.0)
    np.testing.assert_allclose(plant.q, 0.25)


def test_positions_and_commands_are_those_of_the_joints(stacker):
    with pytest.raises(kd.ShapeError, match=r'shape \(5,\), expected \(3,\)'):
        Plant(stacker, np.zeros(5))
    plant = Plant(stacker, REST)
    with pytest.raises(kd.ShapeError, match=r'command has shape \(5,\), expected \(3,\)'):
        plant.advance(np.zeros(5), 0.1, 0.01)
    plant.advance([1e12, 0.0, -1e12], 0.0, 0.01)
    limit = stacker.model.effort_limit
    assert list(plant.effort) == [limit[0], 0.0, -limit[2]]
    with pytest.raises(kd.ParameterError, match="'luff' starts at 1, expected"):
        Plant(stacker, [0.0, 0.0, 1.0])


def test_sensors_see_the_joints_alone(stacker):
    none = np.zeros(3)
    sensors = JointSensors(
        position_resolution=none,
        position_noise=none,
        velocity_noise=none,
        effort_noise=none,
        seed=1,
    )
    plant = Plant(stacker, REST)
    plant.qd[:] = 0.1, 0.2, 0.3, 0.4, 0.5
    plant.advance([1.0, 2.0, 3.0], 0.0, 0.01)
    sample = sensors.measure(plant)
    assert list(sample.position) == REST
    assert list(sample.velocity) == [0.1, 0.2, 0.3]
    assert list(sample.effort) == [1.0, 2.0, 3.0]
