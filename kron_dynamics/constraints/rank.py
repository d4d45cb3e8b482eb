# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rank of the constraints, redundant conditions, and distance to a singularity."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kron_dynamics.constraints.projection import ConditionsOf, close_positions
from kron_dynamics.constraints.speeds import RANK_TOLERANCE
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ConstraintError, SingularConstraintError
from kron_dynamics.messages import listed
from kron_dynamics.typing import FloatArray

# The rank is also determined in this number of states at this distance (rad, or lengths over the
# robot's), which are unlikely to be singular if the given state is.
_NEIGHBOURHOOD = 0.05
_NEIGHBOURS = 4
# Step of differences, and the least dimensionless change of a condition, per square of a motion,
# that no motion compensates: the motion that A leaves free is none then.
_STEP, _OPENS = 1e-4, 1e-3
# Smallest singular value below which a state counts as singular: too few digits would be left.
_AT_SINGULARITY = 1e-6


class ConstraintReport(NamedTuple):
    """The constraints in one state.

    Attributes:
        conditions: number of conditions.
        rank: number of independent conditions.
        degrees_of_freedom: number of independent speeds.
        redundant: number of redundant conditions by constraint; a condition is redundant if it
            follows from those of previous constraints and the others of its own.
        singular_value: smallest nonzero singular value, the one of index `rank`, of A with angles
            in rad and lengths over the robot's; 0 at a singularity.
        direction: dimensionless motion that the conditions restrict least, by joint.
    """

    conditions: int
    rank: int
    degrees_of_freedom: int
    redundant: Mapping[str, int]
    singular_value: float
    direction: Mapping[str, float]


def generic_rank(
    system: ConstraintSystem, conditions_of: ConditionsOf, q: FloatArray, t: float
) -> int:
    """Return the number of independent conditions around a closed position.

    It is the largest rank of the position and of some near it; a singularity has a smaller one.

    Args:
        system: the constraints.
        conditions_of: function that computes their phi and A.
        q: closed position, shape (n,), rad or m.
        t: time, s.

    Raises:
        SingularConstraintError: q is at a singularity.
    """
    if not system.row_names:
        return 0
    A = conditions_of(q, t)[1]
    left, values, right = np.linalg.svd(system.scaled(A))
    rank = _rank(values)
    largest = rank
    for step in _steps(right[rank:]):
        try:
            near = close_positions(
                system, conditions_of, q + _NEIGHBOURHOOD * system.column_scale * step, t
            )
        except ConstraintError:
            continue
        found = np.linalg.svd(system.scaled(conditions_of(near, t)[1]), compute_uv=False)
        largest = max(largest, _rank(found, _AT_SINGULARITY))
    if rank == largest and _opens(system, conditions_of, q, t, left[:, rank:], right[rank:]):
        largest += 1
    refuse_singular(system, conditions_of, q, t, A, largest)
    return largest


def _steps(free: FloatArray) -> list[FloatArray]:
    """Return some combinations of directions, shape (m, n), with a largest entry of 1."""
    count = _NEIGHBOURS if len(free) else 0
    waves = [np.sin(1.0 + np.arange(len(free)) + 2.7 * k) @ free for k in range(count)]
    return [wave / np.abs(wave).max() for wave in waves]


def _opens(
    system: ConstraintSystem,
    conditions_of: ConditionsOf,
    q: FloatArray,
    t: float,
    redundant: FloatArray,
    free: FloatArray,
) -> bool:
    """Return whether motions that A leaves free open the loops, in second order.

    Args:
        system: the constraints.
        conditions_of: function that computes their phi and A.
        q: closed position, shape (n,).
        t: time, s.
        redundant: combinations of conditions that vanish there, shape (k, k - rank).
        free: directions that A leaves free, shape (m, n).
    """
    for step in _steps(free) if redundant.size else []:
        moved = _STEP * system.column_scale * step
        rise = conditions_of(q + moved, t)[1] - conditions_of(q - moved, t)[1]
        change = redundant.T @ (system.scaled(rise) @ step) / (2.0 * _STEP)
        if np.abs(change).max() > _OPENS:
            return True
    return False


def _rank(values: npt.NDArray[np.floating[Any]], tolerance: float = RANK_TOLERANCE) -> int:
    return int((values > tolerance * max(1.0, float(values.max(initial=0.0)))).sum())


def refuse_singular(
    system: ConstraintSystem,
    conditions_of: ConditionsOf,
    q: FloatArray,
    t: float,
    A: FloatArray,
    rank: int,
) -> None:
    """Check that the conditions have the given rank in a state.

    Args:
        system: the constraints.
        conditions_of: function that computes their phi and A.
        q: the position, shape (n,).
        t: time, s.
        A: A in the state, shape (k, n).
        rank: number of independent conditions in regular states.

    Raises:
        SingularConstraintError: they have another; the message names the constraints, and the
            joints that are free there.
    """
    if rank == 0:
        return
    left, values, right = np.linalg.svd(system.scaled(A))
    if values[rank - 1] > _AT_SINGULARITY:
        return
    found = _rank(values, _AT_SINGULARITY)
    # What is redundant or free in regular states, too, has no part in it.
    near = [(left, values, right)]
    for step in _steps(right[found:]):
        with contextlib.suppress(ConstraintError):  # a user's function may end here
            moved = conditions_of(q + _NEIGHBOURHOOD * system.column_scale * step, t)[1]
            near.append(np.linalg.svd(system.scaled(moved)))
    regular = max(near, key=lambda parts: float(parts[1][rank - 1]))
    weights = _lost(left[:, found:], regular[0][:, rank:])
    names = dict.fromkeys(
        system.row_names[k] for k in np.flatnonzero(weights > 0.3 * weights.max())
    )
    moves = _lost(right[found:].T, regular[2][rank:].T)
    joints = [system.model.joint_names[k] for k in np.flatnonzero(moves > 0.3 * moves.max())]
    raise SingularConstraintError(
        f'constraints {listed(map(repr, names))} are at a singularity: smallest singular value '
        f'{values[rank - 1]:.2g} of {rank}, expected above {_AT_SINGULARITY:g}; '
        f'there they do not hold {listed(joints)}; start elsewhere'
    )


def _lost(vectors: FloatArray, regular: FloatArray) -> FloatArray:
    """Return sizes, shape (n,), of the part of a null space that regular states do not have.

    Args:
        vectors: orthonormal basis at a singularity, shape (n, m).
        regular: orthonormal basis in a regular state, shape (n, fewer than m).
    """
    turned = np.linalg.svd(vectors - regular @ (regular.T @ vectors))[2]
    kept = turned[: vectors.shape[1] - regular.shape[1]]
    sizes: FloatArray = np.linalg.norm(vectors @ kept.T, axis=1)
    return sizes


def report(system: ConstraintSystem, A: FloatArray, rank: int) -> ConstraintReport:
    """Return the report on constraints in a state.

    Args:
        system: the constraints.
        A: A in the state, shape (k, n).
        rank: their rank in regular states.
    """
    scaled = system.scaled(A)
    right, values = np.eye(A.shape[1]), np.zeros(0)
    if len(scaled):
        _, values, right = np.linalg.svd(scaled)
    # Off the constraints, singular values that are 0 on them are as large as the residual.
    tolerance = RANK_TOLERANCE
    if 0 < rank < len(values):
        gap = float(np.sqrt(values[rank - 1] * values[rank]))
        tolerance = max(tolerance, gap / max(1.0, float(values[0])))
    redundant, before = dict[str, int](), 0
    for constraint, rows in system.rows():
        found = _rank(np.linalg.svd(scaled[: rows.stop], compute_uv=False), tolerance)
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
