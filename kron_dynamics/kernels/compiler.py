# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The system's C compiler: its command, its flags, and identities of compiler and processor.

Without a compiler `kernel_factory.py` makes kernels by `interpreted.py`, with one warning.
"""

from __future__ import annotations

import functools
import os
import platform
import shlex
import shutil
from pathlib import Path

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.compiler_options import without_harm

# Unless $CC asks for another level: results are the same, bit by bit, at all of them.
_LEVEL = '-O2'
# No fast-math: NaN must be propagated. No contraction by the compiler: generated code names the
# products that are fused with their sums (fused.py), so that no bit depends on the compiler.
_FLAGS = (
    *('-std=c99', '-fPIC', '-shared', '-w'),
    # A wrapper script for the compiler may put -ffast-math before these options.
    *('-fno-fast-math', '-fno-unsafe-math-optimizations'),
    *('-fno-math-errno', '-ffp-contract=off'),
)


def find_compiler() -> tuple[str, ...] | None:
    """Return the C compiler's command, from $CC or `cc`; None if there is none.

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
    """Return a text that changes when the compiler does, found without running it."""
    program = Path(command[0]).resolve()
    status = program.stat()
    return f'{program} {status.st_size} {status.st_mtime_ns} {with_flags(command)[1:]}'


def with_flags(command: tuple[str, ...]) -> list[str]:
    """Return a compiler's command with all flags of kernels.

    They stand behind the user's options and override them, but for the level of optimization.
    """
    level = [] if any(word.startswith('-O') for word in command) else [_LEVEL]
    return [*command, *level, *flags()]


def flags() -> tuple[str, ...]:
    """Return the flags that kernels need: on x86-64 for this processor's vectors."""
    return (*_FLAGS, '-march=native') if platform.machine() == 'x86_64' else _FLAGS


@functools.lru_cache(maxsize=1)
def processor_identity() -> str:
    """Return a text that differs between processors that cannot run each other's code."""
    try:
        description = Path('/proc/cpuinfo').read_text(encoding='utf-8', errors='replace')
    except OSError:
        return f'{platform.machine()} {platform.processor()}'
    first, *_ = description.split('\n\n')
    # Use model and features (x86: "flags", Arm: "Features"), not clock rate, core number etc.
    lines = (line.split(':', 1) for line in first.splitlines() if ':' in line)
    found = {key.strip().lower(): value.strip() for key, value in lines}
    names = (
        'vendor_id',
        'cpu family',
        'model',
        'flags',
        'features',
        'cpu implementer',
        'cpu part',
    )
    return ' '.join([platform.machine(), *(found.get(name, '') for name in names)])
