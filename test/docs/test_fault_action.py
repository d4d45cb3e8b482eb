# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The dampings and eigenvalues of docs/fault-action.md are what the package computes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from long_runs import some_of

import kron_dynamics as kd
from benchmarks.robots import description
from kron_dynamics.control import GravityHold
from kron_dynamics.control.sample_poses import poses_within_limits
from kron_dynamics.exceptions import ParameterError

ROOT = Path(__file__).parents[2]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
BOOM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
PAGES = {
    name: (ROOT / 'docs' / f'{name}.md').read_text(encoding='utf-8')
    for name in ('fault-action', 'control', 'tuning')
}
ROWS = re.findall(
    r'^\| ([^|]+) \| (\d+) ms \| (\S+) \| (\S+) \| ([^|]+) \|$',
    PAGES['fault-action'],
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


@pytest.mark.parametrize('name', some_of(['UR5', 'Panda'], ['UR5']))
def test_eigenvalues_of_single_joint_damping_are_computed(robots, name):
    """Those of `M^-1 diag(M_0)` with M_0 of the same and of another pose, on three pages."""
    pages = {page: ' '.join(text.split()) for page, text in PAGES.items()}
    reach = re.search(r'500 poses .* reach (\d+) for a UR5 and (\d+)', pages['fault-action'])
    same = re.search(r'500 poses .* reach (\d+) for a UR5 and (\d+)', pages['control'])
    other = re.search(r'and (\d+) and (\d+) with M_0 of another', pages['control'])
    tuned = re.search(r'to (\d+) for a UR5 and .* (\d+) with fixed fingers', pages['tuning'])
    robot, place = robots[name][0], 1 + (name == 'Panda')
    M = robot.mass_matrix(poses_within_limits(robot, 500))
    inverse, roots = np.linalg.inv(M), np.sqrt(np.einsum('kii->ki', M))
    # diag(M_0)^1/2 M^-1 diag(M_0)^1/2 is symmetric and has the same eigenvalues.
    scaled = roots[:, :, None] * inverse * roots[:, None, :]
    own = np.linalg.eigvalsh(scaled)[:, -1]
    most = max(float(np.linalg.eigvalsh(d[:, None] * inverse * d).max()) for d in roots)
    shown = [int(found[place]) for found in (reach, same, tuned, other)]
    assert shown == [round(value) for value in (own.max(), own.max(), own[:300].max(), most)]
