# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The cache: hits, and everything that must not be loaded."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kron_dynamics import KernelBuildError
from kron_dynamics.kernels import cache
from kron_dynamics.kernels.cache import (
    Built,
    CacheEntry,
    Found,
    cache_directory,
    cache_key,
    equations_digest,
    fetch,
    file_digest,
)

CONTENT = b'not really a library, but long enough to be cut'


class Builder:
    """Writes a fixed content and the first key; one library for all the keys it is given."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    @property
    def count(self) -> int:
        return len(self.asked)

    def __call__(self, keys: Sequence[str], folder: Path) -> Mapping[str, Built]:
        self.asked.append(list(keys))
        target = folder / 'library.so'
        target.write_bytes(CONTENT + keys[0].encode())
        return {
            key: Built(target, f'kernel_{k}', 3 + k, ((2, 2), ()), 0.5)
            for k, key in enumerate(keys)
        }


def fetch_one(key: str, build: Any, folder: Path) -> Found:
    return fetch([key], build, 'ab', folder)[key]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / 'kernels'
    path.mkdir(mode=0o700)
    return path


def test_second_fetch_is_a_hit(folder: Path) -> None:
    builder = Builder()
    library, entry, cached = fetch_one('key', builder, folder)
    assert (library.read_bytes(), cached, builder.count) == (CONTENT + b'key', False, 1)
    assert entry == CacheEntry(file_digest(library), 'kernel_0', 3, ((2, 2), ()), 0.5)
    again, entry_again, cached_again = fetch_one('key', builder, folder)
    assert (again, entry_again, cached_again, builder.count) == (library, entry, True, 1)


def test_another_key_is_another_kernel(folder: Path) -> None:
    builder = Builder()
    first, _, _ = fetch_one('key', builder, folder)
    second, _, cached = fetch_one('other', builder, folder)
    assert (first == second, cached, builder.count) == (False, False, 2)


def test_what_is_missing_is_built_at_once(folder: Path) -> None:
    builder = Builder()
    fetch(['b'], builder, 'ab', folder)
    found = fetch(['a', 'b', 'c'], builder, 'ab', folder)
    assert builder.asked == [['b'], ['a', 'c']]
    assert {key: kernel.cached for key, kernel in found.items()} == {
        'a': False,
        'b': True,
        'c': False,
    }
    # One library, two functions in it.
    assert found['a'].library == found['c'].library != found['b'].library
    assert [found[key].entry.symbol for key in 'ac'] == ['kernel_0', 'kernel_1']
    again = fetch(['c', 'a'], builder, 'ab', folder)
    assert {key: kernel.entry for key, kernel in again.items()} == {
        key: found[key].entry for key in 'ac'
    }
    assert builder.count == 2
    assert fetch([], builder, 'ab', folder) == {}


def test_all_kernels_of_a_spoilt_library_are_built_again(folder: Path) -> None:
    builder = Builder()
    found = fetch(['a', 'b'], builder, 'ab', folder)
    fetch(['c'], builder, 'ab', folder)
    found['a'].library.write_bytes(b'')
    assert not fetch_one('b', builder, folder).cached
    assert fetch_one('c', builder, folder).cached
    assert not fetch_one('a', builder, folder).cached
    assert all(kernel.cached for kernel in fetch(['a', 'b', 'c'], builder, 'ab', folder).values())
    assert builder.asked == [['a', 'b'], ['c'], ['b'], ['a']]


def test_files_are_for_the_user_alone_and_no_work_is_left(folder: Path) -> None:
    library, _, _ = fetch_one('key', Builder(), folder)
    assert stat.S_IMODE(library.stat().st_mode) == 0o600
    assert {path.name for path in folder.iterdir()} == {library.name, 'key.json', 'ab.lock'}


def truncate(library: Path, record: Path) -> None:
    library.write_bytes(CONTENT[:10])


def alter(library: Path, record: Path) -> None:
    library.write_bytes(CONTENT.replace(b'cut', b'cat'))


def let_the_group_write(library: Path, record: Path) -> None:
    library.chmod(0o660)


def let_everybody_write(library: Path, record: Path) -> None:
    library.chmod(0o606)


def let_the_group_write_the_record(library: Path, record: Path) -> None:
    record.chmod(0o660)


def link_elsewhere(library: Path, record: Path) -> None:
    library.rename(library.with_suffix('.real'))
    library.symlink_to(library.with_suffix('.real'))


def remove_library(library: Path, record: Path) -> None:
    library.unlink()


def remove_record(library: Path, record: Path) -> None:
    record.unlink()


def garble_record(library: Path, record: Path) -> None:
    record.write_text('{', encoding='ascii')


def add_to_record(library: Path, record: Path) -> None:
    fields = json.loads(record.read_text(encoding='ascii'))
    record.write_text(json.dumps({**fields, 'extra': 1}), encoding='ascii')


def change_record(field: str, value: Any) -> Callable[[Path, Path], None]:
    def change(library: Path, record: Path) -> None:
        fields = json.loads(record.read_text(encoding='ascii'))
        record.write_text(json.dumps({**fields, field: value}), encoding='ascii')

    change.__name__ = f'change_{field}_to_{value}'
    return change


SPOILERS = (
    truncate,
    alter,
    let_the_group_write,
    let_everybody_write,
    let_the_group_write_the_record,
    link_elsewhere,
    remove_library,
    remove_record,
    garble_record,
    add_to_record,
    change_record('library', ''),
    change_record('library', 'abcdef'),
    change_record('library', '../key'),
    change_record('library', ['a']),
    change_record('library', None),
    change_record('shapes', 4),
    change_record('shapes', [['a']]),
)


@pytest.mark.parametrize('spoil', SPOILERS, ids=lambda spoil: spoil.__name__)
def test_spoilt_kernel_is_built_again(spoil: Callable[[Path, Path], None], folder: Path) -> None:
    builder = Builder()
    library, _, _ = fetch_one('key', builder, folder)
    spoil(library, folder / 'key.json')
    again, entry, cached = fetch_one('key', builder, folder)
    assert (cached, builder.count) == (False, 2)
    assert (again.read_bytes(), file_digest(again)) == (CONTENT + b'key', entry.library)
    assert stat.S_IMODE(again.lstat().st_mode) == 0o600
    assert fetch_one('key', builder, folder).cached


def test_somebody_elses_kernel_is_built_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = Builder()
    fetch_one('key', builder, folder)
    me = os.getuid()
    monkeypatch.setattr(os, 'getuid', lambda: me + 1)
    assert not fetch_one('key', builder, folder).cached
    assert builder.count == 2


def test_failed_build_leaves_nothing_to_be_found(folder: Path) -> None:
    def fail(keys: Sequence[str], work: Path) -> Mapping[str, Built]:
        (work / 'library.so').write_bytes(CONTENT)
        raise KernelBuildError('no')

    with pytest.raises(KernelBuildError):
        fetch(['a', 'b'], fail, 'ab', folder)
    assert {path.suffix for path in folder.iterdir()} == {'.lock'}
    assert not fetch_one('a', Builder(), folder).cached


def test_libraries_are_there_before_their_records(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[str] = []
    replace = os.replace

    def watch(source: Any, target: Any) -> None:
        moved.append(Path(target).suffix)
        if len(moved) == 2:  # killed in the middle
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(cache.os, 'replace', watch)
        with pytest.raises(KeyboardInterrupt):
            fetch(['a', 'b'], Builder(), 'ab', folder)
    assert moved == ['.so', '.json']
    assert {path.suffix for path in folder.iterdir()} == {'.so', '.lock'}
    assert not fetch_one('a', Builder(), folder).cached


def test_key_depends_on_every_part() -> None:
    keys = {cache_key('a', 'b'), cache_key('a', 'c'), cache_key('b', 'a'), cache_key('a')}
    assert len(keys) == 4
    assert all(set(key) <= set('0123456789abcdef') for key in keys)


def test_key_depends_on_machine_and_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    first = cache_key('a')
    assert cache_key('a') == first
    for place, name in (
        (cache.platform, 'machine'),
        (cache.platform, 'system'),
        (cache, 'equations_digest'),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, lambda: 'another')
            assert cache_key('a') != first
    assert cache_key('a') == first


@pytest.mark.parametrize(
    'name',
    [
        *('kronecker.py', 'robot.py', 'frame.py', 'dynamics/inverse.py', 'kinematics/motion.py'),
        *('model/robot_model.py', 'kernels/emit.py', 'kernels/prelude.h', 'kernels/caller.c'),
    ],
)
def test_every_text_that_makes_kernels_is_in_the_digest(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = equations_digest.__wrapped__()
    assert equations_digest.__wrapped__() == first
    changed = Path(cache.__file__).parents[1] / name
    assert changed.is_file()
    read_bytes = Path.read_bytes
    monkeypatch.setattr(
        Path, 'read_bytes', lambda path: read_bytes(path) + b' ' * (path == changed)
    )
    assert equations_digest.__wrapped__() != first


def test_directory_is_made_private(own_cache: Path) -> None:
    assert cache_directory() == own_cache
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700


def test_directory_below_xdg_cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('KRON_DYNAMICS_CACHE')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    assert cache_directory() == tmp_path / 'kron_dynamics'


def test_directory_that_cannot_be_made_gives_a_temporary_one(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_cache.write_text('a file stands here', encoding='utf-8')
    for path in (own_cache, own_cache / 'below'):
        monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(path))
        assert cache_directory() == cache_directory()
        assert stat.S_IMODE(cache_directory().stat().st_mode) == 0o700
        assert own_cache not in (cache_directory(), *cache_directory().parents)


def test_directory_that_cannot_be_written_gives_a_temporary_one(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_cache.mkdir(mode=0o500)
    # Root may write everywhere; everybody else is told the truth.
    monkeypatch.setattr(os, 'access', lambda path, mode: Path(path) != own_cache)
    assert cache_directory() != own_cache


@pytest.mark.parametrize('mode', [0o770, 0o707])
def test_directory_that_others_can_write_gives_a_temporary_one(mode: int, own_cache: Path) -> None:
    own_cache.mkdir()
    own_cache.chmod(mode)
    assert cache_directory() != own_cache


def test_directory_of_somebody_else_gives_a_temporary_one(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_cache.mkdir(mode=0o700)
    me = os.getuid()
    monkeypatch.setattr(os, 'getuid', lambda: me + 1)
    assert cache_directory() != own_cache


def test_user_without_a_home_needs_none(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError('Could not determine home directory.')

    monkeypatch.delenv('XDG_CACHE_HOME', raising=False)
    monkeypatch.setattr(Path, 'home', no_home)
    assert cache_directory() == own_cache
    monkeypatch.delenv('KRON_DYNAMICS_CACHE')
    assert cache_directory().is_dir()
