# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of a campaign: each bag is analysed by a separate process.

If a bag crashes the process or uses up all memory, only this bag fails. The process writes to a
temporary folder that is renamed when it is complete: results are always complete, even if a bag is
analysed twice because the scheduler declared a worker lost and reassigned its job.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kron_dynamics.bag.outputs.earlier_files import OUTPUTS, move_others
from kron_dynamics.exceptions import BagError
from kron_dynamics.folder_locks import locked

Process = subprocess.Popen[bytes]
SUMMARY = 'summary.json'
_JOB = 'job.json'
# Start of the line that says why the process of a command failed.
_ERROR = 'kron_dynamics: error: '
# Longest error message of a process that is reported, in characters.
_LONGEST = 1000
# Names of work folders, and of the folders that they replace (.old). Only the latter ones have
# files that are not from a job.
_WORK = re.compile(r'\.(?P<output>.+)\.[0-9a-f]{32}(?P<old>\.old)?')


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
    work = _work_folder(output)
    try:
        work.mkdir(parents=True)
        error = _run(job, work, started)
        record = {'key': job.key, 'error': error}
        (work / _JOB).write_text(json.dumps(record) + '\n', encoding='utf-8')
        not_moved = _put(work, output)
        error = error or not_moved
    except OSError as problem:
        error = f'cannot write results: {problem}'
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return JobResult(job.name, error)


def sweep(folder: Path) -> None:
    """Remove left-over work folders of killed jobs below a folder.

    Results that were to be replaced return to their place if it is empty. What is not from a job
    is moved there; a folder from which it cannot be moved stays.

    Args:
        folder: folder in which no job is running.
    """
    for path in list(folder.rglob('.*')):
        match = _WORK.fullmatch(path.name)
        if match and match['old']:
            with contextlib.suppress(OSError):
                output = path.with_name(match['output'])
                if output.exists():
                    _clear(path, output)
                else:
                    path.rename(output)
        elif match:
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Context that locks the results of a campaign against other campaigns on this machine.

    Args:
        folder: folder of the campaign, in which ``bags`` exists. Only that is locked: whoever
            puts files into the folder itself locks it for a moment.

    Raises:
        BagError: another campaign has locked it.
    """
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked(folder / 'bags', waits=False))
        except BlockingIOError as error:
            raise BagError(
                f"another campaign is at work in '{folder}': wait for it, or choose another "
                '--output'
            ) from error
        yield


def finished(job: Job) -> JobResult | None:
    """Return the earlier successful result of a job; None if the job has to be run.

    It has to be run, too, if its summary cannot be read, or a file that this lists is missing.

    Args:
        job: the job.
    """
    folder = Path(job.output)
    try:
        record, summary = (
            json.loads((folder / name).read_text(encoding='utf-8')) for name in (_JOB, SUMMARY)
        )
        is_own = record['key'] == job.key and record['error'] is None
        listed = [folder / each['name'] for each in summary[OUTPUTS]]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    is_whole = all(map(os.path.exists, listed))
    return JobResult(job.name, None) if is_own and is_whole else None


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
    return None if process.returncode == 0 else _reason(process.returncode, said)[:_LONGEST]


def _reason(code: int, said: list[str]) -> str:
    """Return why a process failed; the last line of one that was killed may be a warning."""
    if code < 0:
        names = {each.value: each.name for each in signal.Signals}
        return f'the process was killed by {names.get(-code, -code)}'
    errors = [line for line in said if line.startswith(_ERROR)]
    is_traceback = any(line.startswith('Traceback ') for line in said)
    if errors or is_traceback:
        return (errors or said)[-1]
    return f'the process ended with {code}' + (f', saying last: {said[-1]}' if said else '')


def _work_folder(output: Path) -> Path:
    return output.with_name(f'.{output.name}.{uuid.uuid4().hex}')


def _put(work: Path, output: Path) -> str | None:
    """Replace the output folder by the work folder; what is not from a job stays in it.

    The results come first, so that there are files of others only in folders that are kept after
    an error.

    Returns:
        what cannot be moved from the old folder, with the reason.
    """
    old = work.with_name(f'{work.name}.old')
    with contextlib.suppress(FileNotFoundError):
        output.rename(old)
    try:
        work.rename(output)
    except BaseException as error:
        if not output.exists():
            with contextlib.suppress(OSError):
                old.rename(output)
            raise
        # Otherwise another process has put its equivalent results there in the meantime.
        if not isinstance(error, OSError):
            raise
    try:
        if old.exists():
            _clear(old, output)
    except FileNotFoundError:  # another process is just replacing the output: left to the sweep
        return None
    except OSError as error:
        return f'there are results, but not all other files of their folder: {error}'
    return None


def _clear(old: Path, output: Path) -> None:
    """Move what is not from a job from a replaced folder to the new one; remove the rest."""
    move_others(old, output, SUMMARY, _JOB)
    # With its new name it is removed as a whole, even if this is interrupted: results without
    # their record would be taken for files of others.
    rest = _work_folder(output)
    old.rename(rest)
    shutil.rmtree(rest, ignore_errors=True)
