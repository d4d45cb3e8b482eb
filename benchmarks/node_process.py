# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Python processes that talk by ROS in a domain of their own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.robots import ROOT


@contextlib.contextmanager
def running(
    arguments: list[str], domain: int, log: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run Python with arguments until the context ends, and end it then.

    Args:
        arguments: arguments of the interpreter.
        domain: ROS domain.
        log: file for its error output; None drops it.
    """
    environment = {
        **os.environ,
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'ROS_DOMAIN_ID': str(domain),
        'PYTHONPATH': str(ROOT),
    }
    with open(log or os.devnull, 'w') as errors:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=ROOT,
            env=environment,
        )
    try:
        yield process
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10.0)
        process.kill()
