# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The reference vectors, and a record of the expected entries that tests have read."""

from __future__ import annotations

import functools
import json
from collections.abc import ItemsView, Iterator
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[1] / 'vectors' / 'public_vectors.json'
# (case, entry) pairs that this process has read.
READ: set[tuple[str, str]] = set()


class Expected(dict[str, Any]):
    """Expected entries of a case; a value counts as read when it is looked up."""

    def __init__(self, case: str, entries: dict[str, Any], path: str = '') -> None:
        """Wrap the entries of a case and of nested dictionaries."""
        super().__init__(
            (key, Expected(case, value, f'{path}{key}.') if isinstance(value, dict) else value)
            for key, value in entries.items()
        )
        self._case, self._path = case, path

    def __getitem__(self, key: str) -> Any:
        """Return an entry and record it as read."""
        value = super().__getitem__(key)
        if not isinstance(value, Expected):
            READ.add((self._case, self._path + key))
        return value

    def items(self) -> ItemsView[str, Any]:
        """Return a view of all entries, whose values are looked up and so count as read."""
        return ItemsView(self)

    def entries(self) -> Iterator[tuple[str, str]]:
        """Yield case and path of every entry without counting it as read."""
        for key, value in super().items():
            if isinstance(value, Expected):
                yield from value.entries()
            else:
                yield self._case, self._path + key


def _load() -> list[dict[str, Any]]:
    cases = json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
    return [case | {'expected': Expected(case['id'], case['expected'])} for case in cases]


CASES = _load()


@functools.cache
def reads_vectors(path: Path) -> bool:
    """Return whether a test file uses this module."""
    return 'from public_vectors import' in path.read_text(encoding='utf-8')


def cases_of(*kinds: str) -> list[dict[str, Any]]:
    """Return the cases of the given kinds; assert that each kind has one."""
    found = [case for case in CASES if case['kind'] in kinds]
    assert {case['kind'] for case in found} == set(kinds)
    return found
