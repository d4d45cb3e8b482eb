# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A serial chain of any length as URDF text, to measure how times grow with its joints."""

from __future__ import annotations

import numpy as np
from lxml import etree

_AXES = ('1 0 0', '0 1 0', '0 0 1')


def chain_urdf(n: int) -> str:
    """Return a chain of n revolute joints about x, y and z in turn, `link_0` to `link_<n>`.

    Lengths, masses and inertias are drawn from one seed, link by link, so that a shorter chain is
    the beginning of a longer one.
    """
    rng = np.random.default_rng(2026)
    root = etree.Element('robot', name=f'chain_{n}')
    etree.SubElement(root, 'link', name='link_0')
    for index in range(1, n + 1):
        joint = etree.SubElement(root, 'joint', name=f'joint_{index}', type='revolute')
        offset = (*rng.uniform(-0.02, 0.02, 2), rng.uniform(0.05, 0.2))
        etree.SubElement(joint, 'origin', xyz=_text(offset), rpy='0 0 0')
        etree.SubElement(joint, 'parent', link=f'link_{index - 1}')
        etree.SubElement(joint, 'child', link=f'link_{index}')
        etree.SubElement(joint, 'axis', xyz=_AXES[(index - 1) % 3])
        limit = {'lower': '-3', 'upper': '3', 'effort': '100', 'velocity': '3'}
        etree.SubElement(joint, 'limit', **limit)
        link = etree.SubElement(root, 'link', name=f'link_{index}')
        _add_inertial(link, rng)
    return str(etree.tostring(root, encoding='unicode', pretty_print=True))


def _add_inertial(link: etree._Element, rng: np.random.Generator) -> None:
    # Eight point masses in a box: a physically consistent tensor with six nonzero entries.
    masses = rng.uniform(0.05, 0.3, 8)
    points = rng.uniform((-0.05, -0.05, 0.0), (0.05, 0.05, 0.2), (8, 3))
    center = (masses[:, None] * points).sum(axis=0) / masses.sum()
    arms = points - center
    second = (masses[:, None, None] * arms[:, :, None] * arms[:, None, :]).sum(axis=0)
    tensor = np.trace(second) * np.eye(3) - second
    inertial = etree.SubElement(link, 'inertial')
    etree.SubElement(inertial, 'origin', xyz=_text(center), rpy='0 0 0')
    etree.SubElement(inertial, 'mass', value=repr(float(masses.sum())))
    entries = {
        f'i{"xyz"[i]}{"xyz"[j]}': repr(float(tensor[i, j])) for i in range(3) for j in range(i, 3)
    }
    etree.SubElement(inertial, 'inertia', **entries)


def _text(values: object) -> str:
    return ' '.join(repr(float(value)) for value in np.asarray(values))
