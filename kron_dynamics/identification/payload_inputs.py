# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the estimation of a payload cannot work with, told by name before it begins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.exceptions import NonFiniteError, ParameterError, ShapeError
from kron_dynamics.identification.friction import check_terms
from kron_dynamics.identification.rigid_trees import require_rigid_tree
from kron_dynamics.identification.rows import Rows
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


def check_payload_inputs(
    robot: Robot, rows: Sequence[Rows], terms: Sequence[str], center: FloatArray | None
) -> None:
    """Refuse robots with loops or flexible links, and rows, terms and centres that do not fit.

    Args:
        robot: the robot.
        rows: rows with and without load.
        terms: friction terms of the rows.
        center: centre of mass, shape (3,), m; None if it is unknown.

    Raises:
        NonFiniteError: the centre of mass is NaN or infinite.
        ParameterError: links are flexible, there are loops, or the friction terms are not those
            of the rows or without Coulomb friction.
        ShapeError: the centre of mass has another shape.
    """
    require_rigid_tree(robot.model)
    check_terms(terms)
    if 'coulomb' not in terms:
        raise ParameterError(
            f"friction terms are {', '.join(terms) or 'none'}, expected 'coulomb' among them"
        )
    wanted = (robot.n, len(robot.inertial_parameters()) + robot.n * len(terms))
    for found in rows:
        if found.matrix.shape[1:] != wanted:
            raise ParameterError(
                f'rows have shape {found.matrix.shape[1:]}, expected {wanted} with friction terms '
                f'{", ".join(terms)}'
            )
    if center is not None:
        if np.shape(center) != (3,):
            raise ShapeError(f'center has shape {np.shape(center)}, expected (3,)')
        if not np.isfinite(center).all():
            raise NonFiniteError('center is not finite everywhere')
