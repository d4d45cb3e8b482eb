# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The series of a run as Parquet, through the library pyarrow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from kron_dynamics.bag.outputs.series import SeriesBlock, quantities_of
from kron_dynamics.bag.outputs.series_table import (
    FIRST_COLUMNS,
    column_names,
    column_units,
    phase_names,
    table_of,
)
from kron_dynamics.bag.replaying.replay import Replay


class ParquetFile:
    """A Parquet file with null for unknown values and units in the fields' metadata."""

    def __init__(self, replay: Replay, path: Path) -> None:
        """Begin a file.

        Args:
            replay: the run.
            path: file to write.
        """
        self._quantities = quantities_of(replay)
        names = column_names(self._quantities, replay.frame)
        kinds = (pyarrow.float64(), pyarrow.int32(), pyarrow.bool_(), pyarrow.string())
        units = ('s', '', '', '', *column_units(self._quantities))
        types = (*kinds, *[pyarrow.float64()] * len(names))
        self._schema = pyarrow.schema(
            [
                pyarrow.field(name, kind, metadata={'unit': unit} if unit else None)
                for name, kind, unit in zip((*FIRST_COLUMNS, *names), types, units, strict=True)
            ],
            metadata={'topic': replay.run.topic, 'origin_ns': str(replay.run.log.origin)},
        )
        self._writer = parquet.ParquetWriter(path, self._schema, compression='zstd')

    def close(self) -> None:
        """Complete the file."""
        self._writer.close()

    def add(self, block: SeriesBlock) -> None:
        """Write the rows of a block."""
        if not len(block.time):
            return
        table = table_of(self._quantities, block)
        segments = np.full(len(table), block.segment + 1, np.int32)
        phases = [name or None for name in phase_names(block)]
        head = (block.time, segments, block.compared, phases)
        columns = [
            pyarrow.array(column, type=field.type, from_pandas=True)  # NaN becomes null
            for column, field in zip((*head, *table.T), self._schema, strict=True)
        ]
        self._writer.write_table(pyarrow.table(columns, schema=self._schema))
