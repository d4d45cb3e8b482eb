# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from kron_dynamics.control import FaultAction, FaultLatch
from kron_dynamics.exceptions import ParameterError


def test_latch_begins_healthy():
    latch = FaultLatch()
    assert not latch.faulted
    assert latch.reason is None and latch.since is None


def test_latch_keeps_the_first_reason_and_time():
    latch = FaultLatch()
    assert latch.trip('joint states are stale', 3.0)
    assert not latch.trip('something else', 4.0)
    assert latch.faulted
    assert (latch.reason, latch.since) == ('joint states are stale', 3.0)


def test_latch_is_not_cleared_while_something_is_wrong():
    latch = FaultLatch()
    latch.trip('joint states are stale', 3.0)
    assert not latch.clear('joint states are still stale')
    assert (latch.reason, latch.since) == ('joint states are stale', 3.0)
    assert latch.clear(None)
    assert not latch.faulted
    assert latch.reason is None and latch.since is None


def test_latch_can_trip_again_after_clearing():
    latch = FaultLatch()
    latch.trip('first', 3.0)
    latch.clear(None)
    assert latch.trip('second', 5.0)
    assert (latch.reason, latch.since) == ('second', 5.0)


def test_fault_needs_a_reason():
    with pytest.raises(ParameterError, match='reason'):
        FaultLatch().trip('', 1.0)


def test_fault_actions_are_read_from_their_parameter_values():
    assert FaultAction('hold_gravity') is FaultAction.HOLD_GRAVITY
    assert FaultAction('zero') is FaultAction.ZERO
    assert FaultAction('stop_publishing') is FaultAction.STOP_PUBLISHING


def test_unknown_fault_action_lists_the_choices():
    words = "'coast', expected one of 'hold_gravity', 'zero', 'stop_publishing'"
    with pytest.raises(ParameterError, match=words):
        FaultAction('coast')
