# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed forms of your own robot: equations as SymPy matrices, and as text for a paper.

python closed_forms.py robot.urdf
"""

import sys

import kron_dynamics as kd

robot = kd.load(sys.argv[1])
M = robot.symbolic.mass_matrix().simplified()
g = robot.symbolic.gravity_vector().simplified()
for i, joint in enumerate(robot.joint_names):
    print(f'M[{joint}, {joint}] = {M[i, i]}')
    print(f'g[{joint}] = {g[i]}')

# With symbols instead of numbers for masses and lengths, as LaTeX.
named = robot.symbolic.with_parameters('symbolic')
print(named.mass_matrix().simplified().latex())
