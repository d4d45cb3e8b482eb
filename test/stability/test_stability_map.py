# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Maps of stability: Mathieu's boundaries, and the pictures."""

from __future__ import annotations

from math import inf, nan, pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import mathieu_a, mathieu_b

from kron_dynamics.exceptions import ParameterError, ShapeError
from kron_dynamics.stability import (
    FloquetAnalysis,
    floquet_analysis,
    plot_stability_map,
    stability_map,
)

ONE = np.eye(1)


def mathieu(delta: float, eps: float) -> FloquetAnalysis:
    """Xdd + (delta + 2 eps cos 2 t) x = 0."""

    def A(t: np.ndarray) -> np.ndarray:
        result = np.zeros((len(t), 2, 2))
        result[:, 0, 1] = 1
        result[:, 1, 0] = -delta - 2 * eps * np.cos(2 * t)
        return result

    return floquet_analysis(A, pi, vectorized=True)


def test_the_maps_boundary_lies_where_mathieu_says(tmp_path: Path) -> None:
    deltas, amplitudes = np.linspace(-0.5, 2.0, 51), np.array([0.25, 0.5, 0.75])
    margins = stability_map(mathieu, deltas, amplitudes)
    assert margins.shape == (3, 51)
    for q, row in zip(amplitudes, margins, strict=True):
        changes = np.flatnonzero(np.diff((row > -1e-6).astype(int)))
        found = np.stack([deltas[changes], deltas[changes + 1]])
        curves = np.array([mathieu_a(0, q), mathieu_b(1, q), mathieu_a(1, q)])
        curves = curves[curves < deltas[-1]]
        assert len(curves) >= 2
        assert found.shape[1] == len(curves)
        assert (found[0] < curves).all()
        assert (curves < found[1]).all()
    for name in ('map.png', 'map.svg'):
        plot_stability_map(deltas, amplitudes, margins, tmp_path / name, level=-1e-6)
    assert (tmp_path / 'map.png').read_bytes().startswith(b'\x89PNG')
    assert '<svg' in (tmp_path / 'map.svg').read_text(encoding='utf-8')
    assert min((tmp_path / name).stat().st_size for name in ('map.png', 'map.svg')) > 5000


def test_a_picture_without_boundary_or_with_holes_is_drawn(tmp_path: Path) -> None:
    for k, margins in enumerate(
        (np.zeros((2, 3)), [[1, nan, 2], [3, inf, 4]], np.full((2, 3), nan))
    ):
        plot_stability_map([0, 1, 2], [0, 1], margins, tmp_path / f'{k}.png', title='t')
        assert (tmp_path / f'{k}.png').stat().st_size > 1000


@pytest.mark.parametrize(
    ('args', 'error', 'message'),
    [
        (([0, 1], [0, 1], np.zeros((2, 2)), 'a.txt'), ParameterError, 'expected a .png'),
        (([0, 1], [0, 1], np.zeros((3, 2)), 'a.png'), ShapeError, r'expected \(2, 2\)'),
        (([0], [0, 1], np.zeros((2, 1)), 'a.png'), ShapeError, r'xs has shape \(1,\)'),
        (([0, 1], [1, 0], np.zeros((2, 2)), 'a.png'), ParameterError, 'ys is .* increasing'),
    ],
)
def test_pictures_that_are_refused(args: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        plot_stability_map(*args)


def test_errors_of_a_map_name_the_point() -> None:
    with pytest.raises(ParameterError, match=r'at x = 2, y = 0: period is 0.0, expected'):
        stability_map(lambda x, y: floquet_analysis(lambda t: -x * ONE, y), [2.0], [0.0])
    with pytest.raises(ShapeError, match=r'have shapes \(1,\), \(\), expected \(k,\)'):
        stability_map(mathieu, [1.0], 2.0)
