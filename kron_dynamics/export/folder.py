# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Writing an export to a folder without overwriting anything but an earlier export."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from kron_dynamics.arguments import instance
from kron_dynamics.exceptions import KronDynamicsError, ParameterError
from kron_dynamics.export.library import MANIFEST, Library
from kron_dynamics.load_arguments import check_path


def write_export(library: Library, folder: str | Path) -> list[Path]:
    """Write a library to a folder and return the paths of its files.

    The folder must be new or empty, or hold an earlier export with unmodified files. These are
    replaced, or removed if they are no longer needed. Other files stay. If one file cannot be
    written, none is.

    Raises:
        ArgumentTypeError: an argument has a wrong type.
        ParameterError: the folder holds something else, or a modified file; nothing has been
            written then.
        KronDynamicsError: the operating system refuses to write a file.
    """
    instance(library, Library, 'library', 'a Library of export_library')
    check_path(folder, 'folder', 'the path of a folder')
    folder = Path(folder)
    files = library.files()
    try:
        earlier = _earlier(folder, files)
        with _all_or_none() as (made, folders):
            for name, text in files.items():
                _write(folder / name, text, made, folders)
        for name in earlier:
            if name not in files:
                (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise KronDynamicsError(
            f"'{error.filename or folder}' cannot be written: {error.strerror or error}"
        ) from error
    return [folder / name for name in files]


def _earlier(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Return the names of the files of an earlier export, after checking that they may go.

    Raises:
        ParameterError: the folder holds something else, or a modified file.
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
        # An export that was killed has left some of its files, which may be these.
        known = {written[name], *(_digest(files[new].encode()) for new in {name} & files.keys())}
        if path.is_symlink() or not path.is_file() or _digest(path.read_bytes()) not in known:
            raise ParameterError(
                f"output '{folder}' holds '{name}', which was changed since it was exported: "
                f'nothing is overwritten; move it away, or export to another folder'
            )
    return [*written]


def _written(folder: Path) -> dict[str, str]:
    """Return the digests by name of the files that an export has written to a folder.

    Raises:
        ParameterError: the manifest is missing or invalid.
    """
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


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@contextmanager
def _all_or_none() -> Iterator[tuple[list[tuple[str, Path]], list[Path]]]:
    """Move files to their final paths after all are written; restore the folder after an error.

    Yields:
        lists to fill: (temporary file, final path) of the written files, and created folders.
    """
    made: list[tuple[str, Path]] = []
    folders: list[Path] = []
    placed: list[Path] = []
    try:
        yield made, folders
        for temporary, path in made:
            with suppress(FileNotFoundError):
                _keep(path, _aside(temporary))
            os.replace(temporary, path)
            placed.append(path)
    except BaseException:
        for temporary, path in made:
            if path in placed:
                _restore(path, _aside(temporary))
            for left in (temporary, _aside(temporary)):
                with suppress(OSError):
                    os.unlink(left)
        for folder in reversed(folders):
            with suppress(OSError):  # another program has put something there
                folder.rmdir()
        raise
    for temporary, _ in made:
        with suppress(OSError):
            os.unlink(_aside(temporary))


def _aside(temporary: str) -> str:
    """Return where the earlier file waits until all new files are in place."""
    return f'{temporary}~'


def _keep(path: Path, aside: str) -> None:
    """Give an earlier file a second name, so that it is in its place until a new one is."""
    try:
        os.link(path, aside)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without hard links
        shutil.copy2(path, aside)


def _restore(path: Path, aside: str) -> None:
    """Put the earlier file back, or remove the new one if there was none."""
    try:
        os.replace(aside, path)
    except FileNotFoundError:
        with suppress(OSError):
            os.unlink(path)
    except OSError:
        pass


def _write(path: Path, text: str, made: list[tuple[str, Path]], folders: list[Path]) -> None:
    """Write a temporary file beside the final path, to be moved there atomically."""
    for folder in reversed([path.parent, *path.parent.parents]):
        if not folder.exists():
            folder.mkdir()
            folders.append(folder)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix='.', suffix=path.name)
    made.append((temporary, path))
    with os.fdopen(handle, 'w', encoding='utf-8', newline='\n') as stream:
        stream.write(text)
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(temporary, 0o666 & ~mask)
