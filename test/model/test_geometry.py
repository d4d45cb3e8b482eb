# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How large simple shapes are and how much they hold."""

from __future__ import annotations

import numpy as np
import pytest
from lxml import etree

from kron_dynamics.model.geometry import collision_shape


def is_inside(tag: str, points: np.ndarray) -> np.ndarray:
    """Which points a shape of radius 0.5 and length 1.2, or of sides 0.6, 1 and 1.4, holds."""
    across, along = np.hypot(points[:, 0], points[:, 1]), np.abs(points[:, 2])
    if tag == 'box':
        return (np.abs(points) < [0.3, 0.5, 0.7]).all(axis=1)
    if tag == 'cylinder':
        return (across < 0.5) & (along < 0.6)
    beyond = np.maximum(along - (0.6 if tag == 'capsule' else 0.0), 0.0)
    return across**2 + beyond**2 < 0.25


@pytest.mark.parametrize('tag', ['box', 'cylinder', 'capsule', 'sphere'])
def test_volume_and_size_are_those_of_the_points_inside(tag: str) -> None:
    numbers = 'size="0.6 1 1.4"' if tag == 'box' else 'radius="0.5" length="1.2"'
    shape = collision_shape(
        etree.fromstring(
            f'<link><collision><geometry><{tag} {numbers}/></geometry></collision></link>'
        )
    )
    points = np.random.default_rng(3).uniform(-1.2, 1.2, (200_000, 3))
    inside = points[is_inside(tag, points)]
    assert shape is not None
    assert shape.volume == pytest.approx(2.4**3 * len(inside) / len(points), rel=0.02)
    assert shape.size == pytest.approx(np.ptp(inside, axis=0).max(), rel=0.03)


@pytest.mark.parametrize('numbers', ['radius="-0.1" length="0.15"', 'radius="0" length="1"'])
def test_a_capsule_without_size_is_no_shape(numbers: str) -> None:
    """A negative radius leaves some volume here, but no size."""
    geometry = f'<geometry><capsule {numbers}/></geometry>'
    assert (
        collision_shape(etree.fromstring(f'<link><collision>{geometry}</collision></link>'))
        is None
    )
