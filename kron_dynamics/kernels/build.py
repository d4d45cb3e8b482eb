# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiling a kernel's C source with the system's compiler."""

from __future__ import annotations

import functools
import os
import platform
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.compiler_options import without_harm

# No fast-math: NaN must come out as NaN. Contraction: a product and a sum in one rounding, where
# the processor can, is quicker and no less exact.
_FLAGS = (
    *('-std=c99', '-O2', '-fPIC', '-shared', '-w'),
    # A script that stands for the compiler may put such options before ours.
    *('-fno-fast-math', '-fno-unsafe-math-optimizations'),
    *('-fno-math-errno', '-ffp-contract=fast'),
)
_TIME_LIMIT = 120.0
# Characters of what a compiler that failed says: the first error explains the others.
_TOLD = 500


def find_compiler() -> tuple[str, ...] | None:
    """Return the C compiler's command, from $CC or `cc`; None where there is none.

    Options that change what kernels compute are left out, with a warning.

    Raises:
        KernelBuildError: $CC has unbalanced quotes or takes options from a file.
    """
    given = os.environ.get('CC', '')
    try:
        command = shlex.split(given) or ['cc']
    except ValueError as error:
        raise KernelBuildError(f"CC is '{given}': {error}") from None
    program = shutil.which(command[0])
    return None if program is None else without_harm((program, *command[1:]))


def compiler_identity(command: tuple[str, ...]) -> str:
    """Return a text that changes when the compiler does, without running it."""
    program = Path(command[0]).resolve()
    status = program.stat()
    return f'{program} {command[1:]} {status.st_size} {status.st_mtime_ns} {" ".join(_flags())}'


def _flags() -> tuple[str, ...]:
    """For this very processor where vectors differ from model to model; it is part of the key."""
    return (*_FLAGS, '-march=native') if platform.machine() == 'x86_64' else _FLAGS


@functools.lru_cache(maxsize=1)
def processor_identity() -> str:
    """Return a text that changes when the processor cannot run another one's code."""
    try:
        description = Path('/proc/cpuinfo').read_text(encoding='utf-8', errors='replace')
    except OSError:
        return f'{platform.machine()} {platform.processor()}'
    first, *_ = description.split('\n\n')
    # Model and features (x86: "flags", Arm: "Features"), not clock, core number or the like.
    lines = (line.split(':', 1) for line in first.splitlines() if ':' in line)
    told = {key.strip().lower(): value.strip() for key, value in lines}
    names = (
        'vendor_id',
        'cpu family',
        'model',
        'flags',
        'features',
        'cpu implementer',
        'cpu part',
    )
    return ' '.join([platform.machine(), *(told.get(name, '') for name in names)])


def compile_library(
    command: tuple[str, ...], source: str, target: Path, includes: Sequence[Path] = ()
) -> None:
    """Compile C source into the shared library `target`; `includes` are folders of headers.

    Raises:
        KernelBuildError: the compiler failed (with its message) or took too long.
    """
    unit = target.with_suffix('.c')
    unit.write_text(source, encoding='ascii')
    folders = [f'-I{folder}' for folder in includes]
    try:
        code, message = _run(
            [*command, *_flags(), *folders, '-o', str(target), str(unit), '-lm'], target.parent
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


def _run(command: list[str], work: Path) -> tuple[int, str]:
    """Exit code and output of a command, ended with all its children when it takes too long.

    Its files, temporary ones too, stay in a work folder and are for the user alone.
    """
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
            output, _ = process.communicate(timeout=_TIME_LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise KernelBuildError(
                f'{command[0]} took longer than {_TIME_LIMIT:g} s to compile a kernel'
            ) from None
        return process.returncode, output.strip()
