# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulations are compared at equal accuracy: by the fewest steps that are accurate enough."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


def module(name: str) -> Any:
    """A module of the folder benchmarks, which is beside the package and not installed."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return importlib.import_module(f'benchmarks.{name}')


accuracy, booms, timing = map(module, ('accuracy', 'flexible_simulation', 'timing'))


@pytest.mark.parametrize('least', [1, 2, 37, 400])
@pytest.mark.parametrize('first', [1, 2, 240])
def test_the_fewest_steps_are_found_to_five_percent(least: int, first: int) -> None:
    found = accuracy.fewest_steps(lambda steps: steps >= least, first)
    assert least <= found <= 1.05 * least + 1


def test_what_looks_accurate_far_below_is_not_taken() -> None:
    """Such as a phase that is off by whole periods."""
    assert 300 <= accuracy.fewest_steps(lambda steps: steps >= 300 or steps == 80, 240) <= 316


def test_what_never_is_accurate_is_not_measured() -> None:
    with pytest.raises(timing.MeasurementError, match='not accurate enough'):
        accuracy.fewest_steps(lambda steps: False, 2)


def test_the_quickest_of_a_peers_settings_counts_and_is_named() -> None:
    def simulation(name: str, least: int, work: int) -> Any:
        def run(steps: int) -> float:
            return sum(float(k) for k in range(steps * work))

        return accuracy.Simulation(name, run, lambda steps: steps >= least)

    peers = [simulation('fine', 64, 2000), simulation('coarse', 32, 2000)]
    result = accuracy.compare_simulations(simulation('ours', 8, 100), peers, 2, 3)
    assert result.note.startswith('ours in 8 steps; coarse in 3')
    assert result.value.median > 5.0  # 80 times the work


def test_frequency_of_the_clamped_boom_is_that_of_many_elements() -> None:
    """Which hang under their weight; that is worth some 1e-4."""
    reference = ROOT / 'test' / 'flexible' / 'reference' / 'exudyn_cables.json'
    cables = json.loads(reference.read_text('utf-8'))['boom with 60000 kg']
    assert (cables['length'], cables['bending_stiffness']) == (booms.LENGTH, booms.STIFFNESS)
    assert (cables['mass_per_length'], cables['tip_mass']) == (booms.LINE_MASS, booms.TIP_MASS)
    np.testing.assert_allclose(booms.frequency(), cables['frequency'], rtol=5e-4)


def test_our_clamped_boom_keeps_the_phase_and_too_few_steps_do_not() -> None:
    simulation = booms.simulation_of(
        'ours', booms.ours(booms.PERIODS * 2.0 * np.pi / booms.frequency())
    )
    steps = accuracy.fewest_steps(simulation.is_accurate, booms.FIRST)
    assert booms.FIRST / 3 < steps < booms.FIRST
    assert not simulation.is_accurate(steps // 2)
    deflection, rate = simulation.run(4000)
    np.testing.assert_allclose(deflection, booms.DEFLECTION, rtol=1e-2)
    assert abs(rate) < 0.2 * booms.frequency() * booms.DEFLECTION
