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
from kron_dynamics.kinematics.forward import joint_placements
from kron_dynamics.kronecker import cross, skew
from kron_dynamics.model import Joint


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
    """What is left has no part along a direction of the parameters without momentum."""
    for joint, inertia in zip(model.joints, regrouped_inertias(model), strict=True):
        scale = 1e-12 * (1 + np.abs(inertia.second).max() + np.abs(inertia.first).max())
        left = pseudo_inertia(inertia)
        for unfelt in without_momentum(joint):
            assert abs((unfelt * left).sum()) < scale


def test_what_regrouping_moves_is_not_felt_by_the_joint(model: Any, assert_close: Any) -> None:
    """A line of mass on a hinge, or a pure S on a slide, looks the same wherever the joint is."""
    q = np.full(model.n, 0.7)
    for k, joint in enumerate(model.joints):
        before = body_inertias(model)[k]
        placed = [joint_placements(model, x)[k] for x in (0 * q, q)]
        moved = pseudo_inertia(before)
        moved = sum((unfelt * moved).sum() * unfelt for unfelt in without_momentum(joint))
        inertia = Inertia(moved[3, 3], moved[3, :3], moved[:3, :3])
        here, there = (inertia.turned(at.rotation).about(at.offset) for at in placed)
        assert_close(pseudo_inertia(here), pseudo_inertia(there))


def pseudo_inertia(inertia: Inertia) -> np.ndarray:
    return np.block(
        [[inertia.second, inertia.first[:, None]], [inertia.first[None], inertia.mass]]
    )


def without_momentum(joint: Joint) -> list[np.ndarray]:
    """Orthonormal symmetric P, (4, 4), with X P = 0 for the joint's twist X: the null space."""
    X = np.zeros((4, 4))
    X[:3, :3] = skew(joint.motion.angular_axis(joint))
    X[:3, 3] = joint.motion.linear_axis(joint)
    basis = []
    for i, j in zip(*np.triu_indices(4), strict=True):
        P = np.zeros((4, 4))
        P[i, j] = P[j, i] = 1.0 if i == j else 0.5**0.5
        basis.append(P)
    _, sizes, directions = np.linalg.svd(np.stack([(X @ P).ravel() for P in basis], axis=1))
    found = [row for row, size in zip(directions, sizes, strict=True) if size < 1e-12]
    expected = {'revolute': 3, 'continuous': 3, 'prismatic': 6, 'screw': 1}[joint.kind]
    assert len(found) == expected
    return [sum(c * P for c, P in zip(row, basis, strict=True)) for row in found]
