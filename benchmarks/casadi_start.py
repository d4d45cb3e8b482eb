# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time of a fresh process from a URDF file to compiled CasADi functions; run by `starts`.

Usage: python -m benchmarks.casadi_start FILE LINK

Compiler, options and number of parallel compilations are those of our kernels.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import casadi
import pinocchio as pin

from benchmarks import tree
from benchmarks.casadi_quantities import quantities
from benchmarks.robots import GRAVITY
from benchmarks.start_probe import spent
from kron_dynamics.kernels.batches import thread_count
from kron_dynamics.kernels.compiler import find_compiler
from kron_dynamics.kernels.compiler_process import compile_library


def functions(file: str, link: str) -> Any:
    """Return an iterator over CasADi's functions for a robot and one of its links."""
    model = pin.buildModelFromUrdf(file)
    frame = model.frames[model.getFrameId(link, pin.BODY)]
    tip = frame.parentJoint - 1, frame.placement.homogeneous
    return quantities(tree.links(model), tip, GRAVITY)


def main() -> None:
    """Print wall-clock and processor time, s, without the imports above."""
    file, link = sys.argv[1:]
    compiler = find_compiler()
    assert compiler is not None
    wall, processor = time.perf_counter(), spent()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(thread_count(0) + 1) as pool:

        def compiled(made: casadi.Function, source: str) -> casadi.Function:
            target = Path(folder) / f'{made.name()}.so'
            compile_library(compiler, source, target)
            return casadi.external(made.name(), str(target))

        jobs = []
        for made in functions(file, link):
            generator = casadi.CodeGenerator(f'{made.name()}.c')
            generator.add(made)
            jobs.append(pool.submit(compiled, made, generator.dump()))
        for job in jobs:
            job.result()
        print(time.perf_counter() - wall, spent() - processor)


if __name__ == '__main__':
    main()
