# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading a URDF: text in, a checked list of links and joints out."""

from __future__ import annotations

import io
import logging
import math
import re
from collections.abc import Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path

from lxml import etree
from urdf_parser_py import urdf

from kron_dynamics.exceptions import ModelError

_log = logging.getLogger(__name__)

# What the equations read. The rest (meshes, materials, transmissions, simulator extensions) comes
# in many dialects that a strict parser would refuse for no reason that matters here.
_KEPT = {
    'robot': {'link', 'joint'},
    'link': {'inertial'},
    'joint': {'origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic'},
}


def read_urdf_file(path: str | Path) -> str:
    """Return the text of a URDF file.

    Raises:
        ModelError: the file does not exist, cannot be read or is not text.
    """
    path = Path(path)
    try:
        return path.read_text(encoding='utf-8')
    except FileNotFoundError:
        raise ModelError(f"URDF file '{path}' does not exist") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"URDF file '{path}' cannot be read: {error}") from None


@dataclass(frozen=True, slots=True)
class ParsedUrdf:
    """What a URDF text says.

    Attributes:
        robot: links and joints, as urdf_parser_py objects.
        armature: rotor inertia at the joint by joint name, kg m^2 or kg.
        sections: names of fixed joints whose child is no part of the parent's rigid body: it
            rides on a section of a flexible link.
        payloads: names of links that are no links of the robot, but point masses added to it.
    """

    robot: urdf.Robot
    armature: Mapping[str, float]
    sections: frozenset[str] = frozenset()
    payloads: frozenset[str] = frozenset()


def parse_urdf(text: str) -> ParsedUrdf:
    """Return the links and joints of a URDF text, and the rotors of its transmissions.

    Raises:
        ModelError: not XML, not a <robot>, still xacro, or an element is missing or malformed.
    """
    root = _parse_xml(text)
    armature = _armatures(root)
    for element in list(root):
        if element.tag not in _KEPT['robot']:
            root.remove(element)
            continue
        for child in list(element):
            if child.tag not in _KEPT[element.tag]:
                element.remove(child)
        _refuse_repeated(element)
        _check_numbers(element)
    complaints = io.StringIO()
    try:
        with redirect_stderr(complaints):
            robot = urdf.Robot.from_xml_string(etree.tostring(root))
    except Exception as error:  # the parser raises AssertionError, KeyError, ValueError, its own
        raise ModelError(f'URDF is malformed: {" ".join(str(error).split())}') from None
    for line in complaints.getvalue().splitlines():
        _log.debug('ignored in the URDF: %s', line)
    return ParsedUrdf(robot, armature)


def _parse_xml(text: str) -> etree._Element:
    if not text.strip():
        raise ModelError('URDF is empty')
    # Comments and processing instructions have no tag name to select by; entities are not
    # expanded, so that a description from the network cannot read local files.
    parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False)
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise ModelError(f'URDF is not well-formed XML: {error}') from None
    if root.tag != 'robot':
        raise ModelError(f'URDF has root element <{root.tag}>, expected <robot>')
    for element in root.iter('*'):
        if not element.get('name', '').isprintable():
            raise ModelError(
                f'URDF has a line break or control character in the name '
                f'{element.get("name")!r} in line {element.sourceline}'
            )
        if 'xacro' in element.tag:
            raise ModelError(
                f'URDF holds the xacro element <{etree.QName(element).localname}> in line '
                f'{element.sourceline}: expand it with xacro first'
            )
    return root


# float() alone would take Python's spellings too, such as 1_000.
_NUMBER = re.compile(r'[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)', re.IGNORECASE)
_NUMBERS = {
    'origin': {'xyz': 3, 'rpy': 3},
    'axis': {'xyz': 3},
    'mass': {'value': 1},
    'inertia': dict.fromkeys(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), 1),
    'limit': dict.fromkeys(('lower', 'upper', 'effort', 'velocity'), 1),
    'dynamics': {'damping': 1, 'friction': 1},
    'mimic': {'multiplier': 1, 'offset': 1},
}


def _armatures(root: etree._Element) -> dict[str, float]:
    """Rotor inertias that transmissions give as rotor_inertia and gear_ratio of the actuator.

    Plain URDF has no element for it; these are the elements that Drake introduced.
    """
    armatures = {}
    for transmission in root.iter('transmission'):
        joint = transmission.find('joint')
        for rotor in transmission.iterfind('actuator/{*}rotor_inertia'):
            ratio = rotor.getparent().find('{*}gear_ratio')
            try:
                gear = 1.0 if ratio is None else float(ratio.get('value'))
                armatures[joint.get('name')] = float(rotor.get('value')) * gear**2
            except (TypeError, ValueError, AttributeError):
                raise ModelError(
                    f"transmission '{transmission.get('name')}' has a rotor_inertia or gear_ratio "
                    f'that is not a number, or names no joint'
                ) from None
    return armatures


def _refuse_repeated(owner: etree._Element) -> None:
    """Each part of a link or joint may be given once: which one would be meant?"""
    tags = [child.tag for child in owner]
    for tag in tags:
        if tags.count(tag) > 1:
            raise ModelError(
                f"{owner.tag} '{owner.get('name')}' has {tags.count(tag)} elements <{tag}>, "
                f'expected one'
            )


def _check_numbers(owner: etree._Element) -> None:
    """Refuse text that is no number, wrong counts and NaN, naming the link or joint."""
    for element in owner.iter(*_NUMBERS):
        for attribute, count in _NUMBERS[element.tag].items():
            text = element.get(attribute)
            if text is None:
                if element.tag == 'mass':
                    raise ModelError(f"link '{owner.get('name')}': <mass> has no value")
                continue
            where = (
                f"{owner.tag} '{owner.get('name')}': {attribute} of <{element.tag}> is '{text}'"
            )
            if not all(map(_NUMBER.fullmatch, text.split())):
                raise ModelError(f'{where}, expected {count} number(s)')
            values = [float(word) for word in text.split()]
            if len(values) != count:
                raise ModelError(f'{where}, expected {count} number(s), got {len(values)}')
            if any(math.isnan(value) for value in values):
                raise ModelError(f'{where}, expected a number, got NaN')
            # An infinite limit means none; anything else infinite means nothing.
            if element.tag != 'limit' and not all(map(math.isfinite, values)):
                raise ModelError(f'{where}, expected a finite number')
