# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A few runs of the simulated recordings whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.known_truth import MACHINES, Simulated, run, table

# A luffing drive at its fastest; loads of nearly the same mass; rows of neither load in between.
HARD_SEEDS = {'stacker': 2, 'ur5': 14, 'panda': 3}


@pytest.mark.long
@pytest.mark.parametrize('name', MACHINES)
def test_accelerations_and_payloads_are_near_the_truth(name):
    simulated = Simulated(name)
    outcomes = [run(simulated, seed) for seed in (0, HARD_SEEDS[name])]
    for outcome in outcomes:
        # At least five times nearer than central differences of velocities, and of positions.
        assert outcome.ratios[:2].min() > 5.0
        for found, true in outcome.found:
            assert found.mass == pytest.approx(true.mass, rel=0.02)
            assert abs(found.mass - true.mass) < 3.0 * found.mass_deviation
    assert np.median([outcome.ratios[2] for outcome in outcomes]) == pytest.approx(1.0, abs=0.4)
    assert table(name, outcomes)[0].startswith(f'{name}: 2 runs, 4 payloads')
