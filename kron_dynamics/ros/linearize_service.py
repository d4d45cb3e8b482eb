# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The service ~/linearize: linear models about a batch of operating points."""

from __future__ import annotations

from typing import Any

import numpy as np

from kron_dynamics.dynamics import Linearization
from kron_dynamics.dynamics.forward import rounding_of_mass, smallest_mass
from kron_dynamics.dynamics.linearization import state_matrix
from kron_dynamics.equilibrium import quasi_static_equilibria
from kron_dynamics.exceptions import InvalidInertiaError
from kron_dynamics.messages import named
from kron_dynamics.robot import Robot
from kron_dynamics.ros.batch import Batch, beyond_range, flat
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.linearized_output import OSCILLATES
from kron_dynamics.typing import FloatArray

_MOTION = ('position', 'velocity', 'acceleration')


def linearize(present: ConfiguredRobot, largest: int, request: Any, response: Any) -> None:
    """Answer a request of ~/linearize.

    Args:
        present: robot that the node is configured for.
        largest: largest count of numbers in a request or an answer.
        request: Linearize request.
        response: answer, to be filled in.

    Raises:
        KronDynamicsError: the request is refused.
    """
    # Imported late, for a faster start of the node.
    from kron_dynamics.linearized import structurally_damped

    robot, joints = present.flexible, present.robot.n
    # Requests have all modal coordinates or none. Without them the links are in quasi-static
    # deflection.
    bent = not set(present.mode_names).isdisjoint(request.joint_names)
    given = robot.joint_names if bent else present.robot.joint_names
    batch = Batch(given, request.joint_names, largest)
    motions = np.stack([batch.states(name, getattr(request, name)) for name in _MOTION])
    n, oscillations = robot.n, request.include_frequencies
    batch.expect(3 * n * n + (6 if oscillations else 4) * n)
    if bent:
        robot.check_deflections(motions[0])
    else:
        full = np.zeros((*motions.shape[:2], n))
        full[1:, :, :joints] = motions[1:]
        full[0] = quasi_static_equilibria(robot, *motions)
        motions = full
    terms = structurally_damped(robot.model, robot.linearization(*motions), motions[1])
    names = [*batch.names, *robot.joint_names[len(batch.names) :]]
    whole = Batch(robot.joint_names, names, largest)
    response.joint_names, response.base_frame = names, robot.model.root_link
    for name, values in zip(_MOTION, motions, strict=True):
        setattr(response, name, whole.by_joint(name, values))
    response.mass_matrix = whole.by_joint('mass matrix', terms.mass_matrix, 2)
    response.damping_matrix = whole.by_joint('damping matrix', terms.damping_matrix, 2)
    response.stiffness_matrix = whole.by_joint('stiffness matrix', terms.stiffness_matrix, 2)
    response.effort = whole.by_joint('effort', terms.effort)
    if oscillations:
        frequencies, ratios = _oscillations(robot, terms)
        response.frequencies, response.damping_ratios = flat(frequencies), flat(ratios)


def _oscillations(robot: Robot, terms: Linearization) -> tuple[FloatArray, FloatArray]:
    """Return |p|, ascending, and -Re(p)/|p| of the complex pole pairs, shape (N, n), NaN-padded.

    Raises:
        InvalidInertiaError: a mass matrix is singular.
        NonFiniteError: the state matrix is beyond the range of float64.
    """
    _require_mass(robot, terms.mass_matrix)
    A = state_matrix(terms.mass_matrix, terms.damping_matrix, terms.stiffness_matrix)
    lost = ~np.isfinite(A).all(axis=(1, 2))
    if lost.any():
        raise beyond_range('state matrix', 'the linear model', int(lost.argmax()))
    poles = np.linalg.eigvals(A)
    size = np.abs(poles)
    kept = poles.imag > OSCILLATES * size.max(axis=1, initial=0.0, keepdims=True)
    order = np.where(kept, size, np.inf).argsort(axis=1, kind='stable')[:, : robot.n]
    size, poles, kept = (np.take_along_axis(x, order, axis=1) for x in (size, poles, kept))
    size = np.where(kept, size, np.nan)
    return size, -poles.real / size


def _require_mass(robot: Robot, masses: FloatArray) -> None:
    """Check that mass matrices, shape (N, n, n), are not numerically singular."""
    scale = np.sqrt(np.abs(np.diagonal(masses, axis1=1, axis2=2)))
    with_unit_diagonal = masses / (scale[:, :, None] * scale[:, None, :])
    if np.isfinite(with_unit_diagonal).all():
        least = np.linalg.eigvalsh(with_unit_diagonal).min(axis=1)
        if (least > rounding_of_mass(robot.n)).all():
            return
    for state, mass in enumerate(masses):
        smallest, joint = smallest_mass(mass)
        if smallest <= rounding_of_mass(robot.n):
            raise InvalidInertiaError(
                f'{named("joint", robot.joint_names[joint])} can move without moving mass in '
                f'state {state}: the linear model has no frequencies'
            )
