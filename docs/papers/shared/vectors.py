# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reference vectors, and the rows of the tables that compare the program with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from .claims import Bound

VECTORS = Path(__file__).resolve().parents[3] / 'test' / 'vectors' / 'public_vectors.json'


class Row(NamedTuple):
    """Comparison of the program with a reference vector.

    Attributes:
        name: id of the vector.
        equations: equations of the paper.
        compared: compared entries.
        error: largest error, relative to the largest number of its entry or 1.
    """

    name: str
    equations: str
    compared: tuple[str, ...]
    error: Bound


def cases(*kinds: str) -> list[Any]:
    """Return the vectors of the given kinds."""
    known = json.loads(VECTORS.read_text(encoding='utf-8'))['cases']
    return [case for case in known if case['kind'] in kinds]
