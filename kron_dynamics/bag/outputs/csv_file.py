# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The series of a run as CSV."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kron_dynamics.bag.outputs.series import SeriesBlock, quantities_of
from kron_dynamics.bag.outputs.series_table import (
    FIRST_COLUMNS,
    column_names,
    phase_names,
    table_of,
)
from kron_dynamics.bag.replaying.replay import Replay


class CsvFile:
    """A CSV file with one header line; cells of unknown values are empty."""

    def __init__(self, replay: Replay, path: Path) -> None:
        """Begin a file.

        Args:
            replay: the run.
            path: file to write.
        """
        self._quantities = quantities_of(replay)
        names = column_names(self._quantities, replay.frame)
        self._line = ','.join(['%.10g', '%d', '%d', '%s', *['%.10g'] * len(names)]) + '\n'
        self._file = path.open('w', encoding='utf-8', newline='')
        self._file.write(','.join(map(_cell, (*FIRST_COLUMNS, *names))) + '\n')

    def close(self) -> None:
        """Complete the file."""
        self._file.close()

    def add(self, block: SeriesBlock) -> None:
        """Write the rows of a block."""
        table = table_of(self._quantities, block)
        head = (block.time, np.full(len(table), block.segment + 1), block.compared)
        line = self._line
        rows = zip(np.column_stack(head).tolist(), phase_names(block), table.tolist(), strict=True)
        for first, phase, row in rows:
            # Only NaN contains these letters: neither other numbers nor phases do.
            self._file.write((line % (*first, phase, *row)).replace('nan', ''))


def _cell(text: str) -> str:
    """Return a name as a cell: quoted if it contains a comma, a quote or a line break."""
    if any(letter in text for letter in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
