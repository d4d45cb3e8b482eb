# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiling a kernel's C source with the system's compiler."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

from kron_dynamics.exceptions import KernelBuildError

# No fast-math: NaN must come out as NaN. No contraction: results equal the float reference's to
# rounding on every processor. No -march: a cached kernel may be met by another processor.
FLAGS = ('-std=c99', '-O2', '-fPIC', '-shared', '-fno-math-errno', '-ffp-contract=off')
_TIME_LIMIT = 120.0


def find_compiler() -> tuple[str, ...] | None:
    """Return the C compiler's command, from $CC or `cc`; None where there is none.

    Raises:
        KernelBuildError: $CC has unbalanced quotes.
    """
    given = os.environ.get('CC', '')
    try:
        command = shlex.split(given) or ['cc']
    except ValueError as error:
        raise KernelBuildError(f"CC is '{given}': {error}") from None
    program = shutil.which(command[0])
    return None if program is None else (program, *command[1:])


def compiler_identity(command: tuple[str, ...]) -> str:
    """Return a text that changes when the compiler does, without running it."""
    program = Path(command[0]).resolve()
    status = program.stat()
    return f'{program} {command[1:]} {status.st_size} {status.st_mtime_ns} {" ".join(FLAGS)}'


def compile_library(command: tuple[str, ...], source: str, target: Path) -> None:
    """Compile C source into the shared library `target`.

    Raises:
        KernelBuildError: the compiler failed (with its message) or took too long.
    """
    unit = target.with_suffix('.c')
    unit.write_text(source, encoding='ascii')
    try:
        code, message = _run([*command, *FLAGS, '-o', str(target), str(unit), '-lm'])
    except OSError as error:
        raise KernelBuildError(f'{command[0]} could not be run: {error}') from None
    finally:
        unit.unlink()
    if code != 0:
        raise KernelBuildError(f'{command[0]} failed with exit code {code}: {message}')
    if not target.exists():
        raise KernelBuildError(f'{command[0]} reported success but wrote no library')


def _run(command: list[str]) -> tuple[int, str]:
    """Exit code and output of a command, ended with all its children when it takes too long."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=_TIME_LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise KernelBuildError(
                f'{command[0]} took longer than {_TIME_LIMIT:g} s to compile a kernel'
            ) from None
        return process.returncode, output.strip()
