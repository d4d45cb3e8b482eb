# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reference vectors, and the rows of pages that tell how they are reproduced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from .claims import Bound

VECTORS = Path(__file__).resolve().parents[3] / 'test' / 'vectors' / 'public_vectors.json'


class Row(NamedTuple):
    """A vector of which the program reproduces some entries.

    Attributes:
        name: of the vector.
        equations: of the paper.
        compared: entries, the largest error of which is given.
        error: over the largest number of an entry, or 1.
    """

    name: str
    equations: str
    compared: tuple[str, ...]
    error: Bound


def cases(*kinds: str) -> list[Any]:
    """Return the vectors of some kinds."""
    known = json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
    return [case for case in known if case['kind'] in kinds]
