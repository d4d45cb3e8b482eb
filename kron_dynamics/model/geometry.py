# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Size and volume of simple collision geometry."""

from __future__ import annotations

import math
from typing import NamedTuple

from lxml import etree


class Shape(NamedTuple):
    """A box, cylinder, capsule or sphere.

    Attributes:
        size: largest extent, m.
        volume: m^3.
    """

    size: float
    volume: float


def collision_shape(link: etree._Element) -> Shape | None:
    """Return a link's collision geometry; None unless it is one valid simple shape."""
    geometries = link.findall('collision/geometry')
    if len(geometries) != 1 or len(geometries[0]) != 1:
        return None
    element = geometries[0][0]
    try:
        if element.tag == 'box':
            x, y, z = (float(word) for word in element.get('size', '').split())
            shape = Shape(max(x, y, z), x * y * z)
        elif element.tag in ('cylinder', 'capsule'):
            radius, length = float(element.get('radius')), float(element.get('length'))
            shape = Shape(max(2 * radius, length), math.pi * radius**2 * length)
            if element.tag == 'capsule':  # with half spheres at both ends of the cylinder
                ends = 4 / 3 * math.pi * radius**3
                shape = Shape(length + 2 * radius, shape.volume + ends)
        elif element.tag == 'sphere':
            radius = float(element.get('radius'))
            shape = Shape(2 * radius, 4 / 3 * math.pi * radius**3)
        else:
            return None
    except (TypeError, ValueError, OverflowError):  # no error: the equations do not use it
        return None
    return shape if 0 < shape.volume < math.inf and 0 < shape.size < math.inf else None
