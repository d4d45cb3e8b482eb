# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether paths name the same recording: by its files, not by its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kron_dynamics.bag.reading.storage_files import files_of
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.messages import clipped


def require_distinct(bags: Sequence[str | Path]) -> None:
    """Check that no recording, and no file of one, is given twice.

    What is both trained on and validated on is explained too well, and what is counted twice has
    too narrow intervals.

    Args:
        bags: folders or files; those that do not exist are left to their reader.

    Raises:
        ParameterError: two of them have a file in common.
    """
    seen: dict[tuple[int, int], Path] = {}
    for bag in map(Path, bags):
        for file in files_of(bag) if bag.exists() else ():
            status = file.stat()  # whatever links lead to it
            other = seen.setdefault((status.st_dev, status.st_ino), bag)
            if other is not bag:
                first, second = clipped(str(other)), clipped(str(bag))
                what = 'is given twice' if first == second else f"and '{second}' are the same"
                raise ParameterError(f"recording '{first}' {what}, expected different ones")
