# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and tables as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

PREFIXES = ((1e6, 'M'), (1e3, 'k'), (1.0, ''), (1e-3, 'm'), (1e-6, 'u'))
SMALLEST_SHOWN = 1e-7  # smaller magnitudes are shown as 0
LARGEST_IN_FULL = 1e6  # larger magnitudes are shown with an exponent


def scale_of(value: float) -> tuple[float, str]:
    """Return the factor and letter of the SI prefix for a magnitude."""
    for factor, letter in PREFIXES:
        if abs(value) >= factor:
            return factor, letter
    return 1.0, ''


def number(value: float) -> str:
    """Return a number for a table; '-' if unknown."""
    if math.isnan(value):
        return '-'
    # Units have prefixes that suit the effort: much smaller values are rounding errors.
    if abs(value) < SMALLEST_SHOWN:
        return '0'
    text = f'{value:.3g}'
    # Moderately large numbers are easier to read without exponent.
    return f'{float(text):.0f}' if 'e+' in text and abs(value) < LARGEST_IN_FULL else text


def percent(share: float) -> str:
    """Return a share in percent; '-' if unknown."""
    return '-' if math.isnan(share) else f'{100.0 * share:.3g} %'


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines: the first two columns aligned left, the others right."""
    count = max(len(row) for row in rows)
    full = [[*row, *([''] * (count - len(row)))] for row in rows]
    widths = [max(len(row[k]) for row in full) for k in range(count)]
    lines = []
    for row in full:
        cells = [
            cell.ljust(width) if k < 2 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append('  ' + '  '.join(cells).rstrip())
    return lines
