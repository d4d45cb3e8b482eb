# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of a campaign: each bag is analysed by a separate process.

If a bag crashes the process or uses up all memory, only this bag fails. The process writes to a
temporary folder that is renamed when it is complete: results are always complete, even if a bag is
analysed twice because the scheduler declared a worker lost and reassigned its job.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kron_dynamics.bag.outputs.earlier_files import move_others
from kron_dynamics.exceptions import BagError

Process = subprocess.Popen[bytes]
SUMMARY = 'summary.json'
_JOB = 'job.json'
# Longest error message of a process that is reported, in characters.
_LONGEST = 1000
# Names of work folders, and of the folders that they replace (.old).
_WORK = re.compile(r'\..+\.[0-9a-f]{32}(\.old)?')


@dataclass(frozen=True)
class Job:
    """The analysis of one bag by a process; can be sent to other computers.

    Attributes:
        name: name of the bag.
        key: digest of everything that the result depends on.
        module: the Python module to run; it reads its task from standard input as JSON.
        task: the task; ``output``, the folder to write to, is added.
        output: folder of this bag's results, absolute.
    """

    name: str
    key: str
    module: str
    task: Mapping[str, Any]
    output: str


@dataclass(frozen=True)
class JobResult:
    """Outcome of a job.

    Attributes:
        name: name of the bag.
        error: why there is no result; None on success.
    """

    name: str
    error: str | None


def run_job(job: Job, started: Callable[[Process], None] = lambda _: None) -> JobResult:
    """Run a job to its end and put its results in place.

    Args:
        job: the job.
        started: called with the process, so that the caller can kill it.
    """
    output = Path(job.output)
    work = output.with_name(f'.{output.name}.{uuid.uuid4().hex}')
    try:
        work.mkdir(parents=True)
        error = _run(job, work, started)
        record = {'key': job.key, 'error': error}
        (work / _JOB).write_text(json.dumps(record) + '\n', encoding='utf-8')
        _put(work, output)
    except OSError as problem:
        error = f'cannot write results: {problem}'
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return JobResult(job.name, error)


def sweep(folder: Path) -> None:
    """Remove left-over work folders of killed jobs below a folder.

    Args:
        folder: folder in which no job is running.
    """
    for path in list(folder.rglob('.*')):
        if _WORK.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Context that locks a folder against other campaigns on this machine.

    Args:
        folder: the folder, which exists.

    Raises:
        BagError: another campaign has locked it.
    """
    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(place)
        raise BagError(
            f"another campaign is at work in '{folder}': wait for it, or choose another --output"
        ) from error
    except OSError:  # the file system does not support locks
        pass
    try:
        yield
    finally:
        os.close(place)


def finished(job: Job) -> JobResult | None:
    """Return the earlier successful result of a job; None if the job has to be run.

    Args:
        job: the job.
    """
    try:
        record = json.loads((Path(job.output) / _JOB).read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return None
    same = isinstance(record, dict) and record.get('key') == job.key
    return JobResult(job.name, None) if same and record.get('error', '') is None else None


def _run(job: Job, work: Path, started: Callable[[Process], None]) -> str | None:
    """Run the process; return its error message, None on success."""
    # With one process per core, threads of a numeric library only disturb, and sums must not
    # depend on their number.
    environment = {**os.environ, 'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'}
    with subprocess.Popen(
        [sys.executable, '-m', job.module],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        started(process)
        assert process.stdin is not None and process.stderr is not None
        task = json.dumps({**job.task, 'output': str(work)}).encode() + b'\n'
        try:
            with contextlib.suppress(BrokenPipeError):
                # The pipe is not closed: the process ends when it is, for whatever reason.
                process.stdin.write(task)
            said = process.stderr.read().decode('utf-8', 'replace').splitlines()
        except BaseException:
            process.kill()
            raise
    if process.returncode == 0:
        return None
    return said[-1][:_LONGEST] if said else f'the process ended with {process.returncode}'


def _put(work: Path, output: Path) -> None:
    """Replace the output folder by the work folder; what is not from a job stays in it."""
    old = work.with_name(f'{work.name}.old')
    with contextlib.suppress(FileNotFoundError):
        output.rename(old)
    try:
        move_others(old, work, SUMMARY, _JOB)
        work.rename(output)
    except OSError:  # another process has put its equivalent results there in the meantime
        if not output.exists():
            raise
        for folder in (old, work):
            move_others(folder, output, SUMMARY, _JOB)
    shutil.rmtree(old, ignore_errors=True)
