# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Results beside those of an earlier run in a folder: only unchanged ones are replaced or removed.

The record of a run, a JSON file, lists the other files with their hashes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kron_dynamics.bag.outputs.provenance import HashedFile, hashed
from kron_dynamics.folder_locks import locked, work_folder

OUTPUTS, INPUTS = 'outputs', 'files'  # keys of lists in a record
# Names and suffixes of files that an analysis writes.
_USUAL = ('report.html', 'analysis.mcap')
_SERIES = ('.csv', '.parquet')
_WHY_KEPT = 'was edited, is not from the last run or is an input'
_OF_OTHERS = 'is of another recording'


@contextmanager
def new_results(
    folder: Path,
    record: str,
    notes: list[str],
    mark: str = OUTPUTS,
    *,
    removes: bool = True,
    inputs: Collection[Path] = (),
    recording: Collection[HashedFile] = (),
) -> Iterator[Path]:
    """Context of an empty folder for new files, which are put in place when all are complete.

    Files that the record of the last run lists are replaced or removed, unless they were edited
    or are inputs of this run. Any other file in the place of a new one is renamed to NAME~. After
    an error everything is as it was.

    Args:
        folder: folder of the results; created if it does not exist.
        record: name of the run's record.
        notes: list to which a note about each renamed file is added.
        mark: a key of every record, by which an earlier one is recognised.
        removes: whether listed files are removed that no new one replaces; False where names
            depend on the inputs, so that results of other inputs stay.
        inputs: files that this run has read; kept, whoever has written them.
        recording: files of the recording that the results are of. Those of a run whose record
            lists none of them, by name or content, are kept.

    Raises:
        OSError: the files cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with work_folder(folder) as work:
        yield work
        with locked(folder):
            found, why = _read(folder / record, mark), _WHY_KEPT
            earlier = _unchanged(folder, record, found)
            if earlier and _is_of_others(found, recording):
                earlier, why = set(), _OF_OTHERS
            own = {name for name in earlier if not _is_any(folder / name, inputs)}
            _put(work, folder, record, notes, own, why, removes)


def outputs_of(folder: Path, names: Iterable[str]) -> list[dict[str, object]]:
    """Return the list of files for a record.

    Args:
        folder: their folder.
        names: their names.
    """
    return [asdict(hashed(folder / name)) | {'name': name} for name in names]


def move_others(old: Path, new: Path, record: str, besides: str) -> None:
    """Move what is not an unchanged result from an old folder of results to a new one.

    A file that cannot be moved does not keep back the others.

    Args:
        old: the folder that will be removed; may be absent.
        new: the folder that has replaced it, on the same file system; files with the name of a new
            one are called NAME~.
        record: name of the runs' record.
        besides: name of another file of the run, which is not moved.

    Raises:
        OSError: a file cannot be moved; the first one.
    """
    if not old.is_dir():
        return
    failures = list[OSError]()
    own = {*_unchanged(old, record, _read(old / record, OUTPUTS)), besides}
    for path in sorted(old.iterdir()):
        if path.name not in own:
            target = new / path.name
            try:
                path.rename(free_name(target) if os.path.lexists(target) else target)
            except OSError as failure:
                failures.append(failure)
    if failures:
        raise failures[0]


def free_name(path: Path) -> Path:
    """Return the path with ~, ~2, ~3 or so on appended, which does not exist.

    Args:
        path: a file that keeps its folder.
    """
    number, other = 1, path.with_name(f'{path.name}~')
    while os.path.lexists(other):
        number += 1
        other = path.with_name(f'{path.name}~{number}')
    return other


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


def _put(
    work: Path, folder: Path, record: str, notes: list[str], own: set[str], why: str, removes: bool
) -> None:
    names = sorted((path.name for path in work.iterdir()), key=lambda name: name == record)
    for name in names:
        path = folder / name
        if name not in own and os.path.lexists(path):
            other = free_name(path)
            path.rename(other)
            notes.append(f'{name} {why}: kept as {other.name}')
    # The record comes last, when all files that it lists are in place.
    (folder / record).unlink(missing_ok=True)
    for name in own.difference(names) if removes else ():
        (folder / name).unlink(missing_ok=True)
    for name in names:
        (work / name).replace(folder / name)


def _read(record: Path, mark: str) -> dict[str, Any]:
    """Return the record of an earlier run; empty if there is none."""
    try:
        found = json.loads(record.read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return {}
    usable = isinstance(found, dict) and mark in found and not record.is_symlink()
    return found if usable else {}


def _unchanged(folder: Path, record: str, found: Mapping[str, Any]) -> set[str]:
    """Return the names of the files of an earlier run that are as it has written them.

    The record belongs to them; if there is none, there are no such files.
    """
    if not found:
        return set()
    try:
        listed = {str(each['name']): str(each['sha256']) for each in found.get(OUTPUTS, [])}
    except (TypeError, KeyError):
        return set()
    return {record} | {name for name, sha256 in listed.items() if _is_as(folder, name, sha256)}


def _is_of_others(found: Mapping[str, Any], recording: Collection[HashedFile]) -> bool:
    """Return whether a record lists inputs, but no file of a recording."""
    listed = found.get(INPUTS)
    if not (recording and isinstance(listed, list) and listed):
        return False
    own = [key for each in recording for key in (each.name, each.sha256)]
    return not any(
        isinstance(each, dict) and (each.get('name') in own or each.get('sha256') in own)
        for each in listed
    )


def _is_as(folder: Path, name: str, sha256: str) -> bool:
    """Return whether a name is that of a file in a folder itself, with a hash."""
    path = folder / name
    is_inside = path.parent == folder and path.is_file() and not path.is_symlink()
    return is_inside and hashed(path).sha256 == sha256


def _is_any(path: Path, others: Collection[Path]) -> bool:
    """Return whether a file is one of others, under whatever name."""
    return path.exists() and any(each.exists() and path.samefile(each) for each in others)
