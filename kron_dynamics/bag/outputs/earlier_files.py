# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What an earlier analysis has left in a folder: what it says it has written may be removed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from kron_dynamics.bag.outputs.provenance import hashed

# Files as an analysis writes them.
_USUAL = ('report.html', 'analysis.mcap')
_SERIES = ('.csv', '.parquet')


def earlier_outputs(summary: Path) -> dict[str, str]:
    """Return the names and hashes of the files that a summary says were written beside it.

    Args:
        summary: the file; where it is none, there are none.
    """
    try:
        found = json.loads(summary.read_text(encoding='utf-8'))['outputs']
        return {str(each['name']): str(each['sha256']) for each in found}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def remove_stale(folder: Path, earlier: Mapping[str, str], written: Collection[str]) -> list[str]:
    """Remove files of an earlier analysis that are as it left them; return their names.

    Args:
        folder: where they are.
        earlier: from `earlier_outputs`.
        written: files that the present analysis has written, which stay.
    """
    removed = []
    for name, sha256 in earlier.items():
        path = folder / name
        is_own = path.parent == folder and path.is_file() and not path.is_symlink()
        if name not in written and is_own and hashed(path).sha256 == sha256:
            path.unlink()
            removed.append(name)
    return removed


def foreign_results(folder: Path, written: Collection[str]) -> list[str]:
    """Return files that look like those of an analysis but are not of the one just written.

    Args:
        folder: where they are.
        written: files of that analysis.
    """
    return sorted(
        path.name
        for path in folder.iterdir()
        if path.name not in written and (path.name in _USUAL or path.suffix in _SERIES)
    )
