# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A builder for the kernel cache that needs no compiler."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kron_dynamics.kernels import cache
from kron_dynamics.kernels.cache import Built, Found

CONTENT = b'not really a library, but long enough to be cut'


class Builder:
    """Writes one library for all given keys: a fixed content, then the first key."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    @property
    def count(self) -> int:
        return len(self.asked)

    def __call__(self, keys: Sequence[str], folder: Path) -> Mapping[str, Built]:
        self.asked.append(list(keys))
        target = folder / 'library.so'
        target.write_bytes(CONTENT + keys[0].encode())
        return {
            key: Built(target, f'kernel_{k}', 3 + k, ((2, 2), ()), 0.5)
            for k, key in enumerate(keys)
        }


def fetch(keys: Sequence[str], build: Any, lock: str, folder: Path) -> dict[str, Found]:
    found = cache.fetch(keys, build, lambda key, kernel: None, lock)
    assert {kernel.library.parent for kernel in found.values()} <= {folder}
    return found


def fetch_one(key: str, build: Any, folder: Path) -> Found:
    return fetch([key], build, 'ab', folder)[key]


def file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
