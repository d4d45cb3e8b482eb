# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compilers of C and C++ beside the one that makes the kernels, and the headers of Eigen.

clang is the system's where it has one, else the one in the wheel ziglang, whose own libraries for
the system's C are compiled at its first use and kept in the environment. It has no sanitizer of
addresses: of those that it is asked for, that of undefined behaviour works.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

# Where the wheel cmeel-eigen puts its files, as CMake looks for them.
EIGEN_PREFIX = Path(sysconfig.get_path('purelib')) / 'cmeel.prefix'


def clang(language: str = 'c') -> tuple[str, ...]:
    """The command that compiles C or C++ with clang.

    Args:
        language: 'c' or 'c++', as clang's option -x has it. The wheel's clang links no library of
            C++: it would be compiled for minutes.

    Raises:
        ModuleNotFoundError: neither the system nor the environment has a clang.
    """
    program = shutil.which('clang' if language == 'c' else 'clang++')
    command = (program,) if program else _of_wheel()
    return command if language == 'c' else (*command, '-x', language)


def _of_wheel() -> tuple[str, ...]:
    """The command of the wheel; checks that it adds by itself are for other programs than ours."""
    found = importlib.util.find_spec('ziglang')
    if found is None or found.origin is None:
        raise ModuleNotFoundError('no clang on PATH, and no ziglang in the environment')
    objects = Path(_of_this_process().name)
    libraries = Path(sys.prefix) / 'ziglang' if os.access(sys.prefix, os.W_OK) else objects
    return (
        *('env', f'ZIG_GLOBAL_CACHE_DIR={libraries}', f'ZIG_LOCAL_CACHE_DIR={objects}'),
        *(str(Path(found.origin).with_name('zig')), 'cc', '-fno-sanitize=undefined'),
    )


@cache
def _of_this_process() -> tempfile.TemporaryDirectory[str]:
    """A folder for what is compiled, which would only grow where it were kept."""
    return tempfile.TemporaryDirectory(prefix='ziglang')
