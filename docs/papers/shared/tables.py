# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Markdown tables of claims, and assembly of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .claims import Bound, Check, Misprint, Statement


def page_of(parts: Iterable[str]) -> str:
    """Return a page: its parts, separated by empty lines."""
    return '\n'.join(part.strip('\n') + '\n' for part in parts)


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [titles, ['---'] * len(titles), *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)


def error_text(error: Any) -> str:
    """Return an error with three digits, its bound, or the reason why there is none."""
    return str(error) if isinstance(error, (str, Bound)) else f'{float(error):.3g}'


def statement_table(rows: Iterable[Statement]) -> str:
    """Return the table of statements and of the functions that compute them."""
    titles = ('equation', 'statement', 'program', 'error')
    return table(titles, [(s.equation, s.form, s.program, error_text(s.error)) for s in rows])


def check_table(rows: Iterable[Check]) -> str:
    """Return the table of statements, the functions that compute them and their checks."""
    titles = ('equation', 'statement', 'program', 'compared with', 'error')
    return table(
        titles, [(c.equation, c.form, c.program, c.route, error_text(c.error)) for c in rows]
    )


def misprint_table(rows: Iterable[Misprint]) -> str:
    """Return the table of misprints and their origins."""
    titles = ('where', 'printed', 'right', 'origin', 'compared', 'error printed', 'error right')
    return table(titles, [(m.equation, m.printed, m.right, m.fault, *_compared(m)) for m in rows])


def mind_table(titles: Sequence[str], rows: Iterable[Misprint]) -> str:
    """Return the table of correct but easily misread equations."""
    return table(titles, [(m.equation, m.printed, m.right, *_compared(m)) for m in rows])


def _compared(m: Misprint) -> tuple[str, str, str]:
    return m.check, error_text(m.printed_error), error_text(m.right_error)
