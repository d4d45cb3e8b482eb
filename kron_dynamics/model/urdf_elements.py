# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements of a URDF: attributes as numbers, with the defaults of the format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from lxml import etree

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped
from kron_dynamics.model.findings import Findings

# Attributes of the elements that are read, and how many numbers each holds; 0 for text.
ATTRIBUTES: Mapping[str, Mapping[str, int]] = {
    'origin': {'xyz': 3, 'rpy': 3},
    'axis': {'xyz': 3},
    'mass': {'value': 1},
    'inertia': dict.fromkeys(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), 1),
    'screw_thread_pitch': {'value': 1},
    'limit': dict.fromkeys(('lower', 'upper', 'effort', 'velocity'), 1),
    'dynamics': {'damping': 1, 'friction': 1},
    'mimic': {'joint': 0, 'multiplier': 1, 'offset': 1},
    'parent': {'link': 0},
    'child': {'link': 0},
}
# Known child elements, whether they are read or ignored; others are checked for misspellings.
_CHILDREN: Mapping[str, tuple[str, ...]] = {
    'robot': (
        *('link', 'joint', 'material', 'gazebo', 'transmission', 'ros2_control', 'plugin'),
        *('loop', 'coupling'),
    ),
    'link': ('inertial', 'visual', 'collision', 'contact', 'origin', 'sensor', 'material'),
    'joint': (
        *('origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic'),
        'screw_thread_pitch',
        *('calibration', 'safety_controller', 'actuator', 'sensor', 'joint_properties', 'drive'),
    ),
    'inertial': ('origin', 'mass', 'inertia'),
}
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Part:
    """An element of a link or joint, present or missing.

    Attributes:
        subject: the link or joint, for messages.
        tag: tag of the element.
        element: the XML element; None if it is missing.
    """

    __slots__ = ('_children', '_findings', '_texts', 'element', 'subject', 'tag')

    def __init__(
        self, subject: str, tag: str, element: etree._Element | None, findings: Findings
    ) -> None:
        """Index attributes and children of the element; warn of unknown ones."""
        self.subject, self.tag, self.element = subject, tag, element
        self._findings = findings
        self._texts: Mapping[str, str] = _NOTHING
        self._children: Mapping[str, list[etree._Element]] = _NOTHING
        if element is None:
            return
        self._texts = texts = dict(element.attrib)
        known = ATTRIBUTES.get(tag)
        if known is not None and not texts.keys() <= known.keys():
            self._warn_of_unknown(element, known)
        if expected := _CHILDREN.get(tag):
            self._children = children = dict[str, list[etree._Element]]()
            for child in element.iterchildren('*'):
                name = child.tag
                children.setdefault(name, []).append(child)
                if name not in expected:
                    warn_of_misspelling(child, expected, subject, findings)

    def _warn_of_unknown(self, element: etree._Element, known: Mapping[str, int]) -> None:
        for name in element.attrib:
            if name in known or name.startswith('{'):
                continue
            close = _nearest(name, tuple(known))
            meant = close if close and element.get(close) is None else None
            self._findings.warn(
                'misspelt' if meant else 'unknown_attribute',
                self.subject,
                f"<{self.tag}> has the attribute '{clipped(name)}', which is not read",
                f"write '{meant}' if that is meant"
                if meant
                else f'remove it; <{self.tag}> has {", ".join(known)}',
            )

    def __bool__(self) -> bool:
        """Whether the element is present."""
        return self.element is not None

    def below(self, tag: str) -> Part:
        """Return the first child element with a tag, present or missing."""
        children = self._children.get(tag, ())
        if len(children) > 1:
            self._findings.warn(
                'repeated_element',
                self.subject,
                f'has {len(children)} elements <{tag}>, of which the first counts',
                'remove the others',
            )
        return Part(self.subject, tag, children[0] if children else None, self._findings)

    def text(self, attribute: str) -> str | None:
        """Return an attribute's text; None if it is missing."""
        return self._texts.get(attribute)

    def numbers(self, attribute: str, finite: bool = True) -> list[float] | None:
        """Return an attribute's numbers; None if missing or wrong, which is noted as an error."""
        text = self.text(attribute)
        if text is None:
            return None
        count = ATTRIBUTES[self.tag][attribute]
        values = parsed_numbers(text)
        if values is not None and len(values) == count:
            if all(map(math.isfinite, values)):
                return values
            if any(map(math.isnan, values)):
                problem = 'expected a number, got NaN'
            elif finite:
                problem = 'expected a finite number'
            else:
                return values
        elif values is not None:
            problem = f'expected {count} number(s), got {len(values)}'
        else:
            problem = f'expected {count} number(s)'
            if '${' in text or '$(' in text:
                problem += '; it looks like an expression of xacro: expand the file with it first'
        where = f"{self.subject}: {attribute} of <{self.tag}> is '{clipped(text)}'"
        self._findings.refuse(ModelError(f'{where}, {problem}'))
        return None

    def number(self, attribute: str, default: float = 0.0, finite: bool = True) -> float:
        """Return an attribute's number, or a default if it is missing or wrong."""
        values = self.numbers(attribute, finite)
        return default if values is None else values[0]


def warn_of_misspelling(
    child: etree._Element, expected: tuple[str, ...], subject: str, findings: Findings
) -> None:
    """Warn of a child whose tag looks like a misspelt known one.

    Args:
        child: the element.
        expected: the known tags.
        subject: link or joint that it belongs to, for messages.
        findings: collects the warning.
    """
    close = None if child.tag.startswith('{') else _nearest(child.tag, expected)
    if close:
        findings.warn(
            'misspelt',
            subject,
            f'element <{clipped(child.tag)}> in line {child.sourceline} is not read',
            f'write <{close}> if that is meant',
        )


def parsed_numbers(text: str) -> list[float] | None:
    """Return the numbers in a text; None if a word is not a number."""
    # float() alone would also accept Python's 1_000 and digits of other scripts.
    if '_' in text or not text.isascii():
        return None
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def _nearest(word: str, known: tuple[str, ...]) -> str | None:
    """Return the known word that `word` may be a misspelling of; None if none is close."""
    if len(word) > 40:
        return None
    from difflib import get_close_matches  # not needed by a start without findings

    close = get_close_matches(word.lower(), known, 1, cutoff=0.75)
    return close[0] if close else None
