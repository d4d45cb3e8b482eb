# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""C and C++ compilers other than the one for kernels, and the headers of Eigen.

clang is the system's, or else that of the wheel ziglang, whose own C library is compiled at its
first use and kept in the environment. The latter has no address sanitizer; its sanitizer of
undefined behaviour works.
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

# Prefix of the files of the wheel cmeel-eigen, for CMake.
EIGEN_PREFIX = Path(sysconfig.get_path('purelib')) / 'cmeel.prefix'


def clang(language: str = 'c') -> tuple[str, ...]:
    """Return the command that compiles C or C++ with clang.

    Args:
        language: 'c' or 'c++', as for clang's option -x. The wheel's clang links no C++ library,
            whose compilation would take minutes.

    Raises:
        ModuleNotFoundError: neither the system nor the environment has a clang.
    """
    program = shutil.which('clang' if language == 'c' else 'clang++')
    command = (program,) if program else _of_wheel()
    return command if language == 'c' else (*command, '-x', language)


def _of_wheel() -> tuple[str, ...]:
    """Return the command of the wheel, without the sanitizer that it enables by default."""
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
    """Return a folder for objects, temporary because a permanent one would only grow."""
    return tempfile.TemporaryDirectory(prefix='ziglang')
