# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""From equations to kernels: recorded, compiled together, found again in the cache."""

from __future__ import annotations

import functools
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.batches import thread_count
from kron_dynamics.kernels.build import (
    compile_library,
    compiler_identity,
    find_compiler,
    processor_identity,
)
from kron_dynamics.kernels.cache import Built, Found, NoFolderError, cache_key, fetch
from kron_dynamics.kernels.caller import call_type
from kron_dynamics.kernels.check import check_kernel
from kron_dynamics.kernels.emit import emit_c
from kron_dynamics.kernels.interpreted import interpret
from kron_dynamics.kernels.kernel import Kernel, KernelReport
from kron_dynamics.kernels.library import address_of, signature, signature_source
from kron_dynamics.kernels.loops import LoopTrace
from kron_dynamics.kernels.prelude import symbol
from kron_dynamics.kernels.sources import Origin, forget_changed, origins_of
from kron_dynamics.kernels.trace import Graph, Trace
from kron_dynamics.kernels.units import in_units
from kron_dynamics.messages import clipped
from kron_dynamics.model.robot_model import RobotModel

_log = logging.getLogger(__name__)
# Measured on serial chains: straight-line code of so many operations is hardly quicker than that
# of loops, which is compiled in a fraction of the time. Arms never get there.
_JOINTS_OF_LOOPS = 10
_LONG = 2500
# Loops have at most four times the operations, so that there is no need to record both.
_LONG_IN_LOOPS = 4 * _LONG


# A name, of an array of length n; or a name and a length.
Argument = str | tuple[str, int]


class Recipe(NamedTuple):
    """A kernel to be made.

    Attributes:
        name: what it computes; with the model's fingerprint it identifies the function.
        arguments: their names, with their lengths where these are not n.
        function: runs on a model and traced arrays of those lengths; a tuple means several
            results.
        result_type: the named tuple that several results come in, None for one result.
        in_body_axes: whether the result is in the axes of the model's bodies.
        has_loops: whether the function goes through the tree by the model's ways alone, so that
            its loops can be recorded.
    """

    name: str
    arguments: Sequence[Argument]
    function: Callable[..., Any]
    result_type: type[tuple[Any, ...]] | None = None
    in_body_axes: bool = False
    has_loops: bool = True

    def lengths(self, model: RobotModel) -> list[tuple[str, int]]:
        """Return name and length of each argument for a model."""
        return [(a, model.n) if isinstance(a, str) else a for a in self.arguments]

    def record(self, model: RobotModel, graph: Graph | None = None) -> Trace:
        """Return the operations of the function, in a graph shared with others where given."""
        return Trace(functools.partial(self.function, model), self.sizes(model), graph)

    def record_for_compiler(self, model: RobotModel, graph: Graph) -> Trace | LoopTrace:
        """Return what makes the better C: all operations, or those of the loops over joints."""
        is_small = len(model.joints) < _JOINTS_OF_LOOPS
        if is_small or model.is_flexible or not self.has_loops:
            return self.record(model, graph)
        loops = LoopTrace(self.function, model, self.sizes(model), self.in_body_axes)
        if loops.operations >= _LONG_IN_LOOPS:
            return loops
        trace = self.record(model, graph)
        return loops if trace.operations >= _LONG else trace

    def sizes(self, model: RobotModel) -> list[int]:
        """Return the length of each argument for a model."""
        return [length for _, length in self.lengths(model)]

    def origins(self, model: RobotModel) -> list[Origin]:
        """Return where the sources of a kernel are: of its function, the model, the generator."""
        return [__name__, *type(model).__mro__, *origins_of(self.function)]


def make_kernels(
    recipes: Sequence[Recipe], model: RobotModel, fingerprint: str, threads: int = 1
) -> list[Kernel]:
    """Return the kernels of some recipes, compiled or found compiled.

    Args:
        recipes: what to make; all that is missing in the cache is compiled at once.
        model: the robot.
        fingerprint: of the model.
        threads: that share a batch; 0 for all cores.

    Raises:
        KernelBuildError: there is a compiler, and it failed or what it made computes something
            else.
    """
    compiler = find_compiler()
    if compiler is None:
        given = os.environ.get('CC')
        place = f"$CC is '{clipped(given)}', which is no program" if given else 'there is no cc'
        _warn_not_compiled(f'no C compiler found: {place}')
        return [_interpreted(recipe, model, threads) for recipe in recipes]
    try:
        return _compiled(recipes, model, fingerprint, threads, compiler)
    except NoFolderError as error:
        _warn_not_compiled(str(error))
        return [_interpreted(recipe, model, threads) for recipe in recipes]


def _compiled(
    recipes: Sequence[Recipe],
    model: RobotModel,
    fingerprint: str,
    threads: int,
    compiler: tuple[str, ...],
) -> list[Kernel]:
    machine = (compiler_identity(compiler), processor_identity())
    forget_changed()
    keys = {
        cache_key(
            *(recipe.name, repr(recipe.lengths(model)), fingerprint, *machine),
            origins=recipe.origins(model),
        ): recipe
        for recipe in recipes
    }
    addresses: dict[str, int] = {}

    def load(key: str, kernel: Found) -> None:
        library, entry, _ = kernel
        expected = signature(key, keys[key].sizes(model), entry.shapes)
        addresses[key] = address_of(library, entry.symbol, expected)

    found = fetch(
        list(keys),
        lambda missing, folder: _build({k: keys[k] for k in missing}, model, compiler, folder),
        load,
        # Robots that share a lock wait for each other; there are not more files than that.
        lock=f'kernels_{cache_key(fingerprint)[:2]}',
        origins=[origin for recipe in recipes for origin in recipe.origins(model)],
    )
    kernels = []
    for key, recipe in keys.items():
        _, entry, cached = found[key]
        report = KernelReport(recipe.name, entry.operations, 'c', entry.build_seconds, cached)
        kernels.append(
            Kernel(
                recipe.name,
                recipe.lengths(model),
                entry.shapes,
                report,
                address=addresses[key],
                result_type=recipe.result_type,
                threads=threads,
            )
        )
    return kernels


def _build(
    recipes: Mapping[str, Recipe], model: RobotModel, compiler: tuple[str, ...], folder: Path
) -> dict[str, Built]:
    spent: dict[str, float] = {}

    def recorded() -> Iterator[tuple[str, Trace | LoopTrace]]:
        graph = Graph()
        for key, recipe in recipes.items():
            started = time.perf_counter()
            trace = recipe.record_for_compiler(model, graph)
            spent[key] = time.perf_counter() - started
            yield key, trace

    def compile_unit(number: int, unit: Mapping[str, Trace | LoopTrace]) -> dict[str, Built]:
        started = time.perf_counter()
        library = folder / f'{number}.so'
        told = {key: signature(key, trace.sizes, trace.shapes) for key, trace in unit.items()}
        signatures = [signature_source(symbol(k), text) for k, text in enumerate(told.values())]
        compile_library(compiler, emit_c(list(unit.values())) + ''.join(signatures), library)
        # What cannot be loaded or computes something else must not get into the cache.
        for k, (key, trace) in enumerate(unit.items()):
            recipe = recipes[key]
            try:
                address = address_of(library, symbol(k), told[key])
                check_kernel(
                    *(address, recipe.name, recipe.lengths(model)),
                    *(recipe.function, model, trace),
                )
            except KernelBuildError as error:
                raise KernelBuildError(
                    f'{error}, compiled by {" ".join(compiler)}: check $CC and what it runs'
                ) from None
        seconds = time.perf_counter() - started
        total = sum(trace.operations for trace in unit.values()) or 1
        return {
            key: Built(
                library,
                symbol(k),
                trace.operations,
                trace.shapes,
                spent[key] + seconds * trace.operations / total,
            )
            for k, (key, trace) in enumerate(unit.items())
        }

    # One more than cores: the compiler also waits, for files and its own parts.
    with ThreadPoolExecutor(max_workers=thread_count(0) + 1) as pool:
        # The extension that calls kernels is compiled beside them where it is missing.
        pool.submit(call_type)
        units = [pool.submit(compile_unit, k, u) for k, u in enumerate(in_units(recorded()))]
        return {key: built for unit in units for key, built in unit.result().items()}


def _interpreted(recipe: Recipe, model: RobotModel, threads: int) -> Kernel:
    started = time.perf_counter()
    trace = recipe.record(model)
    report = KernelReport(
        recipe.name, trace.operations, 'numpy', time.perf_counter() - started, False
    )
    return Kernel(
        recipe.name,
        recipe.lengths(model),
        trace.shapes,
        report,
        evaluate=interpret(trace),
        result_type=recipe.result_type,
        threads=threads,
    )


@functools.lru_cache(maxsize=1)
def _warn_not_compiled(reason: str) -> None:
    _log.warning('%s; kernels run as NumPy code, slower for single states', reason)
