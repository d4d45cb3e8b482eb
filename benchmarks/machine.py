# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Description of the machine and the software that the measurements were made with."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

PACKAGES = (
    *('kron_dynamics', 'numpy', 'pin', 'casadi', 'mujoco-core', 'exudyn'),
    *('cmeel-eigen', 'cmeel-boost', 'example-robot-data', 'lxml'),
)


def facts() -> dict[str, str]:
    """Return the lines at the top of the report."""
    versions = [f'{name} {_version(name)}' for name in PACKAGES]
    return {
        'Date': datetime.date.today().isoformat(),
        'Processor': f'{_processor()}, {len(os.sched_getaffinity(0))} cores usable',
        'Load before': f'{os.getloadavg()[0]:.2f} running processes on average over a minute',
        'Compilers': f'{_compiler("CC", "cc")}; {_compiler("CXX", "c++")}',
        'Python': f'{platform.python_version()}, {platform.system()} {platform.machine()}',
        'Packages': ', '.join(versions),
    }


def _processor() -> str:
    lines = Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines()
    named = dict(line.split(':', 1) for line in reversed(lines) if ':' in line)
    named = {key.strip(): value.strip() for key, value in named.items()}
    name = named.get('model name', platform.machine())
    # Virtual machines often report only the name of the processor family, so add the numbers.
    numbers = (f'{key} {named[key]}' for key in ('cpu family', 'model') if key in named)
    vectors = 'AVX-512' if 'avx512f' in named.get('flags', '') else 'no AVX-512'
    return f'{name} ({", ".join((*numbers, vectors))})'


def _compiler(variable: str, default: str) -> str:
    command = os.environ.get(variable, default).split()
    try:
        done = subprocess.run([*command, '--version'], capture_output=True, text=True)
    except OSError:
        return f'no {default}'
    return done.stdout.splitlines()[0] if done.stdout else default


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return 'not installed'
