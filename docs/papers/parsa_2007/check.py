# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a line of the tables of equations says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from shared.claims import Bound


@dataclass(frozen=True)
class Check:
    """An equation that holds, and how one knows.

    Attributes:
        equation: its number.
        form: what it says, LaTeX.
        program: the functions of `kron_dynamics` that compute it.
        route: what they are compared with, which shares no step with them.
        error: largest error found: an exact number, or a `Bound`.
    """

    equation: str
    form: str
    program: str
    route: str
    error: Any


def relative(found: Any, expected: Any) -> Bound:
    """Return how far floats are from what they should be, over the largest entry or 1."""
    found, expected = (np.asarray(x, dtype=float) for x in (found, expected))
    assert found.shape == expected.shape, (found.shape, expected.shape)
    return Bound(abs(found - expected).max() / max(1.0, abs(expected).max()))
