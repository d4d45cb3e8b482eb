# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Random mutations of URDF texts: elements, attributes, numbers, encodings, entities."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET

import numpy as np
from values import NAMES, NUMBERS, is_numeric, pick, scaled

TAGS = [
    *(
        'link',
        'joint',
        'inertial',
        'mass',
        'inertia',
        'origin',
        'axis',
        'limit',
        'parent',
        'child',
    ),
    *('mimic', 'dynamics', 'transmission', 'robot', 'visual', 'collision', 'gazebo', 'x'),
]
KINDS = ['revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar', 'Revolute', '']
_PREFIXES = [
    *('\ufeff', '\n', '  ', '<?xml version="1.0"?>', '<?xml version="0.0"?>', '<!-- x -->'),
    '<?xml version="1.0" encoding="utf-16"?>',
    '<?xml version="1.0" encoding="latin-1"?>',
    '<?xml version="1.0" encoding="rot13"?>',
    '<?x y?>',
    '<!DOCTYPE robot SYSTEM "file:///etc/passwd">',
    '<!DOCTYPE robot [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
    '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>',
]
_INSERTIONS = ['&e;', '&d;', '&#0;', '&amp;', '<', '>', '"', '\0', '\ud800', '<![CDATA[x]]>', '\r']
_ENCODINGS = ['utf-8', 'utf-8-sig', 'utf-16', 'utf-32', 'latin-1', 'cp1252', 'cp037']


def mutated(rng: np.random.Generator, text: str) -> str | bytes:
    """Return a slightly or heavily mutated text; bytes if its encoding was changed."""
    root = ET.fromstring(text)
    mild = rng.random() < 0.5
    for _ in range(int(rng.integers(1, 4))):
        change = _MILD if mild else _MILD + _WILD
        change[int(rng.integers(len(change)))](rng, root)
    result = ET.tostring(root, encoding='unicode')
    chance = rng.random()
    if not mild and chance < 0.15:
        result = pick(rng, _PREFIXES) + result
    elif not mild and chance < 0.35:
        at = int(rng.integers(len(result)))
        cut = int(rng.integers(4)) if rng.random() < 0.8 else len(result)
        result = result[:at] + pick(rng, [*_INSERTIONS, '']) + result[at + cut :]
    elif not mild and chance < 0.45:
        return result.encode(pick(rng, _ENCODINGS), errors='replace')
    return result


def _element(rng: np.random.Generator, root: ET.Element, *tags: str) -> ET.Element:
    found = [e for e in root.iter() if not tags or e.tag in tags] or [root]
    return found[int(rng.integers(len(found)))]


def _parent(rng: np.random.Generator, root: ET.Element) -> ET.Element:
    found = [e for e in root.iter() if len(e)] or [root]
    return found[int(rng.integers(len(found)))]


def _attribute(rng: np.random.Generator, root: ET.Element) -> tuple[ET.Element, str]:
    found = [(e, key) for e in root.iter() for key in e.attrib] or [(root, 'name')]
    return found[int(rng.integers(len(found)))]


def _scale(rng: np.random.Generator, root: ET.Element) -> None:
    for element in root.iter():
        for key, value in element.attrib.items():
            if is_numeric(value) and rng.random() < 0.2:
                element.set(key, scaled(rng, value))


def _kind(rng: np.random.Generator, root: ET.Element) -> None:
    _element(rng, root, 'joint').set('type', pick(rng, KINDS[:4]))


def _shuffle(rng: np.random.Generator, root: ET.Element) -> None:
    parent = _parent(rng, root)
    parent[:] = [parent[int(k)] for k in rng.permutation(len(parent))]


def _turn(rng: np.random.Generator, root: ET.Element) -> None:
    place = ' '.join(map(repr, rng.uniform(-3, 3, 3).tolist()))
    element = _element(rng, root, 'origin', 'axis')
    element.set('xyz' if element.tag == 'axis' or rng.random() < 0.5 else 'rpy', place)


def _mimic(rng: np.random.Generator, root: ET.Element) -> None:
    joint, other = _element(rng, root, 'joint'), _element(rng, root, 'joint')
    about = {'joint': other.get('name', ''), 'multiplier': scaled(rng, '1.0')}
    ET.SubElement(joint, 'mimic', about)


def _value(rng: np.random.Generator, root: ET.Element) -> None:
    element, key = _attribute(rng, root)
    numeric = is_numeric(element.get(key, ''))
    element.set(key, pick(rng, NUMBERS if numeric != (rng.random() < 0.1) else NAMES))


def _swap_values(rng: np.random.Generator, root: ET.Element) -> None:
    (a, key), (b, other) = _attribute(rng, root), _attribute(rng, root)
    values = a.get(key, ''), b.get(other, '')
    a.set(key, values[1])
    b.set(other, values[0])


def _swap_elements(rng: np.random.Generator, root: ET.Element) -> None:
    a, b = _parent(rng, root), _parent(rng, root)
    if len(a) and len(b):
        i, j = int(rng.integers(len(a))), int(rng.integers(len(b)))
        a[i], b[j] = copy.deepcopy(b[j]), copy.deepcopy(a[i])


def _remove(rng: np.random.Generator, root: ET.Element) -> None:
    parent = _parent(rng, root)
    if len(parent):
        del parent[int(rng.integers(len(parent)))]


def _duplicate(rng: np.random.Generator, root: ET.Element) -> None:
    parent = _parent(rng, root)
    if len(parent):
        parent.append(copy.deepcopy(parent[int(rng.integers(len(parent)))]))


def _rename(rng: np.random.Generator, root: ET.Element) -> None:
    _element(rng, root).tag = pick(rng, TAGS)


def _drop_attribute(rng: np.random.Generator, root: ET.Element) -> None:
    element, key = _attribute(rng, root)
    element.attrib.pop(key, None)


def _strange_kind(rng: np.random.Generator, root: ET.Element) -> None:
    _element(rng, root, 'joint').set('type', pick(rng, KINDS))


def _text(rng: np.random.Generator, root: ET.Element) -> None:
    element = _element(rng, root)
    element.text = pick(rng, [*NUMBERS, *(name for name in NAMES if name.isprintable())])


_MILD = [_scale, _scale, _kind, _shuffle, _turn, _turn, _mimic]
_WILD = [
    *(_value, _value, _value, _swap_values, _swap_elements, _remove, _duplicate, _rename),
    *(_drop_attribute, _strange_kind, _text),
]
