# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Moments of composite bodies against clouds of particles."""

from __future__ import annotations

from typing import Any

import numpy as np

from kron_dynamics.dynamics.composite import CompositeInertia, composite_inertias
from kron_dynamics.kinematics.forward import place_bodies


def moments(masses: np.ndarray, points: np.ndarray) -> CompositeInertia:
    """Moments of particles about the origin; points has shape (N, 3)."""
    return CompositeInertia(
        masses.sum(), masses @ points, np.einsum('k,ki,kj->ij', masses, points, points)
    )


def check_equal(a: CompositeInertia, b: CompositeInertia, assert_close: Any) -> None:
    assert_close(a.mass, b.mass)
    assert_close(a.first, b.first)
    assert_close(a.second, b.second)


def test_about_shifts_like_particles(rng: np.random.Generator, assert_close: Any) -> None:
    masses, points, offset = rng.uniform(1, 2, 5), rng.normal(size=(5, 3)), rng.normal(size=3)
    check_equal(
        moments(masses, points).about(offset), moments(masses, points + offset), assert_close
    )


def test_sum_is_that_of_all_particles(rng: np.random.Generator, assert_close: Any) -> None:
    masses, points = rng.uniform(1, 2, 6), rng.normal(size=(6, 3))
    both = moments(masses[:2], points[:2]) + moments(masses[2:], points[2:])
    check_equal(both, moments(masses, points), assert_close)


def test_rotational_inertia_is_that_of_particles(
    rng: np.random.Generator, assert_close: Any
) -> None:
    masses, points = rng.uniform(1, 2, 5), rng.normal(size=(5, 3))
    expected = sum(
        m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points, strict=True)
    )
    assert_close(moments(masses, points).rotational, expected)


def test_first_subtree_holds_everything_that_hangs_on_it(
    model: Any, state: Any, assert_close: Any
) -> None:
    composites = composite_inertias(model, place_bodies(model, state.q))
    on_base = [k for k, joint in enumerate(model.joints) if joint.parent < 0]
    assert_close(sum(composites[k].mass for k in on_base), model.total_mass)
    for composite in composites:
        assert_close(composite.second, composite.second.T)
        assert np.linalg.eigvalsh(composite.second)[0] > 0
