# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The cache: hits, and everything that must not be loaded."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from cache_builder import CONTENT, Builder, fetch, fetch_one, file_digest

from kron_dynamics import KernelBuildError
from kron_dynamics.kernels import cache
from kron_dynamics.kernels.cache import (
    Built,
    CacheEntry,
    Found,
    cache_key,
)


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
