# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Outputs of an earlier analysis in a folder, which may be removed if its summary lists them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from kron_dynamics.bag.outputs.provenance import hashed

# Names and suffixes of files that an analysis writes.
_USUAL = ('report.html', 'analysis.mcap')
_SERIES = ('.csv', '.parquet')


def earlier_outputs(summary: Path) -> dict[str, str]:
    """Return the names and hashes of the output files that a summary lists.

    Args:
        summary: path of the summary; if it is not a summary, the result is empty.
    """
    try:
        found = json.loads(summary.read_text(encoding='utf-8'))['outputs']
        return {str(each['name']): str(each['sha256']) for each in found}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def remove_stale(folder: Path, earlier: Mapping[str, str], written: Collection[str]) -> list[str]:
    """Remove unchanged files of an earlier analysis; return their names.

    Args:
        folder: their folder.
        earlier: names and hashes from `earlier_outputs`.
        written: files that the current analysis has written, which are kept.
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
    """Return files that look like output of an analysis but were not just written.

    Args:
        folder: their folder.
        written: files that the current analysis has written.
    """
    return sorted(
        path.name
        for path in folder.iterdir()
        if path.name not in written and (path.name in _USUAL or path.suffix in _SERIES)
    )
