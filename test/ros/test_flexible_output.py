# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the equilibrium of the links is not found, that is said, and nothing is published."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kron_dynamics.exceptions import ModelError

pytestmark = pytest.mark.ros


def test_a_deflection_that_is_not_found_is_told_and_not_begun_from(ros, monkeypatch):
    from builtin_interfaces.msg import Time

    from kron_dynamics.ros import flexible_output

    begun, told, published = [], [], []

    def equilibrium(flexible, q, qd, qdd, start):
        begun.append(start)
        if len(begun) == 2:
            raise ModelError('the links buckle')
        return np.append(q, 0.01 * len(begun))

    class Scripted(flexible_output.DeflectionOutput):
        def __init__(self, heard):
            topic = SimpleNamespace(get_subscription_count=lambda: heard)
            self._deflection = self._pose = self._correction = topic
            logger = SimpleNamespace(warning=lambda text, **options: told.append(text))
            self._node = SimpleNamespace(get_logger=lambda: logger)
            self._flexible, self._latest = None, None

        def _publish(self, stamp, q, e, ed):
            published.append((q.tolist(), e.tolist(), ed))

    monkeypatch.setattr(flexible_output, 'quasi_static_equilibrium', equilibrium)
    state = SimpleNamespace(q=np.array([0.5]), qd=np.zeros(1))
    Scripted(heard=0).publish(Time(), state, None, None)
    assert not begun  # nobody listens
    output = Scripted(heard=1)
    for _ in range(4):
        output.publish(Time(), state, None, None)
    assert told == ['no deflection: the links buckle']
    assert published == [([0.5], [0.01 * k], None) for k in (1, 3, 4)]
    # From the one before, unless that was not found.
    starts = [None if start is None else start.tolist() for start in begun]
    assert starts == [None, [0.01], None, [0.03]]
    e, ed = np.array([0.2]), np.array([0.3])
    output.publish(Time(), state, None, (e, ed))
    assert len(begun) == 4  # an estimate needs no equilibrium
    assert published[-1] == ([0.5], [0.2], ed)
