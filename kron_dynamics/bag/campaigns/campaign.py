# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign: every bag analysed once, what was done before left as it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from kron_dynamics import __version__
from kron_dynamics.bag.campaigns.found_bags import FoundBag
from kron_dynamics.bag.campaigns.jobs import Job, JobResult, finished, sweep

Runner = Callable[[Sequence[Job]], Iterator[JobResult]]


def make_jobs(
    bags: Sequence[FoundBag],
    module: str,
    options: Mapping[str, Any],
    files: Sequence[Path],
    output: Path,
) -> list[Job]:
    """Return the job of each bag.

    Args:
        bags: the bags.
        module: Python module that analyses one, given ``bag``, ``options`` and ``output``.
        options: of the analysis, as JSON has them.
        files: what the options refer to, such as a robot description: changed, it is a new task.
        output: folder of the campaign; results are below ``bags``.
    """
    common = {
        'module': module,
        'options': options,
        'files': [hashlib.sha256(file.read_bytes()).hexdigest() for file in files],
        'versions': [__version__, np.__version__, scipy.__version__],
    }
    return [_job(bag, module, common, output.resolve() / 'bags') for bag in bags]


def _job(bag: FoundBag, module: str, common: Mapping[str, Any], folder: Path) -> Job:
    # By time and size, for bags are large; it is what build tools go by.
    states = [(file.name, file.stat()) for file in bag.files()]
    recorded = [(name, status.st_size, status.st_mtime_ns) for name, status in states]
    depends = json.dumps([common, str(bag.path), recorded], sort_keys=True)
    task = {'version': __version__, 'bag': str(bag.path), 'options': common['options']}
    key = hashlib.sha256(depends.encode()).hexdigest()
    return Job(bag.name, key, module, task, str(folder / bag.name))


def run_campaign(
    jobs: Sequence[Job],
    runner: Runner,
    told: Callable[[JobResult, bool], None],
    output: Path,
) -> list[JobResult]:
    """Run what was not done before; return how each job ended, in their order.

    Args:
        jobs: from `make_jobs`.
        runner: `run_locally` or `run_on_cluster`, what it takes besides jobs given.
        told: called with each result as it comes, and whether it is of an earlier campaign.
        output: folder of the campaign, where no other is at work; what those that were killed
            have left there is removed.
    """
    results: dict[str, JobResult] = {}
    sweep(output)
    for job in jobs:
        if before := finished(job):
            results[job.name] = before
            told(before, True)
    left = [job for job in jobs if job.name not in results]
    for result in runner(left):
        results[result.name] = result
        told(result, False)
    sweep(output)
    return [results[job.name] for job in jobs]
