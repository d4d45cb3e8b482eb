# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Searches for the range of stable gains come to an end, however narrow the range is."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control.tuning.linear_machine import LinearMachine, model_errors
from kron_dynamics.control.tuning.loop_limits import SampledLoops


@pytest.fixture
def loops():
    """Those of one double integrator."""
    one, none = np.ones((1, 1, 1)), np.zeros((1, 1, 1))
    machine = LinearMachine(np.zeros((1, 1)), one, none, none, one, none, none)
    errors = model_errors(machine, 0.2, coupled=False)
    return SampledLoops(machine, errors, np.ones(1), 1.0, 0.02, 0.02)


@pytest.mark.parametrize(
    ('lower', 'upper', 'found'),
    [
        (0.5, 3.0, (0.5, 3.0)),
        (0.0, 3.0, (0.0, 3.0)),
        (0.995, 1.005, (0.995, 1.005)),
        (0.9997, 1.0003, None),
        (1.2, 1.2001, None),
    ],
)
def test_a_range_that_is_too_narrow_to_be_told_is_none(monkeypatch, loops, lower, upper, found):
    def stable(_, factor=1.0):
        return lower < factor < upper

    def unstable(_, plant, factor):
        return not stable(None, factor)

    monkeypatch.setattr(SampledLoops, 'stable', stable)
    monkeypatch.setattr(SampledLoops, '_any_unstable', unstable)
    told = loops.stable_range()
    assert told == (None if found is None else pytest.approx(found, rel=2e-3))
