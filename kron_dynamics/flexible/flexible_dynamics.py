# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of robots with flexible links: the same functions as for rigid ones.

One forward and one backward pass (recursive Newton-Euler) compute the efforts of any motion; M,
C* and the damping and stiffness matrices D_L and K_L of the linearization are their exact
derivatives. Importing this module registers the `FlexibleModel` implementations.

``M qdd + C* (qd (x) qd) + g = tau`` holds for all coordinates. g includes the elastic forces of
the links; structural damping is part of `joint_friction`. Efforts of modal coordinates are
generalized forces in N, and no drive acts on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np

from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics.acceleration_energies import (
    acceleration_energy,
    energy_of_bodies,
    energy_of_rotors,
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
from kron_dynamics.dynamics.composite import (
    Inertia,
    Wrench,
    body_inertias,
    composite_inertias,
)
from kron_dynamics.dynamics.coriolis import coriolis_matrix, velocity_free_coriolis_matrix
from kron_dynamics.dynamics.energies import kinetic_energy, potential_energy
from kron_dynamics.dynamics.gravity import gravity_vector
from kron_dynamics.dynamics.inverse import bias_forces, coriolis_vector, inverse_dynamics
from kron_dynamics.dynamics.linearization import linearization
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.dynamics.payload import carrying, carrying_tree, inertia_of, with_inertias
from kron_dynamics.dynamics.regressor import (
    PARAMETERS_PER_BODY,
    inertial_parameters,
    parameters_of,
    regressor,
)
from kron_dynamics.dynamics.third_order import inverse_dynamics_rate
from kron_dynamics.flexible.deformation import section_forces
from kron_dynamics.flexible.flexible_kinematics import (
    Configuration,
    Section,
    configuration,
    motions_of,
    root_motion,
)
from kron_dynamics.flexible.flexible_model import FlexibleModel
from kron_dynamics.kinematics.motion import rate_vectors
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray


@inverse_dynamics.register
def _flexible_inverse_dynamics(
    model: FlexibleModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> ScalarArray:
    moved = _newton_euler(model, q, qd, qdd, model.gravity)
    return moved + _elastic_forces(model, q)


@coriolis_vector.register
def _flexible_coriolis_vector(model: FlexibleModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    return _newton_euler(model, q, qd, zeros_like(q, (model.n,)), np.zeros(3, dtype=int))


@gravity_vector.register
def _flexible_gravity_vector(model: FlexibleModel, q: ArrayLike) -> ScalarArray:
    rest = zeros_like(q, (model.n,))
    return inverse_dynamics(model, q, rest, rest)


@mass_matrix.register
def _flexible_mass_matrix(model: FlexibleModel, q: ArrayLike) -> ScalarArray:
    rest, still = zeros_like(q, (model.n,)), np.zeros(3, dtype=int)

    def efforts(qdd: ScalarArray) -> ScalarArray:
        return _newton_euler(model, q, rest, qdd, still)

    M = jacobian_of(efforts, rest)[1]
    return symmetric(M)


bias_forces.register(FlexibleModel, derived_bias_forces)
coriolis_matrix.register(FlexibleModel, derived_coriolis_matrix)
velocity_free_coriolis_matrix.register(FlexibleModel, derived_velocity_free_coriolis_matrix)
linearization.register(FlexibleModel, derived_linearization)
inverse_dynamics_rate.register(FlexibleModel, derived_inverse_dynamics_rate)


@kinetic_energy.register
def _flexible_kinetic_energy(model: FlexibleModel, q: ArrayLike, qd: ArrayLike) -> Any:
    qd = as_scalars(qd)
    # M qd is the effort of the acceleration qd at rest.
    momentum = _newton_euler(model, q, 0 * qd, qd, np.zeros(3, dtype=int))
    return qd @ momentum / 2


@acceleration_energy.register
def _flexible_acceleration_energy(
    model: FlexibleModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> Any:
    return _energy_of_derivative(model, q, (qd, qdd))


@second_order_acceleration_energy.register
def _flexible_second_order_acceleration_energy(
    model: FlexibleModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike
) -> Any:
    return _energy_of_derivative(model, q, (qd, qdd, qddd))


def _energy_of_derivative(
    model: FlexibleModel, q: ArrayLike, derivatives: Sequence[ArrayLike]
) -> Any:
    """Return half the integral of the squared acceleration (1) or jerk (2) over all mass."""
    rates, order = rate_vectors(*derivatives), len(derivatives) - 1
    where = configuration(model, as_scalars(q), *rates)
    motions = motions_of(model, where, rates, np.zeros(3, dtype=int))
    inertias = model.skeleton.per_body(body_inertias)
    energy = energy_of_bodies(model.skeleton, motions, inertias, order)
    for link, state in zip(model.flexible_links, where.states, strict=True):
        root = root_motion(link, motions[link.body])
        energy = energy + link.acceleration_energy(state, root, order)
    return energy + energy_of_rotors(model, rates[-1])


@potential_energy.register
def _flexible_potential_energy(model: FlexibleModel, q: ArrayLike) -> Any:
    q = as_scalars(q)
    where = configuration(model, q)
    inertias = model.skeleton.per_body(body_inertias)
    fixed: list[Inertia] = []  # beams on the base
    elastic: Any = 0
    for link, state in zip(model.flexible_links, where.states, strict=True):
        beam = link.inertia(state).turned(link.rotation).about(link.translation)
        if link.body < 0:
            fixed.append(beam)
        else:
            inertias[link.body] += beam
        elastic = elastic + link.elastic_energy(state)
    composites = composite_inertias(model.skeleton, where.placements, inertias)
    first = sum((beam.first for beam in fixed), composites[-1].first)
    return elastic - first @ model.gravity


@carrying.register
def _flexible_carrying(
    model: FlexibleModel, links: Sequence[str], payload: ArrayLike
) -> FlexibleModel:
    # The mode shapes do not change: they are only shape functions; the payload enters M and g.
    # It may be the mass that a joint moves none of without it.
    warnings = tuple(found for found in model.warnings if found.kind != 'massless_joint')
    skeleton = carrying_tree(model.skeleton, links, payload)
    return replace(model, skeleton=skeleton, warnings=warnings)


@with_inertias.register
def _flexible_with_inertias(model: FlexibleModel, parameters: FloatArray) -> FlexibleModel:
    skeleton = cast(RigidModel, with_inertias(model.skeleton, parameters))
    return replace(model, skeleton=skeleton)


@inertial_parameters.register
def _flexible_inertial_parameters(model: FlexibleModel) -> FloatArray:
    return np.concatenate([parameters_of(model.skeleton.bodies), model.armature, np.ones(1)])


@regressor.register
def _flexible_regressor(
    model: FlexibleModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> ScalarArray:
    rates = as_scalars(qdd)

    def efforts(parameters: ScalarArray) -> ScalarArray:
        inertias = model.skeleton.table(Inertia(0, np.zeros(3, dtype=int), _NO_MOMENTS))
        for k, of_body in enumerate(parameters.reshape(-1, PARAMETERS_PER_BODY)):
            inertias[k] = inertia_of(of_body)
        return _inertia_efforts(model, q, qd, qdd, model.gravity, inertias)

    # Efforts are affine in the parameters: the slopes are constant, the value at 0 is the beams'.
    none = zeros_like(q, (PARAMETERS_PER_BODY * len(model.skeleton.bodies),))
    beams, slopes = jacobian_of(efforts, none)
    rotors = zeros_like(q, (model.n, model.n))
    for k in range(model.n):
        rotors[k, k] += rates[k]
    last = beams + _elastic_forces(model, q)
    return np.concatenate([slopes, rotors, last.reshape(-1, 1)], axis=1)


_NO_MOMENTS = np.zeros((3, 3), dtype=int)


def _elastic_forces(model: FlexibleModel, q: ArrayLike) -> ScalarArray:
    """Return the elastic forces of the modal coordinates, 0 for joints, shape (n,), N."""
    forces = zeros_like(q, (model.n,))
    for link, state in zip(model.flexible_links, model.states(as_scalars(q)), strict=True):
        for k, force in zip(link.coordinates, link.elastic_forces(state), strict=True):
            forces[k] += force
    return forces


def _newton_euler(
    model: FlexibleModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, gravity: ScalarArray
) -> ScalarArray:
    """Return the efforts of a motion without elastic forces, shape (n,)."""
    inertias = model.skeleton.per_body(body_inertias)
    tau = _inertia_efforts(model, q, qd, qdd, gravity, inertias)
    rates = as_scalars(qdd)
    for k in range(model.n):
        tau[k] += model.armature[k] * rates[k]
    return tau


def _inertia_efforts(
    model: FlexibleModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: ScalarArray,
    inertias: Sequence[Inertia],
) -> ScalarArray:
    """Return the efforts of a motion for the beams and bodies of given inertias, shape (n,)."""
    q, qd, qdd = as_scalars(q), as_scalars(qd), as_scalars(qdd)
    found = carried_wrenches(model, q, qd, qdd, gravity, inertias)
    # In the common number type of all of them: some may be floats.
    masses = sum((inertia.mass for inertia in inertias), 0)
    tau = zeros_like(q + qd + qdd + 0 * masses, (model.n,))
    for link, forces in zip(model.flexible_links, found.beams, strict=True):
        for k, force in zip(link.coordinates, forces, strict=True):
            tau[k] += force
    for k, joint in model.skeleton.inward():
        section = found.where.sections.get(k)
        if section is None:
            tau[joint.coordinate] += found.wrenches[k].joint_effort(found.where.placements[k])
        else:
            for coordinate, force in _modal_efforts(section, found.wrenches[k]):
                tau[coordinate] += force
    return tau


class CarriedWrenches(NamedTuple):
    """Interaction wrenches at the joints and sections of a flexible robot.

    Attributes:
        where: configuration of the robot.
        wrenches: wrench that each body of the skeleton receives from its parent, about the body's
            origin, in its axes; a table of the skeleton.
        beams: generalized inertia and gravity forces of each beam on its modal coordinates, N.
    """

    where: Configuration
    wrenches: list[Wrench]
    beams: list[list[Any]]


def carried_wrenches(
    model: FlexibleModel,
    q: ScalarArray,
    qd: ScalarArray,
    qdd: ScalarArray,
    gravity: ScalarArray,
    inertias: Sequence[Inertia],
    outside: Mapping[int, Wrench] = MappingProxyType({}),
) -> CarriedWrenches:
    """Return the interaction wrenches at the joints and sections in a motion.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        qdd: their second derivatives, shape (n,).
        gravity: shape (3,), m/s^2.
        inertias: inertias of the skeleton's bodies.
        outside: external wrenches by body index, about the bodies' origins, in their axes.
    """
    skeleton = model.skeleton
    where = configuration(model, q, qd, qdd)
    # Gravity enters as the acceleration -gravity of the base.
    motions = motions_of(model, where, (qd, qdd), -gravity)
    rest = np.zeros(3, dtype=int)
    wrenches, beams = skeleton.table(Wrench(rest, rest)), []
    for k, _ in skeleton.outward():
        wrenches[k] = inertias[k].moments(motions[k].linear[1], motions[k].field(1)).wrench
    for k, wrench in outside.items():
        wrenches[k] += Wrench(-wrench.force, -wrench.moment)
    for link, state in zip(model.flexible_links, where.states, strict=True):
        moments, forces = link.beam_forces(state, root_motion(link, motions[link.body]))
        wrenches[link.body] += moments.wrench.to_parent(link.root)
        beams.append(forces)
    for k, joint in skeleton.inward():
        wrenches[joint.parent] += wrenches[k].to_parent(where.placements[k])
    return CarriedWrenches(where, wrenches, beams)


def _modal_efforts(section: Section, wrench: Wrench) -> list[tuple[int, Any]]:
    """Return the index of each modal coordinate and its effort for a wrench on a section."""
    axes = section.axes
    forces = section_forces(section.state, section.at, axes @ wrench.force, axes @ wrench.moment)
    return list(zip(section.link.coordinates, forces, strict=True))
