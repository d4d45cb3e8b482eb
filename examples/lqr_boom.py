# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""LQR for a flexible boom: its vibration after a push, with and without damping by the drives.

python lqr_boom.py stacker_reclaimer.urdf stacker_reclaimer_flexible.yaml
"""

import sys

import numpy as np
from scipy.linalg import solve_continuous_are

import kron_dynamics as kd
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.simulation import Plant

robot = kd.load(sys.argv[1], flexible=sys.argv[2])
n_j = robot.model.joint_count
q = quasi_static_equilibrium(robot, [100.0, 0.5, 0.0])  # static deflection
rest = np.zeros(robot.n)

# Linearized about rest. The drives compensate joint friction, see `swing`.
A, B = (m := robot.linearize(q, rest, rest).state_space()).A, m.B[:, :n_j]
effort, reach = robot.model.effort_limit[:n_j], np.array([0.05, 1e-3, 1e-3])  # m and rad
wanted = np.concatenate([reach, np.full(robot.n - n_j, 0.01)])  # tip of the boom: 1 cm
Q = np.diag(np.concatenate([wanted, 2.0 * wanted]) ** -2.0)
P = solve_continuous_are(A, B, Q, np.diag((0.2 * effort) ** -2.0))
K = np.diag((0.2 * effort) ** 2.0) @ B.T @ P
print('poles, 1/s:', np.round(np.linalg.eigvals(A - B @ K), 2).tolist())


def swing(gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return times and lateral deflections of the boom's tip after a push, s and m."""
    plant = Plant(robot, q[:n_j])
    plant.qd[n_j:] = 0.1  # m/s
    times, sideways = np.arange(0.0, 8.0, 0.02), []
    for _ in times:
        deviation = np.concatenate([plant.q - q, plant.qd])
        friction = robot.joint_friction(plant.qd)[:n_j]
        tau = robot.gravity_vector(q)[:n_j] + friction - gain @ deviation
        plant.advance(tau, 0.02, 0.002)
        sideways.append(plant.q[n_j])
    return times, np.array(sideways)


for name, gain in (('joints free', 0.0 * K), ('LQR', K)):
    times, sideways = swing(gain)
    first, late = 1e3 * np.ptp(sideways), 1e3 * np.ptp(sideways[times > 4.0])
    print(f'{name:<12} {first:8.2f} mm at first, {late:8.3f} mm after 4 s')
