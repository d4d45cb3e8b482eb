# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a line of a page's tables says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log10
from typing import Any

import numpy as np

# Whose fault a misprint most likely is: of the text the page works from, or of the paper itself.
TRANSCRIPTION, PAPER = 'transcription', 'paper'


# What floats leave of exact agreement differs between machines, but not as far as this power.
ROUNDING = -12


class Bound(float):
    """An error of floats relative to the largest entry, of which only the power of ten counts."""

    def __str__(self) -> str:
        """Return what it is below, a power of ten, at least that of rounding."""
        power = ROUNDING if self == 0 else max(ROUNDING, ceil(log10(self)))
        return f'below 1e{power}'


@dataclass(frozen=True)
class Misprint:
    """A place where the text is wrong.

    Attributes:
        equation: its number.
        printed: what stands there, LaTeX.
        right: what should, LaTeX.
        fault: of the transcription or of the paper.
        check: what both are compared for, LaTeX.
        printed_error: largest error of what is printed, or why it has no value.
        right_error: largest error of what is right.
    """

    equation: str
    printed: str
    right: str
    fault: str
    check: str
    printed_error: Any
    right_error: Any


@dataclass(frozen=True)
class Statement:
    """An equation that holds.

    Attributes:
        equation: its number.
        form: what it says, LaTeX.
        program: the functions of `kron_dynamics` that compute it.
        error: largest error found, exactly.
    """

    equation: str
    form: str
    program: str
    error: Any


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


def reading(where: str, read_as: str, right: str, compared: str, *errors: Any) -> Misprint:
    """Return a line of what is printed right and easily read as something that is not."""
    return Misprint(where, read_as, right, PAPER, compared, *errors)


def relative(found: Any, expected: Any) -> Bound:
    """Return how far floats are from what they should be, over the largest entry or 1."""
    found, expected = (np.asarray(x, dtype=float) for x in (found, expected))
    assert found.shape == expected.shape, (found.shape, expected.shape)
    return Bound(abs(found - expected).max() / max(1.0, abs(expected).max()))


def sizes_do_not_fit(function: Callable[[], Any]) -> str:
    """Return that a product has no value, after seeing that it has none.

    Raises:
        AssertionError: it has one.
    """
    try:
        function()
    except ValueError:
        return 'sizes do not fit'
    raise AssertionError('the product has a value')
