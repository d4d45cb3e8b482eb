# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Independent speeds: qd = B u + d and its derivatives, without differentiating.  [P] (8), (9).

Independent speeds are u = U qd: some of the rates, or combinations of them. Together with A qd = b
they form [A; U] qd = [b; u], so that B, d and the part gamma of qdd = B du/dt + gamma are
solutions of one linear system with several right-hand sides. Redundant conditions are allowed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kron_dynamics.constraints.constraint import ConstraintTerms
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ConstraintError, SingularConstraintError
from kron_dynamics.messages import clipped, listed
from kron_dynamics.typing import FloatArray

# Relative tolerance of dimensionless singular values: smaller ones are rounding, or so near to a
# singularity that too few digits would be left.
RANK_TOLERANCE = 1e-8
# Tolerance of a condition's residual relative to its terms; above it conditions contradict.
_CONSISTENT = 1e-7
# Its growth per dimensionless distance of a state from the constraints, off which redundant
# conditions differ; and its greatest value.
_OFF, _MOST_OFF = 10.0, 1e-2
# Tolerance of a closed loop's residuals, rad or lengths over the robot's.
CLOSED = 1e-10
# A choice of independent speeds is kept until the distance to the singularity of another is larger
# by this factor.
_HYSTERESIS = 5.0


class Speeds(NamedTuple):
    """Rates and accelerations as functions of m independent speeds u.

    ``qd = B u + d`` and ``qdd = B du/dt + gamma``.

    Attributes:
        B: dqd/du, shape (n, m).
        d: shape (n,).
        gamma: dB/dt u + dd/dt, shape (n,).
        B_dot: shape (n, m).
    """

    B: FloatArray
    d: FloatArray
    gamma: FloatArray
    B_dot: FloatArray


def solve_speeds(
    system: ConstraintSystem,
    terms: ConstraintTerms,
    qd: FloatArray,
    U: FloatArray,
    U_dot: FloatArray,
    names: str,
) -> Speeds:
    """Return B, d, gamma and dB/dt of independent speeds u = U qd.  [P] eqs. (8), (9).

    A B = 0, A d = b, A gamma = db/dt - dA/dt qd and A dB/dt = -dA/dt B, each completed by the
    product of U with the unknown: U B = E, U d = 0, U gamma = -dU/dt qd, U dB/dt = -dU/dt B.

    Args:
        system: the constraints.
        terms: their terms in a state.
        qd: rates that satisfy the constraints, shape (n,), 1/s.
        U: shape (m, n).
        U_dot: its time derivative, shape (m, n).
        names: names of the speeds, for messages.

    Raises:
        SingularConstraintError: these speeds do not determine the motion in this state.
        ConstraintError: the conditions contradict each other, or more of them are independent.
    """
    m, k = len(U), len(terms.b)
    C = system.column_scale
    lengths = np.linalg.norm(U * C, axis=1)
    lengths[lengths == 0.0] = 1.0  # a speed that is always 0: its row makes the system singular
    U, U_dot = U / lengths[:, None], U_dot / lengths[:, None]
    stack = np.concatenate([system.scaled(terms.A), U * C])
    left, values, right = np.linalg.svd(stack, full_matrices=False)
    if len(stack) < len(C) or not values.size or values[-1] <= RANK_TOLERANCE * values[0]:
        smallest = values[-1] if values.size and len(stack) >= len(C) else 0.0
        raise SingularConstraintError(
            f'the speeds of {names} do not determine the motion here: smallest singular value '
            f'{smallest:.3g}, expected above {RANK_TOLERANCE:g}; choose other independent speeds'
        )
    inverse = C[:, None] * (right.T / values) @ left.T
    inverse[:, :k] /= system.row_scale
    B = inverse[:, k:] / lengths
    d = inverse[:, :k] @ terms.b
    drift = terms.b_dot - terms.A_dot @ qd
    gamma = inverse @ np.concatenate([drift, -U_dot @ qd])
    B_dot = -inverse @ (np.concatenate([terms.A_dot, U_dot]) @ B)
    away = distance(system, terms)
    refuse_more_conditions(system, terms.A, B, away)
    refuse_contradiction(system, terms.A, d, terms.b, away)
    refuse_contradiction(system, terms.A, gamma, drift, away + _slip(terms, qd) / values[-1])
    return Speeds(B, d, gamma, B_dot.reshape(len(C), m))


def distance(system: ConstraintSystem, terms: ConstraintTerms) -> float:
    """Return how far a state is from closed positions, rad or lengths over the robot's.

    It is the least change of coordinates that closes the loops. Positions that contradict each
    other leave a residual of first order; they count as 0, as no change closes them.
    """
    rows = system.is_holonomic
    phi = (terms.phi / system.row_scale)[rows]
    if np.abs(phi).max(initial=0.0) <= CLOSED:
        return 0.0
    A = system.scaled(terms.A)[rows]
    change = np.linalg.lstsq(A, phi, rcond=RANK_TOLERANCE)[0]
    away = float(np.abs(change).max())
    left = float(np.abs(phi - A @ change).max())
    return away if left <= _OFF * away**2 + CLOSED else 0.0


def _slip(terms: ConstraintTerms, qd: FloatArray) -> float:
    """Return the residual of the rates relative to its terms."""
    parts = (np.abs(terms.A) @ np.abs(qd) + np.abs(terms.b)).max(initial=0.0)
    return float(np.abs(terms.A @ qd - terms.b).max(initial=0.0) / max(parts, 1e-300))


def refuse_contradiction(
    system: ConstraintSystem, A: FloatArray, x: FloatArray, target: FloatArray, away: float
) -> None:
    """Check that the least-squares solution x satisfies A x = target, shape (k,).

    Args:
        system: the constraints.
        A: shape (k, n).
        x: shape (n,).
        target: shape (k,).
        away: dimensionless distance of the state from the constraints.

    Raises:
        ConstraintError: constraints contradict each other; the message names them.
    """
    error = np.abs(A @ x - target) / system.row_scale
    scale = np.abs(A) @ np.abs(x) + np.abs(target)
    if _differs(error, scale / system.row_scale, away):
        raise ConstraintError(
            f'constraints {_missed(system, error)} ask for rates that contradict each other: '
            f'residual {error.max():.3g} of terms up to {scale.max():.3g}'
        )


def refuse_more_conditions(
    system: ConstraintSystem, A: FloatArray, B: FloatArray, away: float
) -> None:
    """Check that motions along all columns of B obey the constraints: A B = 0.

    Args:
        system: the constraints.
        A: shape (k, n).
        B: directions of motion, shape (n, m).
        away: dimensionless distance of the state from the constraints.

    Raises:
        ConstraintError: more conditions are independent than n - m; the message names those that
            forbid a direction.
    """
    scale = (np.abs(A) @ np.abs(B)) / system.row_scale[:, None]
    error = np.abs(A @ B).max(axis=1, initial=0.0) / system.row_scale
    if _differs(error, scale, away):
        count = len(B) - B.shape[1]
        raise ConstraintError(
            f'with constraints {_missed(system, error)} there are more than {count} independent '
            f'condition{"" if count == 1 else "s"} here, the number at the start; close the loops '
            'first if they are open'
        )


def _differs(error: FloatArray, scale: FloatArray, away: float) -> bool:
    """Return whether dimensionless residuals are more than rounding and an open loop explain."""
    tolerance = _CONSISTENT + min(_OFF * away, _MOST_OFF)
    return bool(error.max(initial=0.0) > tolerance * (1.0 + scale.max(initial=0.0)))


def _missed(system: ConstraintSystem, error: FloatArray) -> str:
    """Return the names of constraints with large residuals, shape (k,)."""
    rows = np.flatnonzero(error > 0.1 * error.max())
    names = dict.fromkeys(system.row_names[k] for k in rows)
    return listed(repr(clipped(name)) for name in names)


def choose_independent(
    system: ConstraintSystem,
    A: FloatArray,
    rank: int,
    previous: tuple[int, ...] | None = None,
) -> tuple[int, ...]:
    """Return the coordinates whose rates determine all others best, sorted.

    By a QR factorisation with column pivoting: the first `rank` pivots are the dependent
    coordinates. A previous choice is kept until another is much better, so that the choice does
    not toggle.

    Args:
        system: the constraints.
        A: A in a state, shape (k, n).
        rank: number of independent conditions.
        previous: an earlier choice.

    Raises:
        ConstraintError: previous has another number of joints.
    """
    scaled = system.scaled(A)
    n = A.shape[1]
    remainder, order = scaled.copy(), list[int]()
    for _ in range(rank):
        lengths = np.square(remainder).sum(axis=0)
        lengths[order] = -1.0
        pivot = int(lengths.argmax())
        order.append(pivot)
        direction = remainder[:, pivot] / np.sqrt(max(lengths[pivot], np.finfo(float).tiny))
        remainder = remainder - np.outer(direction, direction @ remainder)
    best = tuple(k for k in range(n) if k not in order)
    if previous is None or previous == best:
        return best
    if len(set(previous)) != len(best):
        raise ConstraintError(f'previous has {len(previous)} joints, expected {len(best)}')
    kept, new = (distance_of_choice(scaled, choice) for choice in (previous, best))
    return previous if new <= _HYSTERESIS * kept else best


def distance_of_choice(scaled: FloatArray, choice: tuple[int, ...]) -> float:
    """Return the smallest singular value of the dependent columns: 0 if the choice fails.

    Args:
        scaled: dimensionless A, shape (k, n).
        choice: the independent coordinates.
    """
    dependent = [k for k in range(scaled.shape[1]) if k not in choice]
    if not dependent:
        return 1.0
    if len(scaled) < len(dependent):
        return 0.0
    return float(np.linalg.svd(scaled[:, dependent], compute_uv=False)[-1])
