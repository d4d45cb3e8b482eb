# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the tables of a page: statements, checks and misprints, with their errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log10
from typing import Any

import numpy as np

# Most likely origin of a misprint: the text that the page is based on, or the paper itself.
TRANSCRIPTION, PAPER = 'transcription', 'paper'


# Rounding errors of floats differ between machines, but stay below this power of ten.
ROUNDING = -12


class Bound(float):
    """A relative error of floats, of which only the power of ten is printed."""

    def __str__(self) -> str:
        """Return the next power of ten as an upper bound, at least `ROUNDING`."""
        power = ROUNDING if self == 0 else max(ROUNDING, ceil(log10(self)))
        return f'below 1e{power}'


@dataclass(frozen=True)
class Misprint:
    """A misprint.

    Attributes:
        equation: number of the equation.
        printed: printed form, LaTeX.
        right: corrected form, LaTeX.
        fault: origin, transcription or paper.
        check: quantity in which both forms are compared, LaTeX.
        printed_error: largest error of the printed form, or why it cannot be evaluated.
        right_error: largest error of the corrected form.
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
        equation: number of the equation.
        form: the equation, LaTeX.
        program: functions of `kron_dynamics` that compute it.
        error: largest error, exact.
    """

    equation: str
    form: str
    program: str
    error: Any


@dataclass(frozen=True)
class Check:
    """An equation that holds, with its independent check.

    Attributes:
        equation: number of the equation.
        form: the equation, LaTeX.
        program: functions of `kron_dynamics` that compute it.
        route: independent computation with which they are compared.
        error: largest error: an exact number, or a `Bound`.
    """

    equation: str
    form: str
    program: str
    route: str
    error: Any


def reading(where: str, read_as: str, right: str, compared: str, *errors: Any) -> Misprint:
    """Return a row for an equation that is printed correctly but easily misread."""
    return Misprint(where, read_as, right, PAPER, compared, *errors)


def relative(found: Any, expected: Any) -> Bound:
    """Return the largest error of floats, relative to the largest expected entry or 1."""
    found, expected = (np.asarray(x, dtype=float) for x in (found, expected))
    assert found.shape == expected.shape, (found.shape, expected.shape)
    return Bound(abs(found - expected).max() / max(1.0, abs(expected).max()))


def sizes_do_not_fit(function: Callable[[], Any]) -> str:
    """Return the text for a product whose sizes do not fit, after checking that.

    Raises:
        AssertionError: the sizes fit.
    """
    try:
        function()
    except ValueError:
        return 'sizes do not fit'
    raise AssertionError('the product has a value')
