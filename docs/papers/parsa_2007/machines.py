# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Machines of this repository: sums over bodies of [P] against other equations."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from shared.claims import Bound, relative

import kron_dynamics as kd
from kron_dynamics import dynamics
from kron_dynamics.kronecker import contract_last

ROOT = Path(__file__).resolve().parents[3]
FILES = ('four_bar', 'stacker_reclaimer', 'stacker_reclaimer_cylinder')
CONSTRAINTS = {'four_bar': 'four_bar_constraints', FILES[2]: FILES[2]}


class Row(NamedTuple):
    """A machine; errors are relative to the largest entry.

    Attributes:
        file: URDF.
        sizes: numbers of coordinates and bodies.
        matrices: M and h against composite bodies.
        equations: (30) against recursive inverse dynamics.
        skew: dM/dt - 2 C plus its transpose.
        loops: (46) against the linear system of accelerations and multipliers; None without loops.
    """

    file: str
    sizes: tuple[int, int]
    matrices: Bound
    equations: Bound
    skew: Bound
    loops: Bound | None


def state(n: int, which: int) -> Any:
    """Return n numbers without a pattern, within -1 to 1."""
    return np.sin(1.0 + 2.7 * np.arange(n) + 1.9 * which)


def rows() -> list[Row]:
    """Return the comparisons of all machines."""
    return [_row(file) for file in FILES]


def _row(file: str) -> Row:
    robot = kd.load(ROOT / 'urdf' / f'{file}.urdf')
    model, n = robot.model, robot.n
    q, qd, qdd = (state(n, k) for k in range(3))
    M, h, C = dynamics.kane_terms(model, q, qd)
    c = dynamics.coriolis_vector(model, q, qd)
    own = dynamics.kane_inertia_forces(model, q, qd, qdd)
    recursive = dynamics.inverse_dynamics(model, q, qd, qdd) - dynamics.gravity_vector(model, q)
    S = contract_last(dynamics.mass_matrix_derivative(model, q), qd) - 2 * C
    return Row(
        f'{file}.urdf',
        (n, len(model.bodies)),
        max(_close(M, dynamics.mass_matrix(model, q)), _close(h, c), _close(C @ qd, c)),
        _close(own, recursive),
        Bound(abs(S + S.T).max() / abs(C).max()),
        _loops(robot, CONSTRAINTS[file]) if file in CONSTRAINTS else None,
    )


def _close(found: Any, expected: Any) -> Bound:
    return relative(found / abs(expected).max(), expected / abs(expected).max())


def _loops(robot: kd.Robot, name: str) -> Bound:
    """Return the difference of accelerations by (46) and by the system with multipliers."""
    closed = kd.ConstrainedRobot.described(robot, ROOT / 'config' / f'{name}.yaml')
    model, q = robot.model, closed.start
    qd = closed.velocities(q, 0.1 * state(closed.degrees_of_freedom, 1))
    terms = closed.terms(q, qd)
    tau = dynamics.gravity_vector(model, q) * state(robot.n, 2)
    motion = closed.forward_dynamics(q, qd, tau)
    M, A = dynamics.mass_matrix(model, q), terms.A
    force = tau - dynamics.coriolis_vector(model, q, qd) - dynamics.gravity_vector(model, q)
    # Redundant constraints leave multipliers undetermined, but not accelerations: use independent
    # combinations of the rows of A.
    _, sizes, right = np.linalg.svd(A)
    rows = right[: closed.rank] * sizes[: closed.rank, None]
    left = np.linalg.svd(A)[0][:, : closed.rank]
    drift = left.T @ (terms.b_dot - terms.A_dot @ qd)
    whole = np.block([[M, -rows.T], [rows, np.zeros((closed.rank, closed.rank))]])
    scale = 1 / np.sqrt(np.concatenate([M.diagonal(), np.ones(closed.rank)]))
    solved = np.linalg.solve(whole * np.outer(scale, scale), scale * [*force, *drift]) * scale
    return _close(motion.qdd, solved[: robot.n])
