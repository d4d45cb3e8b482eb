# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Files that an option names for results: never an input, and earlier contents are kept."""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from kron_dynamics.cli.streams import writing
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.folder_locks import locked, work_folder

# They may be files, which the shell has opened and goes on writing.
_STREAMS = re.compile(r'/dev/(stdout|stderr|fd/[0-9]+)|/proc/[^/]+/fd/[0-9]+')
_INPUTS = ('urdf', 'flexible', 'constraints', 'bag')


def check_outputs(arguments: argparse.Namespace, *options: str) -> None:
    """Check before the work that no output is an input or another output.

    Args:
        arguments: parsed arguments.
        options: names of the options that name a file to write.

    Raises:
        ParameterError: an output would replace another file of the command; the message names it.
    """
    taken = {
        path.resolve(): f'the input {path}'
        for path in (getattr(arguments, name, None) for name in _INPUTS)
        if path is not None
    }
    for name in options:
        path: Path | None = getattr(arguments, name)
        if path is not None:
            option, place = f'--{name.replace("_", "-")}', path.resolve()
            if place in taken:
                raise ParameterError(f'{option} is {taken[place]}, expected another file')
            taken[place] = f'the file of {option}'


@contextlib.contextmanager
def output_file(path: Path, kept: list[str]) -> Iterator[Path]:
    """Context of a new file that takes the path's place when it is complete.

    A file there with other contents is renamed to NAME~. The new file has
    its permissions. Devices, pipes and standard streams are written directly.

    Args:
        path: file to write; its folder is created if it does not exist.
        kept: list to which a note about a renamed file is added.

    Raises:
        KronDynamicsError: the file cannot be written; everything is as it was.
    """
    with writing(path):
        if _STREAMS.fullmatch(str(path)) or (path.exists() and not path.is_file()):
            yield path
            return
        place = path.resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        with work_folder(place.parent) as folder:
            work = folder / place.name
            yield work
            with locked(place.parent):
                _put(work, place, kept)


def _put(work: Path, place: Path, kept: list[str]) -> None:
    """Move a file to its place, with the permissions of what is there, which is kept."""
    if not place.exists():
        work.replace(place)
        return
    shutil.copymode(place, work)
    if place.read_bytes() == work.read_bytes():
        work.replace(place)
        return
    from kron_dynamics.bag.outputs.earlier_files import free_name  # imports a lot

    other = free_name(place)
    place.rename(other)
    try:
        work.replace(place)
    except OSError:
        other.rename(place)
        raise
    kept.append(f'{place.name} had other contents: kept as {other.name}')
