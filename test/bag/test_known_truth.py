# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A few runs of the simulated recordings whose truth is known."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from long_runs import some_of

from benchmarks.known_machines import MACHINES
from benchmarks.known_payloads import accelerations, payloads
from benchmarks.known_recordings import Simulated
from benchmarks.known_residuals import residuals
from benchmarks.known_truth import PARTS, measured, table
from benchmarks.known_vibrations import Elastic, vibrations

NAMES = tuple(MACHINES)


def simulated(name: str, share: float) -> Simulated:
    """A machine that is recorded for a share of the time."""
    found = Simulated(name)
    found.machine = replace(found.machine, duration=share * found.machine.duration)
    return found


@pytest.mark.parametrize('name', some_of(NAMES, ('ur5',)))
def test_accelerations_and_payloads_are_near_the_truth(name):
    machine = simulated(name, 0.4)
    found = accelerations(machine, 0)
    # At least five times nearer than central differences of velocities, and of positions.
    assert min(*found['both'], *found['positions']) > 5.0
    assert np.median(found['stated']) == pytest.approx(1.0, abs=0.4)
    found = payloads(machine, 0)
    assert found['pieces'] == 2
    for load in found['estimates']:
        assert load['found'] == pytest.approx(load['mass'], rel=0.02)
        # Three standard deviations.
        half = 0.5 * np.ptp(load['interval'])
        assert abs(load['found'] - load['mass']) < 1.53 * half < 0.03 * load['mass']


@pytest.mark.parametrize('name', some_of(NAMES, ('stacker',)))
def test_identification_leaves_little_more_than_the_noise_of_the_efforts(name):
    found = residuals(simulated(name, 0.3), 0)
    assert max(found['identified']) < 1.5
    # Less than the noise would be left only where the noise is not what it is said to be.
    assert min(found['identified']) > 0.9
    assert min(found['urdf']) > 2.0


@pytest.mark.long
@pytest.mark.parametrize('name', NAMES)
def test_vibrations_of_a_link_are_those_it_has(name):
    found = vibrations(Elastic(name), 0)
    for mode in found['modes']:
        assert mode['verdict'] == 'seen'
        assert mode['predicted'] < 0.95 * mode['true']
        assert mode['frequency'] == pytest.approx(mode['true'], rel=0.01)
        # 1.5 times a 95 % interval: what one in 300 leaves.
        assert abs(mode['frequency'] - mode['true']) < 1.5 * mode['half']
        low, high = np.log(np.array(mode['damping_interval']) / mode['damping'])
        assert 1.5 * low < np.log(mode['true_damping'] / mode['damping']) < 1.5 * high
    assert found['updated'] == pytest.approx(np.ones(len(found['modes'])), rel=1e-4)
    assert [verdict.split(':')[0] for verdict in found['twin']] == ['not seen'] * 2


def test_campaign_goes_on_from_the_runs_that_a_file_holds(tmp_path, monkeypatch):
    rows = tmp_path / 'rows.jsonl'
    made = []

    def run(machine, seed):
        made.append((machine, seed))
        return {name: [float(seed + 6)] for name in ('both', 'positions', 'stated')}

    part = PARTS['accelerations']._replace(machine=lambda name: name, run=run)
    monkeypatch.setitem(PARTS, 'accelerations', part)
    for seeds in (range(2), range(3)):
        found = measured(['accelerations'], 'ur5', seeds, rows)
    assert made == [('ur5', 0), ('ur5', 1), ('ur5', 2)]
    assert found == [json.loads(line) for line in rows.read_text().splitlines()]
    lines = table('accelerations', found).splitlines()
    assert lines[0].split() == ['accelerations', 'ur5']
    assert lines[1].split() == ['runs', '3']
    assert lines[2].endswith('  6, 7')
