# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A run of the demonstration: begins in whatever order nodes are heard, ends if they are not."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from sensor_msgs.msg import JointState

from kron_dynamics.demo.motion import Motion
from kron_dynamics.demo.scenarios import SETTLE

pytestmark = pytest.mark.ros


def report(refused=None, code=None, fault=None):
    """What the node under test sends."""
    told = {'last refused reference': refused, 'code of this refusal': code}
    values = [KeyValue(key=key, value=value) for key, value in told.items() if code]
    level = DiagnosticStatus.ERROR if fault else DiagnosticStatus.OK
    name, message = 'demo/dynamics_node: control', fault or 'active'
    status = DiagnosticStatus(level=level, name=name, message=message, values=values)
    return DiagnosticArray(status=[status])


@pytest.mark.parametrize('order', list(itertools.permutations(['active', 'state', 'matched'])))
def test_it_waits_for_all_that_it_needs(ros, order):
    from kron_dynamics.ros.demo.run import DemoRun

    class Scripted(DemoRun):
        name = 'scripted'
        model = SimpleNamespace(joint_names=('turn', 'lift'))

        def __init__(self):
            self._events = list(order)
            self._active, self._state, self._fault, self._heard_by = False, None, None, 0
            self._reference = SimpleNamespace(get_subscription_count=lambda: self._heard_by)

        def _spin(self):
            event = self._events.pop(0)
            if event == 'active':
                self._active = True
            elif event == 'matched':
                self._heard_by = 1
            else:
                self._state = JointState(name=['lift', 'turn'], position=[0.2, 0.1])

    run = Scripted()
    np.testing.assert_array_equal(run.wait_until_active(), [0.1, 0.2])
    assert not run._events


@pytest.mark.parametrize('silence', [0.0, 4.0, 6.0])
def test_a_motion_ends_where_joint_states_are_missing_for_5_seconds(ros, silence):
    from kron_dynamics.ros.demo.run import DemoError, DemoRun

    sent = []

    class Scripted(DemoRun):
        name = 'scripted'

        def __init__(self):
            self._fault, self._simulated = None, 10.0
            self._heard = time.monotonic()
            self._reference = SimpleNamespace(publish=sent.append)

        def _now(self):
            return self._simulated

        def _spin(self):
            self._simulated += 1.0
            self._heard = time.monotonic() - (silence if self._simulated > 14.0 else 0.0)

    motion = Motion(('turn',), np.array([0.0, 3.0]), *np.zeros((3, 2, 1)))
    shares, run = [], Scripted()
    if silence > 5.0:
        with pytest.raises(DemoError, match='no joint states of scripted for 5 s'):
            run.follow(motion, shares.append)
    else:
        start = run.follow(motion, shares.append)
        assert start > 10.0
        assert run._now() >= start + 3.0 + SETTLE
        assert shares[0] == 0.0 and shares[-1] == 1.0
    assert len(sent) == 1


@pytest.mark.parametrize('lags', [1, 2, 3])
def test_a_reference_that_came_too_late_is_sent_again_with_a_later_start(ros, lags):
    """As often as it helps: what the node refused stays in its diagnostics until it follows."""
    from kron_dynamics.ros.demo.run import DemoError, DemoRun

    sent = []

    class Scripted(DemoRun):
        name = 'scripted'

        def __init__(self):
            self._simulated, self._received, self._namespace = 10.0, 0, '/demo'
            self._reference = SimpleNamespace(publish=sent.append)
            self._on_diagnostics(report())

        def _now(self):
            return self._simulated

        def _spin(self):
            self._simulated += 0.5
            self._heard = time.monotonic()
            if len(sent) > self._received and self._simulated > 12.0 * len(sent):
                self._received = len(sent)
                late = f'reference starts {len(sent)} s too early'
                old = 'OLD_HEADER_TIMESTAMP'
                self._on_diagnostics(report(late, old) if len(sent) <= lags else report())

    motion = Motion(('turn',), np.array([0.0, 3.0]), *np.zeros((3, 2, 1)))
    run = Scripted()
    if lags > 2:
        with pytest.raises(DemoError, match='starts 3 s too early'):
            run.follow(motion, lambda share: None)
        return
    start = run.follow(motion, lambda share: None)
    starts = [message.header.stamp.sec for message in sent]
    assert starts == sorted(set(starts)) and len(starts) == lags + 1
    assert start == pytest.approx(starts[-1], abs=1.0)
    assert run._now() >= start + 3.0 + SETTLE


@pytest.mark.parametrize(
    'told',
    [
        report(fault='a start in the past'),
        report('a start in the past', 'INVALID_GOAL'),
        report('starts too early', 'OLD_HEADER_TIMESTAMP', 'a start in the past'),
    ],
    ids=['a fault', 'a refusal', 'a fault behind a late refusal'],
)
def test_other_faults_end_a_run(ros, told):
    """Whatever the words: it is the code of a refusal that tells a late one."""
    from kron_dynamics.ros.demo.run import DemoError, DemoRun

    class Scripted(DemoRun):
        name = 'scripted'

        def __init__(self):
            self._simulated, self._heard, self._namespace = 10.0, time.monotonic(), '/demo'
            self._fault = None
            self._reference = SimpleNamespace(publish=lambda message: None)

        def _now(self):
            return self._simulated

        def _spin(self):
            self._simulated += 0.5
            self._on_diagnostics(told)

    motion = Motion(('turn',), np.array([0.0, 3.0]), *np.zeros((3, 2, 1)))
    with pytest.raises(DemoError, match='a start in the past'):
        Scripted().follow(motion, lambda share: None)


def test_the_user_can_end_a_run_while_its_last_messages_are_recorded(ros):
    from kron_dynamics.ros.demo.run import DemoRun

    def look():
        raise KeyboardInterrupt

    class Scripted(DemoRun):
        def __init__(self):
            self._look = look
            self._recorder = SimpleNamespace(catch_up=lambda wait: wait())

    with pytest.raises(KeyboardInterrupt):
        Scripted().catch_up()
