# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Growing tables: in memory while they are small, else in a memory-mapped temporary file."""

from __future__ import annotations

import mmap
import tempfile
import weakref
from typing import IO, Any

import numpy as np

from kron_dynamics.exceptions import BagError

# Largest size in bytes of the part of a table that is held in memory.
IN_MEMORY = 16_000_000
_maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


class Spool:
    """A table of numbers that is written first and then read."""

    def __init__(self, dtype: type[Any], columns: int) -> None:
        """Begin an empty table.

        Args:
            dtype: type of the numbers.
            columns: number of columns.
        """
        self._dtype, self._columns = np.dtype(dtype), columns
        self._waiting: list[Any] = []
        self._size, self._rows = 0, 0
        self._file: IO[bytes] | None = None

    def append(self, rows: Any) -> None:
        """Add rows, shape (N, columns).

        Raises:
            BagError: the temporary file cannot be written.
        """
        rows = np.ascontiguousarray(rows, dtype=self._dtype)
        self._waiting.append(rows)
        self._rows += len(rows)
        self._size += rows.nbytes
        if self._size > IN_MEMORY and self._columns:
            self._write()

    def _write(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix='kron_dynamics')  # noqa: SIM115
            for rows in self._waiting:
                self._file.write(rows.data)
            self._file.flush()
        except OSError as error:
            raise BagError(
                f'a long bag needs a temporary file in {tempfile.gettempdir()}: {error}; set '
                'TMPDIR to a folder with more room'
            ) from error
        self._waiting, self._size = [], 0

    def table(self) -> Any:
        """Return the table, shape (N, columns); read-only if it is in a file."""
        if self._file is None:
            empty = np.empty((0, self._columns), dtype=self._dtype)
            return np.concatenate([empty, *self._waiting])
        self._write()
        mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        self._file.close()
        _maps.add(mapped)
        return np.frombuffer(mapped, self._dtype).reshape(self._rows, self._columns)


def release() -> None:
    """Release the memory of memory-mapped tables; their pages are read again when needed."""
    for mapped in list(_maps):
        if hasattr(mmap, 'MADV_DONTNEED'):
            mapped.madvise(mmap.MADV_DONTNEED)
