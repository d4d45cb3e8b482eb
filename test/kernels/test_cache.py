# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The cache: hits, and everything that must not be loaded."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kron_dynamics import KernelBuildError
from kron_dynamics.dynamics import mass_matrix
from kron_dynamics.kernels.cache import (
    CacheEntry,
    cache_directory,
    cache_key,
    fetch,
    file_digest,
)
from kron_dynamics.model import load_model

CONTENT = b'not really a library, but long enough to be cut'


class Builder:
    """Writes a fixed content and counts."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, target: Path) -> CacheEntry:
        self.count += 1
        target.write_bytes(CONTENT)
        return CacheEntry(file_digest(target), 3, (2, 2), 0.5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / 'kernels'
    path.mkdir(mode=0o700)
    return path


def test_second_fetch_is_a_hit(folder: Path) -> None:
    builder = Builder()
    library, entry, found = fetch('key', builder, folder)
    assert (library.read_bytes(), found, builder.count) == (CONTENT, False, 1)
    again, entry_again, found_again = fetch('key', builder, folder)
    assert (again, entry_again, found_again, builder.count) == (library, entry, True, 1)


def test_another_key_is_another_kernel(folder: Path) -> None:
    builder = Builder()
    first, _, _ = fetch('key', builder, folder)
    second, _, found = fetch('other', builder, folder)
    assert (first == second, found, builder.count) == (False, False, 2)


def test_files_are_for_the_user_alone_and_no_work_is_left(folder: Path) -> None:
    library, _, _ = fetch('key', Builder(), folder)
    assert stat.S_IMODE(library.stat().st_mode) == 0o600
    assert {path.suffix for path in folder.iterdir()} == {'.so', '.json', '.lock'}


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
)


@pytest.mark.parametrize('spoil', SPOILERS, ids=lambda spoil: spoil.__name__)
def test_spoilt_kernel_is_built_again(spoil: Callable[[Path, Path], None], folder: Path) -> None:
    builder = Builder()
    library, _, _ = fetch('key', builder, folder)
    spoil(library, folder / 'key.json')
    again, entry, found = fetch('key', builder, folder)
    assert (found, builder.count) == (False, 2)
    assert (again.read_bytes(), file_digest(again)) == (CONTENT, entry.digest)
    assert stat.S_IMODE(again.lstat().st_mode) == 0o600
    assert fetch('key', builder, folder)[2]


def test_somebody_elses_kernel_is_built_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = Builder()
    fetch('key', builder, folder)
    me = os.getuid()
    monkeypatch.setattr(os, 'getuid', lambda: me + 1)
    assert not fetch('key', builder, folder)[2]
    assert builder.count == 2


def test_failed_build_leaves_nothing_to_be_found(folder: Path) -> None:
    def fail(target: Path) -> CacheEntry:
        target.write_bytes(CONTENT)
        raise KernelBuildError('no')

    with pytest.raises(KernelBuildError):
        fetch('key', fail, folder)
    assert {path.suffix for path in folder.iterdir()} == {'.lock'}
    assert not fetch('key', Builder(), folder)[2]


def test_key_depends_on_every_part() -> None:
    keys = {cache_key('a', 'b'), cache_key('a', 'c'), cache_key('b', 'a'), cache_key('a')}
    assert len(keys) == 4
    assert all(set(key) <= set('0123456789abcdef') for key in keys)


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


PROCESS = """
import json, sys
import kron_dynamics as kd

robot = kd.load(sys.argv[1])
print('ready', flush=True)
sys.stdin.readline()
M = robot.mass_matrix([0.3, 0.7])
(report,) = robot.kernel_report()
print(json.dumps([report.source, report.cached, M.tolist()]), flush=True)
"""


class Process:
    """Another Python that waits for the word and then asks for a kernel."""

    def __init__(self, urdf: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, '-c', PROCESS, str(urdf)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == 'ready\n'

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write('go\n')
        self.process.stdin.flush()

    def answer(self) -> Any:
        output, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        return json.loads(output.splitlines()[-1])


def test_four_processes_at_once_build_once_and_mend_what_is_broken(
    own_cache: Path, fake_compiler: Any, tmp_path: Path, robot_text: Any, assert_close: Any
) -> None:
    log = tmp_path / 'compilations'
    fake_compiler(f'echo compiled >> "{log}"; exec cc "$@"')
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text(robot_text('planar_2r'), encoding='utf-8')

    processes = [Process(urdf) for _ in range(4)]
    for process in processes:
        process.wait_until_ready()
    for process in processes:
        process.go()
    answers = [process.answer() for process in processes]
    assert log.read_text(encoding='utf-8').splitlines() == ['compiled']
    assert sorted(cached for _, cached, _ in answers) == [False, True, True, True]
    assert {source for source, _, _ in answers} == {'c'}

    expected = mass_matrix(load_model(robot_text('planar_2r')), [0.3, 0.7])
    for _, _, M in answers:
        assert_close(M, expected)

    fifth = Process(urdf)
    fifth.go()
    assert fifth.answer()[:2] == ['c', True]

    (library,) = own_cache.glob('*.so')
    library.write_bytes(library.read_bytes()[: library.stat().st_size // 2])
    sixth = Process(urdf)
    sixth.go()
    assert sixth.answer() == ['c', False, answers[0][2]]
    assert len(log.read_text(encoding='utf-8').splitlines()) == 2
