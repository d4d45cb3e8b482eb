# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Output of a mode map as text and as CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from kron_dynamics.modes.mode_map import ModeMap


def format_map(found: ModeMap) -> list[str]:
    """Return the map as aligned lines: titles, then one line per value."""
    titles = [f'{found.parameter} [{found.unit}]', *(f'{name} [Hz]' for name in found.names)]
    titles += [f'{name} damping' for name in found.names]
    rows = [titles]
    for value, frequencies, ratios in _rows(found):
        cells = [f'{value:.6g}', *(f'{frequency:.4f}' for frequency in frequencies)]
        rows.append([*cells, *('-' if np.isnan(ratio) else f'{ratio:.4f}' for ratio in ratios)])
    widths = [max(len(row[k]) for row in rows) for k in range(len(titles))]
    return [
        '  '.join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def write_csv(found: ModeMap, path: Path) -> None:
    """Write the map as CSV with full precision; missing damping ratios are empty fields.

    Args:
        found: the map.
        path: file to write.
    """
    with path.open('w', encoding='utf-8', newline='') as file:
        table = csv.writer(file, lineterminator='\n')
        table.writerow(
            [
                f'{found.parameter} [{found.unit}]',
                *(f'{name} frequency [Hz]' for name in found.names),
                *(f'{name} damping ratio' for name in found.names),
            ]
        )
        for value, frequencies, ratios in _rows(found):
            cells = ['' if np.isnan(ratio) else repr(ratio) for ratio in ratios]
            table.writerow([repr(value), *map(repr, frequencies), *cells])


def _rows(found: ModeMap) -> list[tuple[float, list[float], list[float]]]:
    columns = (found.values, found.frequencies, found.damping_ratios)
    return list(zip(*(column.tolist() for column in columns), strict=True))
