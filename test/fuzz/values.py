# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Unusual texts that replace the numbers and names of a description."""

from __future__ import annotations

import re

import numpy as np

NUMBERS = [
    *('', ' ', '0', '-0', '1', '-1', '1e400', '-1e400', '1e300', '1e200', '1e-320', '1e-300'),
    *('nan', 'NaN', 'inf', '-inf', 'infinity', '0x10', '1_000', '1,5', '1e', 'e1', '--1', '+1'),
    *('1 2', '1 2 3', '1 2 3 4', '0 0 0', '1e300 1e300 0', '1e-200 0 0', 'true', 'None', '.5'),
    *('5.', '1' * 400, '1' * 20_000, '0.' + '1' * 20_000, '1d0', '\uff11', '\u0663', '\u00a01'),
    *('${1+1}', '%d', '1\n', '1;2', '1e5.5', '[1, 2, 3]', '1j'),
]
NAMES = [
    *('', ' ', 'x', 'a' * 100_000, 'b\u00fcgel', '\u6a5f', 'a b', 'a\nb', '../../x', '%s%n', '"'),
    *('world', 'base', '\u202e', '\ufeff', "'; DROP", '/', 'boom/v1', '__class__', '0', 'NaN'),
]
_NUMBER = re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?')


def pick(rng: np.random.Generator, items: list[str]) -> str:
    """Return one of the items."""
    return items[int(rng.integers(len(items)))]


def scaled(rng: np.random.Generator, text: str) -> str:
    """Return a text with its numbers scaled by 1e-3 to 1e3, replaced or negated at random."""

    def other(found: re.Match[str]) -> str:
        value = float(found[0]) if np.isfinite(float(found[0])) else 1.0
        chance = rng.random()
        if chance < 0.5:
            return repr(value * 10 ** rng.uniform(-3, 3))
        if chance < 0.7:
            return repr(float(rng.uniform(-2, 2)))
        return found[0] if chance < 0.9 else repr(-value)

    return _NUMBER.sub(other, text)


def is_numeric(text: str) -> bool:
    """Whether a text consists of numbers only."""
    return bool(text.split()) and all(_NUMBER.fullmatch(part) for part in text.split())
