# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the energies."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.dynamics import inverse_dynamics, kinetic_energy, mass_matrix, potential_energy
from kron_dynamics.kinematics import forward_kinematics
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
    M = mass_matrix(model, state.q)
    assert_close(kinetic_energy(model, state.q, state.qd), 0.5 * state.qd @ M @ state.qd)


def test_potential_energy_is_weight_times_height(robot_text: Any, assert_close: Any) -> None:
    model = load_model(robot_text('planar_2r'), gravity=(0, -9.81, 0))
    q = np.array([0.4, 0.9])
    height1 = 0.5 * np.sin(q[0])
    height2 = np.sin(q[0]) + 0.25 * np.sin(q.sum())
    assert_close(potential_energy(model, q), 9.81 * (4 * height1 + 2 * height2))


def test_potential_energy_counts_every_branch(model: Any, state: Any, assert_close: Any) -> None:
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
