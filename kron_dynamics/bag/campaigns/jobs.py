# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""One bag of a campaign, analysed by a process of its own.

A process of its own, so that a bag that ends it, or takes all memory, costs this bag and no other.
It works in a folder that is put in place when all is done: what is there is whole, even when the
same bag is worked on twice because a computer of a cluster was taken for lost.
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

from kron_dynamics.exceptions import BagError

Process = subprocess.Popen[bytes]
SUMMARY = 'summary.json'
# What a process may say of its end that is worth repeating.
_LONGEST = 1000
# How work folders are named, and what they replace.
_WORK = re.compile(r'\..+\.[0-9a-f]{32}(\.old)?')


@dataclass(frozen=True)
class Job:
    """What a process has to do; made of what travels to other computers.

    Attributes:
        name: of the bag.
        key: what the result depends on, as a digest.
        module: the Python module to run; it reads its task from standard input as JSON.
        task: what to tell it; ``output`` is added, the folder to write to.
        output: folder of this bag's results, absolute.
    """

    name: str
    key: str
    module: str
    task: Mapping[str, Any]
    output: str


@dataclass(frozen=True)
class JobResult:
    """How a job ended.

    Attributes:
        name: of the bag.
        error: why there is no result; None where there is one.
    """

    name: str
    error: str | None


def run_job(job: Job, started: Callable[[Process], None] = lambda _: None) -> JobResult:
    """Run a job to its end and put its results in place.

    Args:
        job: what to do.
        started: called with the process, for who may have to end it.
    """
    output = Path(job.output)
    work = output.with_name(f'.{output.name}.{uuid.uuid4().hex}')
    try:
        work.mkdir(parents=True)
        error = _run(job, work, started)
        record = {'key': job.key, 'error': error}
        (work / 'job.json').write_text(json.dumps(record) + '\n', encoding='utf-8')
        _put(work, output)
    except OSError as problem:
        error = f'cannot write results: {problem}'
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return JobResult(job.name, error)


def sweep(folder: Path) -> None:
    """Remove the work that processes which were killed have left below a folder.

    Args:
        folder: where nobody is at work.
    """
    for path in list(folder.rglob('.*')):
        if _WORK.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other campaigns of this machine away from a folder.

    Args:
        folder: the folder, which exists.

    Raises:
        BagError: another campaign is at work there.
    """
    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(place)
        raise BagError(
            f"another campaign is at work in '{folder}': wait for it, or choose another --output"
        ) from error
    except OSError:  # a file system without such locks
        pass
    try:
        yield
    finally:
        os.close(place)


def finished(job: Job) -> JobResult | None:
    """Return how a job ended before, None if it has to be run: it never was, or failed.

    Args:
        job: what to do.
    """
    try:
        record = json.loads((Path(job.output) / 'job.json').read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return None
    same = isinstance(record, dict) and record.get('key') == job.key
    return JobResult(job.name, None) if same and record.get('error', '') is None else None


def _run(job: Job, work: Path, started: Callable[[Process], None]) -> str | None:
    """Run the process; return what it says is wrong, None if all is well."""
    # Threads of a numeric library beside as many processes as there are cores only disturb, and
    # sums must not depend on their number.
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
                # Not closed: the process ends when this end of the pipe does, whatever ended it.
                process.stdin.write(task)
            said = process.stderr.read().decode('utf-8', 'replace').splitlines()
        except BaseException:
            process.kill()
            raise
    if process.returncode == 0:
        return None
    return said[-1][:_LONGEST] if said else f'the process ended with {process.returncode}'


def _put(work: Path, output: Path) -> None:
    """Exchange a folder for another."""
    old = work.with_name(f'{work.name}.old')
    with contextlib.suppress(FileNotFoundError):
        output.rename(old)
    try:
        work.rename(output)
    except OSError:  # another process was here between the two: what it has put is as good
        if not output.exists():
            raise
    shutil.rmtree(old, ignore_errors=True)
