# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Strict reading of YAML descriptions, with errors that name file and key."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped, shown
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.typing import FloatArray

# Size limit, bytes: descriptions have a few kB, and PyYAML reads about 100 kB/s.
_MOST_BYTES = 300_000
# Limit of entries by merge keys, which can grow exponentially.
_MOST_ENTRIES = 100_000
# Limit of nesting levels: descriptions have four, and PyYAML's time grows with their square.
_DEEPEST = 50


class _Loader(yaml.SafeLoader):
    """Loader with the plain scalars of YAML 1.2, without duplicate keys.

    PyYAML's YAML 1.1 would read 3.2e11 as text, 010 as 8, 1:30 as 90 and no as false.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    merged = 0

    def fetch_flow_collection_start(self, token: type[yaml.Token]) -> None:
        """Open a flow list or mapping; refuse more than `_DEEPEST` nested levels."""
        if self.flow_level > _DEEPEST:
            raise yaml.MarkedYAMLError(
                problem=f'it is nested more than {_DEEPEST} levels deep',
                problem_mark=self.get_mark(),
            )
        super().fetch_flow_collection_start(token)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Resolve merge keys; refuse more than `_MOST_ENTRIES` resulting entries."""
        super().flatten_mapping(node)
        self.merged += len(node.value)
        if self.merged > _MOST_ENTRIES:
            raise yaml.MarkedYAMLError(
                problem=f'merge keys give more than {_MOST_ENTRIES} entries',
                problem_mark=node.start_mark,
            )

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Return a mapping; refuse duplicate keys, of which PyYAML would take the last."""
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
    """Return the content of a YAML file.

    Raises:
        ModelError: the file does not exist or cannot be read, is too large, is not YAML, or has a
            duplicate key; the message starts with the file and names the line.
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
    # PyYAML's errors for values that do not match their tag: !!bool x, !!int "".
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ModelError(
            f'{path}: not YAML: {type(error).__name__} {_brief(str(error))}'
        ) from None


def _brief(text: str) -> str:
    """Return a message on one line, shortened, as it may quote a text of any length."""
    text = ' '.join(text.split())
    return text if len(text) < 300 else f'{text[:280]} ...'


class Kind(NamedTuple):
    """A kind of number: its name for messages, and a predicate on finite numbers."""

    name: str
    holds: Callable[[float], bool]


FINITE = Kind('finite number', lambda value: True)
POSITIVE = Kind('positive number', lambda value: value > 0)


@dataclass(frozen=True, slots=True)
class Entries:
    """A mapping in a description, with its location for messages.

    Attributes:
        where: name of the file, and of the link if there is one.
        prefix: keys of the enclosing mappings, each followed by a dot.
        values: the mapping.
    """

    where: str
    prefix: str
    values: Mapping[str, object]

    def __post_init__(self) -> None:
        """Refuse keys that are not strings."""
        for key in self.values:
            if not isinstance(key, str):
                raise self.error(key, 'is no text')

    def error(self, key: str, complaint: str) -> ModelError:
        """Return an error with a complaint about the entry of a key."""
        return ModelError(f"{self.where}: key '{clipped(f'{self.prefix}{key}')}' {complaint}")

    def wrong(self, key: str, expected: str) -> ModelError:
        """Return the error for an unexpected value."""
        return self.error(key, f'is {shown(self.values[key])}, expected {expected}')

    def allow(self, *allowed: str) -> None:
        """Refuse keys other than these.

        Raises:
            ModelError: there is another key; the message suggests the nearest allowed one.
        """
        for key in self.values:
            if key not in allowed:
                from difflib import get_close_matches  # not needed by a start without errors

                close = get_close_matches(key, allowed, 1) if len(key) < 40 else []
                guess = f", did you mean '{close[0]}'?" if close else ','
                raise self.error(key, f'is unknown{guess} allowed: {", ".join(allowed)}')

    def get(self, key: str) -> object:
        """Return a value without conversion.

        Raises:
            ModelError: the key is missing.
        """
        if key not in self.values:
            raise self.error(key, 'is missing')
        return self.values[key]

    def below(self, key: str) -> Entries:
        """Return the mapping that is the value of a key.

        Raises:
            ModelError: the key is missing, or its value is not a mapping.
        """
        value = self.get(key)
        if not isinstance(value, Mapping):
            raise self.wrong(key, 'a mapping')
        return Entries(self.where, f'{self.prefix}{key}.', value)

    def number(self, key: str, kind: Kind = FINITE) -> float:
        """Return a number.

        Raises:
            ModelError: the key is missing, or its value is not a number of this kind.
        """
        number = _finite(self.get(key))
        if number is None or not kind.holds(number):
            raise self.wrong(key, f'a {kind.name}')
        return number

    def vector(self, key: str, count: int | None = None, kind: Kind = FINITE) -> FloatArray:
        """Return a list of numbers, shape (count,), read-only.

        Raises:
            ModelError: the key is missing, or its value is not a list of `count` (None: any
                number of) numbers of this kind.
        """
        items = _items(self.get(key))
        found = [] if items is None else [_finite(item) for item in items]
        good = [number for number in found if number is not None and kind.holds(number)]
        if items is None or len(good) < len(items) or (count is not None and len(good) != count):
            size = '' if count is None else f' of {count}'
            raise self.wrong(key, f'a list{size}, each a {kind.name}')
        return read_only(good)

    def names(self, key: str) -> tuple[str, ...] | None:
        """Return a list of joint names; None if the key is missing.

        Raises:
            ModelError: the value is not a list of strings.
        """
        items = _items(self.values.get(key, ()))
        if items is None or not all(isinstance(item, str) for item in items):
            raise self.wrong(key, 'a list of joint names')
        return tuple(map(str, items)) if key in self.values else None

    def spread(self, key: str, count: int, kind: Kind) -> FloatArray:
        """Return a list of `count` numbers, or a repeated number, shape (count,), read-only.

        Raises:
            ModelError: the key is missing, or its value is neither.
        """
        if _items(self.get(key)) is not None:
            return self.vector(key, count, kind)
        if _finite(self.values[key]) is None:
            raise self.wrong(key, f'a {kind.name} or a list of {count}')
        return read_only(np.full(count, self.number(key, kind)))


class FileContent(dict[str, object]):
    """The mapping that a file holds, for several uses of a file that can be read once: a pipe."""

    def __init__(self, file: str, values: Mapping[str, object]) -> None:
        """Start with the values; messages name the file."""
        super().__init__(values)
        self.file = file


def file_of(source: str | Path | Mapping[str, object]) -> str | None:
    """Return the file of a description for messages; None if it is only a mapping."""
    if isinstance(source, FileContent):
        return source.file
    return None if isinstance(source, Mapping) else str(source)


def read_description(
    source: str | Path | Mapping[str, object], title: str, content: str, *others: str
) -> tuple[Entries, Entries]:
    """Return a description and its content, a mapping with at least one entry.

    Args:
        source: path of a YAML file, or the mapping that such a file would hold.
        title: name of this type of description for messages.
        content: key of the content.
        *others: other allowed keys.

    Raises:
        ModelError: the source is neither, or cannot be read; there is another key; the content
            is missing, empty or not a mapping.
    """
    return described_entries(*read_document(source, title), content, *others)


def read_document(source: str | Path | Mapping[str, object], title: str) -> tuple[str, object]:
    """Return the name of a description for messages, and its content.

    Args:
        source: path of a YAML file, or the mapping that such a file would hold.
        title: name of this type of description for messages.

    Raises:
        ModelError: the source is neither, or cannot be read.
    """
    if isinstance(source, Mapping):
        return file_of(source) or title, source
    if isinstance(source, (str, Path)):
        return str(source), read_yaml(Path(source))
    raise ModelError(f'{title} is {shown(source)}, expected a path or a mapping')


def described_entries(
    place: str, found: object, content: str, *others: str
) -> tuple[Entries, Entries]:
    """Return a description that has been read, and its content; see `read_description`.

    Args:
        place: name of the description for messages.
        found: the object that was read.
        content: key of the content.
        *others: other allowed keys.

    Raises:
        ModelError: there is another key; the content is missing, empty or not a mapping.
    """
    if not isinstance(found, Mapping):
        what = 'is empty' if found is None else f'holds {shown(found)}'
        raise ModelError(f"{place}: {what}, expected a mapping '{content}'")
    document = Entries(place, '', found)
    document.allow(content, *others)
    entries = document.below(content)
    if not entries.values:
        raise document.error(content, 'is empty, expected entries by name')
    return document, entries


def _finite(value: object) -> float | None:
    """Return a value as a float; None unless it is a finite number. A bool is not a number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _items(value: object) -> list[object] | None:
    """Return the items of a list, tuple or array of one or more dimensions, else None."""
    if isinstance(value, np.ndarray) and value.ndim:
        return list(value)
    return list(value) if isinstance(value, (list, tuple)) else None
