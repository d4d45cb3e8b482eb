# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Several publishers of one joint are noticed; a restart and a division of labour are none."""

from __future__ import annotations

import pytest

from kron_dynamics.control.supervision.joint_sources import JointSources

NAMES = ('a', 'b', 'c')
NAN = float('nan')


@pytest.fixture
def sources() -> JointSources:
    return JointSources(NAMES)


def test_publishers_in_turn_are_two_sources(sources: JointSources) -> None:
    for source in (b'1', b'1', b'2'):
        sources.note(['x', 'b'], [0.0, 1.0], source)
        assert sources.doubled is None
    sources.note(['b', 'x'], [1.0, 0.0], b'1')
    assert sources.doubled == 'b'


@pytest.mark.parametrize('count', [2, 3, 4, 50])
def test_however_many_publish_in_turn(sources: JointSources, count: int) -> None:
    for k in range(3 * count):
        sources.note(['a', 'b'], [0.0, 1.0], bytes([k % count]))
        assert (sources.doubled is not None) == (k >= count)


def test_of_several_the_last_one_left_is_no_second_source(sources: JointSources) -> None:
    for source in (b'1', b'2', b'3', b'1', b'2', b'3'):
        sources.note(['a'], [0.0], source)
    for _ in range(49):
        sources.note(['a'], [0.0], b'3')
        assert sources.doubled == 'a'
    sources.note(['a'], [0.0], b'3')
    assert sources.doubled is None


def test_a_publisher_is_remembered_by_the_messages_since() -> None:
    for gone, expected in ((50, 'a'), (51, None)):
        tried = JointSources(NAMES)
        tried.note(['a'], [0.0], b'1')
        for k in range(gone):  # each of them restarted at once
            tried.note(['a'], [0.0], b'other' + bytes([k]))
            assert tried.doubled is None
        tried.note(['a'], [0.0], b'1')
        assert tried.doubled == expected


def test_one_that_falls_silent_is_forgotten(sources: JointSources) -> None:
    for source in (b'1', b'2', b'1'):
        sources.note(['a'], [0.0], source)
    for _ in range(49):
        sources.note(['a'], [0.0], b'1')
        assert sources.doubled == 'a'
    sources.note(['a'], [0.0], b'1')
    assert sources.doubled is None
    sources.note(['a'], [0.0], b'2')
    assert sources.doubled is None


def test_restarts_are_no_second_source(sources: JointSources) -> None:
    for source in (b'1', b'1', b'2', b'2', b'3'):
        sources.note(['a', 'b', 'c'], [0.0] * 3, source)
        assert sources.doubled is None


def test_joints_and_quantities_may_be_shared(sources: JointSources) -> None:
    for _ in range(10):
        sources.note(['a', 'b'], [0.0, NAN], b'1')
        sources.note(['b', 'c'], [0.0, NAN], b'2')
        sources.note(['a', 'b', 'c'], [], b'3')  # velocities or efforts alone
        sources.note(['z'], [1.0], b'1')
        sources.note(['z'], [1.0], b'2')  # another machine's
        sources.note(['c'], [1.0], None)
        sources.note(['c'], [1.0], b'4')
        assert sources.doubled is None
