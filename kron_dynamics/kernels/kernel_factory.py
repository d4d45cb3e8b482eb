# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""From equations to kernels: looked up in the cache, otherwise built.

docs/kernels.md follows a call from the equation to machine code.
"""

from __future__ import annotations

import functools
import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path

from kron_dynamics.kernels.cache import Built, Found, NoFolderError, cache_key, fetch
from kron_dynamics.kernels.captured import captured_text
from kron_dynamics.kernels.compiler import compiler_identity, find_compiler, processor_identity
from kron_dynamics.kernels.kernel import Kernel, KernelReport
from kron_dynamics.kernels.late_imports import IMPORTING
from kron_dynamics.kernels.library import address_of, signature
from kron_dynamics.kernels.sources import forget_changed, keep_notes
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.messages import clipped
from kron_dynamics.model.robot_model import RobotModel

_log = logging.getLogger(__name__)


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
) -> list[int | None] | None:
    """Return addresses of the code with one state per SIMD lane, for kernels that have lanes.

    Args:
        specifications: specifications of kernels from `make_kernels`; all are compiled together.
        model: the robot.
        fingerprint: fingerprint of the model.

    Returns:
        addresses, each None if the function has changed; None if nothing can be compiled any
        more.

    Raises:
        KernelBuildError: as for `make_kernels`.
    """
    unchanged = [known for known in specifications if not _has_changed(known)]
    fetched = _fetched(unchanged, model, fingerprint, lanes=True)
    if fetched is None:
        return None
    addresses = iter(address for address, _ in fetched)
    return [next(addresses) if known in unchanged else None for known in specifications]


def _has_changed(known: KernelSpecification) -> bool:
    """Return whether a user's method reads other values than when its kernel was made."""
    return known.captured != '' and captured_text(known.function) != known.captured


def _captured(known: KernelSpecification, model: RobotModel) -> str:
    """Return a text of the numbers that a function reads and the fingerprint does not tell."""
    if not known.captured:
        return captured_text(known.function)
    with IMPORTING:  # for equations of users only
        from kron_dynamics.kernels.model_text import model_text

    return known.captured + model_text(model)


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
        _warn_no_compiler()
        return None
    forget_changed()
    machine = (compiler_identity(compiler), processor_identity())
    origins = {known.key: known.origins(model) for known in specifications}
    keys = {
        cache_key(
            *(known.name, repr(known.lengths(model)), fingerprint, *machine, f'lanes: {lanes}'),
            _captured(known, model),
            origins=origins[known.key],
        ): known
        for known in specifications
    }
    addresses: dict[str, int] = {}

    def build(missing: Sequence[str], folder: Path) -> dict[str, Built]:
        with IMPORTING:  # takes time, and is needed only for building
            from kron_dynamics.kernels.kernel_builder import KernelBuilder

        return KernelBuilder(keys, model, compiler, lanes)(missing, folder)

    def load(key: str, kernel: Found) -> None:
        library, entry, _ = kernel
        expected = signature(key, keys[key].sizes(model), entry.shapes)
        addresses[key] = address_of(library, entry.symbol, expected)

    try:
        found = fetch(
            list(keys),
            build,
            load,
            # 256 lock files for all robots; robots that share one wait for each other.
            lock=f'kernels_{cache_key(fingerprint)[:2]}',
            origins=[origin for each in origins.values() for origin in each],
        )
    except NoFolderError as error:
        _warn_not_compiled(str(error))
        return None
    if not all(kernel.cached for kernel in found.values()):
        keep_notes()
    return [(addresses[key], found[key]) for key in keys]


def _interpreted(specification: KernelSpecification, model: RobotModel, threads: int) -> Kernel:
    with IMPORTING:
        from kron_dynamics.kernels.interpreted import Interpreted

    started = time.perf_counter()
    trace = specification.record(model)
    interpreted = Interpreted(trace)
    report = KernelReport(
        specification.name, trace.operations, 'numpy', time.perf_counter() - started, False
    )
    return Kernel(
        specification.name,
        specification.lengths(model),
        trace.shapes,
        report,
        evaluate=interpreted,
        of_state=interpreted.of_state,
        result_type=specification.result_type,
        threads=threads,
    )


def _warn_no_compiler() -> None:
    given = os.environ.get('CC')
    place = f"$CC is '{clipped(given)}', which is no program" if given else 'there is no cc'
    _warn_not_compiled(f'no C compiler found: {place}')


@functools.lru_cache(maxsize=1)
def _warn_not_compiled(reason: str) -> None:
    _log.warning('%s; kernels run as NumPy code, slower for single states', reason)
