# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Search for bags below folders; their names do not depend on where the folders are."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kron_dynamics.bag.reading.storage_files import bare_name, pending_journal, storage_files
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

    def files(self) -> list[Path]:
        """Return the files of the bag, in a fixed order."""
        if not self.path.is_dir():
            stored = [self.path]
        else:
            stored = sorted([*storage_files(self.path), *self.path.glob('metadata.yaml')])
        return [*stored, *filter(None, map(pending_journal, stored))]


def find_bags(places: Sequence[str | Path], *, besides: Path | None = None) -> list[FoundBag]:
    """Return the bags at and below some paths, sorted by name.

    A folder with ``metadata.yaml`` is a bag, and so is a folder whose files are named after it, as
    a killed recorder leaves it. Any other ``.mcap`` or ``.db3`` file is a bag by itself.

    Args:
        places: paths of folders or bags.
        besides: a folder that is not searched.

    Raises:
        BagError: a path does not exist, or there is no bag at all.
    """
    found: set[Path] = set()
    folders = []
    for place in map(Path, places):
        if not place.exists():
            raise BagError(f"no bag or folder at '{place}'")
        whole = place.resolve()
        below = _below(whole, besides.resolve() if besides else None)
        folders.append(whole.parent if below == [whole] else whole)
        found |= set(below)
    if not found:
        raise BagError(f'no bag in {", ".join(str(place) for place in places)}')
    root = Path(os.path.commonpath(folders))
    bags = [FoundBag(path.relative_to(root).as_posix(), path) for path in found]
    return sorted(bags)


def _below(place: Path, besides: Path | None) -> list[Path]:
    if place.is_file():
        return [place]
    if _is_bag(place):
        return [place]
    found = []
    for entry in sorted(place.iterdir()):
        if entry == besides or entry.name.startswith('.'):
            continue
        if entry.is_dir() and not entry.is_symlink():
            found += _below(entry, besides)
    return found + storage_files(place)


def _is_bag(folder: Path) -> bool:
    """Return whether a folder is a bag of a recorder, closed properly or not."""
    if (folder / 'metadata.yaml').exists():
        return True
    own = re.compile(rf'{re.escape(folder.name)}(_\d+)?')
    stored = storage_files(folder)
    return bool(stored) and all(own.fullmatch(bare_name(file)) for file in stored)
