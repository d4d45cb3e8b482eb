# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Files that a command writes: never one that it reads, and what was there is kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kron_dynamics.cli import main
from kron_dynamics.cli.output_files import output_file
from kron_dynamics.exceptions import KronDynamicsError

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ('arguments', 'told'),
    [
        ('tune s.urdf --bandwidth 1 --rate 100 --output ./s.urdf', '--output is the input s.urdf'),
        ('tune s.urdf --flexible f.yaml --bandwidth 1 --rate 100 --output link.yaml', 'f.yaml'),
        ('modes s.urdf --csv s.urdf', '--csv is the input s.urdf'),
        ('modes s.urdf --flexible f.yaml --plot s.urdf', '--plot is the input s.urdf'),
        ('modes s.urdf --csv new.svg --plot new.svg', '--plot is the file of --csv'),
        ('analyze b.mcap --urdf s.urdf --flexible f.yaml --update-flexible s.urdf', 's.urdf'),
        ('analyze b.mcap --flexible f.yaml --update-flexible b.mcap', 'the input b.mcap'),
    ],
)
def test_an_output_is_no_input(
    arguments: str,
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / 'urdf' / 'stacker_reclaimer.urdf', 's.urdf')
    shutil.copy(ROOT / 'config' / 'stacker_reclaimer_flexible.yaml', 'f.yaml')
    Path('link.yaml').symlink_to('f.yaml')
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert main(arguments.split()) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line and 'expected another file' in line
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_what_was_there_is_kept(tmp_path: Path) -> None:
    path, kept = tmp_path / 'new' / 'tuned.yaml', list[str]()
    for text in ('first', 'first', 'second', 'third'):
        with output_file(path, kept) as file:
            file.write_text(text)
    found = {each.name: each.read_text() for each in path.parent.iterdir()}
    assert found == {'tuned.yaml': 'third', 'tuned.yaml~': 'first', 'tuned.yaml~2': 'second'}
    assert kept == [
        f'tuned.yaml had other contents: kept as tuned.yaml{end}' for end in ('~', '~2')
    ]


def test_two_commands_at_the_same_time_write_whole_files(tmp_path: Path) -> None:
    path, kept = tmp_path / 'tuned.yaml', list[str]()
    with output_file(path, kept) as file:
        with output_file(path, kept) as other:
            file.write_text('first')
            other.write_text('second')
        assert path.read_text() == 'second'
    found = {each.name: each.read_text() for each in tmp_path.iterdir()}
    assert found == {'tuned.yaml': 'first', 'tuned.yaml~': 'second'} and len(kept) == 1


def test_after_a_failure_all_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / 'tuned.yaml'
    path.write_text('mine')
    with (
        pytest.raises(KronDynamicsError, match=r"tuned\.yaml' cannot be written: full"),
        output_file(path, []) as file,
    ):
        file.write_text('hal')
        raise OSError('full')
    assert [each.name for each in tmp_path.iterdir()] == ['tuned.yaml']
    assert path.read_text() == 'mine'


def test_permissions_stay_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / 'tuned.yaml'
    for text, mode in (('', 0o600), ('a', 0o640), ('b', 0o604)):
        path.touch()
        path.chmod(mode)
        with output_file(path, kept := list[str]()) as file:
            file.write_text(text)
        assert path.stat().st_mode & 0o777 == mode and bool(kept) == bool(text)


def test_what_cannot_be_put_in_place_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError('no')

    path, kept = tmp_path / 'tuned.yaml', list[str]()
    path.write_text('mine')
    monkeypatch.setattr(Path, 'replace', refuse)
    with (
        pytest.raises(KronDynamicsError, match='cannot be written: no'),
        output_file(path, kept) as file,
    ):
        file.write_text('new')
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {'tuned.yaml': 'mine'}
    assert kept == []


@pytest.mark.skipif(not Path('/dev/shm').is_dir(), reason='there are no files in memory')
def test_files_in_memory_are_files() -> None:
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        path, kept = Path(folder, 'tuned.yaml'), list[str]()
        path.write_text('mine')
        with output_file(path, kept) as file:
            file.write_text('new')
        assert kept == ['tuned.yaml had other contents: kept as tuned.yaml~']


@pytest.mark.parametrize('sink', ['pipe', 'file'])
def test_devices_and_pipes_are_written_directly(sink: str, tmp_path: Path) -> None:
    code = (
        'import pathlib, kron_dynamics.cli.output_files as o\n'
        'for name in "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":\n'
        '    with o.output_file(pathlib.Path(name), []) as file, file.open("a") as out:\n'
        '        out.write("told")\n'
    )
    command = [sys.executable, '-c', code]
    path = tmp_path / 'out'
    with path.open('w') as out:
        stdout = out if sink == 'file' else subprocess.PIPE
        environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
        done = subprocess.run(command, stdout=stdout, env=environment, check=True, text=True)
    assert (done.stdout or path.read_text()) == 3 * 'told'
    assert [each.name for each in tmp_path.iterdir()] == ['out']
