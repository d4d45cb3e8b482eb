# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the benchmarks, print a line per row and write docs/benchmarks.md.

Usage: python -m benchmarks [--only PART ...] [--quick] [--output FILE]
"""

from __future__ import annotations

import argparse
import logging
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path

from benchmarks import machine, report
from benchmarks.robots import ROOT
from benchmarks.rows import Outcome, Row
from benchmarks.timing import MeasurementError

ROUNDS, QUICK_ROUNDS = 21, 5


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog='benchmarks', description=__doc__.splitlines()[0])
    parser.add_argument(
        '--only',
        nargs='+',
        default=[],
        metavar='PART',
        help='rows whose key holds one of these, such as step/ or panda; writes no file',
    )
    parser.add_argument('--quick', action='store_true', help='few rounds; writes no file')
    parser.add_argument('--output', type=Path, help='file to write, whatever is measured')
    parser.add_argument('--trace', action='store_true', help='show where a measurement failed')
    return parser.parse_args()


def measure(row: Row, rounds: int, trace: bool) -> Outcome | str:
    """Return a row's outcome, or the reason of its failure, which does not stop other rows."""
    try:
        return row.measure(rounds)
    except MeasurementError as error:
        return str(error)
    except Exception as error:
        if trace:
            traceback.print_exc()
        return f'{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ""}'


def count_operations() -> Mapping[str, Mapping[str, int]] | str:
    """Return the number of operations by robot and kernel, or the reason of a failure."""
    from benchmarks.operations import operation_counts

    try:
        return operation_counts()
    except Exception as error:
        return f'{type(error).__name__}: {error}'


def main() -> int:
    """Measure all selected rows, print them and write the report."""
    options = arguments()
    logging.getLogger('kron_dynamics').setLevel(logging.ERROR)
    facts = machine.facts()
    for name, fact in facts.items():
        print(f'{name}: {fact}')
    try:
        from benchmarks.targets import ROWS
    except ImportError as error:
        print(f'bench: {error}: `make bench` installs what is needed', file=sys.stderr)
        return 2
    rows = [row for row in ROWS if not options.only or any(k in row.key for k in options.only)]
    results: list[report.Result] = []
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    for row in rows:
        results.append((row, measure(row, rounds, options.trace)))
        print(report.line(results[-1]), flush=True)
    print(report.summary(results))
    whole = not options.only and not options.quick
    if path := options.output or (ROOT / 'docs' / 'benchmarks.md' if whole else None):
        report.write(path, report.markdown(facts, results, count_operations()))
        print(f'wrote {path}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
