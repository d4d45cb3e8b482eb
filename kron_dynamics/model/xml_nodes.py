# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements of descriptions in XML, read strictly, and refused by file, element and line."""

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
    """An element, with the file that it stands in for messages.

    Attributes:
        file: name of the description.
        element: itself.
    """

    file: str
    element: etree._Element

    @property
    def tag(self) -> str:
        """Name of the element."""
        return str(self.element.tag)

    @property
    def name(self) -> str:
        """Its attribute `name`.

        Raises:
            ModelError: there is none.
        """
        return self.need('name')

    @property
    def where(self) -> str:
        """File, element and line."""
        name = self.element.get('name')
        what = f'<{self.tag}>' if name is None else named(f'<{self.tag}>', name)
        return f'{self.file}: {what} in line {self.element.sourceline}'

    def error(self, complaint: str) -> ModelError:
        """Return the error of something that is wrong with the element."""
        return ModelError(f'{self.where} {complaint}')

    def children(self, *tags: str) -> Iterator[Node]:
        """Yield the elements below, those of some tags if any are given."""
        for element in self.element.iterchildren(*(tags or ('*',))):
            yield Node(self.file, element)

    def child(self, tag: str) -> Node | None:
        """Return the element of a tag below, None where there is none.

        Raises:
            ModelError: there are several.
        """
        found = list(self.children(tag))
        if len(found) > 1:
            raise self.error(f'has {len(found)} elements <{tag}>, expected one')
        return found[0] if found else None

    def needed_child(self, tag: str) -> Node:
        """Return the element of a tag below.

        Raises:
            ModelError: there is none, or there are several.
        """
        found = self.child(tag)
        if found is None:
            raise self.error(f'has no <{tag}>')
        return found

    def allow(self, *tags: str) -> None:
        """Refuse elements below other than these.

        Raises:
            ModelError: there is another one.
        """
        for child in self.children():
            if child.tag not in tags:
                raise self.error(
                    f'holds <{clipped(child.tag)}>, which is not read, expected '
                    f'{listed(f"<{tag}>" for tag in tags)}'
                )

    def text(self, attribute: str) -> str | None:
        """Return an attribute, None where there is none."""
        found = self.element.get(attribute)
        return None if found is None else str(found)

    def need(self, attribute: str) -> str:
        """Return an attribute.

        Raises:
            ModelError: there is none, or it is empty.
        """
        found = self.text(attribute)
        if not found:
            raise self.error(f"has no attribute '{attribute}'")
        return found

    def content(self) -> str:
        """Return the text between the element's tags, without blanks around it."""
        return (self.element.text or '').strip()

    def numbers(self, attribute: str, count: int | None = None) -> FloatArray | None:
        """Return an attribute's numbers, shape (count,) in the format's unit; None without it.

        Raises:
            ModelError: it holds others.
        """
        found = self.text(attribute)
        return None if found is None else self.parse(found, f"attribute '{attribute}'", count)

    def parse(self, text: str, what: str, count: int | None) -> FloatArray:
        """Return the numbers in a text, shape (count,) in the format's unit.

        Args:
            text: what is to be read.
            what: it is, for messages.
            count: how many numbers are expected; None for any.

        Raises:
            ModelError: they are not that many finite numbers.
        """
        values = parsed_numbers(text)
        good = values is not None and all(map(math.isfinite, values))
        if values is None or not good or len(values) != (len(values) if count is None else count):
            size = 'finite numbers' if count is None else f'{count} finite number(s)'
            raise self.error(f"has {what} '{clipped(text)}', expected {size}")
        return np.array(values)
