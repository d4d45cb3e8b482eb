# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Namespace prefixes that an XML text uses and does not declare, which readers of URDF ignore."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lxml import etree

from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.findings import Findings

_PREFIX = re.compile(r'Namespace prefix (\S+) ')


def undeclared_prefixes(parser: etree.XMLParser) -> tuple[str, ...]:
    """Return the prefixes that a text lacks declarations of; none if it has other errors, too.

    Args:
        parser: what has refused the text.
    """
    found = dict[str, None]()
    for entry in parser.error_log:
        prefix = _PREFIX.match(entry.message)
        if entry.type != etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE or prefix is None:
            return ()
        found[prefix[1]] = None
    return tuple(found)


def with_declarations(text: str, prefixes: Sequence[str], title: str, findings: Findings) -> str:
    """Return a text whose root element declares prefixes, with a warning.

    Args:
        text: XML without its declaration.
        prefixes: the prefixes.
        title: name of the text type for messages.
        findings: collects the warning.
    """
    findings.warn(
        'undeclared_prefix',
        title,
        f'the namespace prefixes {listed(clipped(repr(prefix)) for prefix in prefixes)} are not '
        f'declared',
        f'add xmlns:{clipped(prefixes[0])}="..." to the root element: strict readers of XML '
        f'refuse the file',
    )
    lenient = etree.XMLParser(recover=True, resolve_entities=False)
    root = etree.fromstring(text.encode(), lenient)
    before = [
        etree.tostring(node, encoding='unicode', with_tail=False) + '\n'
        for node in root.itersiblings(preceding=True)
    ]
    # Names that are not declared keep their prefixes in the tags.
    body: str = etree.tostring(root, encoding='unicode', with_tail=False)
    declarations = ''.join(f' xmlns:{prefix}="urn:undeclared:{prefix}"' for prefix in prefixes)
    end = len(f'<{_tag(root)}')
    head: str = ''.join(reversed(before))
    lines: str = '\n' * max(root.sourceline - 1 - head.count('\n'), 0)  # messages tell the line
    return lines + head + body[:end] + declarations + body[end:]


def _tag(root: etree._Element) -> str:
    """Return the root's name as it is written, with its prefix."""
    name = etree.QName(root).localname if root.tag.startswith('{') else root.tag
    return f'{root.prefix}:{name}' if root.prefix else str(name)
