# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What belongs together in a bag: runs, commands, accelerations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kron_dynamics.bag.reading.reader import read_bag
from kron_dynamics.bag.series.runs import find_runs
from kron_dynamics.exceptions import BagError

JOINTS = ('turn', 'lift', 'reach')


def record_states(bag, topic, names=JOINTS, count=30, start=1.0, **arrays):
    values = arrays or {'position': [0.1 * k for k in range(len(names))]}
    for k in range(count):
        bag.joint_state(topic, start + 0.01 * k, names, **values)


def test_every_covering_topic_is_a_run_and_others_are_not(make_bag, arm):
    with make_bag() as bag:
        record_states(bag, '/a/joint_states')
        record_states(bag, '/b/states', names=(*reversed(JOINTS), 'extra'))
        record_states(bag, '/gripper/joint_states', names=('finger',))
    runs = find_runs(read_bag(bag.path), arm.model)
    assert [run.topic for run in runs] == ['/a/joint_states', '/b/states']
    assert runs[1].log.dropped.unused_joints == ('extra',)


def test_topics_are_chosen_by_name(make_bag, arm):
    with make_bag() as bag:
        record_states(bag, '/a/joint_states')
        record_states(bag, '/b/joint_states')
    contents = read_bag(bag.path)
    (run,) = find_runs(contents, arm.model, ['/b/joint_states'])
    assert run.topic == '/b/joint_states'
    with pytest.raises(BagError, match="on '/c' in .*/a/joint_states, /b/joint_states"):
        find_runs(contents, arm.model, ['/c'])


def test_bag_without_all_joints_lists_what_each_topic_lacks(make_bag, arm):
    with make_bag() as bag:
        record_states(bag, '/base/joint_states', names=('turn',))
        record_states(bag, '/tool/joint_states', names=('reach',))
    with pytest.raises(BagError) as caught:
        find_runs(read_bag(bag.path), arm.model)
    assert '/base/joint_states lacks lift, reach' in str(caught.value)
    assert '/tool/joint_states lacks lift, turn' in str(caught.value)
    assert '--hold JOINT=POSITION' in str(caught.value)


def test_bag_without_joint_states_says_so(make_bag, arm):
    with make_bag() as bag:
        bag.text('/robot_description', '<robot/>')
    with pytest.raises(BagError, match='no sensor_msgs/JointState messages'):
        find_runs(read_bag(bag.path), arm.model)


def test_commands_and_accelerations_stay_in_their_namespace(make_bag, arm):
    with make_bag() as bag:
        for number, space in enumerate(('/one', '/two', ''), start=1):
            record_states(bag, f'{space}/joint_states')
            record_states(bag, f'{space}/node/command_state', effort=[number, number, number])
            for k in range(30):
                bag.acceleration(f'{space}/node/tip_acceleration', 1 + 0.01 * k, [number] * 6)
    runs = find_runs(read_bag(bag.path), arm.model)
    assert len(runs) == 3
    for number, (space, run) in enumerate(zip(('/one', '/two', ''), runs, strict=True), start=1):
        assert run.commands.topic == f'{space}/node/command_state'
        assert set(run.commands.epochs[0][0].value) == {number}
        np.testing.assert_array_equal(run.acceleration.epochs[0][0].value, number)
        assert run.notes == ()


def test_modal_coordinates_beside_commands_do_not_hide_them(make_bag, arm):
    """What a node tells of flexible links is no robot of its own."""
    with make_bag() as bag:
        record_states(bag, '/joint_states')
        record_states(bag, '/node/command_state', effort=[1, 2, 3])
        record_states(bag, '/node/deflection', names=('boom/v1',), position=[0.1])
        for k in range(30):
            bag.acceleration('/node/tip_acceleration', 1 + 0.01 * k, range(6))
    (run,) = find_runs(read_bag(bag.path), arm.model)
    assert run.commands.topic == '/node/command_state'
    assert run.acceleration.topic == '/node/tip_acceleration'


def test_acceleration_in_other_axes_is_not_used_and_the_reason_is_given(make_bag, arm):
    with make_bag() as bag:
        record_states(bag, '/joint_states')
        bag.acceleration('/tip_acceleration', 1.0, range(6), frame_id='tool')
    (run,) = find_runs(read_bag(bag.path), arm.model)
    assert run.acceleration is None
    assert "its frame_id is 'tool', expected 'base'" in run.notes[0]


def test_several_accelerations_are_not_guessed_between(make_bag, arm):
    with make_bag() as bag:
        record_states(bag, '/joint_states')
        for topic in ('/imu', '/gnss'):
            bag.acceleration(topic, 1.0, range(6))
    (run,) = find_runs(read_bag(bag.path), arm.model)
    assert run.acceleration is None
    assert 'accelerations are not used: /imu, /gnss are in one namespace' in run.notes


def test_usual_name_decides_between_several(make_bag, arm):
    with make_bag() as bag:
        record_states(bag, '/joint_states')
        for topic in ('/imu', '/node/tip_acceleration'):
            bag.acceleration(topic, 1.0, range(6))
    (run,) = find_runs(read_bag(bag.path), arm.model)
    assert run.acceleration.topic == '/node/tip_acceleration'


def test_effort_that_is_always_zero_is_pointed_out(make_bag, arm):
    with make_bag() as bag:
        record_states(bag, '/joint_states', position=[0.1, 0.2, 0.3], effort=[0, 5, 0])
    (run,) = find_runs(read_bag(bag.path), arm.model)
    assert [note.split("'")[1] for note in run.notes] == ['turn', 'reach']


def test_positions_far_outside_the_limits_are_pointed_out(make_bag, arm):
    limits = np.array([-1.0, -1.0, -np.inf]), np.array([1.0, 1.0, np.inf])
    model = replace(arm.model, position_lower=limits[0], position_upper=limits[1])
    with make_bag() as bag:
        record_states(bag, '/joint_states', position=[1.1, 57.0, 1e3], effort=[1, 1, 1])
    (run,) = find_runs(read_bag(bag.path), model)
    (note,) = run.notes
    assert 'lift from 57 to 57, limits -1 and 1.' in note and 'turn' not in note


def test_two_motions_at_the_same_times_are_pointed_out(make_bag, arm):
    with make_bag() as bag:
        record_states(bag, '/joint_states', position=[1, 2, 3])
        record_states(bag, '/joint_states', position=[2, 3, 4], start=1.05)
        record_states(bag, '/joint_states', position=[3, 4, 5], start=1.1)
    (run,) = find_runs(read_bag(bag.path), arm.model)
    assert any('two motions at the same times?' in note for note in run.notes)


def test_companions_follow_the_clock_restarts_of_the_run(make_bag, arm):
    with make_bag() as bag:
        for start, value in ((100.0, 1.0), (5.0, 2.0)):
            for k in range(40):
                time = start + 0.01 * k
                bag.joint_state('/joint_states', time, JOINTS, [0, 1, 2])
                bag.joint_state('/command_state', time, JOINTS, effort=[value] * 3)
    (run,) = find_runs(read_bag(bag.path), arm.model)
    first, second = run.commands.epochs
    assert set(first[0].value) == {1.0} and set(second[0].value) == {2.0}
    # Time 0 is the earliest stamp of the joint states, whichever epoch it is in.
    assert first[0].time[0] == pytest.approx(95.0) and second[0].time[0] == pytest.approx(0.0)


def test_companions_without_stamps_are_timed_by_their_recording(make_bag, arm):
    """They keep the place among the joint states that they were recorded in."""
    apart = 10_000_000  # ns, as long as from one stamp to the next
    with make_bag() as bag:
        for k in range(60):
            begin = 100.0 if k < 30 else 5.0  # the clock of the stamps restarts
            recorded = 1_700_000_000_000_000_000 + k * apart
            # A few states were recorded much later than the others.
            late = 4_000_000 if k % 10 == 0 else 0
            time = begin + 0.01 * (k % 30)
            bag.joint_state('/joint_states', time, JOINTS, [0, 1, 2], log_time=recorded + late)
            between = recorded + apart // 2
            bag.joint_state('/command_state', 0.0, JOINTS, effort=[k] * 3, log_time=between)
            bag.acceleration('/tip_acceleration', 0.0, [k] * 6, log_time=between)
    (run,) = find_runs(read_bag(bag.path), arm.model)
    for epoch, (first, begin) in enumerate(((0, 95.0), (30, 0.0))):
        for samples in (run.commands.epochs[epoch][1], run.acceleration.epochs[epoch][0]):
            numbers = samples.value.reshape(30, -1)[:, 0]
            np.testing.assert_array_equal(numbers, np.arange(first, first + 30))
            np.testing.assert_allclose(samples.time, begin + 0.01 * np.arange(30) + 0.005)
    told = [note for note in run.notes if 'has no stamps' in note]
    assert [note.split()[0] for note in told] == ['/command_state', '/tip_acceleration']


def test_single_companions_without_a_stamp_are_dropped_and_counted(make_bag, arm):
    start = 1_700_000_000.0
    with make_bag() as bag:
        record_states(bag, '/joint_states', start=start)
        for k in range(30):
            stamp = start + 0.01 * k if k % 3 else 0.0
            bag.joint_state('/command_state', stamp, JOINTS, effort=[k] * 3)
    (run,) = find_runs(read_bag(bag.path), arm.model)
    dropped = run.commands.dropped
    assert (dropped.unstamped, dropped.conflicts, dropped.duplicates) == (10, 0, 0)
    for samples in run.commands.epochs[0]:
        np.testing.assert_array_equal(samples.value, [k for k in range(30) if k % 3])
        assert samples.time.min() >= 0.0


def test_names_that_were_recorded_are_told_where_joints_are_missing(make_bag, arm):
    with make_bag() as bag:
        record_states(bag, '/joint_states', names=('turn', 'left/lift', 'reach '))
        record_states(bag, '/quiet', names=(), position=[])
    for topics in ((), ('/joint_states', '/quiet')):
        with pytest.raises(BagError) as caught:
            find_runs(read_bag(bag.path), arm.model, topics)
        told = str(caught.value)
        assert "/joint_states lacks lift, reach, has 'left/lift', 'reach ' besides" in told
        assert '/quiet lacks lift, reach, turn, names no joint' in told


@pytest.mark.parametrize(('share', 'told'), [(0.08, False), (0.12, True)])
def test_positions_beyond_a_tenth_of_the_range_are_told(make_bag, arm, share, told):
    """Less is a machine against its stop, or a stop that is not quite as described."""
    lower, upper = arm.model.position_lower[1], arm.model.position_upper[1]
    with make_bag(f'bag{told}') as bag:
        record_states(bag, '/states', position=[0.0, upper + share * (upper - lower), 0.1])
    (run,) = find_runs(read_bag(bag.path), arm.model)
    notes = [note for note in run.notes if 'far outside the limits of the description' in note]
    assert bool(notes) == told
    assert all('lift from' in note and 'degrees (--scale JOINT=deg)' in note for note in notes)
