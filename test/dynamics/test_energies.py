# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the energies."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.dynamics import inverse_dynamics, kinetic_energy, mass_matrix, potential_energy
from kron_dynamics.kinematics import forward_kinematics, frame_velocity
from kron_dynamics.kronecker import kronecker, vec
from kron_dynamics.model import load_model


def check_power_balance(model: Any, s: Any, derivative: Any) -> None:
    def energy(t: float) -> float:
        q, qd = s.q + s.qd * t + s.qdd * t**2 / 2, s.qd + s.qdd * t
        return kinetic_energy(model, q, qd) + potential_energy(model, q)

    power = s.qd @ inverse_dynamics(model, s.q, s.qd, s.qdd)
    scale = max(abs(power), abs(energy(0.0)), model.total_mass)
    assert abs(derivative(energy) - power) < 1e-9 * scale


def test_energy_rate_is_power_of_the_efforts(model: Any, state: Any, derivative: Any) -> None:
    check_power_balance(model, state, derivative)


def test_kinetic_energy_is_half_qd_m_qd(model: Any, state: Any, assert_close: Any) -> None:
    """[T] (93), and (94) in the form of vec, [T] (94)."""
    M = mass_matrix(model, state.q)
    T = kinetic_energy(model, state.q, state.qd)
    assert_close(T, 0.5 * state.qd @ M @ state.qd)
    assert_close(T, 0.5 * kronecker(state.qd, state.qd) @ vec(M))


def test_kinetic_energy_is_koenigs(model: Any, state: Any, assert_close: Any) -> None:
    """[N] (46), (47): of the mass centres, and of turning about them."""
    T = 0.5 * state.qd**2 @ model.armature
    first = {frame.body: name for name, frame in reversed(model.frames.items())}
    for k, body in enumerate(model.bodies):
        link = first[k]  # the link that joint k moves: its frame is the body's
        R = forward_kinematics(model, state.q, link)[:3, :3]
        v, omega = frame_velocity(model, state.q, state.qd, link).reshape(2, 3)
        v_C = v + np.cross(omega, R @ body.center_of_mass)
        T += 0.5 * body.mass * v_C @ v_C + 0.5 * omega @ R @ body.inertia @ R.T @ omega
    assert_close(kinetic_energy(model, state.q, state.qd), T)


def test_potential_energy_is_weight_times_height(robot_text: Any, assert_close: Any) -> None:
    model = load_model(robot_text('planar_2r'), gravity=(0, -9.81, 0))
    q = np.array([0.4, 0.9])
    height1 = 0.5 * np.sin(q[0])
    height2 = np.sin(q[0]) + 0.25 * np.sin(q.sum())
    assert_close(potential_energy(model, q), 9.81 * (4 * height1 + 2 * height2))


def test_potential_energy_counts_every_branch(model: Any, state: Any, assert_close: Any) -> None:
    # [P] eq. (26)
    V = 0.0
    first = {frame.body: name for name, frame in reversed(model.frames.items())}
    for k, body in enumerate(model.bodies):
        link = first[k]  # the link that joint k moves: its frame is the body's
        pose = forward_kinematics(model, state.q, link)
        center = pose[:3, 3] + pose[:3, :3] @ body.center_of_mass
        V -= body.mass * model.gravity @ center
    assert_close(potential_energy(model, state.q), V)


@given(data=st.data())
def test_random_trees(random_robots: Any, derivative: Any, data: Any) -> None:
    model, s = data.draw(random_robots)
    check_power_balance(model, s, derivative)
