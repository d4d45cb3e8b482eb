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


def find_bags(places: Sequence[str | Path], *, besides: Path | None = None) -> list[FoundBag]:
    """Return the bags at and below some paths, sorted by name.

    A folder with ``metadata.yaml`` is a bag, and so is a folder whose files are named after it, as
    a killed recorder leaves it. Any other ``.mcap`` or ``.db3`` file is a bag by itself. Links are
    followed, but no recording is taken twice.

    Args:
        places: paths of folders or bags.
        besides: a folder that is not searched.

    Raises:
        BagError: a path does not exist, or there is no bag at all.
    """
    wholes = []
    for place in map(Path, places):
        if not place.exists():
            raise BagError(f"no bag or folder at '{place}'")
        wholes.append(place.resolve())
    seen = {besides.resolve()}.difference(wholes) if besides else set()
    found, links = list[Path](), list[Path]()
    for whole in wholes:
        found += _below(whole, seen, links)
    for link in links:  # behind them there may be more
        found += _below(link, seen, links)
    if not found:
        raise BagError(f'no bag in {", ".join(str(place) for place in places)}')
    root = Path(os.path.commonpath([each.parent if _is_bag(each) else each for each in wholes]))
    folders = {path.resolve() for path in found if path.is_dir()}
    bags = [
        FoundBag(path.relative_to(root).as_posix(), path)
        for path in found
        if path.is_dir() or path.resolve().parent not in folders
    ]
    return sorted(bags)


def _below(place: Path, seen: set[Path], links: list[Path]) -> list[Path]:
    """Return the bags at and below a place that are not seen yet.

    Links below it are added to a list for later: a bag has the name of its real place, if that is
    searched, whatever links there are.
    """
    real = place.resolve()
    if real in seen:
        return []
    seen.add(real)
    if _is_bag(real):
        return [place]
    found = []
    below = (each for each in place.iterdir() if each.is_dir() and not each.name.startswith('.'))
    for entry in sorted([*below, *storage_files(place)]):
        if entry.is_symlink():
            links.append(entry)
        else:
            found += _below(entry, seen, links)
    return found


def _is_bag(path: Path) -> bool:
    """Return whether a path is a file or a bag of a recorder, closed properly or not."""
    if path.is_file() or (path / 'metadata.yaml').exists():
        return True
    own = re.compile(rf'{re.escape(path.name)}(_\d+)?')
    stored = storage_files(path)
    return bool(stored) and all(own.fullmatch(bare_name(file)) for file in stored)
