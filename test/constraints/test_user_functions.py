# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Constraints by functions of the user: derivatives that do not fit, and moving ground."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from mechanisms import two_arms_text

import kron_dynamics as kd
from kron_dynamics.constraints import Pfaffian, RollingWheel
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.kinematics import jacobian
from kron_dynamics.model import load_model


@functools.cache
def arms() -> Any:
    return load_model(two_arms_text())


@pytest.mark.parametrize(
    ('slope', 'rate', 'words'),
    [
        (-2.0, -2.0, ''),
        (-2.00002, -2.0, ''),
        (2.0, -2.0, r"'own' has A\[0, 1\] = 0.8, expected the derivative of phi\[0\] by q\[1\]"),
        (-2.0, 2.0, r"'own' has b\[0\] = .*, expected the derivative of phi\[0\] by t"),
    ],
)
def test_A_and_b_are_derivatives_of_phi(slope: float, rate: float, words: str) -> None:
    """Also at rest: accelerations would leave the condition."""

    def A(q: Any, t: Any) -> Any:
        return np.array([[1, slope * q[1], 0, 0, 0, 0, 0]])

    own = Pfaffian(
        'own', A, lambda q, t: np.array([-rate * t]), phi=lambda q, t: q[0] - q[1] ** 2 + -(t**2)
    )
    system = ConstraintSystem(arms(), [own])
    q, qd, t = np.array([0.16, 0.4, 0, 0, 0, 0, 0]), np.zeros(7), 0.5
    if not words:
        assert system.terms(q, qd, t).phi == pytest.approx([-0.25])
        return
    with pytest.raises(kd.ConstraintError, match=words):
        system.terms(q, qd, t)


def test_moving_ground_carries_a_wheel_along_y_and_back_along_x(assert_close: Any) -> None:
    wheel = RollingWheel('wheel', 'right3', 0.3, signal=(0.5, 0.2))
    q = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7])
    terms = ConstraintSystem(arms(), [wheel]).terms(q, np.zeros(7), 0.0)
    qd = np.linalg.lstsq(terms.A, terms.b)[0]
    v, omega = np.split(jacobian(arms(), q, 'right3') @ qd, 2)
    lowest = v + np.cross(omega, [0.0, 0.0, -0.3])
    assert_close(lowest[:2], [-0.2, 0.5], 1e-12)
