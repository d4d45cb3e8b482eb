# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Projection of positions and rates onto the constraints: loop closing, assembly.

Singular positions are found by `constraints/rank.py`. Models that close their loops in every call
use `closed_loops/closing_map.py`; simulations that project, instead of Baumgarte
stabilization, are in `simulation/constrained_motion.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kron_dynamics.constraints.constraint import ConstraintTerms
from kron_dynamics.constraints.speeds import (
    CLOSED,
    RANK_TOLERANCE,
    distance,
    refuse_contradiction,
    refuse_more_conditions,
)
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ConstraintError
from kron_dynamics.messages import clipped, listed
from kron_dynamics.typing import FloatArray

# phi and A, shapes (k,) and (k, n), from q and t.
ConditionsOf = Callable[[FloatArray, float], tuple[FloatArray, FloatArray]]

# Residual, rad or lengths over the robot's, at which the iteration stops: rounding.
_ROUNDING = 1e-14
# Limit of a coordinate's change per step, in the same unit, so that a step does not reach another
# assembly branch.
_LONGEST_STEP = 0.2
_STEPS = 200
# Deviation of the residual from a straight line over a step, relative to it, below which the next
# step may be twice as long: linear conditions, such as gears, have no other branch.
_STRAIGHT = 1e-9
# Levenberg-Marquardt damping after the first failed step, and its factors after a failed and a
# successful step.
_DAMPING, _MORE, _LESS = 1e-6, 10.0, 0.1
_MOST_DAMPING = 1e6


def close_positions(
    system: ConstraintSystem,
    conditions_of: ConditionsOf,
    q: FloatArray,
    t: float,
    held: Sequence[int] = (),
) -> FloatArray:
    """Return coordinates near q that close all loops, shape (n,).

    By least-norm Newton steps, with Levenberg-Marquardt damping if a step does not reduce the
    residual, and of limited length, so that the robot stays in its assembly branch.

    Args:
        system: the constraints.
        conditions_of: function that computes their phi and A.
        q: initial guess, shape (n,), rad or m.
        t: time, s.
        held: coordinates that do not change.

    Raises:
        ConstraintError: the loops cannot be closed from there, or close with a reversed axis; the
            message names the constraints and the residuals.
    """
    rows = system.is_holonomic
    if not rows.any():
        return q.copy()
    free = [k for k in range(len(q)) if k not in set(held)]
    scale = system.row_scale[rows]

    def look(place: FloatArray) -> tuple[FloatArray, FloatArray]:
        phi, A = conditions_of(place, t)
        return phi[rows] / scale, system.scaled(A)[rows][:, free]

    q = q.copy()
    phi, A = look(q)
    damping, longest = 0.0, _LONGEST_STEP
    for _ in range(_STEPS):
        error = float(np.abs(phi).max())
        if error <= _ROUNDING or (error <= CLOSED and damping > 0.0):
            break
        step = _step(A, phi, damping)
        step *= min(1.0, longest / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        trial = q.copy()
        trial[free] -= step * system.column_scale[free]
        phi_new, A_new = look(trial)
        if phi_new @ phi_new < phi @ phi:
            bent = float(np.abs(phi_new - phi + A @ step).max())
            longest = 2.0 * longest if bent <= _STRAIGHT * error else _LONGEST_STEP
            q, phi, A = trial, phi_new, A_new
            damping = damping * _LESS if damping > _DAMPING else 0.0
            continue
        damping = max(damping * _MORE, _DAMPING)
        if damping > _MOST_DAMPING:
            break
    _refuse_open(system, phi, held)
    _refuse_reversed(system, q)
    return q


def _step(A: FloatArray, phi: FloatArray, damping: float) -> FloatArray:
    left, values, right = np.linalg.svd(A, full_matrices=False)
    gains = np.zeros_like(values)
    used = values > RANK_TOLERANCE * max(float(values.max(initial=0.0)), 1e-300)
    gains[used] = values[used] / (values[used] ** 2 + damping)
    step: FloatArray = right.T @ (gains * (left.T @ phi))
    return step


def _refuse_open(system: ConstraintSystem, phi: FloatArray, held: Sequence[int]) -> None:
    error = np.abs(phi)
    if error.max() <= CLOSED:
        return
    holonomic = np.flatnonzero(system.is_holonomic)
    names, units = [system.row_names[k] for k in holonomic], system.row_scale[holonomic]
    residuals = dict[str, float]()
    for k in np.flatnonzero(error > 0.05 * error.max()):
        worst = residuals.get(names[k], 0.0)
        residuals[names[k]] = max(worst, float(error[k] * units[k]))
    which = ', '.join(
        f"'{clipped(name)}' ({value:.3g} m or rad left)" for name, value in residuals.items()
    )
    kept = ''
    if held:
        joints = listed(system.model.joint_names[k] for k in held)
        kept = f' with {joints} held'
    several = len(residuals) > 1
    many = 'constraints cannot be met together' if several else 'constraint cannot be met'
    raise ConstraintError(
        f'{many}{kept}: {which}, the best found from this start; check frames, lengths and '
        f'prescribed values, or start nearer to a closed position'
    )


def _refuse_reversed(system: ConstraintSystem, q: FloatArray) -> None:
    for constraint in system.constraints:
        # A closed hinge has equal or opposite axes; a closed weld may also have permuted axes.
        if constraint.sense(system.model, q) < 0.5:
            raise constraint.refuse(
                'closes with an axis the wrong way round from this start; start with the axes '
                'of its frames less than a right angle apart'
            )


def close_rates(
    system: ConstraintSystem, terms: ConstraintTerms, qd: FloatArray, rank: int
) -> FloatArray:
    """Return the rates nearest to qd that satisfy the constraints, shape (n,), 1/s.

    Args:
        system: the constraints.
        terms: their terms in the state.
        qd: rates, shape (n,).
        rank: rank of A where the loops are closed. Near it redundant conditions differ a little,
            which must not count as conditions.

    Raises:
        ConstraintError: the constraints contradict each other, or more of them are independent.
    """
    missing = (terms.b - terms.A @ qd) / system.row_scale
    left, values, right = np.linalg.svd(system.scaled(terms.A))
    rank = min(rank, int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum()))
    change = right[:rank].T @ ((left[:, :rank].T @ missing) / values[:rank])
    closed: FloatArray = qd + system.column_scale * change
    away = distance(system, terms)
    refuse_more_conditions(system, terms.A, system.column_scale[:, None] * right[rank:].T, away)
    refuse_contradiction(system, terms.A, closed, terms.b, away)
    return closed
