# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The cache: hits, and everything that must not be loaded."""

from __future__ import annotations

import hashlib
import json
import os
import random
import socket
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
    cache_key,
)
from kron_dynamics.kernels.cache_folder import write_private

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


def fetch(keys: Sequence[str], build: Any, lock: str, folder: Path) -> dict[str, Found]:
    found = cache.fetch(keys, build, lambda key, kernel: None, lock)
    assert {kernel.library.parent for kernel in found.values()} <= {folder}
    return found


def fetch_one(key: str, build: Any, folder: Path) -> Found:
    return fetch([key], build, 'ab', folder)[key]


def file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def folder(own_cache: Path) -> Path:
    own_cache.mkdir(mode=0o700)
    return own_cache


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
    assert {path.name for path in folder.iterdir()} == {
        *(library.name, 'key.json'),
        *('ab.lock', 'work.lock'),
    }


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


def reseal(record: Path, fields: Any) -> None:
    """Write a record as the cache itself would."""
    text = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
    record.write_bytes(cache._seal(record.stem, text) + b'\n' + text)


def fields_of(record: Path) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(record.read_bytes().partition(b'\n')[2])
    return fields


def edit_record(library: Path, record: Path) -> None:
    record.write_bytes(record.read_bytes().replace(b'kernel_0', b'kernel_1'))


def exchange_record(library: Path, record: Path) -> None:
    other = record.with_name('other.json')
    fetch_one('other', Builder(), record.parent)
    assert other.exists()
    other.rename(record)


def seal_for_another_key(library: Path, record: Path) -> None:
    fields = fields_of(record)
    reseal(record.with_name('other.json'), fields)
    record.with_name('other.json').rename(record)


def nest_deeply(library: Path, record: Path) -> None:
    reseal(record, b'[' * 100_000 + b']' * 100_000)


def add_to_record(library: Path, record: Path) -> None:
    reseal(record, {**fields_of(record), 'extra': 1})


def change_record(field: str, value: Any) -> Callable[[Path, Path], None]:
    def change(library: Path, record: Path) -> None:
        reseal(record, {**fields_of(record), field: value})

    change.__name__ = f'change_{field}_to_{value}'
    return change


def put_in_place(make: Callable[[Path], Any], which: int) -> Callable[[Path, Path], None]:
    """Something that is no file where the library or the record was."""

    def spoil(*files: Path) -> None:
        files[which].unlink()
        make(files[which])

    spoil.__name__ = f'{make.__name__}_for_{("library", "record")[which]}'
    return spoil


def folder_with_a_file(path: Path) -> None:
    path.mkdir()
    (path / 'file').touch()


def pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def listening_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # names of sockets must be short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(here)


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name('nothing'))


def device(path: Path) -> None:
    path.symlink_to('/dev/zero')


def huge_file(path: Path) -> None:
    with open(path, 'wb') as file:
        file.truncate(1 << 40)  # of holes
    path.chmod(0o600)


def unreadable(path: Path) -> None:
    write_private(path, CONTENT)
    path.chmod(0)


def empty(path: Path) -> None:
    path.touch(0o600)


PLACES = (
    *(folder_with_a_file, pipe, listening_socket, link_to_nothing, device, huge_file),
    *(unreadable, empty),
)
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
    edit_record,
    exchange_record,
    seal_for_another_key,
    nest_deeply,
    *(put_in_place(place, which) for place in PLACES for which in (0, 1)),
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
    fstat = os.fstat

    def of_another(descriptor: int) -> os.stat_result:
        status = list(fstat(descriptor))
        status[stat.ST_UID] += 1
        return os.stat_result(status)

    monkeypatch.setattr(os, 'fstat', of_another)
    assert not fetch_one('key', builder, folder).cached
    assert builder.count == 2


def test_failed_build_leaves_nothing_to_be_found(folder: Path) -> None:
    def fail(keys: Sequence[str], work: Path) -> Mapping[str, Built]:
        (work / 'library.so').write_bytes(CONTENT)
        raise KernelBuildError('no')

    with pytest.raises(KernelBuildError):
        fetch(['a', 'b'], fail, 'ab', folder)
    assert {path.name for path in folder.iterdir()} == {'ab.lock', 'work.lock'}
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
        patch.setattr(os, 'replace', watch)
        with pytest.raises(KeyboardInterrupt):
            fetch(['a', 'b'], Builder(), 'ab', folder)
    assert moved == ['.so', '.json']
    assert {path.suffix for path in folder.iterdir()} == {'.so', '.lock'}
    assert not fetch_one('a', Builder(), folder).cached


def test_key_depends_on_every_part() -> None:
    keys = {cache_key('a', 'b'), cache_key('a', 'c'), cache_key('b', 'a'), cache_key('a')}
    assert len(keys) == 4
    assert all(set(key) <= set('0123456789abcdef') for key in keys)


def test_key_depends_on_machine_and_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    first = cache_key('a')
    assert cache_key('a') == first
    for place, name in (
        (cache.platform, 'machine'),
        (cache.platform, 'system'),
        (cache, 'sources_digest'),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, lambda: 'another')
            assert cache_key('a') != first
    assert cache_key('a') == first
    assert cache_key('a', origins=['kron_dynamics.exceptions']) != first


@pytest.mark.parametrize('error', [KernelBuildError('no'), OSError('no'), ImportError('no')])
def test_what_cannot_be_loaded_is_built_again(folder: Path, error: Exception) -> None:
    builder = Builder()
    fetch(['a', 'b'], builder, 'ab', folder)

    def load(key: str, kernel: Found) -> None:
        if key == 'b' and kernel.cached:
            raise error

    found = cache.fetch(['a', 'b'], builder, load, 'ab')
    assert builder.asked == [['a', 'b'], ['b']]
    assert {key: kernel.cached for key, kernel in found.items()} == {'a': True, 'b': False}


def test_new_kernel_that_cannot_be_loaded_is_an_error(folder: Path) -> None:
    def load(key: str, kernel: Found) -> None:
        raise KernelBuildError('no such function')

    with pytest.raises(KernelBuildError, match='no such function'):
        cache.fetch(['a'], Builder(), load, 'ab')


def test_no_flipped_bit_is_believed(folder: Path) -> None:
    builder = Builder()
    library, entry, _ = fetch_one('key', builder, folder)
    record = folder / 'key.json'
    drawn = random.Random(2019)
    for count in range(200):
        file = drawn.choice((library, record))
        content = bytearray(file.read_bytes())
        content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
        file.write_bytes(content)
        again, entry_again, cached = fetch_one('key', builder, folder)
        assert (again, entry_again, cached, builder.count) == (library, entry, False, count + 2)
        assert library.read_bytes() == CONTENT + b'key'
