# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Entries of a description file: read from YAML strictly, and refused by file and key."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped, shown
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.typing import FloatArray

# A description of flexible links has a few kB; PyYAML reads some 100 kB a second.
_MOST_BYTES = 300_000
_MOST_ENTRIES = 100_000
# A description has four levels. PyYAML's time grows with their square.
_DEEPEST = 50


class _Loader(yaml.SafeLoader):
    """Plain values as in YAML 1.2, and every key once.

    YAML 1.1, PyYAML's own, would read 3.2e11 as text, 010 as 8, 1:30 as 90 and no as false.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    merged = 0

    def fetch_flow_collection_start(self, token: type[yaml.Token]) -> None:
        """Open a list or mapping in brackets; refuse more inside each other than anybody means."""
        if self.flow_level > _DEEPEST:
            raise yaml.MarkedYAMLError(
                problem=f'it is nested more than {_DEEPEST} levels deep',
                problem_mark=self.get_mark(),
            )
        super().fetch_flow_collection_start(token)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Take over what merge keys name; refuse what would multiply without end."""
        super().flatten_mapping(node)
        self.merged += len(node.value)
        if self.merged > _MOST_ENTRIES:
            raise yaml.MarkedYAMLError(
                problem=f'merge keys give more than {_MOST_ENTRIES} entries',
                problem_mark=node.start_mark,
            )

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Return a mapping; refuse a key that is there twice, of which YAML takes the last."""
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else key
            if name in seen:
                problem = f"key '{clipped(key.value)}' is given twice"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(name)
        return node


_PLAIN = {
    'null': r'~|null|Null|NULL|',
    'bool': r'true|True|TRUE|false|False|FALSE',
    'int': r'[-+]?(0|[1-9][0-9]*)',
    'float': r'[-+]?((\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|\.(inf|Inf|INF))'
    r'|\.(nan|NaN|NAN)',
    'merge': '<<',
}
_TAG = 'tag:yaml.org,2002:'
for _name, _pattern in _PLAIN.items():
    _Loader.add_implicit_resolver(f'{_TAG}{_name}', re.compile(f'({_pattern})$'), None)
_KNOWN = {None, *(_TAG + name for name in (*_PLAIN, 'map', 'seq', 'str'))}
_Loader.yaml_constructors = {
    tag: make for tag, make in yaml.SafeLoader.yaml_constructors.items() if tag in _KNOWN
}


def read_yaml(path: Path) -> object:
    """Return what a YAML file holds.

    Raises:
        ModelError: the file does not exist or cannot be read, is no YAML, or has a key twice in
            one mapping; the message starts with the file and names the line.
    """
    try:
        with path.open('rb') as file:
            data = file.read(_MOST_BYTES + 1)
        text = data.decode('utf-8')
    except FileNotFoundError:
        raise ModelError(f'{path}: the file does not exist') from None
    except (OSError, ValueError) as error:  # ValueError: no UTF-8, or a NUL in the path
        where = clipped(str(path))
        raise ModelError(f'{where}: the file cannot be read: {clipped(str(error))}') from None
    if len(data) > _MOST_BYTES:
        raise ModelError(f'{path}: the file has more than {_MOST_BYTES} bytes')
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = '' if mark is None else f', line {mark.line + 1}'
        raise ModelError(f'{path}{line}: {_brief(str(error.problem))}') from None
    except RecursionError:
        raise ModelError(f'{path}: it is nested too deeply') from None
    # What PyYAML raises of values that are not what their tag says: !!bool x, !!int "".
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ModelError(
            f'{path}: not YAML: {type(error).__name__} {_brief(str(error))}'
        ) from None


def _brief(text: str) -> str:
    """A message that may quote a text of any length."""
    text = ' '.join(text.split())
    return text if len(text) < 300 else f'{text[:280]} ...'


class Kind(NamedTuple):
    """A kind of number: what it is called, and whether a finite number is one."""

    name: str
    holds: Callable[[float], bool]


FINITE = Kind('finite number', lambda value: True)
POSITIVE = Kind('positive number', lambda value: value > 0)


@dataclass(frozen=True, slots=True)
class Entries:
    """A mapping in a description, with its place there for messages.

    Attributes:
        where: file and link.
        prefix: keys of the mappings around it, each with a dot after it.
        values: the mapping itself.
    """

    where: str
    prefix: str
    values: Mapping[str, object]

    def __post_init__(self) -> None:
        """Refuse keys that are no text."""
        for key in self.values:
            if not isinstance(key, str):
                raise self.error(key, 'is no text')

    def error(self, key: str, complaint: str) -> ModelError:
        """Return the error that an entry deserves."""
        return ModelError(f"{self.where}: key '{clipped(f'{self.prefix}{key}')}' {complaint}")

    def wrong(self, key: str, expected: str) -> ModelError:
        """Return the error for a value that is not what is expected."""
        return self.error(key, f'is {shown(self.values[key])}, expected {expected}')

    def allow(self, *allowed: str) -> None:
        """Refuse keys other than these.

        Raises:
            ModelError: there is another key; the message suggests the nearest.
        """
        for key in self.values:
            if key not in allowed:
                close = get_close_matches(key, allowed, 1) if len(key) < 40 else []
                guess = f", did you mean '{close[0]}'?" if close else ','
                raise self.error(key, f'is unknown{guess} allowed: {", ".join(allowed)}')

    def get(self, key: str) -> object:
        """Return a value as it stands.

        Raises:
            ModelError: the key is missing.
        """
        if key not in self.values:
            raise self.error(key, 'is missing')
        return self.values[key]

    def below(self, key: str) -> Entries:
        """Return the mapping that is the value of a key.

        Raises:
            ModelError: the key is missing, or its value is no mapping.
        """
        value = self.get(key)
        if not isinstance(value, Mapping):
            raise self.wrong(key, 'a mapping')
        return Entries(self.where, f'{self.prefix}{key}.', value)

    def number(self, key: str, kind: Kind = FINITE) -> float:
        """Return a number.

        Raises:
            ModelError: the key is missing, or its value is no number of this kind.
        """
        number = _finite(self.get(key))
        if number is None or not kind.holds(number):
            raise self.wrong(key, f'a {kind.name}')
        return number

    def vector(self, key: str, count: int | None = None, kind: Kind = FINITE) -> FloatArray:
        """Return a list of numbers, shape (count,), read-only.

        Raises:
            ModelError: the key is missing, or its value is no list of that many (of any length for
                None) numbers of this kind.
        """
        items = _items(self.get(key))
        found = [] if items is None else [_finite(item) for item in items]
        good = [number for number in found if number is not None and kind.holds(number)]
        if items is None or len(good) < len(items) or (count is not None and len(good) != count):
            size = '' if count is None else f' of {count}'
            raise self.wrong(key, f'a list{size}, each a {kind.name}')
        return read_only(good)

    def names(self, key: str) -> tuple[str, ...] | None:
        """Return a list of joint names; None where the key is missing.

        Raises:
            ModelError: its value is no list of texts.
        """
        items = _items(self.values.get(key, ()))
        if items is None or not all(isinstance(item, str) for item in items):
            raise self.wrong(key, 'a list of joint names')
        return tuple(map(str, items)) if key in self.values else None

    def spread(self, key: str, count: int, kind: Kind) -> FloatArray:
        """Return a number repeated, or a list of that many, shape (count,), read-only.

        Raises:
            ModelError: the key is missing, or its value is neither.
        """
        if _items(self.get(key)) is not None:
            return self.vector(key, count, kind)
        if _finite(self.values[key]) is None:
            raise self.wrong(key, f'a {kind.name} or a list of {count}')
        return read_only(np.full(count, self.number(key, kind)))


def read_description(
    source: str | Path | Mapping[str, object], title: str, content: str, *others: str
) -> tuple[Entries, Entries]:
    """Return a description and the mapping that is its content, which has one entry at least.

    Args:
        source: path of a YAML file, or what such a file would hold.
        title: of such a description, for messages.
        content: key of its content.
        *others: keys that it may have besides.

    Raises:
        ModelError: the source is neither, or cannot be read; there is another key; the content
            is missing, no mapping or empty.
    """
    return described_entries(*read_document(source, title), content, *others)


def read_document(source: str | Path | Mapping[str, object], title: str) -> tuple[str, object]:
    """Return the name of a description for messages, and what it holds.

    Args:
        source: path of a YAML file, or what such a file would hold.
        title: of such a description, for messages.

    Raises:
        ModelError: the source is neither, or cannot be read.
    """
    if isinstance(source, Mapping):
        return title, source
    if isinstance(source, (str, Path)):
        return str(source), read_yaml(Path(source))
    raise ModelError(f'{title} is {shown(source)}, expected a path or a mapping')


def described_entries(
    place: str, found: object, content: str, *others: str
) -> tuple[Entries, Entries]:
    """Return a description that has been read, and its content; see `read_description`.

    Args:
        place: its name, for messages.
        found: what it holds.
        content: key of its content.
        *others: keys that it may have besides.

    Raises:
        ModelError: there is another key; the content is missing, no mapping or empty.
    """
    if not isinstance(found, Mapping):
        raise ModelError(f"{place}: holds {shown(found)}, expected a mapping '{content}'")
    document = Entries(place, '', found)
    document.allow(content, *others)
    entries = document.below(content)
    if not entries.values:
        raise document.error(content, 'is empty, expected entries by name')
    return document, entries


def _finite(value: object) -> float | None:
    """The finite number that a value is; None for anything else. A bool is no number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _items(value: object) -> list[object] | None:
    """The items of a list, tuple or array of one dimension or more; None for anything else."""
    if isinstance(value, np.ndarray) and value.ndim:
        return list(value)
    return list(value) if isinstance(value, (list, tuple)) else None
