# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Where kernels are kept: any umask, folders full, refused or removed, processes that die."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kron_dynamics.kernels import cache, cache_folder, kernel_factory
from kron_dynamics.kernels.cache_folder import cache_directory, work_folder

pytestmark = [pytest.mark.hurried, pytest.mark.usefixtures('compiled_once')]


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing had been warned of or given up yet."""
    monkeypatch.setattr(cache_folder, '_temporary', [])
    monkeypatch.setattr(cache, '_given_up', {})


@pytest.fixture
def make_product(make_kernel: Any) -> Callable[[], Any]:
    return lambda: make_kernel('folder', lambda x: [x[0] * x[1]], ('x', 2))


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


def test_directory_is_made_private(own_cache: Path) -> None:
    assert cache_directory() == own_cache
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700


def test_directory_below_xdg_cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('KRON_DYNAMICS_CACHE')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    assert cache_directory() == tmp_path / 'kron_dynamics'


def test_user_without_a_home_needs_none(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, make_product: Any
) -> None:
    def no_home() -> Path:
        raise RuntimeError('Could not determine home directory.')

    monkeypatch.delenv('XDG_CACHE_HOME', raising=False)
    monkeypatch.setattr(Path, 'home', no_home)
    assert cache_directory() == own_cache
    monkeypatch.delenv('KRON_DYNAMICS_CACHE')
    assert make_product()([2.0, 3.0]) == [6.0]


def file_in_place(path: Path) -> None:
    path.write_text('a file stands here', encoding='utf-8')


def dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name('nowhere'))


def link(path: Path) -> None:
    path.with_name('real').mkdir(mode=0o700)
    path.symlink_to(path.with_name('real'))


def writable_for_the_group(path: Path) -> None:
    path.mkdir()
    path.chmod(0o770)


def writable_for_all(path: Path) -> None:
    path.mkdir()
    path.chmod(0o707)


REFUSED = {
    file_in_place: 'is no folder',
    dangling_link: 'is a symbolic link',
    link: 'is a symbolic link',
    writable_for_the_group: 'can be written by others, mode 770',
    writable_for_all: 'can be written by others, mode 707',
}


@pytest.mark.parametrize('make', REFUSED, ids=lambda make: make.__name__)
def test_refused_folder_is_said_once_and_replaced(
    make: Any, own_cache: Path, make_product: Any, make_kernel: Any, caplog: Any
) -> None:
    make(own_cache)
    before = sorted(own_cache.iterdir()) if own_cache.is_dir() else None
    first, second = make_product(), make_product()
    other = make_kernel('other', lambda x: [x[0] + x[1]], ('x', 2))
    assert (first([2.0, 3.0]), other([2.0, 3.0])) == ([6.0], [5.0])
    assert (first.report.cached, second.report.cached) == (False, True)
    (folder,) = cache_folder._temporary
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (warning,) = warnings_of(caplog)
    assert f'{own_cache} {REFUSED[make]}' in warning
    assert str(folder) in warning
    assert '\n' not in warning
    assert (sorted(own_cache.iterdir()) if own_cache.is_dir() else None) == before


def test_folder_of_somebody_else_is_refused(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_cache.mkdir(mode=0o700)
    me = os.getuid()
    monkeypatch.setattr(os, 'getuid', lambda: me + 1)
    with pytest.raises(PermissionError, match=f'belongs to user {me}'):
        cache_directory()


def test_folder_that_nothing_is_executed_from_is_refused(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_cache.mkdir(mode=0o700)

    class Mounted:
        f_flag = os.ST_NOEXEC

    monkeypatch.setattr(os, 'statvfs', lambda path: Mounted)
    with pytest.raises(PermissionError, match='noexec'):
        cache_directory()


def fail_to_write(monkeypatch: pytest.MonkeyPatch, folder: Path, code: int) -> None:
    """Let nothing be opened for writing below a folder, as on a full or read-only disk."""
    opened = os.open

    def refuse(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if flags & os.O_CREAT and folder in Path(os.fspath(path)).parents:
            raise OSError(code, os.strerror(code), str(path))
        return opened(path, flags, *args, **options)

    monkeypatch.setattr(os, 'open', refuse)


@pytest.mark.parametrize('code', [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_kernels_are_read_where_they_cannot_be_written(
    code: int,
    own_cache: Path,
    make_product: Any,
    make_kernel: Any,
    caplog: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_product()
    before = sorted(own_cache.iterdir())
    fail_to_write(monkeypatch, own_cache, code)
    assert make_product().report.cached
    assert warnings_of(caplog) == []
    for name in ('one', 'two'):
        kernel = make_kernel(name, lambda x: [x[0] - x[1]], ('x', 2))
        assert kernel([2.0, 3.0]) == [-1.0]
    (warning,) = warnings_of(caplog)
    assert os.strerror(code) in warning
    assert make_product().report.cached
    assert sorted(own_cache.iterdir()) == before


def test_with_nowhere_to_write_kernels_are_not_compiled(
    own_cache: Path, tmp_path: Path, make_kernel: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    kernel_factory._warn_not_compiled.cache_clear()
    fail_to_write(monkeypatch, tmp_path, errno.ENOSPC)
    for name in ('one', 'two'):
        kernel = make_kernel(name, lambda x: [x[0] - x[1]], ('x', 2))
        assert kernel.report.source == 'numpy'
        assert kernel([2.0, 3.0]) == [-1.0]
    monkeypatch.undo()
    *_, warning = warnings_of(caplog)
    assert len(warnings_of(caplog)) <= 2  # the first is of the folder that was refused
    assert re.search('no folder for .*: .*No space left.*; kernels run as NumPy code', warning)


def test_compiler_on_a_full_disk(
    own_cache: Path, fake_compiler: Any, make_product: Any, caplog: Any, monkeypatch: Any
) -> None:
    """It fails in its own words, and then there is no room for anything else either."""
    fake_compiler(f'case "$*" in *{own_cache}/*) echo "Platte voll"; exit 1;; esac\nexec cc "$@"')
    opened = open

    def full(path: Any, *args: Any, **options: Any) -> Any:
        if own_cache in Path(str(path)).parents and 'w' in str(args):
            if Path(str(path)).name == 'room':
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return opened(path, *args, **options)

    monkeypatch.setattr(cache, 'open', full, raising=False)
    assert make_product()([2.0, 3.0]) == [6.0]
    (warning,) = warnings_of(caplog)
    assert 'No space left' in warning


def test_folder_that_is_removed_meanwhile_is_made_again(
    own_cache: Path, make_kernel: Any, caplog: Any, fake_compiler: Any
) -> None:
    first = make_kernel('first', lambda x: [x[0]], ('x', 1))
    shutil.rmtree(own_cache)
    mark = own_cache.with_name('mark')
    # In the middle of a compilation, the first time.
    fake_compiler(f'[ -e {mark} ] || {{ touch {mark}; rm -rf {own_cache}; }}\nexec cc "$@"')
    second = make_kernel('second', lambda x: [x[0] + 1.0], ('x', 1))
    assert (first([2.0]), second([2.0])) == ([2.0], [3.0])
    assert mark.exists()
    assert warnings_of(caplog) == []
    assert make_kernel('second', lambda x: [x[0] + 1.0], ('x', 1)).report.cached


def test_work_of_older_versions_is_removed_when_it_must_be_over(own_cache: Path) -> None:
    cache_directory()
    young, old = own_cache / 'build_young', own_cache / 'build_old'
    for folder in (young, old):
        folder.mkdir()
    os.utime(old, (time.time() - 7200,) * 2)
    with work_folder(own_cache):
        assert (young.exists(), old.exists()) == (True, False)


def test_lock_is_free_while_a_forked_process_lives(own_cache: Path) -> None:
    cache_directory()
    lock = own_cache / 'a.lock'
    with cache_folder.locked(lock):
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
    try:
        with open(lock, 'r+b') as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_locks_do_not_pile_up(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = set()

    def fetch(keys: Any, build: Any, load: Any, lock: str, origins: Any) -> dict[str, Any]:
        names.add(lock)
        return {}

    monkeypatch.setattr(kernel_factory, 'fetch', fetch)
    monkeypatch.setattr(kernel_factory, 'forget_changed', lambda: None)
    model: Any = object()
    for k in range(1000):
        kernel_factory.make_kernels([], model, f'robot {k}')
    assert 200 < len(names) <= 256


def test_temporary_folder_that_vanished_is_replaced(own_cache: Path, make_product: Any) -> None:
    own_cache.touch()
    make_product()
    shutil.rmtree(cache_folder._temporary[0])
    np.testing.assert_array_equal(make_product()([2.0, 3.0]), [6.0])
    assert tempfile.gettempdir() in str(cache_folder._temporary[-1])
