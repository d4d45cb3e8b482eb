# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading URDF as XML: decoding files and parsing texts."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from lxml import etree

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped, named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.undeclared_prefixes import undeclared_prefixes, with_declarations

_DECLARATION = re.compile(r'<\?xml\b([^?]*)\?>')
_VERSION = re.compile(r"""version\s*=\s*["']([^"']*)["']""")
_ENCODING = re.compile(rb"""\s*<\?xml\b[^?]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
# Byte-order marks, longer ones first, since that of UTF-32 LE starts with that of UTF-16 LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, 'utf-32'),
    (codecs.BOM_UTF32_BE, 'utf-32'),
    (codecs.BOM_UTF16_LE, 'utf-16'),
    (codecs.BOM_UTF16_BE, 'utf-16'),
)

# Drake's extensions that are read: <drake:joint> is a joint of another type.
_DRAKES = ('joint', 'screw_thread_pitch')


def read_urdf_file(path: str | Path) -> str:
    """Return the text of a URDF file, decoded by its byte-order mark, as UTF-8 or as declared.

    Raises:
        ModelError: the file does not exist, cannot be read or is not text.
    """
    return read_xml_file(path, 'URDF')


def read_xml_file(path: str | Path, title: str) -> str:
    """Return the text of a file; see `read_urdf_file`.

    Args:
        path: path of the file.
        title: name of the file type for messages.

    Raises:
        ModelError: the file does not exist, cannot be read or is not text.
    """
    place = clipped(str(path))
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        hint = ': this is a text, which kron_dynamics.loads reads' if '<' in place else ''
        raise ModelError(f"{title} file '{place}' does not exist{hint}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        error = OSError(error.strerror) if isinstance(error, OSError) else error
        raise ModelError(f"{title} file '{place}' cannot be read: {error}") from None
    declared = _ENCODING.match(data)
    encodings = ['utf-8', *([declared[1].decode()] if declared else [])]
    encodings = next(([name] for mark, name in _MARKS if data.startswith(mark)), encodings)
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    raise ModelError(
        f"{title} file '{place}' cannot be read: it is not text in {' or '.join(encodings)}"
    )


def parse_xml(text: str, findings: Findings) -> etree._Element:
    """Return the element <robot> or <sdf> of a text, without comments and default namespaces.

    The prefix of Drake's elements that are read is removed, too.

    Raises:
        ModelError: the text is empty, not XML, has another root element, or is unexpanded xacro.
    """
    root = xml_root(text, 'URDF', findings)
    for element in root.iter('*'):
        name = etree.QName(element).localname
        if element.tag != name and is_read(element):
            element.tag = name
        if 'xacro' in element.tag:
            raise ModelError(
                f'URDF holds the xacro element <{clipped(etree.QName(element).localname)}> in '
                f'line {element.sourceline}: expand it with xacro first (a file that you name is '
                f'expanded for you, text from elsewhere is not: xacro evaluates expressions and '
                f'reads files)'
            )
    if root.tag not in ('robot', 'sdf'):
        raise ModelError(
            f'URDF has root element <{clipped(root.tag)}>, expected <robot>, or <sdf>'
        )
    return root


def is_read(element: etree._Element) -> bool:
    """Return whether an element counts: it has no prefix, or is one of Drake's that are read."""
    prefix, name = element.prefix, etree.QName(element).localname
    return prefix is None or (prefix == 'drake' and name in _DRAKES)


def xml_root(
    text: str, title: str, findings: Findings, *, is_whole: bool = False
) -> etree._Element:
    """Return the root element of a text, without comments.

    Args:
        text: XML.
        title: name of the text type for messages.
        findings: collects warnings.
        is_whole: whether comments and processing instructions stay.

    Raises:
        ModelError: the text is empty or not XML.
    """
    if not text.strip():
        raise ModelError(f'{title} is empty')
    # Comments and processing instructions have no tag name to select by; entities are not
    # expanded, so that a description from the network cannot read local files.
    parser = etree.XMLParser(
        remove_comments=not is_whole, remove_pis=not is_whole, resolve_entities=False
    )
    bare = without_declaration(text, findings)
    try:
        try:
            return etree.fromstring(bare.encode(), parser)
        except etree.XMLSyntaxError:
            prefixes = undeclared_prefixes(parser)
            if not prefixes:
                raise
            declared = with_declarations(bare, prefixes, title, findings)
            return etree.fromstring(declared.encode(), parser)
    except UnicodeEncodeError as error:
        raise ModelError(
            f'{title} holds half a character (a lone surrogate) at position {error.start}'
        ) from None
    except etree.XMLSyntaxError as error:
        # The message quotes names of any length.
        reason = str(error)
        reason = reason if len(reason) < 300 else f'{reason[:200]} ... {reason[-60:]}'
        raise ModelError(f'{title} is not well-formed XML: {" ".join(reason.split())}') from None


def without_declaration(text: str, findings: Findings) -> str:
    """Return the text without its XML declaration, whose encoding no longer holds once decoded.

    Args:
        text: XML.
        findings: collects warnings about the declaration.
    """
    bare = text.lstrip('\ufeff \t\r\n')
    before = text[: len(text) - len(bare)].replace('\ufeff', '')
    declaration = _DECLARATION.match(bare)
    if declaration is None:
        return before + bare
    if before:
        findings.warn(
            'xml_declaration',
            'URDF',
            'the XML declaration stands after a blank',
            'start the file with it: strict readers of XML refuse the file',
        )
    version = _VERSION.search(declaration[1])
    if version is None or version[1] not in ('1.0', '1.1'):
        said = f"version '{clipped(version[1])}'" if version else 'no version'
        findings.warn(
            'xml_declaration',
            'URDF',
            f'the XML declaration has {said}',
            'write <?xml version="1.0"?>: strict readers of XML refuse the file',
        )
    return before + bare[declaration.end() :]


def element_name(element: etree._Element) -> str:
    """Return tag and name of an element for messages, such as ``link 'arm'``."""
    name = element.get('name')
    return named(element.tag, name) if name else f'<{element.tag}> in line {element.sourceline}'
