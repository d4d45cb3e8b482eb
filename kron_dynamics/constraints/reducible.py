# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks whether a constrained robot can have compiled equations in independent speeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.pfaffian import Pfaffian
from kron_dynamics.dynamics.forward import rounding_of_mass, smallest_mass
from kron_dynamics.exceptions import ConstraintError
from kron_dynamics.messages import listed, named
from kron_dynamics.typing import FloatArray

# Tolerance of dimensionless singular values relative to the largest.
_DETERMINED = 1e-8


def refuse_what_moves(constraint: Constraint) -> None:
    """Refuse a constraint that depends on time or is given by user functions.

    Raises:
        ConstraintError: the constraint is of this kind; the message names it.
    """
    if isinstance(constraint, Pfaffian) or callable(constraint.signal):
        raise constraint.refuse(
            'is a function of time or a user function: its equations are not compiled, expected '
            'constraints of a fixed geometry'
        )
    if not constraint.is_holonomic and np.any(constraint.signal):
        raise constraint.refuse(
            f'asks for a rate of {constraint.signal!r}, expected 0: others are not compiled'
        )


def refuse_rates(constraints: Sequence[Constraint]) -> None:
    """Refuse nonholonomic constraints, as q then does not follow from the independent joints.

    Raises:
        ConstraintError: there are some; the message names them.
    """
    names = [repr(c.name) for c in constraints if not c.is_holonomic]
    if names:
        raise ConstraintError(
            f'constraints {listed(names)} are of rates alone: deviations of the other joints do '
            'not follow from those of the independent ones, so there is no linear model in these'
        )


def refuse_few_actuators(B_a: FloatArray, actuated: Sequence[str]) -> None:
    """Refuse actuators that cannot drive all degrees of freedom.

    Args:
        B_a: rates of the actuated joints per scaled independent speed, shape (a, m).
        actuated: names of the actuated joints.

    Raises:
        ConstraintError: there are too few actuators; the message names the actuated joints.
    """
    values = np.linalg.svd(B_a, compute_uv=False)
    m = B_a.shape[1]
    missing = m - int((values > _DETERMINED * values.max(initial=0)).sum())
    if missing:
        raise ConstraintError(
            f'the actuated joints {listed(map(repr, actuated))} leave {missing} of '
            f'{m} degrees of freedom without an effort'
        )


def singular_mass(M_u: FloatArray, independent: Sequence[str]) -> str | None:
    """Return why M_u, shape (m, m), is singular, as a sentence; None if it is regular."""
    smallest, joint = smallest_mass(M_u)
    if smallest > rounding_of_mass(len(M_u)):
        return None
    return (
        f'{named("joint", independent[joint])} can move within the constraints without '
        'moving mass; forward dynamics needs masses and inertias of the links that it moves'
    )
