# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reviewed equivalent mutants, which need no test: `reviewed.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from mutations import Mutation, mutations

FILE = Path(__file__).with_name('reviewed.yaml')


class Key(NamedTuple):
    """Key of a mutant, independent of the location of its module and line.

    Attributes:
        module: file name without folders.
        function: qualified name of the enclosing function or class.
        line: text of the line in which the mutation begins.
        new: replacement.
    """

    module: str
    function: str
    line: str
    new: str

    @classmethod
    def of(cls, module: Path, mutation: Mutation, text: str) -> Key:
        """Return the key of a mutation of a module's text."""
        first = text.rfind('\n', 0, mutation.start) + 1
        line = text[first : text.find('\n', first)].strip()
        return cls(module.name, mutation.function, line, mutation.new)


class Reviewed:
    """Reasons why reviewed mutants may survive, by their keys."""

    def __init__(self, entries: Sequence[Mapping[str, str]]) -> None:
        """Create from entries of the file: the fields of a key, and `reason`."""
        self._reasons = {
            Key(*(entry[name] for name in Key._fields)): entry['reason'] for entry in entries
        }

    @classmethod
    def read(cls) -> Reviewed:
        """Return the contents of `reviewed.yaml`."""
        return cls(yaml.safe_load(FILE.read_text(encoding='utf-8')) or [])

    def reason(self, module: Path, mutation: Mutation, text: str) -> str | None:
        """Return why a mutant of a module's text may survive; None if it was not reviewed."""
        return self._reasons.get(Key.of(module, mutation, text))

    def stale(self, package: Path) -> list[Key]:
        """Return the keys that match no mutant of a package any more."""
        known = set()
        for path in package.rglob('*.py'):
            if path.name in {key.module for key in self._reasons}:
                text = path.read_text(encoding='utf-8')
                known |= {Key.of(path, mutation, text) for mutation in mutations(text)}
        return [key for key in self._reasons if key not in known]
