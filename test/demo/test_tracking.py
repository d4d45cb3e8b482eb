# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the demonstration shows of computed torque, controller and machine in one process.

The demonstration itself, over ROS, is among the long tests.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import yaml

from kron_dynamics.control import ControlSettings, assembled_controller
from kron_dynamics.demo import bench_reclaiming
from kron_dynamics.demo.closed_loop import ClosedLoop
from kron_dynamics.loading import load

ROOT = Path(__file__).parents[2]
START = np.array([100.0, 0.5, 0.0])


@pytest.fixture(scope='module')
def machine(kernel_cache):
    return load(ROOT / 'urdf' / 'stacker_reclaimer.urdf')


@pytest.fixture(scope='module')
def parameters():
    text = (ROOT / 'config' / 'stacker_reclaimer.yaml').read_text(encoding='utf-8')
    return yaml.safe_load(text)['/**/dynamics_node']['ros__parameters']


def error_rms(machine, parameters, law):
    """RMS tracking error of each joint along the bench, once the machine has settled."""
    motion = bench_reclaiming(machine.model, START)
    gains = parameters['gains']
    settings = ControlSettings(
        kp=np.array([gains[joint]['kp'] for joint in machine.joint_names]),
        kd=np.array([gains[joint]['kd'] for joint in machine.joint_names]),
        effort_limit=machine.model.effort_limit,
        rate_limit=np.full(machine.n, np.inf),
        start_tolerance=np.full(machine.n, 0.1),
        resolution=np.full(machine.n, 1e-6),
        period=parameters['state_period'],
        state_timeout=parameters['state_timeout'],
        law=law,
    )
    with ThreadPoolExecutor(1) as background:
        controller = assembled_controller(settings, machine, machine, START, background)
        loop = ClosedLoop(machine, controller, START, period=parameters['state_period'])
        loop.advance(15.0)  # under PD alone the boom sags first
        begin = loop.time
        controller.set_reference(
            motion.times,
            motion.positions,
            motion.velocities,
            motion.accelerations,
            start_time=begin,
        )
        loop.advance(motion.times[-1] + 3.0)
    error = (loop.references - loop.states)[loop.times >= begin]
    return np.sqrt((error**2).mean(axis=0))


def test_computed_torque_is_ten_times_better_than_its_gains_alone(machine, parameters):
    own = error_rms(machine, parameters, 'computed_torque')
    alone = error_rms(machine, parameters, 'pd')
    assert (alone > 10.0 * own).all(), (own, alone)
    assert (alone > [1e-3, 1e-4, 1e-4]).all()  # it moves at all
