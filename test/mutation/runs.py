# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs tests of a copy of the repository, in processes with limited processor time."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

# Slow imports from outside of the package: imported once, shared by all forked runs.
_SHARED = (
    'pytest',
    'hypothesis',
    'numpy',
    'sympy',
    'yaml',
    'lxml.etree',
    'urdf_parser_py.urdf',
    'scipy.linalg',
    'scipy.optimize',
    'scipy.interpolate',
    'scipy.spatial.transform',
    'scipy.signal',
    'scipy.integrate',
)
_WALL = 10.0  # limit of wall time over that of processor time, for runs that hang idle
_NO_TESTS = 5  # pytest's exit code if no tests were collected


class Run(NamedTuple):
    """Result of a run.

    Attributes:
        code: pytest's exit code, or minus the number of the signal that ended it.
        seconds: processor time, s.
        output: printed output.
    """

    code: int
    seconds: float
    output: str

    @property
    def passed(self) -> bool:
        """Whether no test failed."""
        return self.code in (0, _NO_TESTS)

    def failed_tests(self) -> list[str]:
        """Return the names of the tests that failed."""
        lines = (line.split() for line in self.output.splitlines())
        return [words[1] for words in lines if len(words) > 1 and words[0] in ('FAILED', 'ERROR')]


class Copy:
    """A copy of the repository, in which files are changed and tests run."""

    def __init__(self, repository: Path, folder: Path) -> None:
        """Copy the tracked files and the untracked ones that are not ignored."""
        self.root = folder / 'tree'
        self._outside = folder
        listed = ['git', 'ls-files', '--cached', '--others', '--exclude-standard', '-z']
        names = subprocess.run(listed, cwd=repository, stdout=subprocess.PIPE, check=True).stdout
        for name in names.decode().split('\0'):
            if name and (repository / name).is_file():
                target = self.root / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(repository / name, target)
        (folder / 'kernels').mkdir(mode=0o700)
        for name in _SHARED:
            importlib.import_module(name)
        self._changes = 0

    @contextlib.contextmanager
    def changed(self, module: Path, text: str) -> Iterator[None]:
        """Replace the text of a module within a context."""
        file = self.root / module
        original, before = file.read_bytes(), file.stat()
        self._changes += 1
        file.write_text(text, encoding='utf-8')
        # Bytecode caches compare whole seconds and sizes: each change has a distinct time.
        os.utime(file, (before.st_atime, before.st_mtime + 2 * self._changes))
        try:
            yield
        finally:
            file.write_bytes(original)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def run(self, tests: Sequence[Path], limit: float, without: Sequence[str] = ()) -> Run:
        """Run tests up to the first failure.

        Args:
            tests: files and folders, relative to the root, or names of tests.
            limit: processor time of each process, s.
            without: names of tests to leave out.
        """
        log = self._outside / 'output.txt'
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        child = os.fork()
        if not child:
            self._become_pytest(tests, limit, without, log)
        status = _waited_for(child, _WALL * limit)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        output = log.read_text(encoding='utf-8', errors='replace')
        return Run(os.waitstatus_to_exitcode(status), spent, output)

    def _become_pytest(
        self, tests: Sequence[Path], limit: float, without: Sequence[str], log: Path
    ) -> None:
        """Run pytest in the forked child; does not return."""
        code = 70
        try:
            os.setsid()
            whole = int(limit) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for number in (1, 2):
                os.dup2(output, number)
            os.chdir(self.root)
            sys.path.insert(0, str(self.root))
            os.environ['PYTHONPATH'] = str(self.root)
            # Like a worker of pytest-xdist, so that runs share a kernel cache.
            os.environ['PYTEST_XDIST_WORKER'] = 'gw0'
            import pytest

            arguments = ['-x', '-q', '-rfE', '--tb=line', '-p', 'no:cacheprovider']
            arguments += [f'--basetemp={self._outside / "tmp"}']
            arguments += [f'--deselect={name}' for name in without]
            code = int(pytest.main([*arguments, *map(str, tests)]))
            sys.stdout.flush()
        finally:
            os._exit(code)


def _waited_for(child: int, patience: float) -> int:
    """Return the exit status of a process, killed after `patience` s, and kill its group."""
    end = time.monotonic() + patience
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            break
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status
