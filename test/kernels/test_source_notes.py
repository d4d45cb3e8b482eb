# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Notes of what was read in source files: the same as reading, and only of files as they are."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from kron_dynamics.kernels import source_notes, sources
from kron_dynamics.kernels.source_notes import Note, SourceNotes
from kron_dynamics.kernels.sources import closure, keep_notes, sources_digest

ROOTS = ('kron_dynamics.kernels.kernel_factory', 'kron_dynamics.robot')


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(tmp_path / 'cache'))
    return tmp_path / 'cache'


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled however lately they have changed."""
    monkeypatch.setattr(source_notes, '_TICK', -(10**18))


def forget() -> None:
    """Know as little as another process."""
    for function in (sources._closure_digest, sources._module, sources._files, sources._notes):
        function.cache_clear()


def note_of(file: Path, digest: str = 'd') -> Note:
    status = file.stat()
    return Note(status.st_ctime_ns, status.st_size, digest, ('kron_dynamics.robot',))


def kept(file: Path) -> Path:
    """A file with a note that has been written."""
    file.write_text('x = 1\n', encoding='ascii')
    notes = SourceNotes('modules')
    notes.add(str(file), note_of(file))
    notes.keep()
    return file


def test_noted_is_what_is_read(
    cache: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    digest, modules = sources_digest(*ROOTS), closure(ROOTS)
    infos = {name: sources._module(name) for name in modules}
    keep_notes()
    assert len(modules) > 80
    read: list[str] = []
    monkeypatch.setattr(sources, '_imports', lambda text, package: read.append(package))
    forget()
    assert sources_digest(*ROOTS) == digest
    assert {name: sources._module(name) for name in modules} == infos
    assert not read
    monkeypatch.undo()
    forget()


def test_a_note_is_found_by_another_process(tmp_path: Path, at_once: None) -> None:
    file = kept(tmp_path / 'a.py')
    assert SourceNotes('modules').find(str(file), file.stat()) == note_of(file)


def test_a_file_that_has_changed_has_none(tmp_path: Path, at_once: None) -> None:
    file = kept(tmp_path / 'a.py')
    before = file.stat()
    file.write_text('x = 2\n', encoding='ascii')
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as it was, for who is fooled
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert SourceNotes('modules').find(str(file), file.stat()) is None
    other = kept(tmp_path / 'b.py')
    size = os.stat_result([*other.stat()[:6], 7, *other.stat()[7:]])
    assert SourceNotes('modules').find(str(other), size) is None


def test_a_file_that_may_change_unseen_is_not_noted(tmp_path: Path) -> None:
    file = kept(tmp_path / 'a.py')
    assert SourceNotes('modules').find(str(file), file.stat()) is None


def test_a_file_from_the_future_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was written before the clock went wrong."""
    monkeypatch.setattr(source_notes, 'time', SimpleNamespace(time_ns=lambda: 0))
    file = kept(tmp_path / 'a.py')
    assert SourceNotes('modules').find(str(file), file.stat()) == note_of(file)


def test_other_modules_have_other_imports(tmp_path: Path, at_once: None) -> None:
    file = kept(tmp_path / 'a.py')
    assert SourceNotes('one more').find(str(file), file.stat()) is None


@pytest.mark.parametrize(
    'content',
    [
        '',
        '{',
        '[]',
        '{}',
        '{"modules": "modules"}',
        '{"modules": "modules", "files": [1]}',
        '{"modules": "modules", "files": {"a": [1]}}',
        '{"modules": "modules", "files": {"a": ["x", 1, "d", []]}}',
        '\xff',
    ],
)
def test_what_is_no_note_counts_as_none(
    content: str, cache: Path, tmp_path: Path, at_once: None
) -> None:
    file = kept(tmp_path / 'a.py')
    (cache / 'sources.notes').write_bytes(content.encode('latin-1'))
    assert SourceNotes('modules').find(str(file), file.stat()) is None
    kept(file)
    assert SourceNotes('modules').find(str(file), file.stat()) is not None


def test_notes_of_somebody_else_are_not_believed(
    cache: Path, tmp_path: Path, at_once: None
) -> None:
    file = kept(tmp_path / 'a.py')
    (cache / 'sources.notes').chmod(0o666)
    assert SourceNotes('modules').find(str(file), file.stat()) is None


def test_without_a_folder_everything_is_read(cache: Path, tmp_path: Path, at_once: None) -> None:
    cache.write_text('no folder', encoding='ascii')
    file = kept(tmp_path / 'a.py')
    assert SourceNotes('modules').find(str(file), file.stat()) is None


def test_nothing_new_is_not_written_again(cache: Path, tmp_path: Path, at_once: None) -> None:
    kept(tmp_path / 'a.py')
    written = (cache / 'sources.notes').stat().st_ctime_ns
    notes = SourceNotes('modules')
    notes.keep()
    assert (cache / 'sources.notes').stat().st_ctime_ns == written
    assert json.loads((cache / 'sources.notes').read_text('ascii'))['modules'] == 'modules'


def test_files_that_are_gone_do_not_stay(cache: Path, tmp_path: Path, at_once: None) -> None:
    kept(tmp_path / 'a.py').unlink()
    other = kept(tmp_path / 'b.py')
    assert json.loads((cache / 'sources.notes').read_text('ascii'))['files'].keys() == {str(other)}
