# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""C functions of the package, such as `stepper.c`: compiled on this machine, checked, cached."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kron_dynamics.kernels.cache import Built, Found, cache_key, fetch
from kron_dynamics.kernels.compiler import compiler_identity, processor_identity
from kron_dynamics.kernels.compiler_process import compile_library
from kron_dynamics.kernels.library import address_of, signature_source


def checked_function(
    command: tuple[str, ...],
    name: str,
    source: str,
    check: Callable[[int], None],
    origin: str,
) -> int:
    """Return the address of a C function, from the cache or compiled.

    Args:
        command: command line of the C compiler.
        name: name of the function.
        source: C source that defines it.
        check: function of its address that raises KernelBuildError if it computes wrong results;
            called before its first use.
        origin: name of the module whose sources decide whether a cached function is valid.

    Raises:
        KernelBuildError: the compiler failed, or its output computes wrong results.
        NoFolderError: there is no writable folder for the library.
    """
    made_for = (compiler_identity(command), processor_identity())
    key = cache_key(name, *made_for, source, origins=(origin,))
    addresses: list[int] = []

    def build(keys: Sequence[str], folder: Path) -> dict[str, Built]:
        started = time.perf_counter()
        library = folder / f'{name}.so'
        compile_library(command, source + signature_source(name, key), library)
        check(address_of(library, name, key))
        return {key: Built(library, name, 0, (), time.perf_counter() - started)}

    def load(key: str, found: Found) -> None:
        addresses.append(address_of(found.library, name, key))

    fetch([key], build, load, name, origins=(origin,))
    return addresses[-1]
