# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A recorded run is compared with its reference, by name and by stamp."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from joint_messages import Message, tables_of

from kron_dynamics.bag import BagContents
from kron_dynamics.bag.reading.acceleration_decoding import AccelerationMessage
from kron_dynamics.control import Trajectory
from kron_dynamics.demo import evaluate
from kron_dynamics.exceptions import BagError

START, DURATION, SETTLE = 50.0, 4.0, 1.0
ERROR = np.array([0.01, -0.002])
NAMES = ('slide', 'turn')
RATE = 20.0


@pytest.fixture
def trajectory():
    rest = np.zeros((2, 2))
    return Trajectory.from_points(NAMES, [0.0, DURATION], [[0.0, 0.0], [1.0, -2.0]], rest, rest)


@pytest.fixture
def record(trajectory):
    """A bag of a run that lags its reference by ERROR, 10 s before and after it."""

    def build(*, names=NAMES, commands=RATE, accelerations=RATE, without=()):
        order = [NAMES.index(name) for name in names]

        def times(rate):
            return np.arange(START - 10.0, START + DURATION + 10.0, 1.0 / rate)

        def state(time):
            q, qd, _ = trajectory.sample(time - START)
            values = (q - ERROR)[order], qd[order], np.array([5.0, 7.0])[order]
            return Message(0, round(time * 1e9), names, *values)

        def acceleration(time):
            return AccelerationMessage(0, round(time * 1e9), 'rail', np.zeros(6))

        states = {
            '/pd/joint_states': [state(t) for t in times(RATE)],
            '/pd/dynamics_node/command_state': [state(t) for t in times(commands)],
            '/other/joint_states': [],
        }
        return BagContents(
            Path('bag'),
            joint_states={
                topic: tables_of(m) for topic, m in states.items() if topic not in without
            },
            accelerations={
                '/pd/dynamics_node/tip_acceleration': [
                    acceleration(t) for t in times(accelerations)
                ]
            },
        )

    return build


@pytest.mark.parametrize('names', [NAMES, NAMES[::-1]])
def test_errors_are_reference_minus_measured_in_the_references_order(record, trajectory, names):
    result = evaluate(record(names=names), 'pd', trajectory, START, SETTLE)
    assert result.law == 'pd'
    np.testing.assert_allclose(result.error, np.tile(ERROR, (len(result.time), 1)), atol=1e-9)
    np.testing.assert_allclose(result.rms, np.abs(ERROR), atol=1e-9)
    np.testing.assert_array_equal(result.effort[0], [5.0, 7.0])


def test_the_motion_and_its_settling_alone_count(record, trajectory):
    result = evaluate(record(), 'pd', trajectory, START, SETTLE)
    assert 0.0 <= result.time[0] < 1.0 / RATE
    assert DURATION + SETTLE - 1.0 / RATE < result.time[-1] <= DURATION + SETTLE


def test_rates_are_per_second_of_the_machines_time(record, trajectory):
    contents = record(commands=10.0, accelerations=5.0)
    result = evaluate(contents, 'pd', trajectory, START, SETTLE)
    got = (result.state_rate, result.command_rate, result.acceleration_rate)
    np.testing.assert_allclose(got, (RATE, 10.0, 5.0), atol=0.3)


def test_without_accelerations_their_rate_is_zero(record, trajectory):
    contents = record()
    contents.accelerations.clear()
    assert evaluate(contents, 'pd', trajectory, START, SETTLE).acceleration_rate == 0.0


@pytest.mark.parametrize('topic', ['/pd/joint_states', '/pd/dynamics_node/command_state'])
def test_a_missing_topic_is_named(record, trajectory, topic):
    with pytest.raises(BagError, match=f"no messages on '{topic}'"):
        evaluate(record(without=[topic]), 'pd', trajectory, START, SETTLE)


def test_a_run_at_another_time_is_not_taken_for_this_one(record, trajectory):
    with pytest.raises(BagError, match='no joint states .* during the motion'):
        evaluate(record(), 'pd', trajectory, START + 1000.0, SETTLE)
