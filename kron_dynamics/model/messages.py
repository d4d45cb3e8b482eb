# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Names and values in messages: short, printable, on one line."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from itertools import islice

_NAME_LENGTH = 80
_NAMES = 20


def shown(value: object) -> str:
    """Return a value as it is shown in a message: short, in one line."""
    return ' '.join(reprlib.repr(value).split())


def clipped(text: str) -> str:
    """Return a text that is cut where it is long, its control characters escaped."""
    if len(text) > _NAME_LENGTH:
        text = f'{text[: _NAME_LENGTH - 20]}...{text[-17:]}'
    elif text.isprintable():
        return text
    return ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def named(what: str, name: str | None) -> str:
    """Return what something is with its name, such as ``link 'arm'``."""
    return f"{what} '{clipped(name or '')}'"


def listed(names: Iterable[str]) -> str:
    """Return names with commas between, the first ones of many."""
    waiting = iter(names)
    text = ', '.join(clipped(name) for name in islice(waiting, _NAMES))
    more = sum(1 for _ in waiting)
    return f'{text}, ... and {more} more' if more else text
