# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compilation of a kernel's C source with the system's compiler and the flags of `compiler.py`.

The source is deleted afterwards; `kron_dynamics export` writes the same functions to files.
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

# Limit of the compiler's processor time; also the wall-clock time without any progress of it, s.
_TIME_LIMIT = 120.0
# Interval at which a running compilation is checked for cancellation, s.
_POLL_INTERVAL = 0.1
# Most characters of a failed compiler's output in the message; the first error matters most.
_MOST_OUTPUT = 500


def compile_library(
    command: tuple[str, ...],
    source: str,
    target: Path,
    includes: Sequence[Path] = (),
    given_up: threading.Event | None = None,
) -> None:
    """Compile C source into a shared library.

    Args:
        command: the compiler, with the user's options.
        source: C source of the library.
        target: file of the library.
        includes: folders of headers.
        given_up: cancels the compilation when another thread sets it.

    Raises:
        KernelBuildError: the compiler failed (with its message), took too long or was cancelled.
    """
    unit = target.with_suffix('.c')
    unit.write_text(source, encoding='ascii')
    folders = [f'-I{folder}' for folder in includes]
    try:
        code, message = _run(
            [*compiler.with_flags(command), *folders, '-o', str(target), str(unit), '-lm'],
            target.parent,
            given_up or threading.Event(),
        )
    except OSError as error:
        raise KernelBuildError(f'{command[0]} could not be run: {error}') from None
    finally:
        unit.unlink()
    if code != 0:
        # The same line is often repeated hundreds of times, so repetitions are removed.
        lines = dict.fromkeys(' '.join(line.split()) for line in message.splitlines())
        output = ' '.join(line for line in lines if line)
        output = output if len(output) <= _MOST_OUTPUT else f'{output[:_MOST_OUTPUT]}...'
        raise KernelBuildError(f'{command[0]} failed with exit code {code}: {output}')
    if not target.exists():
        raise KernelBuildError(f'{command[0]} reported success but wrote no library')


def _run(command: list[str], work: Path, given_up: threading.Event) -> tuple[int, str]:
    """Run a command and return its exit code and output.

    The command and its children are killed if they take too long. Its temporary files go to the
    work folder, with access by the user only.
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
                    output, _ = process.communicate(timeout=_POLL_INTERVAL)
                    return process.returncode, output.strip()
                if given_up.is_set():
                    raise KernelBuildError(f'{command[0]} was cancelled')
                if time.monotonic() > end:
                    before, spent = spent, _computing_time(process.pid)
                    if not before < spent < _TIME_LIMIT:
                        raise KernelBuildError(
                            f'{command[0]} took longer than {_TIME_LIMIT:g} s to compile a kernel'
                        )
                    # On a busy machine it gets its remaining processor time.
                    end = time.monotonic() + _TIME_LIMIT - spent
        except BaseException:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
            raise


def _computing_time(session: int) -> float:
    """Return the processor time of a session's processes, s; 0 without a /proc file system."""
    total = 0
    for stat in Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):  # the process has just ended
            # Fields behind the name: 3 is the session, 11 to 14 are the user and system times of
            # the process and of its children.
            fields = stat.read_text(encoding='utf-8', errors='replace').rpartition(')')[2].split()
            if int(fields[3]) == session:
                total += sum(map(int, fields[11:15]))
    return total / os.sysconf('SC_CLK_TCK')
