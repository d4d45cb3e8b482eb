# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The stacker-reclaimer's slew, seen through a 20-bit encoder at 100 Hz without a velocity.

Its acceleration, twice differenced, resolves 35 MN m against less than 1 MN m of drive torque. A
report must say so, and a window long enough must still find the torque.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.outputs.text_report import format_report

URDF = Path(__file__).parents[2] / 'urdf' / 'stacker_reclaimer.urdf'
RESOLUTION = 2 * np.pi / 2**20
SLEW = 1


@pytest.fixture(scope='module')
def stacker() -> kd.Robot:
    return kd.load(URDF)


@pytest.fixture
def encoder_bag(make_bag, make_motion, stacker):
    """Return a bag of gentle slewing at rated acceleration, effort exact, position rounded."""
    motion = make_motion(
        stacker, np.arange(3001) / 100, (100.0, 0.1, 0.02), (0.0, 0.02, 0.0), (0.0, 0.26, 0.0)
    )
    assert 1.2e-3 < np.abs(motion.qdd[:, SLEW]).max() < 1.4e-3
    motion.q = np.rint(motion.q / RESOLUTION) * RESOLUTION
    with make_bag() as bag:
        bag.motion('/joint_states', motion, 'pe')
    return bag.path


def test_short_window_is_refused_with_numbers_and_advice(encoder_bag):
    analysis = analyze_bag(encoder_bag, urdf=URDF, window=0.05)
    slew = analysis.runs[0].joints[SLEW]
    assert slew.noise_dominates
    # What it refuses to call a residual is what the noise alone would be.
    assert slew.residual_rms == pytest.approx(slew.noise, rel=0.4)
    assert slew.noise > 2.0 * slew.effort_rms
    report = format_report(analysis)
    (row,) = [line for line in report.splitlines() if line.split()[:1] == ['slew']][:1]
    assert 'noise dominates' in row and '%' not in row
    (advice,) = [line for line in report.splitlines() if line.startswith('noise    slew')]
    assert 'use a longer window (--window 0.' in advice
    assert 'or record its velocity' in advice


def test_advised_window_brings_the_noise_down(encoder_bag):
    report = format_report(analyze_bag(encoder_bag, urdf=URDF, window=0.05))
    (advice,) = [line for line in report.splitlines() if line.startswith('noise    slew')]
    window = float(advice.split('--window ')[1].split(')')[0])
    slew = analyze_bag(encoder_bag, urdf=URDF, window=window).runs[0].joints[SLEW]
    assert not slew.noise_dominates
    assert 0.05 < slew.noise / slew.effort_rms < 0.2


def test_window_chosen_from_the_data_finds_the_torque(encoder_bag):
    analysis = analyze_bag(encoder_bag, urdf=URDF)
    slew = analysis.runs[0].joints[SLEW]
    assert 0.3 < analysis.runs[0].replay.window < 5.0
    assert not slew.noise_dominates
    assert slew.ratio < 0.05
    assert slew.noise < 0.02 * slew.effort_rms


def test_measured_velocity_needs_no_long_window(make_bag, make_motion, stacker):
    motion = make_motion(
        stacker, np.arange(1001) / 100, (100.0, 0.1, 0.02), (0.0, 0.02, 0.0), (0.0, 0.26, 0.0)
    )
    motion.q = np.rint(motion.q / RESOLUTION) * RESOLUTION
    with make_bag() as bag:
        bag.motion('/joint_states', motion, 'pve')
    (run,) = analyze_bag(bag.path, urdf=URDF).runs
    assert run.replay.window < 0.1
    assert run.joints[SLEW].ratio < 1e-3


def test_lower_tolerance_refuses_more(encoder_bag):
    options = {'urdf': URDF, 'window': 0.5}
    assert not analyze_bag(encoder_bag, **options).runs[0].joints[SLEW].noise_dominates
    strict = analyze_bag(encoder_bag, max_noise=0.01, **options)
    assert strict.runs[0].joints[SLEW].noise_dominates
