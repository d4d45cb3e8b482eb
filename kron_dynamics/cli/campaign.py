# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics campaign`: the same analysis of many bags."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kron_dynamics.bag.campaigns.campaign import make_jobs, run_campaign
from kron_dynamics.bag.campaigns.campaign_summary import (
    format_campaign,
    summarize,
    write_campaign,
)
from kron_dynamics.bag.campaigns.found_bags import find_bags
from kron_dynamics.bag.campaigns.jobs import Job, JobResult, alone_in
from kron_dynamics.bag.campaigns.schedulers import (
    available_cores,
    run_locally,
    run_on_cluster,
)
from kron_dynamics.cli.analyze import add_analysis
from kron_dynamics.cli.options import whole_number
from kron_dynamics.cli.streams import print_kept, writing

DESCRIPTION = """\
Analyse every bag in and below some folders as `kron_dynamics analyze` does, several in parallel,
each in its own process, and summarise the results. A failed bag does not stop the others. A second
run with the same options and robot analyses only bags that are new, changed or failed.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        'places', metavar='PLACE', nargs='+', type=Path, help='bags, or folders with bags'
    )
    parser.add_argument(
        '--output', metavar='DIR', type=Path, required=True, help='folder for all results'
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        '--jobs',
        metavar='N',
        type=whole_number(1, 1024),
        default=available_cores(),
        help='bags analysed in parallel on this machine (default: one per core, %(default)s)',
    )
    where.add_argument(
        '--scheduler',
        metavar='ADDRESS',
        help='Dask scheduler whose workers analyse the bags, such as tcp://host:8786; workers '
        'need the same version of kron_dynamics, and bags and DIR at the same paths',
    )
    add_analysis(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Analyse all bags, print each one's outcome and the summary, and write the files."""
    own = {'places', 'output', 'jobs', 'scheduler', 'run', 'command'}
    given = {name: value for name, value in vars(arguments).items() if name not in own}
    files = [value for value in given.values() if isinstance(value, Path)]
    options = {name: _plain(value) for name, value in given.items()}
    output = arguments.output
    unsearched = dict[str, str]()
    bags = find_bags(arguments.places, besides=output, unsearched=unsearched)
    with writing(output):
        (output / 'bags').mkdir(parents=True, exist_ok=True)
    jobs = make_jobs(bags, 'kron_dynamics.cli.campaign_job', options, files, output)
    runner: Callable[[Sequence[Job]], Iterator[JobResult]]
    if arguments.scheduler:
        runner = partial(run_on_cluster, address=arguments.scheduler)
    else:
        runner = partial(run_locally, at_once=arguments.jobs)
    for name, why in unsearched.items():
        print(f'failed   {name}: {why}')
    with alone_in(output):
        results = run_campaign(jobs, runner, _ProgressPrinter(len(jobs)), output)
        summary = summarize(jobs, results, unsearched)
        print(f'\n{format_campaign(summary)}')
        notes = list[str]()
        with writing(output):
            written = write_campaign(summary, output, notes)
    print(f'\nwritten  {output}: {", ".join(written)}, and the results of each bag below bags')
    print_kept(notes)
    return 1 if any(bag['error'] for bag in summary['bags']) else 0


class _ProgressPrinter:
    """Prints a line for each finished bag."""

    def __init__(self, total: int) -> None:
        self._total, self._ended = total, 0

    def __call__(self, result: JobResult, before: bool) -> None:
        self._ended += 1
        how = 'before' if before else ('failed' if result.error else 'done')
        why = f': {result.error}' if result.error else ''
        print(f'{how:8s} {self._ended}/{self._total} {result.name}{why}')
        sys.stdout.flush()


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; paths become absolute."""
    if isinstance(value, Path):
        return str(value.resolve())
    return value.tolist() if isinstance(value, np.ndarray) else value
