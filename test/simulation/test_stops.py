# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stops take energy from a machine, whatever else it moves, its pose and the step."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from pinocchio_oracle import arm_text

import kron_dynamics as kd
from kron_dynamics.simulation import Plant

STACKER = Path(__file__).parents[2] / 'urdf' / 'stacker_reclaimer.urdf'
STOP_FREQUENCY = 40.0  # rad/s, as the module documents it
UPPER = 1.0


def _disc(name, inertia):
    moments = ' '.join(f'{axis}="{inertia}"' for axis in ('ixx', 'iyy', 'izz'))
    return (
        f'<link name="{name}"><inertial><mass value="1"/><inertia {moments} '
        'ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


# A light disc with a stop carries a heavy one on the same axis: M_11 is 101 times the inertia with
# which the light one meets its stop.
COAXIAL = f"""<robot name="coaxial"><link name="base"/>
  <joint name="light" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="{UPPER}" effort="10" velocity="5"/></joint>{_disc('a', 0.01)}
  <joint name="heavy" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  </joint>{_disc('b', 1.0)}</robot>"""
TEXTS = {
    'stacker': lambda: STACKER.read_text(encoding='utf-8'),
    'ur5': lambda: arm_text('ur5_robot.urdf'),
    'panda': lambda: arm_text('panda.urdf'),
}


@pytest.fixture(scope='module')
def coaxial():
    return kd.loads(COAXIAL)


@pytest.fixture(scope='module', params=TEXTS)
def machine(request):
    """A machine that nothing but stops takes energy from or gives it to."""
    text = re.sub('<dynamics [^>]*/>', '', TEXTS[request.param]())
    return kd.loads(text, gravity=(0.0, 0.0, 0.0))


def thrown(robot, rng, at_stop):
    """A machine started somewhere that arrives at stops elsewhere, each pushed by an impulse."""
    lower, upper = robot.model.position_lower, robot.model.position_upper
    ends = np.where(np.isfinite([lower, upper]), [lower, upper], [[-np.pi], [np.pi]])
    plant = Plant(robot, rng.uniform(*ends))
    high = rng.random(robot.n) < 0.5
    plant.q = np.where(at_stop, np.where(high, ends[1], ends[0]), rng.uniform(*ends))
    impulse = at_stop * np.where(high, 1.0, -1.0) * rng.uniform(0.1, 1.0, robot.n)
    rates = np.linalg.solve(robot.mass_matrix(plant.q), impulse)
    plant.qd = 0.2 * rates / np.abs(rates).max()
    return plant


def gain(plant, step, count):
    """The largest kinetic energy after a step, relative to that at the start."""
    robot = plant.robot
    energies = [float(robot.kinetic_energy(plant.q, plant.qd))]
    for _ in range(count):
        plant.advance(np.zeros(robot.n), step, step)
        energies.append(float(robot.kinetic_energy(plant.q, plant.qd)))
    return max(energies[1:]) / energies[0]


@pytest.mark.parametrize('compiler', [True, False])
def test_a_stop_is_critically_damped_whatever_else_its_joint_carries(
    coaxial, compiler, monkeypatch
):
    """The penetration is v t exp(-w t), and the other disc gets the opposite impulse."""
    if not compiler:
        monkeypatch.setenv('CC', '/nonexistent/compiler')
    plant, time = Plant(coaxial, [UPPER, 0.0]), 0.03
    plant.q[0] += 1e-9  # the damper acts at once
    plant.qd[:] = 0.8, -0.8
    plant.advance([0.0, 0.0], time, 1e-3)
    decay = np.exp(-STOP_FREQUENCY * time)
    depth, rate = 0.8 * time * decay, 0.8 * (1.0 - STOP_FREQUENCY * time) * decay
    np.testing.assert_allclose(plant.q, [UPPER + depth, -depth], rtol=1e-6)
    np.testing.assert_allclose(plant.qd, [rate, -rate], rtol=1e-5)


@pytest.mark.parametrize('step', [1e-4, 1e-3, 1e-2, 0.1])
def test_a_light_joint_on_a_heavy_one_rebounds_with_less_than_it_had(coaxial, step):
    plant = Plant(coaxial, [0.99, 0.0])
    plant.qd[:] = 1.0, -1.0
    count = round(0.06 / step) if step < 0.01 else 20
    assert gain(plant, step, count) < 1.0 + 1e-9
    assert plant.q[0] < UPPER + 0.01
    assert abs(plant.qd[0]) < 0.3


@pytest.mark.parametrize('step', [1e-3, 5e-3, 2e-2])
def test_stops_take_energy_in_every_pose(machine, step):
    """One stop, and all at once, where the machine did not start."""
    rng, n = np.random.default_rng(5), machine.n
    has_stop = np.isfinite(machine.model.position_upper)
    one = [np.arange(n) == i for i in np.flatnonzero(has_stop)]
    for at_stop in 4 * [*one, has_stop]:
        assert gain(thrown(machine, rng, at_stop), step, 20) < 1.0 + 1e-6


@pytest.mark.parametrize('compiler', [True, False])
@pytest.mark.parametrize('step', [1e-3, 0.1])
def test_brakes_at_a_stop_leave_no_spring_that_throws_the_joint_back(
    coaxial, compiler, step, monkeypatch
):
    """The stop catches a braked joint as soon as a free one; released, it is no faster."""
    if not compiler:
        monkeypatch.setenv('CC', '/nonexistent/compiler')
    plant = Plant(coaxial, [UPPER - 1e-3, 0.0])
    plant.qd[0], plant.brakes_set = 1.0, True
    depths = []
    for _ in range(round(0.3 / step)):
        plant.advance([0.0, 0.0], step, step)
        depths.append(plant.q[0] - UPPER)
    assert max(depths) < max(1.05 / (np.e * STOP_FREQUENCY), step)
    plant.brakes_set = False
    plant.qd[1] = 0.0
    for _ in range(round(0.3 / step)):
        plant.advance([0.0, 0.0], step, step)
        assert np.abs(plant.qd).max() < 0.3


def test_a_step_that_the_stops_can_follow_leaves_them_as_they_are(coaxial):
    """The loaded depth is that of a spring of the documented frequency, or a softer one."""
    light = 1.0 / np.linalg.inv(coaxial.mass_matrix([0.0, 0.0]))[0, 0]

    def accelerations(step):
        plant = Plant(coaxial, [0.0, 0.0])
        plant.q[0] = UPPER + 1e-3
        plant.advance([light, 0.0], 0.0, step)
        np.testing.assert_array_equal(plant.qdd, plant.acceleration(plant.q, plant.qd))
        return plant.qdd[0]

    stiff = 1.0 - STOP_FREQUENCY**2 * 1e-3
    np.testing.assert_allclose([accelerations(1e-5), accelerations(0.02)], stiff, rtol=1e-9)
    assert stiff < accelerations(0.05) < accelerations(0.1) < 1.0
