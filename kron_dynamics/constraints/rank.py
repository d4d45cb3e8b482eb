# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How many conditions are independent, which say what others say, and how far a singularity is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kron_dynamics.constraints.closing import TermsOf, close_positions
from kron_dynamics.constraints.speeds import RANK_TOLERANCE
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ConstraintError, SingularConstraintError
from kron_dynamics.messages import listed
from kron_dynamics.typing import FloatArray

# rad, or lengths over the robot's: how far the states are in which the rank is looked at besides.
_NEIGHBOURHOOD = 0.05
_NEIGHBOURS = 4
# Of the smallest singular value: a start nearer to a singularity has no digits left.
_AT_SINGULARITY = 1e-6


class ConstraintReport(NamedTuple):
    """The constraints in one state.

    Attributes:
        conditions: number of conditions.
        rank: how many of them are independent.
        degrees_of_freedom: independent speeds that are left.
        redundant: by constraint, how many of its conditions those before it, and its own, imply.
        singular_value: the smallest one of those that count, of A with angles in rad and lengths
            over the robot's: 0 at a singularity.
        direction: by joint, the motion, without unit, that the conditions hold least.
    """

    conditions: int
    rank: int
    degrees_of_freedom: int
    redundant: Mapping[str, int]
    singular_value: float
    direction: Mapping[str, float]


def generic_rank(system: ConstraintSystem, terms_of: TermsOf, q: FloatArray, t: float) -> int:
    """Return the number of independent conditions around a closed position.

    In the position itself and in some near it: a singularity has fewer than these.

    Args:
        system: the constraints.
        terms_of: computes their terms.
        q: closed position, shape (n,), rad or m.
        t: time, s.

    Raises:
        SingularConstraintError: q is at a singularity.
    """
    if not system.row_names:
        return 0
    at_rest = np.zeros(len(q))
    A = system.scaled(terms_of(q, at_rest, t).A)
    values, right = np.linalg.svd(A)[1:]
    rank = _rank(values)
    largest = rank
    free = right[rank:]
    for k in range(_NEIGHBOURS if len(free) else 0):
        weights = np.sin(1.0 + np.arange(len(free)) + 2.7 * k)
        step = weights @ free / np.abs(weights @ free).max()
        try:
            near = close_positions(
                system, terms_of, q + _NEIGHBOURHOOD * system.column_scale * step, t
            )
        except ConstraintError:
            continue
        found = np.linalg.svd(system.scaled(terms_of(near, at_rest, t).A), compute_uv=False)
        largest = max(largest, _rank(found, _AT_SINGULARITY))
    refuse_singular(system, A, largest)
    return largest


def _rank(values: npt.NDArray[np.floating[Any]], tolerance: float = RANK_TOLERANCE) -> int:
    return int((values > tolerance * max(1.0, float(values.max(initial=0.0)))).sum())


def refuse_singular(system: ConstraintSystem, A: FloatArray, rank: int) -> None:
    """Refuse a state in which A without units, shape (k, n), has less than its rank.

    Raises:
        SingularConstraintError: it names the constraints and the joints that are free there.
    """
    if rank == 0:
        return
    left, values, right = np.linalg.svd(A)
    if values[rank - 1] > _AT_SINGULARITY:
        return
    weights = np.abs(left[:, rank - 1])
    names = dict.fromkeys(
        system.row_names[k] for k in np.flatnonzero(weights > 0.3 * weights.max())
    )
    moves = np.abs(right[rank - 1])
    joints = [system.model.joint_names[k] for k in np.flatnonzero(moves > 0.3 * moves.max())]
    raise SingularConstraintError(
        f'constraints {listed(map(repr, names))} are at a singularity: smallest singular value '
        f'{values[rank - 1]:.2g} of {rank}, expected above {_AT_SINGULARITY:g}; '
        f'{listed(joints)} can move there as nowhere else; start elsewhere'
    )


def report(system: ConstraintSystem, A: FloatArray, rank: int) -> ConstraintReport:
    """Return what there is to say of constraints in a state.

    Args:
        system: the constraints.
        A: in the state, shape (k, n).
        rank: that they have in general.
    """
    scaled = system.scaled(A)
    right, values = np.eye(A.shape[1]), np.zeros(0)
    if len(scaled):
        _, values, right = np.linalg.svd(scaled)
    redundant, before = dict[str, int](), 0
    for constraint, rows in system.rows():
        found = _rank(np.linalg.svd(scaled[: rows.stop], compute_uv=False))
        if found - before < constraint.size:
            redundant[constraint.name] = constraint.size - (found - before)
        before = found
    weakest = right[rank - 1] if rank else np.zeros(A.shape[1])
    return ConstraintReport(
        conditions=len(A),
        rank=rank,
        degrees_of_freedom=A.shape[1] - rank,
        redundant=redundant,
        singular_value=float(values[rank - 1]) if rank else np.inf,
        direction=dict(zip(system.model.joint_names, weakest.tolist(), strict=True)),
    )
