# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A boom that bends and is luffed by a cylinder: `analyze` with both descriptions."""

from __future__ import annotations

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.bag import analyze_bag
from kron_dynamics.resources import resource_path
from kron_dynamics.simulation import Plant

URDF = resource_path('urdf', 'stacker_reclaimer_cylinder.urdf')
FLEXIBLE = resource_path('config', 'stacker_reclaimer_flexible.yaml')
PINS = resource_path('config', 'stacker_reclaimer_cylinder_flexible.yaml')
DRIVES = ('travel', 'slew', 'cylinder')
START = [100.0, 0.4, 0.2]


@pytest.fixture(scope='module')
def machine():
    return kd.load(URDF, flexible=FLEXIBLE, constraints=PINS)


@pytest.fixture(scope='module')
def pushed(machine):
    """Return the machine pushed sideways and up by its drives from rest, every 20 ms."""
    plant = Plant(machine, START)
    hold = machine.gravity_vector(plant.q)[:3]
    return hold, plant.record(hold + [0.0, 8e5, 2e5], 12.0, 2.5e-3, every=8)


@pytest.fixture
def bag(make_bag, pushed):
    hold, motion = pushed
    with make_bag('boom') as bag:
        bag.text('/robot_description', URDF.read_text(encoding='utf-8'))
        for k in range(50):
            bag.joint_state('/joint_states', 0.02 * (k - 50) + 5.0, DRIVES, START, [0] * 3, hold)
        for t, q, qd, effort in zip(motion.time, motion.q, motion.qd, motion.effort, strict=True):
            bag.joint_state('/joint_states', t + 5.0, DRIVES, q[:3], qd[:3], effort)
    return bag.path


@pytest.mark.long
def test_both_descriptions_explain_the_efforts_of_a_boom_on_its_cylinder(bag, pushed):
    runs = [
        analyze_bag(bag, flexible=flexible, constraints=PINS, window=0.1).runs[0]
        for flexible in (None, FLEXIBLE)
    ]
    stiff, bending = runs
    assert [joint.name for joint in bending.joints] == list(DRIVES)
    assert bending.replay.modal_names == ('boom/v1', 'boom/w1') and stiff.vibrations is None
    for joint in (1, 2):
        residuals = [run.joints[joint].residual_rms for run in runs]
        assert residuals[1] < 0.1 * residuals[0]
    # The links do what they did in the simulated machine.
    motion = pushed[1]
    (part,) = bending.replay.segments
    inner = part.valid & (part.time > 2.0)
    since = part.time[inner] - (part.time[0] + 1.0)  # the push comes a second after the first
    for k in range(2):
        true = np.interp(since, motion.time, motion.q[:, 3 + k])
        assert np.abs(part.deflection[inner, k] - true).max() < 0.05 * np.ptp(true)
    modes = bending.vibrations.modes
    assert [mode.name for mode in modes] == ['boom/v1', 'boom/w1']
    assert modes[1].predicted_frequency == pytest.approx(0.8, abs=0.15)
