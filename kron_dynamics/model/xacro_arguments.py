# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of xacro files: which ones a file has, and a warning about those without effect."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kron_dynamics.messages import clipped
from kron_dynamics.model.findings import Findings


class GivenArguments(dict[str, str]):
    """Values of arguments, and the names that xacro looked up: it ignores all others silently."""

    def __init__(self, values: Mapping[str, str]) -> None:
        """Start with given values, none of which has been asked for."""
        super().__init__(values)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:  # at the declaration of an argument
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:  # at its use
        self.asked.add(name)
        return super().__getitem__(name)


def warn_of_unused(given: Iterable[str], known: Collection[str], findings: Findings) -> None:
    """Warn about arguments without effect.

    Args:
        given: names that have been given.
        known: names that the files have.
        findings: collects warnings.
    """
    has = ', '.join(sorted(map(clipped, known)))
    for name in sorted(set(given) - set(known)):
        findings.warn(
            'unused_xacro_argument',
            f"xacro argument '{clipped(name)}'",
            f'is given, and the file has {f"{has} only" if has else "no arguments"}',
            'correct its name, or remove it',
        )
