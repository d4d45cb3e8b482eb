# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Two publishers of one joint are noticed; a restart and a division of labour are none."""

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
