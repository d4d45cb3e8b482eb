# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states become clean series: by name, in order, nothing invented, every loss counted."""

from __future__ import annotations

import numpy as np
import pytest
from joint_messages import Message, tables_of

from kron_dynamics.bag.reading.recording_order import clock_epochs
from kron_dynamics.bag.series import joint_log
from kron_dynamics.exceptions import BagError

SECOND = 1_000_000_000


def build_joint_log(topic, messages, joint_names, unlimited=()):
    return joint_log.build_joint_log(topic, tables_of(messages), joint_names, unlimited)


def message(time, names, position=(), velocity=(), effort=(), log_time=None):
    stamp = round(time * SECOND)
    arrays = (np.array(values, dtype=float) for values in (position, velocity, effort))
    return Message(stamp if log_time is None else log_time, stamp, tuple(names), *arrays)


def steady(count=50, start=10.0, names=('a', 'b'), step=0.1):
    return [
        message(start + k * step, names, [k + 100 * j for j in range(len(names))])
        for k in range(count)
    ]


def test_joints_are_matched_by_name_whatever_their_order():
    messages = [
        message(1.0 + 0.1 * k, *order)
        for k, order in enumerate(
            [(('a', 'b'), (k, 10 + k)) if k % 2 else (('b', 'a'), (10 + k, k)) for k in range(20)]
        )
    ]
    (segment,) = build_joint_log('/js', messages, ('a', 'b')).segments
    np.testing.assert_array_equal(segment.position[0].value, np.arange(20))
    np.testing.assert_array_equal(segment.position[1].value, 10 + np.arange(20))


def test_partial_messages_of_two_publishers_are_merged():
    messages = []
    for k in range(30):
        messages.append(message(1.0 + 0.1 * k, ('a',), (k,)))
        messages.append(message(1.03 + 0.1 * k, ('b', 'other'), (-k, 7)))
    log = build_joint_log('/js', messages, ('a', 'b'))
    (segment,) = log.segments
    assert segment.start == pytest.approx(0.03)
    assert segment.end == pytest.approx(2.9)
    np.testing.assert_array_equal(segment.position[1].value, -np.arange(29))
    assert log.dropped.unused_joints == ('other',)


def test_missing_arrays_stay_missing():
    (segment,) = build_joint_log('/js', steady(), ('a', 'b')).segments
    assert all(len(samples.time) == 0 for samples in (*segment.velocity, *segment.effort))


def test_nan_samples_are_dropped_and_counted_not_zeroed():
    messages = steady()
    messages[7] = message(10.7, ('a', 'b'), (np.nan, 107))
    messages[9] = message(10.9, ('a', 'b'), (9, 109), (np.inf, 1.0))
    log = build_joint_log('/js', messages, ('a', 'b'))
    (segment,) = log.segments
    assert 7 not in segment.position[0].value
    assert 0.0 not in segment.position[0].value[1:]
    assert len(segment.position[1].value) == 50
    assert log.dropped.non_finite == {'a position': 1, 'a velocity': 1}


def test_messages_that_contradict_themselves_are_dropped_and_counted():
    messages = steady()
    messages[3] = message(10.3, ('a', 'b'), (3,))
    messages[4] = message(10.4, ('a', 'a'), (4, 4))
    log = build_joint_log('/js', messages, ('a', 'b'))
    assert log.dropped.malformed == 2
    assert len(log.segments[0].position[0].time) == 48


def test_duplicates_are_dropped_and_conflicts_told_apart():
    messages = steady()
    messages.insert(5, messages[5])
    messages.insert(9, message(10.8, ('a', 'b'), (-1, 108)))
    log = build_joint_log('/js', messages, ('a', 'b'))
    (segment,) = log.segments
    np.testing.assert_array_equal(np.sort(segment.position[1].value), 100 + np.arange(50))
    assert len(segment.position[0].time) == 50
    assert (log.dropped.duplicates, log.dropped.conflicts) == (3, 1)


def test_late_messages_are_sorted_in_and_counted():
    messages = steady()
    messages[20], messages[21], messages[22] = messages[21], messages[22], messages[20]
    log = build_joint_log('/js', messages, ('a', 'b'))
    (segment,) = log.segments
    np.testing.assert_array_equal(segment.position[0].value, np.arange(50))
    assert log.dropped.out_of_order == 1
    assert log.dropped.restarts == 0


def test_clock_jumping_back_starts_a_new_segment():
    messages = steady(30, start=10.0) + steady(40, start=2.0)
    messages = [
        Message(k, m.stamp, m.names, m.position, m.velocity, m.effort)
        for k, m in enumerate(messages)
    ]
    log = build_joint_log('/js', messages, ('a', 'b'))
    assert [segment.epoch for segment in log.segments] == [0, 1]
    assert [len(segment.position[0].time) for segment in log.segments] == [30, 40]
    assert log.dropped.restarts == 1
    assert log.dropped.out_of_order == 0
    np.testing.assert_array_equal(log.epoch_starts, [0, 30])
    assert len(log.epoch_delays) == 2 and log.epoch_delays[1] > log.epoch_delays[0]


def test_one_very_late_message_is_no_restart():
    stamps = np.array([1.0, 2.0, 3.0, 0.5, 4.0, 5.0]) * SECOND
    stamps = stamps.astype(np.int64)
    np.testing.assert_array_equal(clock_epochs(stamps, np.arange(6) * SECOND), 0)
    # Nor if it is written to another place of the file, also a little late.
    np.testing.assert_array_equal(clock_epochs(stamps, stamps), 0)
    little = np.array([0, 10, 20, 30, 40, 5, 50, 60, 70])
    np.testing.assert_array_equal(clock_epochs(little, little), 0)


def test_long_silence_of_one_joint_splits_all():
    messages = steady(100)
    silent = [
        m if not 40 <= k < 60 else message(m.stamp / SECOND, ('b',), (100 + k,))
        for k, m in enumerate(messages)
    ]
    log = build_joint_log('/js', silent, ('a', 'b'))
    assert [len(segment.position[1].time) for segment in log.segments] == [40, 40]
    assert log.dropped.outside_segments == 20


@pytest.mark.parametrize('slow', [0, 1])
def test_a_fragment_without_two_samples_of_a_slower_joint_is_no_segment(slow):
    # Ten fast samples between two gaps, of which the slower joint has none or one.
    kept = [*range(100), *range(111 - slow, 118), *range(127, 220)]
    messages = [message(1.0 + 0.01 * k, ('a',), (k,)) for k in kept]
    messages += [message(1.0 + 0.1 * k, ('b',), (k,)) for k in range(22)]
    messages.sort(key=lambda each: each.stamp)
    log = build_joint_log('/js', messages, ('a', 'b'))
    assert [len(segment.position[1].time) for segment in log.segments] == [10, 9]
    used = sum(len(each.time) for segment in log.segments for each in segment.position)
    assert log.dropped.outside_segments == len(messages) - used


def test_short_silence_does_not_split():
    messages = [m for k, m in enumerate(steady(100)) if k not in (40, 41, 42)]
    assert len(build_joint_log('/js', messages, ('a', 'b')).segments) == 1


def test_time_at_a_far_lower_rate_is_told_and_single_silences_are_no_rate(rng):
    fast, slow = steady(400, step=0.01), steady(60, start=14.0, step=0.1)
    log = build_joint_log('/js', fast + slow, ('a', 'b'))
    assert len(log.segments) == 1
    told = '5.8 s with a sample every 0.1 s only, beside faster ones, dropped'
    assert any(told in text for text in log.dropped.described()), log.dropped.described()
    silences = np.cumsum(np.where(rng.uniform(size=400) < 0.2, rng.uniform(0.1, 1.0, 400), 0.01))
    messages = [message(10.0 + time, ('a',), (k,)) for k, time in enumerate(silences)]
    dropped = build_joint_log('/js', messages, ('a',)).dropped
    assert dropped.outside_segments and not any('beside' in text for text in dropped.described())


def test_two_publishers_of_one_joint_are_no_gaps():
    messages = []
    for k in range(50):
        messages += [message(1 + 0.1 * k, ('a',), (k,)), message(1.0001 + 0.1 * k, ('a',), (k,))]
    (segment,) = build_joint_log('/js', messages, ('a',)).segments
    assert len(segment.position[0].time) == 100


def test_messages_without_stamps_use_the_time_of_recording():
    messages = [message(0.0, ('a',), (k,), log_time=(100 + k) * SECOND) for k in range(10)]
    log = build_joint_log('/js', messages, ('a',))
    assert not log.stamped
    np.testing.assert_allclose(log.segments[0].position[0].time, np.arange(10))


def test_nanoseconds_survive_large_stamps():
    start = 1_700_000_000 * SECOND
    messages = [
        Message(0, start + k * 10_000_001, ('a',), np.array([1.0 * k]), *([np.empty(0)] * 2))
        for k in range(10)
    ]
    (segment,) = build_joint_log('/js', messages, ('a',)).segments
    np.testing.assert_allclose(np.diff(segment.position[0].time), 0.010000001, rtol=1e-9)


def test_joint_without_positions_is_named():
    with pytest.raises(BagError, match=r"'/js' has no position of joint 'c'; it has a, b"):
        build_joint_log('/js', steady(), ('a', 'c'))


def test_velocity_only_is_no_position():
    messages = [message(1 + k, ('a',), (), (1.0,)) for k in range(5)]
    with pytest.raises(BagError, match="no position of joint 'a'"):
        build_joint_log('/js', messages, ('a',))


@pytest.mark.parametrize(
    ('names', 'position', 'told'),
    [
        (('a', 'b'), (1.0, np.nan), "all 5 positions of joint 'b' are NaN or above 1e12"),
        (('a', 'b'), (1.0, 1e300), "all 5 positions of joint 'b' are NaN or above 1e12"),
        (('a', 'b'), (1.0,), 'in 5 of 5 messages arrays are not as long as the names'),
        (('a', 'b', 'b'), (1.0, 2.0, 3.0), 'or a joint is named twice'),
        ((), (), "'/js' names no joints"),
    ],
)
def test_why_a_joint_that_is_named_has_no_position_is_told(names, position, told):
    messages = [message(1 + k, names, position) for k in range(5)]
    with pytest.raises(BagError, match=told):
        build_joint_log('/js', messages, ('a', 'b'))


def test_messages_without_a_stamp_among_those_of_a_wall_clock_are_dropped_and_told():
    start = 1_700_000_000
    messages = [message(start + 0.1 * k if k % 4 else 0.0, ('a',), (k,)) for k in range(40)]
    log = build_joint_log('/js', messages, ('a',))
    assert log.message_count == 40 and len(log.segments) == 1
    assert log.segments[0].start == 0.0 and len(log.segments[0].position[0].time) == 30
    assert (log.dropped.unstamped, log.dropped.out_of_order, log.dropped.conflicts) == (10, 0, 0)
    assert log.dropped.described() == [
        '10 messages without a stamp, among others with one, dropped'
    ]
    simulated = [message(0.1 * k, ('a',), (k,)) for k in range(40)]
    assert build_joint_log('/js', simulated, ('a',)).dropped.unstamped == 0


@pytest.mark.parametrize('lowest', [-np.pi, 0.0])
def test_positions_modulo_one_turn_are_continued_also_beside_a_wrong_sample(lowest):
    turned = 0.05 * np.arange(2000)
    wrong = (turned - lowest) % (2.0 * np.pi) + lowest
    wrong[700] = 1e6
    messages = [message(1.0 + 0.1 * k, ['a'], [q]) for k, q in enumerate(wrong)]
    found = build_joint_log('/joint_states', messages, ['a'], ['a']).segments[0].position[0]
    right = np.delete(found.value - turned, 700)
    assert np.ptp(right) < 1e-9


def test_positions_over_many_turns_are_what_they_are():
    """However far a drum turns from sample to sample."""
    time = 0.5 * np.arange(400)
    turned = 8.0 * time - 6.0 * np.cos(0.3 * time)
    messages = [message(1.0 + t, ['a'], [q]) for t, q in zip(time, turned, strict=True)]
    found = build_joint_log('/joint_states', messages, ['a'], ['a']).segments[0].position[0]
    np.testing.assert_array_equal(found.value, turned)
