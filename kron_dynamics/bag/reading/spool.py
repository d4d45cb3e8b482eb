# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Growing tables: in memory while they are small, else in a memory-mapped temporary file.

Columns are contiguous: most steps of an analysis read one column of a joint state after the other.
"""

from __future__ import annotations

import errno
import mmap
import tempfile
import weakref
from typing import IO, Any

import numpy as np

from kron_dynamics.exceptions import BagError

# Largest size in bytes of the part of a table that is held in memory.
IN_MEMORY = 16_000_000
# Rows for which a file has room, relative to those that it holds when room is made: what is not
# written takes no space on the disk. Less where files of this size are not allowed.
_ROOM = (16, 4, 2)
_PIECE = 16_000_000  # bytes that are moved together
_maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


class Spool:
    """A table of numbers that is written first, row by row, and then read, mostly by columns."""

    def __init__(self, dtype: type[Any], columns: int) -> None:
        """Begin an empty table.

        Args:
            dtype: type of the numbers.
            columns: number of columns.
        """
        self._dtype, self._columns = np.dtype(dtype), columns
        self._waiting: list[Any] = []  # parts of the table, shape (columns, N) each
        self._size, self._rows = 0, 0
        self._file: IO[bytes] | None = None
        self._written, self._room = 0, 0  # rows in the file, and for which each column has room

    def append(self, rows: Any) -> None:
        """Add rows, shape (N, columns).

        Raises:
            BagError: the temporary file cannot be written.
        """
        columns = np.ascontiguousarray(np.transpose(rows), dtype=self._dtype)
        self._waiting.append(columns)
        self._rows += columns.shape[1]
        self._size += columns.nbytes
        if self._size > IN_MEMORY:
            self._write()

    def _write(self) -> None:
        """Write what is waiting behind the rows in the file."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix='kron_dynamics')  # noqa: SIM115
            if self._rows > self._room:
                self._make_room(self._file)
            for column in range(self._columns):
                self._file.seek((column * self._room + self._written) * self._dtype.itemsize)
                self._file.write(np.concatenate([part[column] for part in self._waiting]).data)
            self._file.flush()
        except OSError as error:
            raise _refused(error) from error
        self._waiting, self._size, self._written = [], 0, self._rows

    def _make_room(self, file: IO[bytes]) -> None:
        """Move the columns in the file apart, each to have room for more rows."""
        size, room = self._written * self._dtype.itemsize, 0
        for factor in _ROOM:
            room = factor * self._rows
            try:
                file.truncate(self._columns * room * self._dtype.itemsize)
                break
            except OSError:
                if factor == _ROOM[-1]:
                    raise
        # From the last to the first: no column is moved to where another one is still to be read.
        for column in range(self._columns - 1, 0, -1):
            old, new = (column * each * self._dtype.itemsize for each in (self._room, room))
            for first in range(0, size, _PIECE):
                file.seek(old + first)
                piece = file.read(min(_PIECE, size - first))
                file.seek(new + first)
                file.write(piece)
        self._room = room

    def table(self) -> Any:
        """Return the table, shape (N, columns), contiguous along N.

        It is read-only if it is in a file.

        Raises:
            BagError: the temporary file cannot be written or mapped.
        """
        if self._file is None:
            empty = np.empty((self._columns, 0), dtype=self._dtype)
            return np.concatenate([empty, *self._waiting], axis=1).T
        if self._waiting:
            self._write()
        try:
            mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise _refused(error) from error
        self._file.close()
        _maps.add(mapped)
        columns = np.frombuffer(mapped, self._dtype).reshape(self._columns, self._room)
        return columns[:, : self._rows].T


def _refused(error: OSError) -> BagError:
    """Return the error of a temporary file that the system refuses, with a remedy."""
    remedy = {
        errno.EFBIG: 'allow larger files (ulimit -f)',
        errno.EMFILE: 'allow more open files (ulimit -n)',
    }.get(error.errno or 0, 'set TMPDIR to a folder with more room')
    where = f' in {tempfile.tempdir}' if tempfile.tempdir else ''  # none if none is usable
    return BagError(f'a long bag needs a temporary file{where}: {error}; {remedy}')


def release() -> None:
    """Release the memory of memory-mapped tables; their pages are read again when needed."""
    for mapped in list(_maps):
        if hasattr(mmap, 'MADV_DONTNEED'):
            mapped.madvise(mmap.MADV_DONTNEED)
