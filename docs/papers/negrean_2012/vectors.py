# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""[N] against the reference vectors, computed by other programs with more digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from shared.claims import relative
from shared.vectors import Row, cases

from kron_dynamics.kinematics import (
    Screw,
    angular_acceleration,
    angular_velocity,
    product_of_exponentials,
    rotation_of_angles,
    rotation_to_link,
    screw_acceleration,
    screw_exponential,
    screw_jacobian,
    screw_jerk,
    screw_velocity,
)
from kron_dynamics.model import load_model


def rows() -> list[Row]:
    """Return the comparisons with all vectors for the equations of the paper."""
    trees = cases('urdf_chain', 'urdf_tree', 'urdf_mimic')
    return [
        *(_row(c['id'], '(2)-(7)', _screw(c), c['expected']) for c in cases('screw_exponential')),
        *(_row(c['id'], '(8)-(25)', _motion(c), c['expected']['ee']) for c in trees),
        *(_row(c['id'], '(28)-(45)', _angles(c), c['expected']) for c in cases('euler')),
    ]


def _row(name: str, equations: str, found: dict[str, Any], expected: Any) -> Row:
    errors = [relative(value, expected[entry]) for entry, value in found.items()]
    return Row(name, equations, tuple(found), max(errors))


def _screw(case: Any) -> dict[str, Any]:
    given = case['inputs']
    made = Screw.turning if given['type'] == 'R' else Screw.sliding
    screw = made(np.array(given['k']), np.array(given['p']))
    moved = screw_exponential(screw, given['q'])
    return {'v': screw.linear, 'A': screw.matrix, 'exp_Aq': moved, 'b': moved[:3, 3]}


def _motion(case: Any) -> dict[str, Any]:
    given = case['inputs']
    model = load_model(given['urdf'], joints=tuple(given['joint_order']))
    q, qd, qdd, qddd = (np.array(given['state'][name]) for name in ('q', 'qd', 'qdd', 'qddd'))
    link = given['end_effector']
    pose, J = product_of_exponentials(model, q, link), screw_jacobian(model, q, link)
    velocity = screw_velocity(model, q, qd, link)
    acceleration = screw_acceleration(model, q, qd, qdd, link)
    jerk = screw_jerk(model, q, qd, qdd, qddd, link)
    return {
        'position': pose[:3, 3],
        'rotation': pose[:3, :3],
        'velocity': velocity[:3],
        'omega': velocity[3:],
        'acceleration': acceleration[:3],
        'omega_dot': acceleration[3:],
        'jerk': jerk[:3],
        'omega_ddot': jerk[3:],
        'J_T': J[:3],
        'J_R': J[3:],
        'J_R_body': rotation_to_link(model, q, link) @ J[3:],
    }


def _angles(case: Any) -> dict[str, Any]:
    given = case['inputs']
    sequence, angles, rates = given['sequence'], given['angles'], given['rates']
    alpha = angular_acceleration(angles, rates, given['accelerations'], sequence)
    return {
        'R': rotation_of_angles(angles, sequence),
        'omega': angular_velocity(angles, rates, sequence),
        'omega_dot': alpha,
    }
