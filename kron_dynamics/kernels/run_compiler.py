# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiling a kernel's C source with the system's compiler, with the flags of `compiler.py`.

The source is not kept: `kron_dynamics export` writes the same functions to read.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels import compiler

# Of its own computing, or without any, s.
_TIME_LIMIT = 120.0
# How long a compiler may go on that nobody waits for, s.
_PATIENCE = 0.1
# Characters of what a compiler that failed says: the first error explains the others.
_TOLD = 500


def compile_library(
    command: tuple[str, ...],
    source: str,
    target: Path,
    includes: Sequence[Path] = (),
    given_up: threading.Event | None = None,
) -> None:
    """Compile C source into a shared library.

    Args:
        command: the compiler, with its own options.
        source: of the library.
        target: its file.
        includes: folders of headers.
        given_up: ends the compiler when it is set, by another thread.

    Raises:
        KernelBuildError: the compiler failed (with its message), took too long or was given up.
    """
    unit = target.with_suffix('.c')
    unit.write_text(source, encoding='ascii')
    folders = [f'-I{folder}' for folder in includes]
    try:
        code, message = _run(
            [*command, *compiler.flags(), *folders, '-o', str(target), str(unit), '-lm'],
            target.parent,
            given_up or threading.Event(),
        )
    except OSError as error:
        raise KernelBuildError(f'{command[0]} could not be run: {error}') from None
    finally:
        unit.unlink()
    if code != 0:
        # One cause is often reported hundreds of times, before another that says more.
        lines = dict.fromkeys(' '.join(line.split()) for line in message.splitlines())
        told = ' '.join(line for line in lines if line)
        told = told if len(told) <= _TOLD else f'{told[:_TOLD]}...'
        raise KernelBuildError(f'{command[0]} failed with exit code {code}: {told}')
    if not target.exists():
        raise KernelBuildError(f'{command[0]} reported success but wrote no library')


def _run(command: list[str], work: Path, given_up: threading.Event) -> tuple[int, str]:
    """Exit code and output of a command, ended with all its children when it takes too long.

    Its files, temporary ones too, stay in a work folder and are for the user alone.
    """
    end, spent = time.monotonic() + _TIME_LIMIT, 0.0
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        umask=0o077,
        env={**os.environ, 'TMPDIR': str(work.absolute())},
    ) as process:
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    output, _ = process.communicate(timeout=_PATIENCE)
                    return process.returncode, output.strip()
                if given_up.is_set():
                    raise KernelBuildError(f'{command[0]} was ended: nobody waits for it')
                if time.monotonic() > end:
                    before, spent = spent, _computing_time(process.pid)
                    if not before < spent < _TIME_LIMIT:
                        raise KernelBuildError(
                            f'{command[0]} took longer than {_TIME_LIMIT:g} s to compile a kernel'
                        )
                    # Others had the processor: it gets what is left of its own time.
                    end = time.monotonic() + _TIME_LIMIT - spent
        except BaseException:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
            raise


def _computing_time(session: int) -> float:
    """Processor time of a session's processes, s; 0 where the system does not tell."""
    total = 0
    for told in Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):  # it has just ended
            # Behind the name: state, parent, group, session; times of its own and its children.
            fields = told.read_text(encoding='utf-8', errors='replace').rpartition(')')[2].split()
            if int(fields[3]) == session:
                total += sum(map(int, fields[11:15]))
    return total / os.sysconf('SC_CLK_TCK')
