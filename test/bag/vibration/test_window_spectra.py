# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Spectra of a machine in one pose obey the equations of another: that of the window."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.vibrating_machines import UR5, Truth, recorded
from kron_dynamics.bag.vibration.predicted_modes import predicted_modes
from kron_dynamics.bag.vibration.vibration_records import vibration_record
from kron_dynamics.bag.vibration.window_spectra import window_spectra

pytestmark = pytest.mark.interpreted

PERIOD, COUNT, LENGTH = 0.008, 300, 94
JOINTS, EFFORTS, ACCELEROMETER = 6, slice(6), slice(6, 9)
AWAY = np.array([0.2, 0.1, 0.2, 0.0, 0.1, 0.0])


@pytest.fixture(scope='module')
def robot():
    return UR5.robot()


@pytest.fixture(scope='module')
def motion(robot):
    """An arm that rings while its joints shake, as some forces make it: q, qd, qdd."""
    time = PERIOD * np.arange(COUNT)[:, None]
    rates = 2.0 * np.pi * np.array([9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 10.5, 12.0])
    reach = np.array([*np.full(JOINTS, 3e-3), 1e-3, 1e-3])
    angle = time * rates + np.arange(robot.n)
    rest = np.array([*UR5.pose, *np.zeros(robot.n - JOINTS)])
    q = rest + reach * np.sin(angle)
    qd = reach * rates * np.cos(angle)
    return q, qd, -reach * np.square(rates) * np.sin(angle)


@pytest.fixture(scope='module')
def windows(robot, motion):
    """Spectra of efforts and of the accelerometer, with modes, rows and lines."""
    q, qd, qdd = motion
    effort = robot.inverse_dynamics(q, qd, qdd)[:, :JOINTS] + robot.rigid.joint_friction(
        qd[:, :JOINTS]
    )
    tip = robot.frame(UR5.tip).acceleration(q, qd, qdd)
    time = PERIOD * np.arange(1.0, COUNT + 1.0)
    run = recorded(UR5, Truth(time, q[:, :JOINTS], qd[:, :JOINTS], effort, tip), 0)
    segment, shaken = run.log.segments[0], run.acceleration.epochs[0][0]
    record = vibration_record(robot.rigid, UR5.tip, segment, segment.effort, shaken, 12.0)
    first = (COUNT - LENGTH) // 2
    rows = record.rows(first, first + LENGTH)
    # On its way a machine is in other poses than that which its modes are of.
    modes = predicted_modes(robot, np.array(UR5.pose) + AWAY, UR5.tip)
    lines = 2.0 * np.pi * np.fft.rfftfreq(LENGTH, PERIOD)
    kept = (lines > 2.0 * np.pi * 8.0) & (lines < 2.0 * np.pi * 16.0)
    found = [
        window_spectra(robot, UR5.tip, record, rows, kept, modes, used)
        for used in (EFFORTS, ACCELEROMETER)
    ]

    def spectrum(values):
        return np.fft.rfft(values[first : first + LENGTH], axis=0)[kept]

    return found, modes, lines[kept], spectrum


def error(found, true):
    return np.linalg.norm(found - true) / np.linalg.norm(true)


def test_an_accelerometer_that_turns_tells_what_one_at_rest_would(robot, motion, windows):
    (_, found), modes, _, spectrum = windows
    swings = np.linalg.solve(modes.shapes, motion[2][:, JOINTS:].T).T
    true = spectrum(swings) @ modes.tip
    assert error(found.channels, true) < 0.03
    # Without that, a part of each mode is in the direction of another.
    q, qd, qdd = motion
    tip = robot.frame(UR5.tip)
    stiff = q.copy()
    stiff[:, JOINTS:] = 0.0
    turn = tip.jacobian(stiff)[:, :3, JOINTS:]
    assert error(spectrum(np.einsum('tcm,tm->tc', turn, qdd[:, JOINTS:])), true) > 0.1


def test_modes_are_pushed_as_their_equations_of_motion_tell(robot, motion, windows):
    (_, found), modes, _, spectrum = windows
    # What makes the arm ring is the force that its equations of motion lack.
    lacking = robot.inverse_dynamics(*motion) + robot.joint_friction(motion[1])
    force = spectrum(lacking[:, JOINTS:]) @ modes.shapes
    deflection, rate, swing = (
        spectrum(np.linalg.solve(modes.shapes, part[:, JOINTS:].T).T) for part in motion
    )
    own = swing + 2.0 * modes.ratios * modes.omega * rate + modes.omega**2 * deflection
    assert np.linalg.norm(own + found.pushes - force) < 0.02 * np.linalg.norm(swing)


def test_what_sensors_have_wrong_is_of_the_size_that_held_commands_make(robot, motion, windows):
    (efforts, found), _, lines, spectrum = windows
    share = ((PERIOD * lines) ** 2)[:, None]
    tip = robot.frame(UR5.tip)
    shown = spectrum(
        tip.acceleration(*motion)[:, :3] - tip.acceleration(*motion[:2], 0.0 * motion[2])[:, :3]
    )
    assert found.nuisances.shape == (len(lines), 3, 3 + JOINTS)
    for channel in range(3):
        assert (
            error(found.nuisances[:, channel, channel], share[:, 0] / 24.0 * shown[:, channel])
            < 0.05
        )
    # Each joint has a share of its own in how the tip moves where nothing holds the modes.
    q, _, qdd = motion
    mass, turn = robot.mass_matrix(q), tip.jacobian(q)[:, :3]
    back = np.linalg.solve(mass[:, JOINTS:, JOINTS:], mass[:, JOINTS:, :JOINTS])
    free = turn[:, :, :JOINTS] - turn[:, :, JOINTS:] @ back
    for joint in range(JOINTS):
        jump = spectrum(free[:, :, joint] * qdd[:, joint, None])
        assert error(found.nuisances[:, :, 3 + joint], share / 12.0 * jump) < 0.05
    # Efforts are stamped late besides.
    assert efforts.nuisances.shape == (len(lines), JOINTS, 3 * JOINTS)
