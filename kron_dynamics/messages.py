# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Names and values in messages: short, printable, on one line."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable

import numpy as np

_LENGTH = 100  # most characters of a value or a name
_LISTED = 400  # about the most characters of a list of names

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = _LENGTH - 20


def shown(value: object) -> str:
    """Return a value as one line of at most 100 characters, for a message."""
    if isinstance(value, np.ndarray):
        masked = 'masked ' if isinstance(value, np.ma.MaskedArray) else ''
        text = f'a {masked}{value.dtype} array of shape {value.shape}'
    else:
        try:
            text = _short.repr(value)
        except Exception:  # the object's own __repr__ may raise anything
            text = f'<{type(value).__name__}>'
    if not text.isprintable():
        text = text.encode('unicode_escape').decode('ascii')
    return text if len(text) <= _LENGTH else f'{text[: _LENGTH - 3]}...'


def clipped(name: str) -> str:
    """Return a name of at most 100 characters, with control characters escaped."""
    if len(name) > _LENGTH:
        name = f'{name[: _LENGTH - 20]}...{name[-17:]}'
    elif name.isprintable():
        return name
    escaped = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    return escaped if len(escaped) <= _LENGTH else f'{escaped[: _LENGTH - 3]}...'


def named(what: str, name: str | None) -> str:
    """Return a noun with a name, such as ``link 'arm'``."""
    return f"{what} '{clipped(name or '')}'"


def listed(names: Iterable[str]) -> str:
    """Return the first names of a list and the number of the others, for a message."""
    every, first, length = list(names), [], 0
    for name in every:
        first.append(clipped(name))
        length += len(first[-1]) + 2
        if length > _LISTED:
            break
    more = len(every) - len(first)
    return ', '.join(first) + (f' and {more} more' if more else '')
