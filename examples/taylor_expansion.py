# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of any order: the accuracy of a linear model, and of higher orders.

python taylor_expansion.py robot.urdf
"""

import sys

import numpy as np

import kron_dynamics as kd
from kron_dynamics import taylor

robot = kd.load(sys.argv[1])
lower, upper = (
    np.clip(x, -1.0, 1.0) for x in (robot.model.position_lower, robot.model.position_upper)
)
q, rest = 0.4 * lower + 0.6 * upper, np.zeros(robot.n)

gravity = taylor.expand(robot.gravity_vector, q, 3)
deviation = 0.1 * (upper - lower)
exact = robot.gravity_vector(q + deviation)
for order in range(4):
    error = np.abs(gravity.truncated(order)(q + deviation) - exact).max()
    print(f'gravity to order {order}: error {error / np.abs(exact).max():.1e}')

# Jointly in several arguments: tau of q, qd and qdd, in Khang's layout.
tau = taylor.expand(robot.inverse_dynamics, (q, rest, rest), 1)
near = robot.linearize(q, rest, rest)  # M_L, D_L and K_L are the same first order
dq = np.full(robot.n, 1e-3)
assert np.allclose(tau(q + dq, rest, rest), near.effort + near.stiffness @ dq)
print('poles about rest, 1/s:', np.round(near.poles(), 4).tolist())
