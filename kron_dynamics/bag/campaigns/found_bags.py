# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Search for bags below folders; their names do not depend on where the folders are."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kron_dynamics.bag.reading.storage_files import bare_name, storage_files
from kron_dynamics.exceptions import BagError


class FoundBag(NamedTuple):
    """A bag of a campaign.

    Attributes:
        name: its path relative to the common folder of all places that were searched, with '/' as
            separator: bags that are added below them later change no name.
        path: its path: a folder or a single file.
    """

    name: str
    path: Path


def find_bags(
    places: Sequence[str | Path],
    *,
    besides: Path | None = None,
    unsearched: dict[str, str] | None = None,
) -> list[FoundBag]:
    """Return the bags at and below some paths, sorted by name.

    A folder with ``metadata.yaml`` is a bag, and so is a folder whose files are named after it, as
    a killed recorder leaves it. Any other ``.mcap`` or ``.db3`` file is a bag by itself. Links are
    followed, but no recording is taken twice.

    Args:
        places: paths of folders or bags.
        besides: a folder that is not searched.
        unsearched: takes the names of what cannot be searched, with the reasons.

    Raises:
        BagError: a path does not exist, or there is no bag at all.
    """
    wholes = []
    for place in map(Path, places):
        if not place.exists():
            raise BagError(f"no bag or folder at '{place}'")
        wholes.append(place.resolve())
    seen = {besides.resolve()}.difference(wholes) if besides else set()
    found, links, errors = list[Path](), list[Path](), dict[Path, OSError]()
    for whole in wholes:
        found += _below(whole, seen, links, errors)
    for link in links:  # behind them there may be more
        found += _below(link, seen, links, errors)
    if not found:
        why = ''.join(f'; {path} {_unsearched(error)}' for path, error in errors.items())
        raise BagError(f'no bag in {", ".join(str(place) for place in places)}{why}')
    root = Path(os.path.commonpath([each.parent if each in found else each for each in wholes]))
    if unsearched is not None:
        for path, error in errors.items():
            unsearched[path.relative_to(root).as_posix()] = _unsearched(error)
    folders = {path.resolve() for path in found if path.is_dir()}
    bags = [
        FoundBag(path.relative_to(root).as_posix(), path)
        for path in found
        if path.is_dir() or path.resolve().parent not in folders
    ]
    return sorted(bags)


def _below(
    place: Path, seen: set[Path], links: list[Path], errors: dict[Path, OSError]
) -> list[Path]:
    """Return the bags at and below a place that are not seen yet.

    Links below it are added to a list for later: a bag has the name of its real place, if that is
    searched, whatever links there are. What cannot be searched, such as a folder of another user,
    keeps nothing back but what is in it; the errors are added to those of other paths.
    """
    real = place.resolve()
    if real in seen:
        return []
    seen.add(real)
    try:
        if _is_bag(real):
            return [place]
        shown = [entry for entry in place.iterdir() if not entry.name.startswith('.')]
        stored = storage_files(place)
    except OSError as error:
        errors[place] = error
        return []
    found = []
    for entry in sorted(shown):
        try:
            leads_on = entry.is_dir() or entry in stored
        except OSError as error:
            errors[entry] = error
            continue
        if leads_on and entry.is_symlink():
            links.append(entry)
        elif leads_on:
            found += _below(entry, seen, links, errors)
    return found


def _unsearched(error: OSError) -> str:
    return f'cannot be searched: {error.strerror or error}'


def _is_bag(path: Path) -> bool:
    """Return whether a path is a file or a bag of a recorder, closed properly or not."""
    if path.is_file() or (path / 'metadata.yaml').exists():
        return True
    own = re.compile(rf'{re.escape(path.name)}(_\d+)?')
    stored = storage_files(path)
    return bool(stored) and all(own.fullmatch(bare_name(file)) for file in stored)
