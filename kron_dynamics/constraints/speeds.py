# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Independent speeds: qd = B u + d and its derivatives, without differentiating.  [P] (8), (9).

Independent speeds are u = U qd: some of the rates, or combinations of them. With A qd = b they
make up [A; U] qd = [b; u], so that B, d and what d(B u + d)/dt has beside B du/dt are solutions
of one system with several right-hand sides. Conditions that say the same twice do no harm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kron_dynamics.constraints.constraint import ConstraintTerms
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ConstraintError, SingularConstraintError
from kron_dynamics.messages import clipped, listed
from kron_dynamics.typing import FloatArray

# Of singular values without unit: what is smaller is rounding, or too near to a singularity for
# the digits that are left.
RANK_TOLERANCE = 1e-8
# Relative to the terms that it sums up: what contradictions are larger than.
_CONSISTENT = 1e-7
# A choice is kept until another's distance to its singularity is so many times larger.
_HYSTERESIS = 5.0


class Speeds(NamedTuple):
    """How rates and accelerations follow from m independent speeds u.

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

    A B = 0, A d = b, A gamma = db/dt - dA/dt qd and A dB/dt = -dA/dt B, each with U times it as
    U asks for.

    Args:
        system: the constraints.
        terms: theirs in a state.
        qd: rates that obey them, shape (n,), 1/s.
        U: shape (m, n).
        U_dot: its time derivative, shape (m, n).
        names: of the speeds, for messages.

    Raises:
        SingularConstraintError: these speeds do not determine the motion in this state.
        ConstraintError: the conditions contradict each other.
    """
    m, k = len(U), len(terms.b)
    C = system.column_scale
    lengths = np.linalg.norm(U * C, axis=1)
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
    for vector, target in ((d, terms.b), (gamma, drift)):
        refuse_contradiction(system, terms.A, vector, target)
    return Speeds(B, d, gamma, B_dot.reshape(len(C), m))


def refuse_contradiction(
    system: ConstraintSystem, A: FloatArray, x: FloatArray, target: FloatArray
) -> None:
    """Refuse conditions A x = target, shape (k,), that their best solution x does not meet.

    Raises:
        ConstraintError: it names the constraints that contradict each other.
    """
    if not len(target):
        return
    error = np.abs(A @ x - target) / system.row_scale
    scale = np.abs(A) @ np.abs(x) + np.abs(target)
    limit = _CONSISTENT * (1.0 + float((scale / system.row_scale).max()))
    if error.max() > limit:
        wrong = [system.row_names[k] for k in np.flatnonzero(error > 0.1 * error.max())]
        raise ConstraintError(
            f'constraints {listed(repr(clipped(name)) for name in dict.fromkeys(wrong))} ask for '
            f'rates that cannot be had together: {error.max():.3g} of {scale.max():.3g} remain'
        )


def choose_independent(
    system: ConstraintSystem,
    A: FloatArray,
    rank: int,
    previous: tuple[int, ...] | None = None,
) -> tuple[int, ...]:
    """Return the coordinates whose rates determine all others best, sorted.

    By a factorisation with pivots: those of the first `rank` pivots depend on the rest. A
    previous choice stays until another is much better, so that it does not change to and fro.

    Args:
        system: the constraints.
        A: in a state, shape (k, n).
        rank: number of conditions that are independent.
        previous: an earlier choice.
    """
    scaled = system.scaled(A)
    n = A.shape[1]
    rest, order = scaled.copy(), list[int]()
    for _ in range(rank):
        lengths = np.square(rest).sum(axis=0)
        lengths[order] = -1.0
        pivot = int(lengths.argmax())
        order.append(pivot)
        direction = rest[:, pivot] / np.sqrt(max(lengths[pivot], np.finfo(float).tiny))
        rest = rest - np.outer(direction, direction @ rest)
    best = tuple(k for k in range(n) if k not in order)
    if previous is None or previous == best:
        return best
    kept, new = (distance_of_choice(scaled, choice) for choice in (previous, best))
    return previous if new <= _HYSTERESIS * kept else best


def distance_of_choice(scaled: FloatArray, choice: tuple[int, ...]) -> float:
    """Return the smallest singular value of the dependent columns: 0 where the choice fails.

    Args:
        scaled: A without units, shape (k, n).
        choice: the independent coordinates.
    """
    dependent = [k for k in range(scaled.shape[1]) if k not in choice]
    if not dependent:
        return 1.0
    if len(scaled) < len(dependent):
        return 0.0
    return float(np.linalg.svd(scaled[:, dependent], compute_uv=False)[-1])
