# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: ``make mutants``, or this file as a script.

The same seed and count give the same mutants of the same code. Each mutant runs against the tests
named like its module and, if it survives, against those of its package and all that mention names
which the module defines. A surviving mutant that is not in `reviewed.yaml` means a missing test.

Exit codes: 0 at most 3 % of the mutants survive, 1 more do, 2 invalid command line.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(Path(__file__).parent)]

from mutations import Mutation, mutations  # noqa: E402
from reviewed import Reviewed  # noqa: E402
from runs import Copy  # noqa: E402
from selection import broader, mirrors  # noqa: E402

PACKAGE = ROOT / 'kron_dynamics'
ROOMS = (
    *('control', 'model', 'dynamics', 'kinematics', 'ros'),
    *('identification', 'export', 'bag'),
)
SHARE = 0.03  # allowed fraction of surviving mutants


class Mutant(NamedTuple):
    """A mutation of a module, given by its path from the repository root."""

    module: Path
    mutation: Mutation


class Campaign:
    """Runs mutants in a copy of the repository."""

    def __init__(self, copy: Copy, limit: float, narrow: bool) -> None:
        """Create a campaign.

        Args:
            copy: copy of the repository.
            limit: processor time for the tests of a mutant, s.
            narrow: run only the tests named like the module, if there are any.
        """
        self._copy = copy
        self._limit = limit
        self._narrow = narrow
        self._broken: list[str] = []
        self._sound: set[str] = set()

    def killer(self, mutant: Mutant) -> str | None:
        """Return the failed test that kills a mutant, or another reason; None if it survives."""
        module, root = mutant.module, self._copy.root
        changed = mutant.mutation.applied((root / module).read_text(encoding='utf-8'))
        near = mirrors(root, module)
        stages = [near] if near and self._narrow else [near, broader(root, module)]
        for tests in filter(None, stages):
            while True:
                with self._copy.changed(module, changed):
                    run = self._copy.run(tests, self._limit, self._broken)
                if run.passed:
                    break
                failed = run.failed_tests()
                if not failed:
                    return f'exit code {run.code} after {run.seconds:.0f} s'
                if self._is_sound(failed[0]):
                    return failed[0]
        return None

    def _is_sound(self, test: str) -> bool:
        """Whether a test passes without mutation; otherwise it is left out from now on."""
        if test not in self._sound:
            name = test.partition('[')[0]
            if not self._copy.run([Path(name)], self._limit).passed:
                print(f'fails without a mutation, left out: {name}', flush=True)
                self._broken.append(name)
                return False
            self._sound.add(test)
        return True


def modules(room: str) -> list[Path]:
    """Return the modules of a subpackage, by path in the package, such as ``bag/reading``.

    Raises:
        ValueError: there is neither a folder nor a module with this path.
    """
    path = PACKAGE / room
    if path.is_dir():
        return sorted(path.rglob('*.py'))
    if not path.with_suffix('.py').is_file():
        raise ValueError(f'no folder or module {room!r} in {PACKAGE}')
    return [path.with_suffix('.py')]


def sample(rooms: Sequence[str], seed: int, count: int) -> list[Mutant]:
    """Return mutants drawn with a seed, equally many from each subpackage."""
    drawn: list[Mutant] = []
    for k, room in enumerate(rooms):
        every = [
            Mutant(path.relative_to(ROOT), mutation)
            for path in modules(room)
            for mutation in mutations(path.read_text(encoding='utf-8'))
        ]
        share = count // len(rooms) + (k < count % len(rooms))
        chosen = random.Random(f'{seed} {room}').sample(every, min(share, len(every)))
        drawn += sorted(chosen)
    return drawn


def shown(mutant: Mutant, root: Path = ROOT) -> str:
    """Return a mutant of the code in a folder as text: location and difference."""
    module, mutation = mutant
    text = (root / module).read_text(encoding='utf-8')
    first = text.rfind('\n', 0, mutation.start) + 1
    last = text.find('\n', mutation.stop)
    old, new = (
        text[first:last],
        mutation.applied(text)[
            first : last + len(mutation.new) - (mutation.stop - mutation.start)
        ],
    )
    lines = [f'- {line}' for line in old.splitlines()] + [f'+ {line}' for line in new.splitlines()]
    return '\n'.join([f'{module}:{mutation.line} in {mutation.function or "module"}', *lines])


def main(argv: Sequence[str] | None = None) -> int:
    """Run a campaign and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n\n')[1])
    parser.add_argument('--seed', type=int, default=1, help='default: %(default)s')
    parser.add_argument('--count', type=int, default=200, help='mutants; default: %(default)s')
    parser.add_argument(
        '--first',
        type=int,
        default=1,
        metavar='NUMBER',
        help='the mutant to begin with, to go on with a campaign; default: %(default)s',
    )
    parser.add_argument(
        '--only',
        nargs='+',
        default=ROOMS,
        metavar='ROOM',
        help='folders or modules of the package, as control/reference/stop; default: %(default)s',
    )
    parser.add_argument(
        '--narrow', action='store_true', help='only tests named like the module, if any'
    )
    parser.add_argument(
        '--limit',
        type=float,
        default=600.0,
        metavar='SECONDS',
        help='most processor time for the tests of a mutant; default: %(default)s',
    )
    parser.add_argument('--list', action='store_true', help='print the mutants, run nothing')
    arguments = parser.parse_args(argv)
    try:
        mutants = sample(arguments.only, arguments.seed, arguments.count)
    except ValueError as error:
        parser.error(str(error))
    if arguments.list:
        print('\n'.join(map(shown, mutants)))
        return 0
    reviewed = Reviewed.read()
    for name in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS'):
        os.environ[name] = '1'
    counts: Counter[str] = Counter()
    rest = list(enumerate(mutants, 1))[max(arguments.first, 1) - 1 :]
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_mutants_') as folder:
        # From here on only the copy is read: the repository may change meanwhile.
        copy = Copy(ROOT, Path(folder))
        campaign = Campaign(copy, arguments.limit, arguments.narrow)
        for number, mutant in rest:
            text = (copy.root / mutant.module).read_text(encoding='utf-8')
            reason = reviewed.reason(mutant.module, mutant.mutation, text)
            killer = None if reason else campaign.killer(mutant)
            verdict = 'reviewed' if reason else 'killed' if killer else 'LIVES'
            counts[verdict] += 1
            about = f'{shown(mutant, copy.root)}\n  {reason or killer or ""}'
            print(f'{number}/{len(mutants)} {verdict} {about}', flush=True)
    print(', '.join(f'{count} {verdict}' for verdict, count in sorted(counts.items())))
    return int(counts['LIVES'] > SHARE * len(rest))


if __name__ == '__main__':
    sys.exit(main())
