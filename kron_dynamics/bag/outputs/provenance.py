# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Provenance of an analysis: input files, options and versions, as needed to reproduce it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from kron_dynamics import __version__
from kron_dynamics.bag.analysis import BagAnalysis
from kron_dynamics.bag.reading.storage_files import files_of

LIBRARIES = ('numpy', 'scipy', 'rosbags')


@dataclass(frozen=True)
class HashedFile:
    """An input file or text of an analysis.

    Attributes:
        name: path as it was given, or topic of a text.
        size: size in bytes.
        sha256: hash of its bytes, hexadecimal.
    """

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Provenance:
    """Inputs, options and versions of an analysis.

    Attributes:
        files: files of the bag, files named by options, then descriptions recorded in the bag.
        options: values of the options by name; files as text.
        versions: versions of the programs.
    """

    files: tuple[HashedFile, ...]
    options: dict[str, object]
    versions: dict[str, str]


def provenance_of(analysis: BagAnalysis, options: Mapping[str, object]) -> Provenance:
    """Return the provenance of an analysis.

    Args:
        analysis: the analysed bag.
        options: options of the analysis; files as paths.
    """
    named = [value for value in options.values() if isinstance(value, Path) and value.is_file()]
    texts = _recorded_texts(analysis)
    return Provenance(
        (*map(hashed, (*files_of(analysis.contents.path), *named)), *texts),
        {name: _plain(value) for name, value in options.items()},
        {
            'kron_dynamics': __version__,
            'python': platform.python_version(),
            **{name: metadata.version(name) for name in LIBRARIES},
        },
    )


def _recorded_texts(analysis: BagAnalysis) -> Iterable[HashedFile]:
    contents = analysis.contents
    for topics in (contents.robot_descriptions, contents.robot_constraints):
        for topic, texts in topics.items():
            for text in texts:
                data = text.encode()
                yield HashedFile(topic, len(data), hashlib.sha256(data).hexdigest())


def hashed(path: Path) -> HashedFile:
    """Return a file's name, size and hash."""
    with path.open('rb') as file:
        found = hashlib.sha256()
        while block := file.read(2**20):
            found.update(block)
    return HashedFile(str(path), path.stat().st_size, found.hexdigest())


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value
