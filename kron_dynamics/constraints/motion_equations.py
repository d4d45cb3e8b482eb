# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion of a constrained robot, from M, c + g and the constraints.  [P] section 4.

``M qdd + c + g = tau + A^T lambda`` with ``qd = B u + d``: B^T eliminates lambda,

    B^T M B du/dt + B^T (M gamma + c + g) = B^T tau,    gamma = dB/dt u + dd/dt.

Omitting gamma, as a quick reading of [P] eq. (46) suggests, is wrong wherever B depends on q.
No Baumgarte terms act against drift: simulations project (`simulation/constrained_motion.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.arguments import real_number
from kron_dynamics.constraints.constraint import ConstraintTerms
from kron_dynamics.constraints.speeds import RANK_TOLERANCE, Speeds
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ConstraintError, ParameterError
from kron_dynamics.messages import clipped, listed, shown
from kron_dynamics.typing import FloatArray

# Tolerance of the residual A qdd + dA/dt qd - db/dt, relative to its terms.
_ADMISSIBLE = 1e-7
# Tolerance of the generalized force that actuators cannot provide, relative to the motion's.
_ACHIEVABLE = 1e-8
# Tolerance of the effort that is missing for a motion, relative to forces, energy and weight.
_CAUSED = 1e-6


class ConstrainedMotion(NamedTuple):
    """Result of forward dynamics.

    Attributes:
        qdd: accelerations, shape (n,), rad/s^2 or m/s^2.
        multipliers: lambda of each condition, shape (k,): ``M qdd + c + g = tau + A^T lambda``.
    """

    qdd: FloatArray
    multipliers: FloatArray


def independent_acceleration(
    M: FloatArray, speeds: Speeds, generalized_force: FloatArray
) -> FloatArray:
    """Return du/dt, shape (m,), for the force tau - c - g.  [P] eqs. (10), (11), (39), (42)-(46).

    Args:
        M: mass matrix, shape (n, n).
        speeds: B, d and gamma.
        generalized_force: tau - c - g, shape (n,), N m or N.

    Raises:
        ConstraintError: the reduced mass matrix is singular.
    """
    reduced = speeds.B.T @ M @ speeds.B
    force = speeds.B.T @ (generalized_force - M @ speeds.gamma)
    scale = np.sqrt(np.abs(reduced.diagonal()))
    scale[scale == 0.0] = 1.0
    values, vectors = np.linalg.eigh(reduced / np.outer(scale, scale))
    if len(values) and values[0] <= 4 * len(values) * np.finfo(float).eps * max(values[-1], 1.0):
        raise ConstraintError(
            'the robot can move within its constraints without moving mass: forward dynamics has '
            'no solution; give its links masses and inertias'
        )
    acceleration: FloatArray = vectors @ ((vectors.T @ (force / scale)) / values) / scale
    return acceleration


def multipliers(
    system: ConstraintSystem, A: FloatArray, force: FloatArray, rank: int
) -> FloatArray:
    """Return lambda with A^T lambda = M qdd + c + g - tau, shape (k,).

    With redundant conditions it is the least-norm solution, where moments compare with forces
    times the robot's length. Individual multipliers are then not determined, but A^T lambda is.

    Args:
        system: the constraints.
        A: shape (k, n).
        force: M qdd + c + g - tau, shape (n,), N m or N.
        rank: rank of A.
    """
    left, values, right = np.linalg.svd(system.scaled(A).T, full_matrices=False)
    used = np.arange(len(values)) < rank
    gains = np.zeros_like(values)
    gains[used] = 1.0 / values[used]
    scaled = right.T @ (gains * (left.T @ (system.column_scale * force)))
    multiplier: FloatArray = scaled / system.row_scale
    return multiplier


def refuse_uncaused(
    system: ConstraintSystem,
    A: FloatArray,
    lam: FloatArray,
    force: FloatArray,
    M: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
) -> None:
    """Check that efforts and constraint forces together cause a motion.

    What is lacking compares with forces that occur, with twice the kinetic energy, and with the
    robot's weight times its length: if constraints carry nothing, all else may be rounding.

    Args:
        system: the constraints.
        A: shape (k, n).
        lam: multipliers, shape (k,).
        force: M qdd + c + g - tau, shape (n,), N m or N.
        M: mass matrix, shape (n, n).
        qd: rates, shape (n,).
        qdd: accelerations, shape (n,).

    Raises:
        ConstraintError: A^T lambda is another force; the message names joints that lack effort.
    """
    C = system.column_scale
    lacking = C * (force - A.T @ lam)
    weight = sum(body.mass for body in system.model.bodies) * np.linalg.norm(system.model.gravity)
    parts = C * (np.abs(force) + np.abs(M) @ np.abs(qdd))
    scale = float(parts.max(initial=0.0) + qd @ M @ qd + weight * system.length)
    if np.abs(lacking).max(initial=0.0) > _CAUSED * scale:
        raise ConstraintError(
            f'tau does not cause qdd: efforts are lacking at {_largest(system, lacking / C)} N m '
            'or N; joint friction is not part of these equations'
        )


def reduced_coriolis(M: FloatArray, C: FloatArray, speeds: Speeds) -> FloatArray:
    """Return C_u = B^T (C B + M dB/dt), shape (m, m): dM_u/dt - 2 C_u is skew if dM/dt - 2C is.

    Args:
        M: mass matrix, shape (n, n).
        C: Coriolis matrix, shape (n, n).
        speeds: B and its rate.
    """
    reduced: FloatArray = speeds.B.T @ (C @ speeds.B + M @ speeds.B_dot)
    return reduced


def actuator_efforts(
    system: ConstraintSystem,
    speeds: Speeds,
    force: FloatArray,
    actuated: Sequence[int],
    weights: FloatArray,
) -> FloatArray:
    """Return efforts tau of a actuated joints, shape (a,), with B_a^T tau = B^T force.

    If there are more actuators than degrees of freedom, the sum of weight times effort squared is
    least.

    Args:
        system: the constraints.
        speeds: has B.
        force: M qdd + c + g, shape (n,), N m or N.
        actuated: coordinates of the actuators.
        weights: weight of each effort, shape (a,), positive.

    Raises:
        ConstraintError: the actuators cannot provide this force; the message names joints that
            lack an effort.
    """
    m = speeds.B.shape[1]
    C, roots = system.column_scale, np.sqrt(weights)
    units = np.linalg.norm(speeds.B / C[:, None], axis=0)
    units[units == 0.0] = 1.0
    transmission = speeds.B[list(actuated)].T / units[:, None]
    wanted = speeds.B.T @ force / units
    left, values, right = np.linalg.svd(transmission / roots)
    used = values > RANK_TOLERANCE * max(float(values.max(initial=0.0)), 1e-300)
    rank = int(used.sum())
    inner = right[:rank].T @ ((left[:, :rank].T @ wanted) / values[:rank])
    efforts: FloatArray = inner / roots
    missing = wanted - transmission @ efforts
    scale = float((np.abs(speeds.B).T @ np.abs(force) / units).max(initial=0.0))
    if m and np.abs(missing).max() > _ACHIEVABLE * max(scale, 1e-12):
        # The least efforts of all joints that provide the missing generalized force.
        lacking = np.linalg.lstsq(speeds.B.T / units[:, None], missing, rcond=None)[0]
        names = listed(repr(system.model.joint_names[k]) for k in actuated)
        raise ConstraintError(
            f'the actuated joints {names} cannot cause this motion of {m} degrees of freedom: '
            f'efforts are lacking at {_largest(system, lacking)} N m or N'
        )
    return efforts


def _largest(system: ConstraintSystem, efforts: FloatArray) -> str:
    """Return up to three joints with the largest efforts, shape (n,)."""
    worst = np.argsort(-np.abs(efforts))[:3]
    return ', '.join(
        f"'{system.model.joint_names[k]}' ({efforts[k]:.3g})"
        for k in worst
        if abs(efforts[k]) > 0.1 * np.abs(efforts).max()
    )


def effort_weights(actuated: Sequence[str], given: Mapping[str, float] | None) -> FloatArray:
    """Return the weight of each actuated joint's effort, shape (k,): 1, or as given.

    Raises:
        ParameterError: a weight is not positive, or its joint is not actuated.
    """
    weights = dict.fromkeys(actuated, 1.0)
    for joint, value in (given or {}).items():
        if joint not in weights or not real_number(value, f'weight of {joint}') > 0.0:
            raise ParameterError(
                f'weights has {shown(joint)}: {shown(value)}, expected a positive number of '
                f'one of {listed(actuated)}'
            )
        weights[joint] = float(value)
    return np.array(list(weights.values()))


def refuse_inadmissible(
    system: ConstraintSystem, terms: ConstraintTerms, qd: FloatArray, qdd: FloatArray
) -> None:
    """Check that accelerations qdd, shape (n,), satisfy A qdd + dA/dt qd = db/dt.

    Raises:
        ConstraintError: they do not; the message names the constraint with the largest residual.
    """
    if not len(terms.b):
        return
    error = np.abs(terms.A @ qdd + terms.A_dot @ qd - terms.b_dot) / system.row_scale
    parts = np.abs(terms.A) @ np.abs(qdd) + np.abs(terms.A_dot) @ np.abs(qd)
    scale = float(((parts + np.abs(terms.b_dot)) / system.row_scale).max())
    if error.max() > _ADMISSIBLE * (1.0 + scale):
        name = system.row_names[int(error.argmax())]
        raise ConstraintError(
            f"constraint '{clipped(name)}': qdd misses it by {error.max():.3g}, in rad/s^2 or "
            f"robot's lengths/s^2; accelerations(q, qd, u_dot) gives what obeys the constraints"
        )
