# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign: each bag is analysed once; results of earlier campaigns are reused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kron_dynamics import __version__
from kron_dynamics.bag.campaigns.described_text import described_text
from kron_dynamics.bag.campaigns.found_bags import FoundBag
from kron_dynamics.bag.campaigns.jobs import Job, JobResult, finished, sweep
from kron_dynamics.bag.outputs.provenance import LIBRARIES
from kron_dynamics.bag.reading.storage_files import files_of

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
        module: Python module that analyses a bag, given ``bag``, ``options`` and ``output``.
        options: options of the analysis, as JSON values.
        files: descriptions that the options refer to, of the robot for example; if one changes,
            or a file that it includes, all bags are analysed again.
        output: folder of the campaign; results are below ``bags``.

    Raises:
        ModelError: a description cannot be read, or its xacro not be expanded.
    """
    texts = [described_text(file).encode(errors='surrogatepass') for file in files]
    common = {
        'module': module,
        'options': options,
        'files': [hashlib.sha256(text).hexdigest() for text in texts],
        'versions': [__version__, *map(version, LIBRARIES)],
    }
    return [_job(bag, module, common, output.resolve() / 'bags') for bag in bags]


def _job(bag: FoundBag, module: str, common: Mapping[str, Any], folder: Path) -> Job:
    # Files are compared by size and modification time, as in build tools: bags are too large to
    # be hashed.
    recorded = list[object]()
    try:
        for file in files_of(bag.path):
            status = file.stat()
            recorded.append((file.name, status.st_size, status.st_mtime_ns))
    except OSError as error:  # its analysis fails with the reason, and the others go on
        recorded.append(str(error))
    depends = json.dumps([common, str(bag.path), recorded], sort_keys=True)
    task = {'version': __version__, 'bag': str(bag.path), 'options': common['options']}
    key = hashlib.sha256(depends.encode()).hexdigest()
    return Job(bag.name, key, module, task, str(folder / bag.name))


def run_campaign(
    jobs: Sequence[Job],
    runner: Runner,
    on_result: Callable[[JobResult, bool], None],
    output: Path,
) -> list[JobResult]:
    """Run the jobs without earlier results; return the results of all jobs, in their order.

    Args:
        jobs: from `make_jobs`.
        runner: `run_locally` or `run_on_cluster` with its other arguments bound.
        on_result: called with each result, and whether it is from an earlier campaign.
        output: folder of the campaign, in which no other campaign runs; left-over work folders of
            killed jobs are removed.
    """
    results: dict[str, JobResult] = {}
    sweep(output)
    for job in jobs:
        if before := finished(job):
            results[job.name] = before
            on_result(before, True)
    left = [job for job in jobs if job.name not in results]
    for result in runner(left):
        results[result.name] = result
        on_result(result, False)
    sweep(output)
    return [results[job.name] for job in jobs]
