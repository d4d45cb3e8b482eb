# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The demonstration's table tells the errors in units that fit, and the plot is a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kron_dynamics.demo import LawResult
from kron_dynamics.demo.report import plot_tracking, tracking_ratios, tracking_table
from kron_dynamics.model import load_model

ROBOT = Path(__file__).parents[1] / 'robots' / 'rail_boom.urdf'


@pytest.fixture(scope='module')
def model():
    return load_model(ROBOT.read_text())


def result(law, error):
    """A run whose error has these RMS values."""
    time = np.linspace(0.0, 5.0, 100)
    reference = np.outer(np.sin(time), [1.0, 0.1, 0.01])
    position = reference - np.array(error)
    return LawResult(law, time, position, reference, 1e3 * reference, 50.0, 50.0, 50.0)


OWN = result('computed_torque', [1e-5, 2e-6, 0.0])
OTHER = result('pd', [3e-3, 1e-3, 4e-3])


def test_ratios_say_how_many_times_worse_the_other_law_is():
    ratios = tracking_ratios(OWN, OTHER)
    np.testing.assert_allclose(ratios[:2], [300.0, 500.0], rtol=1e-6)
    assert ratios[2] == np.inf


def test_the_table_has_a_line_a_joint_with_its_units(model):
    header, *rows = tracking_table(model, OWN, OTHER).splitlines()
    assert header.split() == ['joint', 'computed', 'torque', 'PD', 'alone', 'ratio']
    assert [row.split() for row in rows] == [
        ['travel', '0.01', 'mm', 'RMS', '3', 'mm', 'RMS', '300x'],
        ['slew', '0.002', 'mrad', 'RMS', '1', 'mrad', 'RMS', '500x'],
        ['luff', '0', 'mrad', 'RMS', '4', 'mrad', 'RMS', 'infx'],
    ]
    assert len({len(line) for line in (header, *rows)}) <= 2


def test_the_plot_is_a_picture_of_every_joint(model, tmp_path):
    path = tmp_path / 'tracking.png'
    plot_tracking(model, [OWN, OTHER], path)
    data = path.read_bytes()
    assert data.startswith(b'\x89PNG')
    width, height = (int.from_bytes(data[at : at + 4], 'big') for at in (16, 20))
    assert width > 1000
    assert height > 250 * model.n
    # It is drawn, not empty: one colour alone would compress to almost nothing.
    assert len(data) > 20_000
