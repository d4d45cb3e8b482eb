# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Thousands of random descriptions and calls: ``make fuzz``, or this file as a script.

Case k of a seed is always the same: each finding is printed with the command that repeats it.
Exit codes: 0 no findings, 1 findings, 2 invalid command line.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / 'test' / 'support'), str(ROOT / 'test' / 'fuzz')]

from api_cases import ApiCase  # noqa: E402
from description_cases import UrdfCase, YamlCase  # noqa: E402
from frame_cases import FrameCase  # noqa: E402
from guarding import Finding, described  # noqa: E402

KINDS: dict[str, tuple[Callable[[np.random.Generator], Any], int]] = {
    'urdf': (UrdfCase, 20_000),
    'yaml': (YamlCase, 5_000),
    'api': (ApiCase, 50_000),
    'frames': (FrameCase, 5_000),
}
_SHOWN = 3  # most findings of the same sort that are printed
_DEAD = 900.0  # s without a message from a process, after which it is killed as hanging


def case(kind: str, seed: int, number: int) -> Any:
    """Return one case."""
    return KINDS[kind][0](np.random.default_rng([seed, list(KINDS).index(kind), number]))


def problem(made: Any, at: Callable[[str], None]) -> str | None:
    """Return what is wrong with a case, None if nothing is; `at` is called before each step."""
    try:
        made.check(at)
    except Finding as finding:
        return str(finding)
    except Exception as error:  # raised by an unguarded call of the case
        return f'foreign error: {described(error)}'
    return None


def _work(kind: str, seed: int, numbers: range, pipe: Any) -> None:
    """Check cases in a separate process; send each step to the pipe before it is done."""
    silence = os.open(os.devnull, os.O_WRONLY)  # discards messages of other libraries
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    for number in numbers:
        made = case(kind, seed, number)
        found = problem(made, lambda what, n=number: pipe.send((n, what, None)))
        pipe.send((number, 'done', found))
    pipe.send((None, 'end', None))


def _worker(kind: str, seed: int, numbers: range) -> Iterator[tuple[int, str]]:
    """Yield findings of cases, including those that end the process."""
    context = multiprocessing.get_context('fork')
    while len(numbers):
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(kind, seed, numbers, there), daemon=True)
        process.start()
        there.close()
        number, doing = numbers[0], 'start'
        with contextlib.suppress(EOFError):
            while here.poll(_DEAD):
                last, doing, found = here.recv()
                if doing == 'end':
                    process.join()
                    return
                number = last
                if found is not None:
                    yield number, found
        process.kill()
        process.join()
        # A crash within another library is not a finding.
        if doing != 'Pinocchio':
            yield number, f'crash: exit code {process.exitcode} while it did: {doing}'
        numbers = numbers[numbers.index(number) + 1 :]


def run(kind: str, seed: int, count: int, first: int = 0) -> list[tuple[int, str]]:
    """Return the findings of some cases: case number and text."""
    return list(_worker(kind, seed, range(first, first + count)))


def _share(kind: str, seed: int, numbers: range, results: Any) -> None:
    results.put([(kind, *found) for found in _worker(kind, seed, numbers)])


def _campaign(kinds: list[str], seed: int, count: int | None, processes: int) -> int:
    """Run all cases and print the findings; return their number."""
    total: Counter[str] = Counter()
    for kind in kinds:
        started, number = time.monotonic(), count or KINDS[kind][1]
        results: Any = multiprocessing.Queue()
        shares = [range(k, number, processes) for k in range(processes)]
        # Not daemons, as these cannot have children.
        workers = [
            multiprocessing.Process(target=_share, args=(kind, seed, share, results))
            for share in shares
        ]
        for worker in workers:
            worker.start()
        findings = sorted(found for _ in workers for found in results.get())
        for worker in workers:
            worker.join()
        for _, case_number, text in findings:
            sort = f'{kind} {re.sub("[0-9].*", "#", ": ".join(text.split(": ")[:2]))}'
            total[sort] += 1
            if total[sort] <= _SHOWN:
                print(f'{kind} {case_number}: {text}')
                print(f'  {_command(kind, seed, case_number)}')
        print(
            f'{kind}: {number} cases, {len(findings)} findings, '
            f'{time.monotonic() - started:.0f} s',
            flush=True,
        )
    for sort, times in total.most_common():
        print(f'{times:6} {sort}')
    return total.total()


def _command(kind: str, seed: int, number: int) -> str:
    return f'{sys.executable} test/fuzz/campaign.py --only {kind} --seed {seed} --case {number}'


def _repeat(kind: str, seed: int, number: int) -> int:
    """Print one case and what is wrong with it."""
    made = case(kind, seed, number)
    found = problem(made, lambda what: None)
    print(made.input if isinstance(made.input, str) else repr(made.input))
    print(json.dumps({'kind': kind, 'seed': seed, 'case': number, 'finding': found}))
    return 0 if found is None else 1


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n')[0])
    parser.add_argument('--seed', type=int, default=1, help='seed of all cases (default: 1)')
    parser.add_argument('--count', type=int, help='cases of each kind (default: thousands)')
    parser.add_argument('--only', choices=KINDS, help='run only cases of this kind')
    parser.add_argument(
        '--case', type=int, help='run only this case and print its input; needs --only'
    )
    parser.add_argument(
        '--processes', type=int, default=2, help='number of processes (default: 2)'
    )
    arguments = parser.parse_args()
    if arguments.case is not None:
        if arguments.only is None:
            parser.error('--case needs --only')
        return _repeat(arguments.only, arguments.seed, arguments.case)
    print(f'seed {arguments.seed}')
    kinds = list(KINDS) if arguments.only is None else [arguments.only]
    found = _campaign(kinds, arguments.seed, arguments.count, arguments.processes)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
