# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and truth values in elements of SDFormat."""

from __future__ import annotations

import math

from kron_dynamics.messages import clipped
from kron_dynamics.model.xml_nodes import Node

# As in libsdformat, in any letter case.
_TRUTH = {'1': True, 'true': True, '0': False, 'false': False}


def number_below(node: Node | None, tag: str, default: float) -> float:
    """Return the number in a child element, in the format's unit.

    Args:
        node: the parent element, or None.
        tag: tag of the child element.
        default: value if the child is missing.

    Raises:
        ModelError: the child does not hold a number.
    """
    given = None if node is None else node.child(tag)
    if given is None:
        return default
    text = given.content()
    if text.lower().strip('+-') in ('inf', 'infinity'):
        return -math.inf if text.startswith('-') else math.inf
    return float(given.parse(text, 'the text', 1)[0])


def truth_below(node: Node, tag: str, default: bool) -> bool:
    """Return the truth value in a child element; the default if it is missing or empty.

    Raises:
        ModelError: the child holds another text.
    """
    given = node.child(tag)
    return default if given is None else _truth(given, given.content(), 'the text', default)


def truth_of(node: Node, attribute: str) -> bool:
    """Return the truth value of an attribute; False if it is missing or empty.

    Raises:
        ModelError: the attribute holds another text.
    """
    return _truth(node, (node.text(attribute) or '').strip(), f"attribute '{attribute}'", False)


def _truth(node: Node, text: str, what: str, default: bool) -> bool:
    if text and text.lower() not in _TRUTH:
        raise node.error(f"has {what} '{clipped(text)}', expected true or false")
    return _TRUTH.get(text.lower(), default)
