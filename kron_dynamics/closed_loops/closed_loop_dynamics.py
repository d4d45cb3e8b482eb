# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of robots with closed loops: the same functions as for trees.

``B^T (M xdd + c + g) = tau`` with the spanning tree's M, c, g, accelerations xdd and rates
``xd = B qd``, where qd are the rates of the drives, [P] eqs. (39), (42). C* and linear models are
exact derivatives of it. Loops are closed anew in every call (`closing_map.py`), so that nothing
drifts. Importing this module registers the `ClosedLoopModel` implementations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kron_dynamics.closed_loops.closed_loop_kinematics import closed, tree_motion
from kron_dynamics.closed_loops.closed_loop_model import ClosedLoopModel
from kron_dynamics.dynamics.acceleration_energies import (
    acceleration_energy,
    second_order_acceleration_energy,
)
from kron_dynamics.dynamics.automatic_derivatives import (
    derived_bias_forces,
    derived_coriolis_matrix,
    derived_inverse_dynamics_rate,
    derived_linearization,
    derived_velocity_free_coriolis_matrix,
    symmetric,
)
from kron_dynamics.dynamics.coriolis import coriolis_matrix, velocity_free_coriolis_matrix
from kron_dynamics.dynamics.energies import kinetic_energy, potential_energy
from kron_dynamics.dynamics.gravity import gravity_vector
from kron_dynamics.dynamics.inverse import bias_forces, coriolis_vector, inverse_dynamics
from kron_dynamics.dynamics.linearization import linearization
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.dynamics.payload import carrying
from kron_dynamics.dynamics.regressor import inertial_parameters, regressor
from kron_dynamics.dynamics.third_order import inverse_dynamics_rate
from kron_dynamics.kinematics.scalars import number_vector, zeros_like
from kron_dynamics.kinematics.tree import tree_coordinates
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray


@inverse_dynamics.register
def _closed_inverse_dynamics(
    model: ClosedLoopModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> ScalarArray:
    x, xd, xdd, B = _motion_of_the_tree(model, q, qd, qdd)
    tau: ScalarArray = B.T @ inverse_dynamics(model.tree, x, xd, xdd)
    return tau


def _motion_of_the_tree(
    model: ClosedLoopModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> tuple[ScalarArray, ScalarArray, ScalarArray, ScalarArray]:
    """Return the tree's coordinates x, xd, xdd, and B with xd = B qd."""
    x, found = closed(model, q, qd)
    return x, found.qd, found.B @ number_vector(qdd, 'qdd', model.n) + found.gamma, found.B


@coriolis_vector.register
def _closed_coriolis_vector(model: ClosedLoopModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    x, found = closed(model, q, qd)
    moved = coriolis_vector(model.tree, x, found.qd) + mass_matrix(model.tree, x) @ found.gamma
    c: ScalarArray = found.B.T @ moved
    return c


@gravity_vector.register
def _closed_gravity_vector(model: ClosedLoopModel, q: ArrayLike) -> ScalarArray:
    x, found = closed(model, q, zeros_like(q, (model.n,)))
    g: ScalarArray = found.B.T @ gravity_vector(model.tree, x)
    return g


@mass_matrix.register
def _closed_mass_matrix(model: ClosedLoopModel, q: ArrayLike) -> ScalarArray:
    x, found = closed(model, q, zeros_like(q, (model.n,)))
    return symmetric(found.B.T @ (mass_matrix(model.tree, x) @ found.B))


bias_forces.register(ClosedLoopModel, derived_bias_forces)
coriolis_matrix.register(ClosedLoopModel, derived_coriolis_matrix)
velocity_free_coriolis_matrix.register(ClosedLoopModel, derived_velocity_free_coriolis_matrix)
linearization.register(ClosedLoopModel, derived_linearization)
inverse_dynamics_rate.register(ClosedLoopModel, derived_inverse_dynamics_rate)


@kinetic_energy.register
def _closed_kinetic_energy(model: ClosedLoopModel, q: ArrayLike, qd: ArrayLike) -> Any:
    x, found = closed(model, q, qd)
    return kinetic_energy(model.tree, x, found.qd)


@acceleration_energy.register
def _closed_acceleration_energy(
    model: ClosedLoopModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> Any:
    return acceleration_energy(model.tree, *_motion_of_the_tree(model, q, qd, qdd)[:3])


@second_order_acceleration_energy.register
def _closed_second_order_acceleration_energy(
    model: ClosedLoopModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike
) -> Any:
    motion = tree_motion(model, q, qd, qdd, qddd)
    return second_order_acceleration_energy(model.tree, *motion)


@potential_energy.register
def _closed_potential_energy(model: ClosedLoopModel, q: ArrayLike) -> Any:
    return potential_energy(model.tree, tree_coordinates(model, q))


@carrying.register
def _closed_carrying(
    model: ClosedLoopModel, links: Sequence[str], payload: ArrayLike
) -> ClosedLoopModel:
    return replace(model, tree=carrying(model.tree, links, payload))


@inertial_parameters.register
def _closed_inertial_parameters(model: ClosedLoopModel) -> FloatArray:
    return inertial_parameters(model.tree)


@regressor.register
def _closed_regressor(
    model: ClosedLoopModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> ScalarArray:
    x, xd, xdd, B = _motion_of_the_tree(model, q, qd, qdd)
    Y: ScalarArray = B.T @ regressor(model.tree, x, xd, xdd)
    return Y
