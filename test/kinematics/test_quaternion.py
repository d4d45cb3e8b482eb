# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Quaternions with both products, and the proof of Theorem 1 by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from public_vectors import cases_of

import kron_dynamics as kd
from kron_dynamics.dual import jacobian_of
from kron_dynamics.elementary import cos, sin
from kron_dynamics.kinematics import (
    body_angular_velocity,
    conjugate,
    conjugate_derivative,
    quaternion_rate,
    rotation_of,
    star,
    star_matrix,
    times,
    times_matrix,
)
from kron_dynamics.kinematics.quaternion import CONJUGATION
from kron_dynamics.kronecker import skew

NUMBERS = st.lists(st.floats(-2, 2), min_size=4, max_size=4).map(np.array)


@pytest.mark.parametrize('case', cases_of('quaternion'), ids=lambda case: case['id'])
def test_reference_vectors(case: Any, assert_close: Any) -> None:
    """[P] (B-9), (B-10)."""
    first, second = case['inputs']['eta1'], case['inputs']['eta2']
    assert_close(star(first, second), case['expected']['star'], 1e-14)
    assert_close(times(first, second), case['expected']['times'], 1e-14)


@given(a=NUMBERS, b=NUMBERS, c=NUMBERS)
def test_products(a: Any, b: Any, c: Any) -> None:
    """[P] (B-9)-(B-16), with one operator on each side of (B-16)."""
    same = {'atol': 1e-12, 'rtol': 0}
    np.testing.assert_allclose(star(a, b), times(b, a), **same)
    np.testing.assert_allclose(star(star(a, b), c), star(a, star(b, c)), **same)
    np.testing.assert_allclose(times(times(a, b), c), times(a, times(b, c)), **same)
    for product in (star, times):
        np.testing.assert_allclose(product(a, conjugate(a)), [0, 0, 0, a @ a], **same)
        np.testing.assert_allclose(product(conjugate(a), a), [0, 0, 0, a @ a], **same)
    np.testing.assert_allclose(-CONJUGATION @ a, conjugate(a), **same)
    D = CONJUGATION
    np.testing.assert_allclose(D @ star_matrix(a), times_matrix(conjugate(a)) @ D, **same)
    np.testing.assert_allclose(D @ times_matrix(a), star_matrix(conjugate(a)) @ D, **same)


@given(a=NUMBERS, b=NUMBERS)
def test_rotations_follow_each_other(a: Any, b: Any) -> None:
    """[P] (B-9): Q(a star b) = Q(a) Q(b), with rotations that are some."""
    a, b = ((x + [0, 0, 0, 3]) / np.linalg.norm(x + [0, 0, 0, 3]) for x in (a, b))
    Q = rotation_of(a)
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(rotation_of(star(a, b)), Q @ rotation_of(b), atol=1e-14)
    rotated = star(star(a, [1.0, 2.0, 3.0, 0.0]), conjugate(a))
    np.testing.assert_allclose(rotated, [*(Q @ [1.0, 2.0, 3.0]), 0], atol=1e-13)


def wrist(q: Any) -> Any:
    """Quaternion of three turns about skew axes."""
    e = np.array([0, 0, 0, 1])
    for axis, angle in zip(((1, 0, 0), (0, 0.6, 0.8), (0.48, 0.6, -0.64)), q, strict=True):
        half = angle / 2
        e = star(e, np.array([*(sin(half) * x for x in axis), cos(half)]))
    return e


Q, QD = np.array([0.4, -1.1, 0.7]), np.array([1.3, 0.6, -0.8])


def test_angular_velocity_of_rates(derivative: Any, assert_close: Any) -> None:
    """[P] (A-2), (B-18), (B-19), with R^T dR/dt = [omega x]."""
    e, slope = jacobian_of(wrist, Q)
    rate = slope @ QD
    omega = body_angular_velocity(e, rate)
    spin = rotation_of(e).T @ derivative(lambda t: rotation_of(wrist(Q + t * QD)))
    assert_close(skew(omega), spin, 1e-9)
    assert_close(quaternion_rate(e, omega), rate, 1e-13)
    augmented = np.array([*omega, 0.0])
    assert_close(times(augmented, e) / 2, rate, 1e-13)
    assert_close(2 * times(rate, conjugate(e)), augmented, 1e-13)
    assert_close(2 * star(rate, conjugate(e))[:3], rotation_of(e) @ omega, 1e-13)


def test_derivative_of_the_conjugate(assert_close: Any) -> None:
    """[P] (A-8), (B-14), (B-15), (B-17); with ``star`` outside it is another matrix."""
    e, slope = jacobian_of(wrist, Q)
    exact = jacobian_of(lambda q: conjugate(wrist(q)), Q)[1]
    assert_close(conjugate_derivative(e, slope), exact, 1e-13)
    assert_close(-CONJUGATION @ slope, exact, 1e-13)
    assert_close(conjugate_derivative(e, slope @ QD), exact @ QD, 1e-13)
    wrong = -star_matrix(conjugate(e)) @ star_matrix(conjugate(e)) @ slope
    assert np.abs(wrong - exact).max() > 0.1


def test_theorem_1_as_its_proof_has_it(derivative: Any, assert_close: Any) -> None:
    """[P] (A-1), (A-3): d omega/dq = dJ_w/dt + 1/2 ([w star] - [w times]) J_w."""

    def jacobian(q: Any) -> Any:
        e, slope = jacobian_of(wrist, q)
        return 2 * star_matrix(conjugate(e)) @ slope

    w, J = jacobian(Q) @ QD, jacobian(Q)
    assert_close(J[3], np.zeros(3), 1e-13, floor=1.0)
    half = (star_matrix(w) - times_matrix(w)) / 2
    expected = np.zeros((4, 4))
    expected[:3, :3] = skew(w[:3])
    assert_close(half, expected, 1e-13)
    gradient = derivative(lambda q: jacobian(q) @ QD, Q)
    J_dot = derivative(lambda t: jacobian(Q + t * QD))
    assert_close(J_dot + half @ J, gradient, 1e-9)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(kd.ShapeError, match='quaternion has shape'):
        star_matrix(np.zeros(3))
    with pytest.raises(kd.ShapeError, match='omega has shape'):
        quaternion_rate(np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(4))
