# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parallel execution of a campaign's jobs: on this machine, or on a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from kron_dynamics.bag.campaigns.jobs import Job, JobResult, Process, run_job
from kron_dynamics.exceptions import BagError

_PATIENCE = 30.0  # timeout of the connection to a scheduler, s


def available_cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def run_locally(jobs: Sequence[Job], at_once: int) -> Iterator[JobResult]:
    """Run jobs on this machine; yield each result as soon as it is available.

    Args:
        jobs: the jobs.
        at_once: number of parallel processes.
    """
    processes: list[Process] = []
    pool = ThreadPoolExecutor(at_once)  # each thread waits for a process
    try:
        futures = [pool.submit(run_job, job, processes.append) for job in jobs]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()  # no effect on processes that have ended


def run_on_cluster(jobs: Sequence[Job], address: str) -> Iterator[JobResult]:
    """Run jobs on a cluster; yield each result as soon as it is available.

    If a worker is lost, its jobs are rerun on others.

    Args:
        jobs: the jobs; bags and results must have the same paths on all workers.
        address: address of the Dask scheduler, such as ``tcp://host:8786``.

    Raises:
        BagError: ``distributed`` is missing, no scheduler answers, or it has no workers.
    """
    try:
        from distributed import Client
        from distributed import as_completed as completed
    except ImportError as error:
        raise BagError(
            "a cluster needs the Python package 'distributed' (pip install "
            f"'kron_dynamics[cluster]'): {error}"
        ) from error
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BagError(f"no Dask scheduler answers at '{address}': {error}") from error
    with client:
        if not client.scheduler_info(n_workers=-1)['workers']:
            raise BagError(f"the Dask scheduler at '{address}' has no workers")
        futures = {
            client.submit(run_job, job, key=f'{job.name}-{job.key}', pure=False): job.name
            for job in jobs
        }
        try:
            for future in completed(list(futures), loop=client.loop):
                if future.status == 'finished':
                    yield future.result()
                else:
                    yield JobResult(futures[future], _one_line(future.exception()))
        finally:
            client.cancel(list(futures))


def _one_line(error: BaseException | None) -> str:
    return ' '.join(str(error).split()) or type(error).__name__
