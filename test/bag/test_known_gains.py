# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A run of the simulated motors whose gains are known, for each machine."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.known_gains import Driven, run, table
from benchmarks.known_machines import MACHINES


@pytest.mark.long
@pytest.mark.parametrize('name', MACHINES)
def test_gains_and_the_payload_found_with_them_are_near_the_truth(name):
    driven = Driven(name)
    outcome = run(driven, 100)
    errors = np.abs(outcome.errors(outcome.found))
    half = np.array([0.5 * (gain.high - gain.low) / gain.value for gain in outcome.found])
    # Within 2 %, but for a travelling gear that hardly feels the load and says so.
    assert (errors < np.maximum(0.02, 1.5 * half)).all()
    assert [joint for joint in np.flatnonzero(half > 0.02)] == ([0] if name == 'stacker' else [])
    assert outcome.payload.mass == pytest.approx(outcome.mass, rel=0.02)
    wrong = outcome.errors(outcome.wrong)[half < 0.02]
    assert np.median(wrong) == pytest.approx(0.1, abs=0.01)
    assert table(driven, [outcome])[0].endswith('1 runs; gains in %')
