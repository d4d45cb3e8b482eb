# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robots whose joints are on several topics, and joints that nobody has recorded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.reading.reader import read_bag
from kron_dynamics.bag.series.runs import find_runs
from kron_dynamics.cli import main
from kron_dynamics.exceptions import BagError, ParameterError

pytestmark = pytest.mark.interpreted

ARM, TOOL = '/arm/joint_states', '/gripper/joint_states'


def record_apart(bag, motion, every=1, late=0.0, other=TOOL, stamped=True):
    """Turn and lift on one topic, reach on another: less often, or by another clock."""
    for k, time in enumerate(motion.time):
        states = (motion.q[k], motion.qd[k], motion.effort[k])
        bag.joint_state(ARM, time, ('turn', 'lift'), *(row[:2] for row in states))
        if k % every == 0:
            stamp = time + 0.003 - late if stamped else 0.0
            bag.joint_state(other, stamp, ('reach',), *(row[2:] for row in states))


@pytest.fixture
def still(arm_motion, arm):
    """A motion during which the last joint stands still."""
    motion = arm_motion(6.0)
    qdd = -np.square((2.1, 1.7, 2.6)) * (motion.q - (0.3, 0.2, 0.4))
    motion.q[:, 2], motion.qd[:, 2], qdd[:, 2] = 0.4, 0.0, 0.0
    motion.effort = arm.inverse_dynamics(motion.q, motion.qd, qdd) + arm.joint_friction(motion.qd)
    return motion


def test_joints_of_two_topics_make_a_robot(make_bag, arm_urdf, make_motion, arm):
    # Stamps of the second are 3 ms behind, and so is its motion: it is recorded as it is then.
    time = 5.0 + np.arange(601) / 100
    one, other = (
        make_motion(arm, moved, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6))
        for moved in (time, time + 0.003)
    )
    for name in ('q', 'qd', 'effort'):
        getattr(one, name)[:, 2] = getattr(other, name)[:, 2]
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        record_apart(bag, one)
    (run,) = analyze_bag(bag.path).runs
    assert run.replay.run.topic == ARM
    assert run.replay.run.log.message_count == 2 * 601
    # Friction that jumps between samples is most of what is left.
    assert all(joint.ratio < 3e-3 for joint in run.joints)
    (note,) = run.replay.run.notes
    assert f'reach from {TOOL}' in note


def test_a_slow_topic_is_pointed_out(make_bag, arm_motion, arm):
    with make_bag() as bag:
        record_apart(bag, arm_motion(3.0), every=10)
    (run,) = find_runs(read_bag(bag.path), arm.model)
    assert any('/gripper/joint_states has 10 messages a second' in note for note in run.notes)


def test_topics_without_stamps_are_joined_by_the_time_of_recording(make_bag, arm_motion, arm):
    with make_bag() as bag:
        record_apart(bag, arm_motion(3.0), stamped=False)
    (run,) = find_runs(read_bag(bag.path), arm.model)
    assert not run.log.stamped


def test_other_clocks_are_not_joined(make_bag, arm_motion, arm):
    with make_bag() as bag:
        record_apart(bag, arm_motion(3.0), late=2.0)
    with pytest.raises(BagError, match=f'{ARM} and {TOOL} differ by 2 s.*--hold'):
        find_runs(read_bag(bag.path), arm.model)


def test_a_joint_on_two_topics_is_not_guessed_but_chosen(make_bag, arm_motion, arm):
    with make_bag() as bag:
        record_apart(bag, arm_motion(3.0))
        record_apart(bag, arm_motion(3.0), other='/other/joint_states')
    contents = read_bag(bag.path)
    with pytest.raises(BagError, match=f'reach is on {TOOL} and /other/joint_states'):
        find_runs(contents, arm.model)
    with pytest.raises(BagError, match=f'reach is on {TOOL} and /other/joint_states'):
        find_runs(contents, arm.model, [ARM])
    (run,) = find_runs(contents, arm.model, [ARM, '/other/joint_states'])
    assert 'reach from /other/joint_states' in run.notes[0]


@pytest.mark.parametrize('first', [ARM, TOOL])
def test_a_joint_on_two_chosen_topics_is_taken_from_the_first(make_bag, arm, first):
    # The second topic repeats the lift, 4 ms later and without its effort.
    levels = {ARM: 5.0, TOOL: 0.0}
    joints = {ARM: ('turn', 'lift'), TOOL: ('lift', 'reach')}
    with make_bag() as bag:
        for k in range(100):
            for topic, late in ((ARM, 0.0), (TOOL, 0.004)):
                q = np.sin([0.01 * k, 0.02 * k])
                bag.joint_state(topic, 0.01 * k + late, joints[topic], q, q, 2 * [levels[topic]])
    second = TOOL if first == ARM else ARM
    (run,) = find_runs(read_bag(bag.path), arm.model, [first, second, first])
    (part,) = run.log.segments
    assert set(part.effort[1].value) == {levels[first]}
    for samples in (part.position, part.velocity, part.effort):
        assert np.array_equal(samples[1].time, samples[0 if first == ARM else 2].time)
    assert run.log.dropped.malformed == 0
    assert f'lift from {first}, not from {second}' in run.notes[1]


def test_a_chosen_topic_of_which_nothing_is_left_is_no_part_of_the_robot(
    make_bag, arm_motion, arm
):
    motion = arm_motion(2.0)
    with make_bag() as bag:
        record_apart(bag, motion)
        for k, time in enumerate(motion.time):
            bag.joint_state('/copy', time + 0.002, ('lift', 'turn'), motion.q[k, 1::-1])
    (run,) = find_runs(read_bag(bag.path), arm.model, [ARM, TOOL, '/copy'])
    assert run.log.message_count == 2 * len(motion.time)
    assert 'lift from /arm/joint_states, not from /copy; turn from' in run.notes[1]


def test_efforts_of_another_topic_add_to_positions_without_them(make_bag, arm_motion, arm):
    motion = arm_motion(2.0)
    with make_bag() as bag:
        for k, time in enumerate(motion.time):
            bag.joint_state(ARM, time, ('turn', 'lift'), motion.q[k, :2], motion.qd[k, :2])
            bag.joint_state(TOOL, time, ('reach',), motion.q[k, 2:])
            bag.joint_state(TOOL, time, ('turn', 'lift'), effort=motion.effort[k, :2])
    (run,) = find_runs(read_bag(bag.path), arm.model)
    (part,) = run.log.segments
    np.testing.assert_array_equal(part.effort[1].value, motion.effort[:, 1])
    assert not any('taken from one' in note for note in run.notes)


def test_a_joint_that_is_held_is_as_one_that_was_recorded_standing(make_bag, arm_urdf, still):
    with make_bag('whole') as whole:
        whole.text('/robot_description', arm_urdf)
        whole.motion('/joint_states', still)
    with make_bag('part') as part:
        part.text('/robot_description', arm_urdf)
        for k, time in enumerate(still.time):
            states = (still.q[k, :2], still.qd[k, :2], still.effort[k, :2])
            part.joint_state('/joint_states', time, ('turn', 'lift'), *states)
            part.joint_state('/command_state', time, ('turn', 'lift'), effort=states[2])
    (expected,) = analyze_bag(whole.path).runs
    (found,) = analyze_bag(part.path, hold={'reach': 0.4}).runs
    for one, other in zip(found.joints[:2], expected.joints[:2], strict=True):
        one, other = (replace(each, term_rms={}, noise=0.0) for each in (one, other))
        assert one.ratio < 1e-3
        assert one.recomputed_rms == pytest.approx(other.recomputed_rms, rel=1e-6)
    assert found.joints[2].source == 'none'
    assert found.replay.run.notes == ('held at a given position, not recorded: reach at 0.4',)
    assert not found.replay.run.log.dropped.non_finite


def test_what_is_held_though_recorded_or_unknown_is_told(make_bag, arm_urdf, arm_motion, arm):
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/joint_states', arm_motion(3.0))
    (run,) = find_runs(read_bag(bag.path), arm.model, hold={'lift': 1.0})
    assert run.notes == ('lift is recorded: the held position is not used',)
    assert len(np.unique(run.log.segments[0].position[1].value)) > 100
    for call in (
        lambda: find_runs(read_bag(bag.path), arm.model, hold={'elbow': 1.0}),
        lambda: analyze_bag(bag.path, hold={'elbow': 1.0}),
    ):
        with pytest.raises(ParameterError, match='elbow'):
            call()


def test_every_command_on_bags_takes_joints_that_are_held(
    make_bag, arm_urdf, still, tmp_path, capsys
):
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(arm_urdf)
    # Without any noise, identification would go on to the rounding of its sums.
    effort = still.effort + 0.02 * np.random.default_rng(1).standard_normal(still.effort.shape)
    with make_bag() as bag:
        for k, time in enumerate(still.time):
            states = (still.q[k, :2], still.qd[k, :2], effort[k, :2])
            bag.joint_state('/joint_states', time, ('turn', 'lift'), *states)
    shared = [str(bag.path), '--urdf', str(urdf), '--output', str(tmp_path / 'out')]
    commands = {
        'analyze': ['--format', 'json'],
        'payload': ['--frame', 'arm'],
        'campaign': ['--format', 'json', '--jobs', '1'],
        'identify': ['--friction', 'coulomb', 'viscous', 'offset'],
    }
    for command, more in commands.items():
        assert main([command, *shared, *more]) == 1
        captured = capsys.readouterr()
        assert '/joint_states lacks reach' in captured.err + captured.out
        assert main([command, *shared, *more, '--hold', 'reach=0.4']) == 0, command
        capsys.readouterr()
