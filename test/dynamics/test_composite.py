# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Moments of composite bodies against clouds of particles."""

from __future__ import annotations

from typing import Any

import numpy as np

from kron_dynamics.dynamics.composite import (
    Inertia,
    body_inertias,
    composite_inertias,
    regrouped_inertias,
)
from kron_dynamics.kinematics.forward import joint_placements, joint_rotation
from kron_dynamics.kronecker import cross


def moments(masses: np.ndarray, points: np.ndarray) -> Inertia:
    """Moments of particles about the origin; points has shape (N, 3)."""
    return Inertia(masses.sum(), masses @ points, np.einsum('k,ki,kj->ij', masses, points, points))


def check_equal(a: Inertia, b: Inertia, assert_close: Any) -> None:
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


def test_turned_turns_the_particles(rng: np.random.Generator, assert_close: Any) -> None:
    masses, points = rng.uniform(1, 2, 5), rng.normal(size=(5, 3))
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    check_equal(moments(masses, points).turned(R), moments(masses, points @ R.T), assert_close)


def test_moments_of_a_field_are_those_of_the_particles(
    rng: np.random.Generator, assert_close: Any
) -> None:
    masses, points = rng.uniform(1, 2, 5), rng.normal(size=(5, 3))
    U, u = rng.normal(size=(3, 3)), rng.normal(size=3)
    made = moments(masses, points).moments(u, U)
    field = points @ U.T + u
    assert_close(made.force, masses @ field)
    assert_close(made.matrix, np.einsum('k,ki,kj->ij', masses, field, points))
    torques = [m * cross(r, a) for m, r, a in zip(masses, points, field, strict=True)]
    assert_close(made.wrench.moment, np.sum(torques, axis=0))


def test_first_subtree_holds_everything_that_hangs_on_it(
    model: Any, state: Any, assert_close: Any
) -> None:
    composites = composite_inertias(model, joint_placements(model, state.q), body_inertias(model))
    on_base = [k for k, joint in enumerate(model.joints) if joint.parent < 0]
    assert_close(sum(composites[k].mass for k in on_base), model.total_mass)
    for composite in composites:
        assert_close(composite.second, composite.second.T)
        assert np.linalg.eigvalsh(composite.second)[0] > 0


def test_regrouping_leaves_no_number_that_the_joint_does_not_feel(model: Any) -> None:
    for joint, inertia in zip(model.joints, regrouped_inertias(model), strict=True):
        scale = 1e-12 * (1 + np.abs(inertia.second).max() + np.abs(inertia.first).max())
        if joint.is_prismatic:
            assert not inertia.second.any()
        else:
            z = joint.axis
            assert inertia.mass == 0
            assert abs(z @ inertia.first) < scale
            assert abs(z @ inertia.second @ z) < scale


def test_what_regrouping_moves_is_not_felt_by_the_joint(model: Any, assert_close: Any) -> None:
    """A line of mass on a hinge, or a pure S on a slide, looks the same wherever the joint is."""
    for k, joint in enumerate(model.joints):
        before = body_inertias(model)[k]
        if joint.is_prismatic:
            moved = Inertia(0, np.zeros(3), before.second)
            here = moved.turned(joint.rotation).about(joint.translation)
            there = moved.turned(joint.rotation).about(joint.translation + 0.7 * joint.axis)
        else:
            z = joint.axis
            moved = Inertia(
                before.mass, before.first @ z * z, z @ before.second @ z * np.outer(z, z)
            )
            here, there = moved, moved.turned(joint_rotation(joint, 0.7))
        check_equal(here, there, assert_close)
