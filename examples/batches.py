# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Many states at once: the payload a machine can lift in every pose of its last two joints.

python batches.py robot.urdf LINK
"""

import sys

import numpy as np

import kron_dynamics as kd

robot = kd.load(sys.argv[1], threads=0)  # large batches on all cores
tool = robot.frame(sys.argv[2])
model = robot.model

lower, upper = np.maximum(model.position_lower, -np.pi), np.minimum(model.position_upper, np.pi)
grids = np.meshgrid(*(np.linspace(lower[k], upper[k], 100) for k in (-2, -1)))
q = np.tile(np.clip(0.0, lower, upper), (grids[0].size, 1))
q[:, -2], q[:, -1] = (grid.ravel() for grid in grids)

# One call each for arrays of shape (N, n) and (N, 6, n).
weight = robot.gravity_vector(q)
per_kilogram = 9.80665 * tool.jacobian(q)[:, 2]  # efforts that hold 1 kg at the tool
free = model.effort_limit - np.sign(per_kilogram) * weight
with np.errstate(divide='ignore'):
    payload = np.min(free / np.abs(per_kilogram), axis=1)

best, worst = payload.argmax(), payload.argmin()
print(f'{len(q)} poses of {", ".join(robot.joint_names)}')
print(f'payload from {payload[worst]:.4g} kg at q = {q[worst].round(3).tolist()}')
print(f'          to {payload[best]:.4g} kg at q = {q[best].round(3).tolist()}')
