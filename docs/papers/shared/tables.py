# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Claims as tables in Markdown, and parts as a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .claims import Bound, Check, Misprint, Statement


def page_of(parts: Iterable[str]) -> str:
    """Return parts with an empty line between them."""
    return '\n'.join(part.strip('\n') + '\n' for part in parts)


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [titles, ['---'] * len(titles), *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)


def error_text(error: Any) -> str:
    """Return an error with three digits, or what bounds it, or why there is none."""
    return str(error) if isinstance(error, (str, Bound)) else f'{float(error):.3g}'


def statement_table(rows: Iterable[Statement]) -> str:
    """Return what holds, and who computes it."""
    titles = ('equation', 'statement', 'program', 'error')
    return table(titles, [(s.equation, s.form, s.program, error_text(s.error)) for s in rows])


def check_table(rows: Iterable[Check]) -> str:
    """Return what holds, who computes it and what that is compared with."""
    titles = ('equation', 'statement', 'program', 'compared with', 'error')
    return table(
        titles, [(c.equation, c.form, c.program, c.route, error_text(c.error)) for c in rows]
    )


def misprint_table(rows: Iterable[Misprint]) -> str:
    """Return what is wrong, and whose fault it is."""
    titles = ('where', 'printed', 'right', 'fault of', 'compared', 'error printed', 'error right')
    return table(titles, [(m.equation, m.printed, m.right, m.fault, *_compared(m)) for m in rows])


def mind_table(titles: Sequence[str], rows: Iterable[Misprint]) -> str:
    """Return what is right as printed, and what more there is."""
    return table(titles, [(m.equation, m.printed, m.right, *_compared(m)) for m in rows])


def _compared(m: Misprint) -> tuple[str, str, str]:
    return m.check, error_text(m.printed_error), error_text(m.right_error)
