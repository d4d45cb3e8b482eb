# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Building of kernels that are missing in the cache: recorded, compiled and verified.

Imported only by processes that build.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels import check, compiler_process
from kron_dynamics.kernels.batches import thread_count
from kron_dynamics.kernels.cache import Built
from kron_dynamics.kernels.caller import call_type
from kron_dynamics.kernels.emit import emit_c, emit_lanes, has_lanes
from kron_dynamics.kernels.library import address_of, signature, signature_source
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.prelude import symbol
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.kernels.trace import Graph, Trace
from kron_dynamics.kernels.translation_units import in_translation_units
from kron_dynamics.model.robot_model import RobotModel

# Traces of one translation unit, by key.
Unit = Mapping[str, Trace | LoopTrace]


class KernelBuilder:
    """Builds kernels for the cache."""

    def __init__(
        self,
        keys: Mapping[str, KernelSpecification],
        model: RobotModel,
        compiler: tuple[str, ...],
        lanes: bool,
    ) -> None:
        """Prepare to build; `lanes` is for code with one state per SIMD lane."""
        self._keys = keys
        self._model = model
        self._compiler = compiler
        self._lanes = lanes
        self._recording: dict[str, float] = {}  # seconds

    def __call__(self, missing: Sequence[str], folder: Path) -> dict[str, Built]:
        """Record the kernels of some keys, and compile each unit while others are recorded."""
        given_up = threading.Event()
        # One thread more than cores, because the compiler also waits for files and subprocesses.
        with ThreadPoolExecutor(max_workers=thread_count(0) + 1) as pool:
            try:
                # Compile the extension that calls kernels at the same time if it is missing.
                pool.submit(call_type, given_up)
                units = [
                    pool.submit(self._compile, folder / f'{number}.so', unit, given_up)
                    for number, unit in enumerate(
                        in_translation_units(self._recorded(missing), self._lanes)
                    )
                ]
                return {key: built for unit in units for key, built in unit.result().items()}
            except BaseException:  # also KeyboardInterrupt: cancel the other compilations
                given_up.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _recorded(self, missing: Sequence[str]) -> Iterator[tuple[str, Trace | LoopTrace]]:
        graph = Graph()
        for key in missing:
            started = time.perf_counter()
            trace = self._keys[key].record_for_compiler(self._model, graph)
            self._recording[key] = time.perf_counter() - started
            yield key, trace

    def _compile(self, library: Path, unit: Unit, given_up: threading.Event) -> dict[str, Built]:
        """Compile kernels to one library, and verify what they compute."""
        started = time.perf_counter()
        expected = {key: signature(key, trace.sizes, trace.shapes) for key, trace in unit.items()}
        sources = [signature_source(symbol(k), text) for k, text in enumerate(expected.values())]
        traces = list(unit.values())
        if self._lanes:
            source = emit_lanes([trace for trace in traces if has_lanes(trace)])
        else:
            source = emit_c(traces)
        compiler_process.compile_library(
            self._compiler, source + ''.join(sources), library, given_up=given_up
        )
        # Code that cannot be loaded or computes something else must not get into the cache.
        for k, (key, trace) in enumerate(unit.items()):
            known = self._keys[key]
            try:
                check.check_kernel(
                    address_of(library, symbol(k), expected[key]),
                    *(known.name, known.lengths(self._model), known.function),
                    *(self._model, trace),
                )
            except KernelBuildError as error:
                raise KernelBuildError(
                    f'{error}, compiled by {" ".join(self._compiler)}: check $CC and what it runs'
                ) from None
        seconds = time.perf_counter() - started
        total = sum(trace.operations for trace in traces) or 1
        return {
            key: Built(
                library,
                symbol(k),
                trace.operations,
                trace.shapes,
                self._recording[key] + seconds * trace.operations / total,
                has_lanes(trace),
            )
            for k, (key, trace) in enumerate(unit.items())
        }
