# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Exact numbers in place of floats: rotations stay rotations, directions have length one."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation
from urdf_parser_py import urdf

from kron_dynamics.model.tree import placement
from kron_dynamics.symbolic.exact import exact_direction, exact_rotation


@pytest.mark.parametrize('rpy', [(0.3, -1.2, 2.9), (np.pi / 4, 0, np.pi / 6), (0.4, np.pi / 2, 0)])
def test_exact_rotations_are_orthogonal_and_near(rpy: tuple[float, ...]) -> None:
    given_rotation, _ = placement(urdf.Pose(rpy=list(rpy)))
    exact = exact_rotation(given_rotation)
    product = sympy.Matrix(exact) * sympy.Matrix(exact).T
    assert product.applyfunc(sympy.expand) == sympy.eye(3)
    np.testing.assert_allclose(exact.astype(float), given_rotation, rtol=0, atol=1e-14)


@pytest.mark.parametrize('off', [1e-15, 1e-10, 1e-6, 1e-4])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_exact_rotations_are_orthogonal_near_a_pitch_of_90_degrees(
    off: float, sign: float
) -> None:
    floats = Rotation.from_euler('xyz', [0.3, sign * (np.pi / 2 - off), 0.2]).as_matrix()
    exact = sympy.Matrix(exact_rotation(floats))
    assert exact * exact.T == sympy.eye(3)
    assert exact.det() == 1
    np.testing.assert_allclose(np.array(exact, dtype=float), floats, rtol=0, atol=1e-14)


def test_right_and_other_common_angles_stay_what_they_are() -> None:
    c, s = np.cos(np.pi / 4), np.sin(np.pi / 4)
    exact = exact_rotation(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
    root = sympy.sqrt(2) / 2
    assert exact.tolist() == [[root, -root, 0], [root, root, 0], [0, 0, 1]]
    turned = exact_rotation(np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]))
    assert turned.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize('direction', [(1, 1, 0), (0, -3, 4), (0.123456789, -0.4, 0.777)])
def test_exact_directions_have_length_one(direction: tuple[float, ...]) -> None:
    floats = np.array(direction) / np.linalg.norm(direction)
    exact = exact_direction(floats)
    assert sympy.expand(sum(x**2 for x in exact)) == 1
    np.testing.assert_allclose(exact.astype(float), floats, rtol=0, atol=1e-15)
