# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Random mutations of YAML descriptions: values, lines, tags, anchors, nesting."""

from __future__ import annotations

import re

import numpy as np
from values import NAMES, NUMBERS, pick, scaled

VALUES = [
    *('!!bool "foo"', '!!int ""', '!!float ""', '!!timestamp "x"', '!!binary "x"', '!!set {a, b}'),
    *('!!python/object:os.system {}', '!x y', '[]', '{}', '[[]]', '{a: 1}', 'null', '~', 'yes'),
    *('2026-01-01', '0o17', '1:30', '*a', '&a 1', '|', '>', '"', "'", '[1, 2', '{', '? x', '- 1'),
    *('1e-300', '1e300', '-1', '0', '1000000000', '100', '.nan', '.inf', '1e999', '"1"', '1.5'),
    *('[1, 2, 3]', '[0, 0, 0]', '[1, 0]', '[1, 0, .nan]', '[a, b, c]', '{v: 1, w: 1}', '{w: 9}'),
    '{w: 1000000000}',
    '{v: -1}',
    '{w: 1.5}',
    '[' * 3000,
]
_BOMB = ['a: &a {x: 1}'] + [
    f'{b}: &{b} {{<<: [{", ".join(["*" + a] * 9)}]}}'
    for a, b in zip('abcdefgh', 'bcdefghi', strict=True)
]
_SCALAR = re.compile(r'(:\s+|- )([^\s#][^#\n]*)')


def mutated(rng: np.random.Generator, text: str) -> str:
    """Return a slightly or heavily mutated text."""
    if rng.random() < 0.4:
        return _scaled_values(rng, text)
    for _ in range(int(rng.integers(1, 4))):
        text = _CHANGES[int(rng.integers(len(_CHANGES)))](rng, text)
    return text


def _scaled_values(rng: np.random.Generator, text: str) -> str:
    def other(found: re.Match[str]) -> str:
        return found[1] + (scaled(rng, found[2]) if rng.random() < 0.3 else found[2])

    return _SCALAR.sub(other, text)


def _value(rng: np.random.Generator, text: str) -> str:
    found = list(_SCALAR.finditer(text))
    if not found:
        return text
    chosen = found[int(rng.integers(len(found)))]
    value = pick(rng, [*VALUES, *NUMBERS] if rng.random() < 0.9 else NAMES)
    return text[: chosen.start(2)] + value + text[chosen.end(2) :]


def _lines(rng: np.random.Generator, text: str) -> str:
    lines = text.splitlines()
    if len(lines) < 2:
        return text
    i, j = (int(k) for k in rng.integers(len(lines), size=2))
    chance = rng.random()
    if chance < 0.3:
        del lines[i]
    elif chance < 0.6:
        lines.insert(j, lines[i])
    elif chance < 0.8:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines[i] = ' ' * int(rng.integers(6)) + lines[i].lstrip()
    return '\n'.join(lines)


def _key(rng: np.random.Generator, text: str) -> str:
    keys = list(re.finditer(r'^(\s*)([\w-]+):', text, re.MULTILINE))
    if not keys:
        return text
    chosen = keys[int(rng.integers(len(keys)))]
    names = [pick(rng, NAMES), keys[int(rng.integers(len(keys)))][2], '<<', '? [1, 2]', '1', '*a']
    return text[: chosen.start(2)] + pick(rng, names) + text[chosen.end(2) :]


def _letters(rng: np.random.Generator, text: str) -> str:
    at, cut = int(rng.integers(len(text) + 1)), int(rng.integers(4))
    return (
        text[:at]
        + pick(rng, ['', '\t', ':', '\0', '\x1b', '\u2028', '---\n', '%'])
        + text[at + cut :]
    )


def _bomb(rng: np.random.Generator, text: str) -> str:
    return '\n'.join([*_BOMB[: int(rng.integers(2, len(_BOMB) + 1))], text])


_CHANGES = [_value, _value, _value, _lines, _lines, _key, _letters, _scaled_values, _bomb]
