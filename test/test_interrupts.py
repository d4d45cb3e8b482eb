# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The command is interrupted without a word, whatever it is doing."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from interrupts import PATIENCE, every_moment, hold_back, interrupted

ROOT = Path(__file__).parents[1]
STACKER = str(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
FLEXIBLE = str(ROOT / 'config' / 'stacker_reclaimer_flexible.yaml')
COMMANDS = {
    'info': ['info', STACKER],
    'derive': ['derive', STACKER, '--simplify'],
    'modes': ['modes', STACKER, '--flexible', FLEXIBLE],
}
MOMENTS = {'info': (0.0, 0.2, 0.45, 0.8), 'derive': (1.3,), 'modes': (0.7,)}


def check(name: str, moment: float, whole_group: bool) -> int:
    code, _, errors = interrupted(
        'kron_dynamics.start:command', COMMANDS[name], moment, whole_group
    )
    assert errors == ''
    assert code in (0, 130)  # the command may have done all before
    return code


@pytest.mark.parametrize('name', COMMANDS)
def test_interrupt_at_some_moments(name: str, kernel_cache: Path) -> None:
    codes = [check(name, moment, k % 2 == 0) for k, moment in enumerate(MOMENTS[name])]
    assert 130 in codes or name != 'info'  # the first comes before anything has begun


@pytest.mark.long
@pytest.mark.parametrize('name', COMMANDS)
@pytest.mark.parametrize('whole_group', [False, True], ids=['process', 'group'])
def test_interrupt_at_every_moment(
    name: str, whole_group: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for moment in every_moment(tmp_path, monkeypatch):
        check(name, moment, whole_group)


# Where a command is interrupted and the interruption is lost; it works on until it comes again.
LOST = {
    'destructor': """
class Dying:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
Dying()
""",
    'callback': """
class Dying: pass
dying = Dying()
reference = weakref.ref(dying, lambda _: signal.raise_signal(signal.SIGINT))
del dying
""",
    'swallowed': """
try:
    signal.raise_signal(signal.SIGINT)
except BaseException:
    pass
""",
    'failed import': """
try:
    try:
        signal.raise_signal(signal.SIGINT)
    except BaseException as error:
        raise ImportError('half a module') from error
except ImportError:
    pass
""",
    'lost twice': """
for turn in range(2):
    try:
        if turn == 0:
            signal.raise_signal(signal.SIGINT)
        while True:
            time.sleep(0.001)
    except BaseException:
        pass
""",
}
COMMAND = """
import signal, sys, time, types, weakref
from kron_dynamics.start import command

def main():
{work}
    while True:
        time.sleep(0.001)

sys.modules['kron_dynamics.cli'] = cli = types.ModuleType('kron_dynamics.cli')
cli.main = main
sys.exit(command())
"""


def run(work: str) -> subprocess.CompletedProcess[str]:
    program = COMMAND.format(work=textwrap.indent(work, ' ' * 4))
    return subprocess.run(
        [sys.executable, '-c', program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=hold_back,
    )


@pytest.mark.parametrize('place', LOST)
def test_an_interrupt_is_not_lost(place: str) -> None:
    done = run(LOST[place])
    assert (done.returncode, done.stdout, done.stderr) == (130, '', '')


def test_the_way_out_is_not_interrupted() -> None:
    done = run("""
try:
    signal.raise_signal(signal.SIGINT)
finally:
    time.sleep(0.2)
    print('in order')
""")
    assert (done.returncode, done.stdout, done.stderr) == (130, 'in order\n', '')


def test_whoever_handles_interrupts_is_told_of_one_that_was_lost() -> None:
    done = run("""
try:
    signal.raise_signal(signal.SIGINT)
except BaseException:
    told = []
    signal.signal(signal.SIGINT, lambda number, _: told.append(number))
while not told:
    time.sleep(0.001)
print(told == [signal.SIGINT])
return 3
""")
    assert (done.returncode, done.stdout, done.stderr) == (130, 'True\n', '')
