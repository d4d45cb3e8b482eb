# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/tuning.md are what the package computes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kron_dynamics as kd
from kron_dynamics.cli import main
from kron_dynamics.control import tune
from kron_dynamics.control.tuning.sampled_loop import single_joint_limit

ROOT = Path(__file__).parents[2]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
BOOM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
PAGE = (ROOT / 'docs' / 'tuning.md').read_text(encoding='utf-8')
_ROW = r'^\| ([\w-]+(?:, boom flexible)?) \| (\d+) \| (\S+) \| ([^|]+) \|$'
ROWS = {name: tuple(cells) for name, *cells in re.findall(_ROW, PAGE, flags=re.MULTILINE)}


@pytest.mark.parametrize(('name', 'flexible'), [('', None), (', boom flexible', BOOM)])
def test_bounds_of_the_machine_are_computed(kernel_cache, name, flexible):
    rate, exact, off = ROWS[f'stacker-reclaimer{name}']
    tuning = tune(kd.load(STACKER, flexible=flexible), 0.2, float(rate))
    assert tuning.exact_to[0] == pytest.approx(float(exact), abs=0.006)
    assert tuning.stable_to[0] == pytest.approx(float(off), abs=0.006)
    if not flexible:
        (least,) = re.findall(r'stacker-reclaimer needs (\S+) Hz', PAGE)
        assert tuning.stable_from[0] == pytest.approx(float(least), abs=5e-4)


@pytest.mark.parametrize('name', ['UR5', 'Panda'])
def test_bounds_of_arms_are_those_of_their_files(name):
    """The files themselves are held against what the command writes."""
    rate, exact, off = ROWS[name]
    text = (ROOT / 'config' / f'{name.lower()}.yaml').read_text(encoding='utf-8')
    shown = ' '.join(text.replace('#', ' ').split())
    lower, upper = off.split(' to ')
    assert f'joint states at {rate} Hz' in shown
    assert f'Unstable above {upper} Hz; with an exact model above {exact} Hz' in shown
    below = re.search(r'Unstable below (\S+) Hz', shown)
    assert float(below[1]) == pytest.approx(float(lower), abs=0.005)


def test_bounds_of_one_joint_are_computed():
    for gain, shown in ((1.0, 0.426), (1.2, 0.366)):
        assert single_joint_limit(1.0, 1.0, gain=gain) == pytest.approx(shown, abs=5e-4)
        assert f'{shown:g}' in PAGE


def test_options_are_those_of_the_command(capsys):
    assert main(['tune', '--help']) == 0
    offered = set(re.findall(r'--[a-z-]+', capsys.readouterr().out))
    table = PAGE.split('## What each number')[0]
    assert set(re.findall(r'`(--[a-z-]+)', table)) == offered - {
        *('--help', '--hold-base', '--xacro-arg', '--output')
    }
