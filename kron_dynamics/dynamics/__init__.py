# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of the tree: ``M qdd + C* (qd (x) qd) + g = tau``."""

from kron_dynamics.dynamics.coriolis import (
    coriolis_matrix,
    mass_matrix_derivative,
    velocity_free_coriolis_matrix,
)
from kron_dynamics.dynamics.energies import kinetic_energy, potential_energy
from kron_dynamics.dynamics.forward import forward_dynamics
from kron_dynamics.dynamics.friction import joint_friction
from kron_dynamics.dynamics.gravity import gravity_vector
from kron_dynamics.dynamics.inverse import bias_forces, coriolis_vector, inverse_dynamics
from kron_dynamics.dynamics.mass_matrix import mass_matrix

__all__ = [
    'bias_forces',
    'coriolis_matrix',
    'coriolis_vector',
    'forward_dynamics',
    'gravity_vector',
    'inverse_dynamics',
    'joint_friction',
    'kinetic_energy',
    'mass_matrix',
    'mass_matrix_derivative',
    'potential_energy',
    'velocity_free_coriolis_matrix',
]
