# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stability maps of the swinging link: tables of margins, and their pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kron_dynamics.stability import plot_stability_map
from kron_dynamics.typing import FloatArray

from . import machine

SPEEDS, AMPLITUDES = np.linspace(1.0, 16.0, 121), np.linspace(0.02, 1.5, 75)
# Name of each map, and whether the axial force is included.
NAMES = {'printed': False, 'right': True}
TITLES = {'printed': '(69) as printed', 'right': 'with the axial force'}
# Smaller margins, 1/s, are rounding errors: the undamped link is stable with margin 0.
ROUNDING = 1e-6


def margins(name: str, speeds: FloatArray, amplitudes: FloatArray) -> FloatArray:
    """Return the stability margins of a map, shape (amplitudes, speeds), 1/s."""
    rows = [[machine.margin(s, a, NAMES[name]) for s in speeds] for a in amplitudes]
    found = np.array(rows)
    return np.where(abs(found) < ROUNDING, 0.0, found)


def table(folder: Path, name: str) -> Path:
    """Return the path of a map's table."""
    return folder / f'khang-2019-swing-{name}.csv'


def write(folder: Path, name: str) -> None:
    """Compute a map and write its margins, one row per amplitude."""
    np.savetxt(table(folder, name), margins(name, SPEEDS, AMPLITUDES), '%.5g', ',')


def read(folder: Path, name: str) -> FloatArray:
    """Return the margins of a map, shape (75, 121), 1/s."""
    return np.loadtxt(table(folder, name), delimiter=',')


def draw(folder: Path, name: str, to: Path) -> None:
    """Draw a map from its table."""
    plot_stability_map(
        SPEEDS,
        AMPLITUDES,
        # Clipped at -1: colours for larger growth rates would hide the tongues.
        np.maximum(read(folder, name), -1.0),
        to / f'khang-2019-swing-{name}.png',
        x_label='angular frequency of the swing, rad/s',
        y_label='amplitude of the swing, rad',
        title=TITLES[name],
        level=-1e-4,
    )
