# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The command as a process: streams that fail, encodings, interrupts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STACKER = str(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
COMMAND = [sys.executable, '-c', 'import sys, kron_dynamics.cli as c; sys.exit(c.main())']
FULL = Path('/dev/full')
needs_full = pytest.mark.skipif(not FULL.exists(), reason='there is no /dev/full here')


def environment(**changes: str) -> dict[str, str]:
    """This one's, in which Python finds the package and buffers its output."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith('PYTHON')}
    return {**kept, 'PYTHONPATH': str(ROOT), **changes}


def shell(text: str, *arguments: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell, in which "$@" is the command with these arguments."""
    return subprocess.run(
        ['sh', '-c', text, 'sh', *COMMAND, *arguments],
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=150,
    )


def assert_error(done: subprocess.CompletedProcess[bytes], *words: str, code: int = 1) -> None:
    assert done.returncode == code
    (line,) = done.stderr.decode('latin-1').splitlines()
    assert line.startswith('kron_dynamics: error: ')
    for word in words:
        assert word in line


@pytest.mark.parametrize('arguments', [['--help'], ['info', STACKER]])
def test_standard_output_that_is_closed(arguments: list[str]) -> None:
    assert_error(shell('"$@" >&-', *arguments), 'standard output is closed')


@needs_full
@pytest.mark.parametrize(
    ('arguments', 'unbuffered'),
    [
        (['--version'], ''),
        (['--version'], '1'),
        (['modes', '--help'], ''),
        (['info', STACKER], ''),
    ],
)
def test_full_device(arguments: list[str], unbuffered: str) -> None:
    done = shell('"$@" >/dev/full', *arguments, PYTHONUNBUFFERED=unbuffered)
    assert_error(done, 'No space left on device')


@pytest.mark.parametrize('redirection', ['2>&-', '2>/dev/full'])
def test_standard_error_that_takes_nothing(redirection: str) -> None:
    assert shell(f'"$@" {redirection}', 'info', 'nowhere.urdf').returncode == 1
    assert shell(f'"$@" {redirection}', 'dance').returncode == 2


@pytest.mark.parametrize('arguments', [['--help']])
def test_reader_that_leaves(arguments: list[str]) -> None:
    """The reader is gone before anything is written."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, *arguments],
        env=environment(),
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=150,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b'')


@pytest.fixture(scope='module')
def umlauts(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp('names') / 'lüffing.urdf'
    text = Path(STACKER).read_text(encoding='utf-8').replace('"luff"', '"lüff_機"')
    path.write_text(text, encoding='utf-8')
    return str(path)


@pytest.mark.parametrize(
    ('command', 'changes'),
    [
        (['derive', '--quantity', 'g'], {'PYTHONIOENCODING': 'ascii'}),
        (['info'], {'LC_ALL': 'C', 'PYTHONUTF8': '0', 'PYTHONCOERCECLOCALE': '0'}),
        (['info'], {'LC_ALL': 'C'}),
    ],
    ids=str,
)
def test_names_that_an_encoding_does_not_have(
    command: list[str], changes: dict[str, str], umlauts: str
) -> None:
    name, *options = command
    done = shell('"$@"', name, umlauts, *options, **changes)
    assert done.returncode == 0
    assert done.stderr == b''
    output = done.stdout.decode('latin-1')
    assert 'l\\xfcff_\\u6a5f' in output or 'lüff_\\u6a5f' in output or '機' in done.stdout.decode()


def test_interrupt(tmp_path: Path) -> None:
    """While it waits for the description of the links, which a pipe does not give."""
    pipe = tmp_path / 'flexible.yaml'
    os.mkfifo(pipe)
    # Tests that run in the background of a shell hand an ignored SIGINT down to their children.
    heeds = f'import signal; signal.signal(2, signal.default_int_handler); {COMMAND[-1]}'
    process = subprocess.Popen(
        [*COMMAND[:-1], heeds, 'info', STACKER, '--flexible', str(pipe)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with open(pipe, 'wb'):  # waits for the one that reads
        # One that comes just before the process begins to wait is seen no sooner than it ends.
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
        output, errors = process.communicate()
    assert (process.returncode, output, errors) == (130, b'', b'')
