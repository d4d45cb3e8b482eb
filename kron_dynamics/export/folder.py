# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Writing an export to a folder, where it replaces nothing but an earlier export."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kron_dynamics.arguments import instance
from kron_dynamics.exceptions import KronDynamicsError, ParameterError
from kron_dynamics.export.library import MANIFEST, Library


def write_export(library: Library, folder: str | Path) -> list[Path]:
    """Write a library to a folder and return the paths of its files.

    The folder is new or empty, or holds an earlier export whose files are as they were written:
    these are replaced, and removed where they are no longer needed. Other files stay.

    Raises:
        ArgumentTypeError: an argument is of another kind.
        ParameterError: the folder holds something else, or a file that was changed; nothing has
            been written then.
        KronDynamicsError: the system does not let it be written.
    """
    instance(library, Library, 'library', 'a Library of export_library')
    instance(folder, (str, Path), 'folder', 'the path of a folder')
    folder = Path(folder)
    files = library.files()
    try:
        earlier = _earlier(folder, files)
        for name, text in files.items():
            _write(folder / name, text)
        for name in earlier:
            if name not in files:
                (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise KronDynamicsError(
            f"'{error.filename or folder}' cannot be written: {error.strerror or error}"
        ) from error
    return [folder / name for name in files]


def _earlier(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Files of an earlier export there, which may go.

    Raises:
        ParameterError: the folder holds something else.
    """
    if not folder.exists() and not folder.is_symlink():
        return []
    if not folder.is_dir():
        raise ParameterError(f"output '{folder}' is a file, expected a folder")
    if not any(folder.iterdir()):
        return []
    written = _written(folder)
    for name in {**written, **files}:
        path = folder / name
        if name == MANIFEST or not (path.exists() or path.is_symlink()):
            continue
        if name not in written:
            raise ParameterError(
                f"output '{folder}' holds '{name}', which is not from an export: nothing is "
                f'overwritten'
            )
        if path.is_symlink() or not path.is_file() or _digest(path) != written[name]:
            raise ParameterError(
                f"output '{folder}' holds '{name}', which was changed since it was exported: "
                f'nothing is overwritten; move it away, or export to another folder'
            )
    return [*written]


def _written(folder: Path) -> dict[str, str]:
    """Names of what an export has written there, with their digests."""
    path = folder / MANIFEST
    try:
        if path.is_symlink():
            raise ValueError
        files = json.loads(path.read_text(encoding='utf-8'))['files']
        found = {str(name): str(digest) for name, digest in files.items()}
        if any(Path(name).is_absolute() or '..' in Path(name).parts for name in found):
            raise ValueError
        return found
    except FileNotFoundError:
        raise ParameterError(
            f"output '{folder}' holds other files, expected a new or empty folder, or an earlier "
            f'export: nothing is overwritten'
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ParameterError(
            f"output '{folder}' holds a '{MANIFEST}' that is not from an export: nothing is "
            f'overwritten'
        ) from None


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write(path: Path, text: str) -> None:
    """Write a file as a whole: whoever reads it meanwhile has the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, made = tempfile.mkstemp(dir=path.parent, prefix='.', suffix=path.name)
    try:
        with os.fdopen(handle, 'w', encoding='utf-8', newline='\n') as stream:
            stream.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(made, 0o666 & ~mask)
        os.replace(made, path)
    except BaseException:
        os.unlink(made)
        raise
