# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What is asked of the command and cannot be: one line, and no traceback."""

from __future__ import annotations

import builtins
import warnings
from pathlib import Path
from typing import Any

import matplotlib
import pytest

import kron_dynamics as kd
from kron_dynamics.cli import derive, info, main

ROOT = Path(__file__).parents[1]
STACKER = str(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
BOOM = str(ROOT / 'config' / 'stacker_reclaimer_flexible.yaml')
MODES = ['modes', STACKER, '--flexible', BOOM, '--sweep', 'luff', '--points', '2']
FULL = Path('/dev/full')


@pytest.fixture
def error(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command, which fails, and return its one line."""

    def run(*arguments: str, code: int = 1) -> str:
        assert main(arguments) == code
        text = capsys.readouterr().err
        (line,) = text.splitlines()
        assert line.startswith('kron_dynamics: error: ')
        assert line.isprintable()
        assert len(line) < 1200
        return line

    return run


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (
            ['--points', '99999999999999'],
            "'99999999999999' is not a whole number from 2 to 100000",
        ),
        (['--points', '9' * 5000], 'is not a whole number from 2 to 100000'),
        (['--points', '٣'], "'٣' is not a whole number"),
        (['--masses', '0:1e300:3'], "'0:1e300:3' goes beyond 1e+12 kg"),
        (['--masses', '0:10:99999999999999'], 'is not a whole number from 2 to 100000'),
        (['--masses', '1' * 100_000], 'is not FROM:TO:COUNT'),
        (['--at', 'x' * 100_000], 'is not JOINT=POSITION'),
        (['--gravity', '0', '0', 'x' * 100_000], 'is not a finite number'),
    ],
    ids=lambda value: str(value)[:40],
)
def test_options_have_bounds(arguments: list[str], said: str, error: Any) -> None:
    line = error('modes', STACKER, '--flexible', BOOM, *arguments, code=2)
    assert said in line
    assert line.endswith('(see kron_dynamics modes --help)')


@pytest.mark.parametrize(
    ('option', 'first', 'second'),
    [
        ('--points', ['3'], ['4']),
        ('--gravity', ['0', '0', '-9.8'], ['0', '0', '-1.6']),
        ('--gravity', ['0', '0', '-9.81'], ['0', '0', '-9.81']),
        ('--flexible', [BOOM], ['other.yaml']),
    ],
)
def test_a_second_value_does_not_replace_the_first(
    option: str, first: list[str], second: list[str], error: Any
) -> None:
    line = error('modes', STACKER, option, *first, option, *second, code=2)
    assert f'argument {option}: it is given twice, expected once' in line


@pytest.mark.parametrize('command', ['info', 'modes', 'derive', 'check', 'tune'])
def test_a_second_value_of_one_name_does_not_replace_the_first(command: str, error: Any) -> None:
    values = ['--xacro-arg', 'reach:=1', '--xacro-arg', 'reach:=2']
    options = {'tune': ['--rate', '50', '--bandwidth', '1'], 'modes': ['--flexible', BOOM]}
    code = 2 if command == 'check' else 1
    line = error(command, STACKER, *options.get(command, []), *values, code=code)
    assert "--xacro-arg of 'reach' is given twice" in line


def test_a_second_position_of_one_joint_does_not_replace_the_first(error: Any) -> None:
    line = error(*MODES, '--at', 'slew=1', '--at', 'slew=0.5')
    assert "--at of 'slew' is given twice" in line


@pytest.mark.parametrize('small', ['-1e-3', '-1E5', '-.5e-2', '-1.e-3'])
def test_numbers_with_exponents_are_no_options(
    small: str, error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[Any] = []

    def load(*_: Any, gravity: Any, **__: Any) -> None:
        got.append(tuple(gravity))
        raise kd.ModelError('enough')

    monkeypatch.setattr(info, 'load', load)
    error('info', STACKER, '--gravity', small, '0', '-9.81')
    assert got == [(float(small), 0.0, -9.81)]


@pytest.mark.parametrize(
    'arguments', [['info', STACKER], ['modes', STACKER, '--joints', 'free', '--sweep', 'luff']]
)
def test_values_out_of_proportion(arguments: list[str], error: Any) -> None:
    error(*arguments, '--gravity', '1e308', '1e308', '1e308')


@pytest.mark.parametrize('option', ['--csv', '--plot'])
def test_files_that_cannot_be_written(option: str, tmp_path: Path, error: Any) -> None:
    folder = tmp_path / 'folder.png'
    folder.mkdir()
    (tmp_path / 'file').touch()
    places = {folder: 'Is a directory', tmp_path / 'file' / 'x.png': 'File exists'}
    if FULL.exists() and option == '--csv':
        places[FULL] = 'No space left on device'
    for place, reason in places.items():
        assert f"'{place}' cannot be written: {reason}" in error(*MODES, option, str(place))


@pytest.mark.parametrize('arguments', [['info'], ['derive'], ['modes'], ['info', STACKER]])
def test_folders_in_place_of_files(arguments: list[str], tmp_path: Path, error: Any) -> None:
    option = ['--flexible'] if len(arguments) == 2 else []
    assert 'Is a directory' in error(*arguments, *option, str(tmp_path))


@pytest.mark.parametrize(
    'failure', [ImportError('it is broken'), ValueError("Key backend: 'x' is not valid")], ids=str
)
def test_plots_whose_library_fails_are_refused_before_anything_is_computed(
    failure: Exception, tmp_path: Path, error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_import = builtins.__import__

    def broken(name: str, *arguments: Any, **options: Any) -> Any:
        if name.startswith(matplotlib.__name__):
            raise failure
        return real_import(name, *arguments, **options)

    monkeypatch.setattr(builtins, '__import__', broken)
    monkeypatch.setattr(kd.Robot, 'linearize', None)
    line = error(*MODES, '--plot', str(tmp_path / 'x.png'))
    assert f'plots need matplotlib ({failure})' in line


def test_messages_are_one_printable_line(tmp_path: Path, error: Any) -> None:
    name = 'x\x1b[31m\n' * 100_000
    assert 'does not exist' in error('derive', STACKER, '--frame', name)
    assert 'invalid choice' in error(name, code=2)
    path = tmp_path / 'long.urdf'
    path.write_text(f'<robot name="r"><link name="{"y" * 100_000}"/></robot>', encoding='utf-8')
    error('info', str(path))
    error('info', f'{tmp_path}/{"z" * 100_000}')


@pytest.mark.parametrize(
    ('failure', 'said'), [(MemoryError, 'out of memory'), (RecursionError, 'too large')]
)
def test_too_large(
    failure: type[Exception], said: str, error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise failure('Unable to allocate 728. TiB')

    monkeypatch.setattr(info, 'load', fail)
    assert said in error('info', STACKER)


def test_warnings_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def warn(*arguments: Any, **options: Any) -> Any:
        warnings.warn(kd.ModelWarning('kind', "link 'x'", 'it is odd', 'mend it'), stacklevel=1)
        raise kd.ModelError('and wrong')

    monkeypatch.setattr(derive, 'load', warn)
    assert main(['derive', STACKER]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "kron_dynamics: warning: link 'x': it is odd; mend it [kind]",
        'kron_dynamics: error: and wrong',
    ]
