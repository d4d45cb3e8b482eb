# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of dampings in docs/fault-action.md is what the package computes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kron_dynamics as kd
from benchmarks.robots import description
from kron_dynamics.control import GravityHold
from kron_dynamics.exceptions import ParameterError

ROOT = Path(__file__).parents[2]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
BOOM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
ROWS = re.findall(
    r'^\| ([^|]+) \| (\d+) ms \| (\S+) \| (\S+) \| ([^|]+) \|$',
    (ROOT / 'docs' / 'fault-action.md').read_text(encoding='utf-8'),
    flags=re.MULTILINE,
)


@pytest.fixture(scope='module')
def robots(kernel_cache):
    """(rigid, flexible or None) by the names in the table."""
    stacker = kd.load(STACKER)
    return {
        'stacker-reclaimer': (stacker, None),
        'stacker-reclaimer, boom flexible': (stacker, kd.load(STACKER, flexible=BOOM)),
        'UR5': (kd.loads(description('ur5').text), None),
        'Panda': (kd.loads(description('panda').text), None),
    }


def test_the_table_is_computed(robots):
    assert {row[0] for row in ROWS} == set(robots)
    assert len(ROWS) == 9
    for name, period, *shown in ROWS:
        robot, flexible = robots[name]
        try:
            law = GravityHold(robot, period=1e-3 * float(period), flexible=flexible)
        except ParameterError as refusal:
            longest = float(str(refusal).split('at most ')[1].split()[0])
            assert shown == ['refused', 'refused', f'at most {1e3 * longest:.3g} ms']
            continue
        values = law.range.lowest, law.range.highest, law.damping
        assert shown == [f'{value:.3g}' for value in values]
