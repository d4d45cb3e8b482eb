# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Strict reading of XML elements, with errors that name file, element and line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from lxml import etree

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped, listed, named
from kron_dynamics.model.urdf_elements import parsed_numbers
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Node:
    """An element, with the name of its file for messages.

    Attributes:
        file: name of the description.
        element: the XML element.
    """

    file: str
    element: etree._Element

    @property
    def tag(self) -> str:
        """Name of the element."""
        return str(self.element.tag)

    @property
    def name(self) -> str:
        """The element's attribute `name`.

        Raises:
            ModelError: the attribute is missing or empty.
        """
        return self.need('name')

    @property
    def where(self) -> str:
        """File, element and line, for messages."""
        name = self.element.get('name')
        what = f'<{self.tag}>' if name is None else named(f'<{self.tag}>', name)
        return f'{self.file}: {what} in line {self.element.sourceline}'

    def error(self, complaint: str) -> ModelError:
        """Return an error with a complaint about the element."""
        return ModelError(f'{self.where} {complaint}')

    def children(self, *tags: str) -> Iterator[Node]:
        """Yield the child elements, only those with the given tags if there are any."""
        for element in self.element.iterchildren(*(tags or ('*',))):
            yield Node(self.file, element)

    def child(self, tag: str) -> Node | None:
        """Return the child element with a tag; None if there is none.

        Raises:
            ModelError: there are several.
        """
        found = list(self.children(tag))
        if len(found) > 1:
            raise self.error(f'has {len(found)} elements <{tag}>, expected one')
        return found[0] if found else None

    def needed_child(self, tag: str) -> Node:
        """Return the child element with a tag.

        Raises:
            ModelError: there is none, or there are several.
        """
        found = self.child(tag)
        if found is None:
            raise self.error(f'has no <{tag}>')
        return found

    def allow(self, *tags: str) -> None:
        """Refuse child elements with other tags.

        Raises:
            ModelError: there is a child with another tag.
        """
        for child in self.children():
            if child.tag not in tags:
                raise self.error(
                    f'holds <{clipped(child.tag)}>, which is not read, expected '
                    f'{listed(f"<{tag}>" for tag in tags)}'
                )

    def text(self, attribute: str) -> str | None:
        """Return an attribute's text; None if it is missing."""
        found = self.element.get(attribute)
        return None if found is None else str(found)

    def need(self, attribute: str) -> str:
        """Return an attribute's text.

        Raises:
            ModelError: the attribute is missing or empty.
        """
        found = self.text(attribute)
        if not found:
            raise self.error(f"has no attribute '{attribute}'")
        return found

    def content(self) -> str:
        """Return the text content of the element, stripped."""
        return (self.element.text or '').strip()

    def numbers(self, attribute: str, count: int | None = None) -> FloatArray | None:
        """Return an attribute's numbers, shape (count,), in the format's unit; None if missing.

        Raises:
            ModelError: the attribute does not hold `count` finite numbers.
        """
        found = self.text(attribute)
        return None if found is None else self.parse(found, f"attribute '{attribute}'", count)

    def parse(self, text: str, what: str, count: int | None) -> FloatArray:
        """Return the numbers in a text, shape (count,), in the format's unit.

        Args:
            text: numbers separated by blanks.
            what: name of the text for messages.
            count: expected number of numbers; None for any.

        Raises:
            ModelError: the text does not hold `count` finite numbers.
        """
        values = parsed_numbers(text)
        good = values is not None and all(map(math.isfinite, values))
        if values is None or not good or len(values) != (len(values) if count is None else count):
            size = 'finite numbers' if count is None else f'{count} finite number(s)'
            raise self.error(f"has {what} '{clipped(text)}', expected {size}")
        return np.array(values)
