# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a run, on a computer that is too busy to listen."""

from __future__ import annotations

import time

import numpy as np
import pytest
import rclpy
from sensor_msgs.msg import JointState

from kron_dynamics.bag import read_bag
from kron_dynamics.exceptions import BagError

pytestmark = pytest.mark.ros
COUNT = 400
BEGIN = 1_700_000_000_000_000_000


@pytest.fixture
def recording(ros, tmp_path):
    """A recorder of the states of a run, and what publishes them."""
    from kron_dynamics.ros.demo.recorder import BagRecorder

    node, sender = (rclpy.create_node(name) for name in ('recording', 'sending'))
    recorder = BagRecorder(node, tmp_path / 'bag')
    recorder.record(JointState, 'states', '/run/joint_states', 1000)
    publisher = sender.create_publisher(JointState, 'states', 1000)
    while publisher.get_subscription_count() == 0:
        time.sleep(0.01)
    yield recorder, publisher
    for each in (node, sender):
        each.destroy_node()


def test_the_bag_of_another_one_is_no_place_for_a_recording(recording, tmp_path):
    from kron_dynamics.ros.demo.recorder import BagRecorder

    with pytest.raises(BagError, match=r"bag' cannot be recorded: .*exists"):
        BagRecorder(recording[0], tmp_path / 'bag')


def publish(publisher, count):
    for k in range(count):
        message = JointState(name=['j'], position=[float(k)])
        message.header.stamp.sec = k
        publisher.publish(message)


def recorded(recorder, path):
    """Wait for what is on its way, and return the recorded states."""
    recorder.catch_up(lambda: time.sleep(0.05))
    recorder.close()
    return read_bag(path).joint_states['/run/joint_states']


def test_what_waits_at_the_end_of_a_run_is_recorded(recording, tmp_path):
    recorder, publisher = recording
    publish(publisher, COUNT)
    states = recorded(recorder, tmp_path / 'bag')
    assert states.values(['j'], 'position')[:, 0].tolist() == list(range(COUNT))


def test_messages_sent_again_are_recorded_in_the_order_of_delivery(recording, tmp_path):
    recorder, publisher = recording
    # The first two were lost and sent again; two came in one nanosecond.
    arrived = [BEGIN + k for k in (40, 50, 30, 60, 60)]
    publish(publisher, len(arrived))
    actual = recorder._topics[0].subscription

    class Subscription:
        """The actual one, but for the times of arrival."""

        msg_type = JointState

        @property
        def handle(self):
            return self

        def take_message(self, message_type, raw):
            taken = actual.handle.take_message(message_type, raw)
            return taken and (taken[0], {'received_timestamp': arrived.pop(0)})

    recorder._topics[0] = recorder._topics[0]._replace(subscription=Subscription())
    recorder.catch_up(lambda: time.sleep(0.05))
    recorder._topics[0] = recorder._topics[0]._replace(subscription=actual)
    states = recorded(recorder, tmp_path / 'bag')
    assert states.values(['j'], 'position')[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert (np.diff(states.log_time) > 0).all()


def test_others_who_tell_their_diagnostics_hold_nothing_up(ros, tmp_path):
    from diagnostic_msgs.msg import DiagnosticArray

    from kron_dynamics.ros.demo.recorder import BagRecorder

    node, sender = (rclpy.create_node(name) for name in ('recording_beside', 'others'))
    recorder = BagRecorder(node, tmp_path / 'bag')
    recorder.record(DiagnosticArray, '/diagnostics', '/diagnostics', 10)
    publisher = sender.create_publisher(DiagnosticArray, '/diagnostics', 10)
    sender.create_timer(0.02, lambda: publisher.publish(DiagnosticArray()))
    begin = time.monotonic()
    recorder.catch_up(lambda: rclpy.spin_once(sender, timeout_sec=0.05))
    assert time.monotonic() - begin < 5.0
    recorder.close()
    for each in (node, sender):
        each.destroy_node()


def test_a_recorder_that_has_stopped_listens_no_more_and_keeps_the_bag_open(ros, tmp_path):
    from kron_dynamics.ros.demo.recorder import BagRecorder

    node = rclpy.create_node('stopping')
    recorder = BagRecorder(node, tmp_path / 'bag')
    before = list(node.subscriptions)
    for name in ('first', 'second'):
        recorder.record(JointState, name, f'/run/{name}', 10)
        assert len(list(node.subscriptions)) == len(before) + 1
        recorder.stop()
        assert list(node.subscriptions) == before
    recorder.close()
    node.destroy_node()
