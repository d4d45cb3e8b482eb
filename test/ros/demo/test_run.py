# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A run of the demonstration begins in whatever order its nodes are heard."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros


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
