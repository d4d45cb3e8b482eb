# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""From equations to kernels: record, compile together, and look up in the cache."""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.batches import thread_count
from kron_dynamics.kernels.cache import Built, Found, NoFolderError, cache_key, fetch
from kron_dynamics.kernels.caller import call_type
from kron_dynamics.kernels.compiler import compiler_identity, find_compiler, processor_identity
from kron_dynamics.kernels.kernel import Kernel, KernelReport
from kron_dynamics.kernels.library import address_of, signature, signature_source
from kron_dynamics.kernels.sources import forget_changed, keep_notes
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.messages import clipped
from kron_dynamics.model.robot_model import RobotModel

if TYPE_CHECKING:
    from kron_dynamics.kernels.loops.trace import LoopTrace
    from kron_dynamics.kernels.trace import Trace

_log = logging.getLogger(__name__)
# Traces of one translation unit, by key.
Unit = Mapping[str, 'Trace | LoopTrace']


def make_kernels(
    specifications: Sequence[KernelSpecification],
    model: RobotModel,
    fingerprint: str,
    threads: int = 1,
) -> list[Kernel]:
    """Return the kernels of some specifications, from the cache or newly compiled.

    Args:
        specifications: kernels to make; those missing in the cache are compiled together.
        model: the robot.
        fingerprint: fingerprint of the model.
        threads: number of threads that share a batch; 0 for all cores.

    Raises:
        KernelBuildError: there is a compiler, and it failed or its code computes something else.
    """
    fetched = _fetched(specifications, model, fingerprint, lanes=False)
    if fetched is None:
        return [_interpreted(specification, model, threads) for specification in specifications]
    return [
        Kernel(
            known.name,
            known.lengths(model),
            entry.shapes,
            KernelReport(known.name, entry.operations, 'c', entry.build_seconds, cached),
            address=address,
            result_type=known.result_type,
            threads=threads,
            lanes=functools.partial(_lanes, known, model, fingerprint)
            if entry.has_lanes
            else None,
        )
        for known, (address, (_, entry, cached)) in zip(specifications, fetched, strict=True)
    ]


def make_lanes(
    specifications: Sequence[KernelSpecification], model: RobotModel, fingerprint: str
) -> list[int] | None:
    """Return addresses of the code with one state per SIMD lane, for kernels that have lanes.

    Args:
        specifications: specifications of kernels from `make_kernels`; all are compiled together.
        model: the robot.
        fingerprint: fingerprint of the model.

    Returns:
        addresses, or None if nothing can be compiled any more.

    Raises:
        KernelBuildError: as for `make_kernels`.
    """
    fetched = _fetched(specifications, model, fingerprint, lanes=True)
    return None if fetched is None else [address for address, _ in fetched]


def _lanes(known: KernelSpecification, model: RobotModel, fingerprint: str) -> int | None:
    addresses = make_lanes([known], model, fingerprint)
    return None if addresses is None else addresses[0]


def _fetched(
    specifications: Sequence[KernelSpecification],
    model: RobotModel,
    fingerprint: str,
    lanes: bool,
) -> list[tuple[int, Found]] | None:
    """Return address and cache record of each kernel, or None if nothing can be compiled."""
    compiler = find_compiler()
    if compiler is None:
        given = os.environ.get('CC')
        place = f"$CC is '{clipped(given)}', which is no program" if given else 'there is no cc'
        _warn_not_compiled(f'no C compiler found: {place}')
        return None
    forget_changed()
    machine = (compiler_identity(compiler), processor_identity())
    origins = {known.name: known.origins(model) for known in specifications}
    keys = {
        cache_key(
            *(known.name, repr(known.lengths(model)), fingerprint, *machine, f'lanes: {lanes}'),
            origins=origins[known.name],
        ): known
        for known in specifications
    }
    build = _Build(keys, model, compiler, lanes)
    try:
        found = fetch(
            list(keys),
            build,
            build.load,
            # 256 lock files for all robots; robots that share one wait for each other.
            lock=f'kernels_{cache_key(fingerprint)[:2]}',
            origins=[origin for each in origins.values() for origin in each],
        )
    except NoFolderError as error:
        _warn_not_compiled(str(error))
        return None
    if not all(kernel.cached for kernel in found.values()):
        keep_notes()
    return [(build.addresses[key], found[key]) for key in keys]


class _Build:
    """Builds kernels for the cache, and loads them from it.

    Attributes:
        addresses: addresses of the loaded functions, by key.
    """

    def __init__(
        self,
        keys: Mapping[str, KernelSpecification],
        model: RobotModel,
        compiler: tuple[str, ...],
        lanes: bool,
    ) -> None:
        """Prepare to build; `lanes` is for code with one state per SIMD lane."""
        self.addresses: dict[str, int] = {}
        self._keys = keys
        self._model = model
        self._compiler = compiler
        self._lanes = lanes
        self._recording: dict[str, float] = {}  # seconds

    def load(self, key: str, kernel: Found) -> None:
        """Load a kernel's function, whose signature has to match the key."""
        library, entry, _ = kernel
        expected = signature(key, self._keys[key].sizes(self._model), entry.shapes)
        self.addresses[key] = address_of(library, entry.symbol, expected)

    def __call__(self, missing: Sequence[str], folder: Path) -> dict[str, Built]:
        """Record the kernels of some keys, and compile each unit while others are recorded."""
        # Imported here because it takes time and is needed only for building.
        from kron_dynamics.kernels.translation_units import in_translation_units

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
        from kron_dynamics.kernels.trace import Graph

        graph = Graph()
        for key in missing:
            started = time.perf_counter()
            trace = self._keys[key].record_for_compiler(self._model, graph)
            self._recording[key] = time.perf_counter() - started
            yield key, trace

    def _compile(self, library: Path, unit: Unit, given_up: threading.Event) -> dict[str, Built]:
        """Compile kernels to one library, and verify what they compute."""
        from kron_dynamics.kernels import check
        from kron_dynamics.kernels.emit import emit_c, emit_lanes, has_lanes
        from kron_dynamics.kernels.prelude import symbol
        from kron_dynamics.kernels.run_compiler import compile_library

        started = time.perf_counter()
        expected = {key: signature(key, trace.sizes, trace.shapes) for key, trace in unit.items()}
        sources = [signature_source(symbol(k), text) for k, text in enumerate(expected.values())]
        traces = list(unit.values())
        if self._lanes:
            source = emit_lanes([trace for trace in traces if has_lanes(trace)])
        else:
            source = emit_c(traces)
        compile_library(self._compiler, source + ''.join(sources), library, given_up=given_up)
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


def _interpreted(specification: KernelSpecification, model: RobotModel, threads: int) -> Kernel:
    from kron_dynamics.kernels.interpreted import interpret

    started = time.perf_counter()
    trace = specification.record(model)
    report = KernelReport(
        specification.name, trace.operations, 'numpy', time.perf_counter() - started, False
    )
    return Kernel(
        specification.name,
        specification.lengths(model),
        trace.shapes,
        report,
        evaluate=interpret(trace),
        result_type=specification.result_type,
        threads=threads,
    )


@functools.lru_cache(maxsize=1)
def _warn_not_compiled(reason: str) -> None:
    _log.warning('%s; kernels run as NumPy code, slower for single states', reason)
