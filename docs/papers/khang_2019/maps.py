# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Maps of stability of the swinging link: numbers in tables, and the pictures made of those."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kron_dynamics.stability import plot_stability_map
from kron_dynamics.typing import FloatArray

from . import machine

SPEEDS, AMPLITUDES = np.linspace(1.0, 16.0, 121), np.linspace(0.02, 1.5, 75)
# File of each map, and whether the link has the axial force.
NAMES = {'printed': False, 'right': True}
TITLES = {'printed': '(69) as printed', 'right': 'with the axial force'}
# A margin nearer to 0 is that of an undamped link that is stable.
ROUNDING = 1e-6


def margins(name: str, speeds: FloatArray, amplitudes: FloatArray) -> FloatArray:
    """Return a map's margins, shape (amplitudes, speeds), 1/s."""
    rows = [[machine.margin(s, a, NAMES[name]) for s in speeds] for a in amplitudes]
    found = np.array(rows)
    return np.where(abs(found) < ROUNDING, 0.0, found)


def table(folder: Path, name: str) -> Path:
    """Return where a map's margins are."""
    return folder / f'khang-2019-swing-{name}.csv'


def write(folder: Path, name: str) -> None:
    """Compute a map and write its margins, a row for each amplitude."""
    np.savetxt(table(folder, name), margins(name, SPEEDS, AMPLITUDES), '%.5g', ',')


def read(folder: Path, name: str) -> FloatArray:
    """Return the margins of a map, shape (75, 121), 1/s."""
    return np.loadtxt(table(folder, name), delimiter=',')


def draw(folder: Path, name: str, to: Path) -> None:
    """Draw a map from its table."""
    plot_stability_map(
        SPEEDS,
        AMPLITUDES,
        # Beyond -1 the growth is of no interest, and its colours would hide the tongues.
        np.maximum(read(folder, name), -1.0),
        to / f'khang-2019-swing-{name}.png',
        x_label='angular frequency of the swing, rad/s',
        y_label='amplitude of the swing, rad',
        title=TITLES[name],
        level=-1e-4,
    )
