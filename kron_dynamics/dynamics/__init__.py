# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of the tree: ``M qdd + C* (qd (x) qd) + g = tau``."""

from typing import TYPE_CHECKING

from kron_dynamics.dynamics.control_step import ControlStep, control_step
from kron_dynamics.dynamics.coriolis import (
    coriolis_matrix,
    mass_matrix_derivative,
    velocity_free_coriolis_matrix,
)
from kron_dynamics.dynamics.energies import kinetic_energy, potential_energy
from kron_dynamics.dynamics.external import external_wrench
from kron_dynamics.dynamics.forward import forward_dynamics
from kron_dynamics.dynamics.friction import joint_friction
from kron_dynamics.dynamics.gravity import gravity_vector
from kron_dynamics.dynamics.inverse import bias_forces, coriolis_vector, inverse_dynamics
from kron_dynamics.dynamics.linearization import Linearization, linearization
from kron_dynamics.dynamics.linearization_terms import LinearizationTerms, linearization_terms
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.dynamics.regressor import inertial_parameters, regressor

if TYPE_CHECKING:
    from kron_dynamics.dynamics.acceleration_energies import (
        acceleration_energy,
        body_acceleration_energy,
        body_second_order_acceleration_energy,
        second_order_acceleration_energy,
    )
    from kron_dynamics.dynamics.gravity_field import (
        CentralField,
        FieldOf,
        GravityField,
        central_field_potential,
        field_forces,
        gravity_gradient_torque,
    )
    from kron_dynamics.dynamics.kane import (
        KaneBody,
        KaneEnergyTerms,
        KaneTerms,
        kane_bodies,
        kane_coriolis_matrix,
        kane_energy_terms,
        kane_inertia_forces,
        kane_terms,
    )
    from kron_dynamics.dynamics.lagrange import (
        LagrangeTerms,
        direct_velocity_free_matrix,
        lagrange_coriolis_matrix,
        lagrange_mass_matrix,
        lagrange_terms,
        lagrange_velocity_free_matrix,
        reduced_coriolis_matrix,
        vec_kinetic_energy,
    )
    from kron_dynamics.dynamics.reactions import joint_reactions
    from kron_dynamics.dynamics.third_order import forward_jerk, inverse_dynamics_rate
    from kron_dynamics.dynamics.third_order_terms import (
        AppellRateTerms,
        EffortRateTerms,
        appell_forces,
        appell_jerk_forces,
        appell_rate_terms,
        effort_rate_terms,
        mangeron_tsenov_forces,
    )
    from kron_dynamics.dynamics.wrenches import Wrench, wrench_forces

__all__ = [
    'AppellRateTerms',
    'CentralField',
    'ControlStep',
    'EffortRateTerms',
    'FieldOf',
    'GravityField',
    'KaneBody',
    'KaneEnergyTerms',
    'KaneTerms',
    'LagrangeTerms',
    'Linearization',
    'LinearizationTerms',
    'Wrench',
    'acceleration_energy',
    'appell_forces',
    'appell_jerk_forces',
    'appell_rate_terms',
    'bias_forces',
    'body_acceleration_energy',
    'body_second_order_acceleration_energy',
    'central_field_potential',
    'control_step',
    'coriolis_matrix',
    'coriolis_vector',
    'direct_velocity_free_matrix',
    'effort_rate_terms',
    'external_wrench',
    'field_forces',
    'forward_dynamics',
    'forward_jerk',
    'gravity_gradient_torque',
    'gravity_vector',
    'inertial_parameters',
    'inverse_dynamics',
    'inverse_dynamics_rate',
    'joint_friction',
    'joint_reactions',
    'kane_bodies',
    'kane_coriolis_matrix',
    'kane_energy_terms',
    'kane_inertia_forces',
    'kane_terms',
    'kinetic_energy',
    'lagrange_coriolis_matrix',
    'lagrange_mass_matrix',
    'lagrange_terms',
    'lagrange_velocity_free_matrix',
    'linearization',
    'linearization_terms',
    'mangeron_tsenov_forces',
    'mass_matrix',
    'mass_matrix_derivative',
    'potential_energy',
    'reduced_coriolis_matrix',
    'regressor',
    'second_order_acceleration_energy',
    'vec_kinetic_energy',
    'velocity_free_coriolis_matrix',
    'wrench_forces',
]


def __getattr__(name: str) -> object:
    """Import the names not needed by the equations of motion on first access."""
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from kron_dynamics.dynamics import (
        acceleration_energies,
        gravity_field,
        kane,
        lagrange,
        reactions,
        third_order,
        third_order_terms,
        wrenches,
    )

    for module in (
        *(acceleration_energies, gravity_field, kane, lagrange, reactions),
        *(third_order, third_order_terms, wrenches),
    ):
        globals().update(
            {known: vars(module)[known] for known in __all__ if known in vars(module)}
        )
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
