# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Files of the cache that must not be loaded: everything that was altered is built again."""

from __future__ import annotations

import json
import os
import random
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cache_builder import CONTENT, Builder, fetch_one, file_digest

from kron_dynamics.kernels import cache
from kron_dynamics.kernels.cache_folder import write_private


@pytest.fixture
def folder(own_cache: Path) -> Path:
    own_cache.mkdir(mode=0o700)
    return own_cache


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


def test_no_flipped_bit_is_believed(folder: Path) -> None:
    builder = Builder()
    library, entry, _ = fetch_one('key', builder, folder)
    record = folder / 'key.json'
    drawn = random.Random(2019)
    for count in range(100):
        file = drawn.choice((library, record))
        content = bytearray(file.read_bytes())
        content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
        file.write_bytes(content)
        again, entry_again, cached = fetch_one('key', builder, folder)
        assert (again, entry_again, cached, builder.count) == (library, entry, False, count + 2)
        assert library.read_bytes() == CONTENT + b'key'
