# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Textbook recursions in CasADi's symbols, as input of its code generator.

Zeros and ones are simplified when expressions are created, and common subexpressions eliminated
at the end, so the generated C has neither loops nor operations that the robot does not need.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi
import numpy as np

from benchmarks.tree import Link


def _vector(values: Any) -> casadi.SX:
    return casadi.SX(casadi.sparsify(casadi.DM(np.asarray(values, dtype=float))))


def _placement(link: Link, q: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
    """Return rotation and translation from a link to its parent."""
    rotation, translation = _vector(link.rotation), _vector(link.translation)
    axis = _vector(link.axis)
    if not link.revolute:
        return rotation, translation + rotation @ axis * q
    c, s = casadi.cos(q), casadi.sin(q)
    across = _vector(np.eye(3) - np.outer(link.axis, link.axis))
    turn = _vector(np.outer(link.axis, link.axis)) + c * across + s * casadi.skew(axis)
    return rotation @ casadi.sparsify(turn), translation


def inverse_dynamics(links: Sequence[Link], gravity: Any) -> casadi.Function:
    """Return tau(q, qd, qdd)."""
    arguments = [casadi.SX.sym(name, len(links)) for name in ('q', 'qd', 'qdd')]
    return function('tau', arguments, efforts(links, gravity, *arguments))


def efforts(
    links: Sequence[Link], gravity: Any, q: casadi.SX, qd: casadi.SX, qdd: casadi.SX
) -> casadi.SX:
    """Return tau by the recursive Newton-Euler algorithm in link axes.

    It uses accelerations of points, as robotics textbooks do, which take fewer operations than
    spatial accelerations.
    """
    n, cross = len(links), casadi.cross
    placements = [_placement(link, q[i]) for i, link in enumerate(links)]
    still, falling = casadi.SX(3, 1), _vector(-np.asarray(gravity))
    motions: list[tuple[casadi.SX, casadi.SX, casadi.SX]] = []
    forces, moments = [], []
    for i, link in enumerate(links):
        rotation, translation = placements[i]
        before = motions[link.parent] if link.parent >= 0 else (still, still, falling)
        omega, alpha, a = before
        a = rotation.T @ (a + cross(alpha, translation) + cross(omega, cross(omega, translation)))
        omega, alpha = rotation.T @ omega, rotation.T @ alpha
        rate, push = _vector(link.axis) * qd[i], _vector(link.axis) * qdd[i]
        if link.revolute:
            alpha = alpha + push + cross(omega, rate)
            omega = omega + rate
        else:
            a = a + push + 2 * cross(omega, rate)
        motions.append((omega, alpha, a))
        center, inertia = _vector(link.center), _vector(link.inertia)
        force = link.mass * (a + cross(alpha, center) + cross(omega, cross(omega, center)))
        moment = inertia @ alpha + cross(omega, inertia @ omega) + cross(center, force)
        forces.append(force)
        moments.append(moment)
    tau = casadi.SX(n, 1)
    for i in reversed(range(n)):
        link, (rotation, translation) = links[i], placements[i]
        tau[i] = casadi.dot(_vector(link.axis), moments[i] if link.revolute else forces[i])
        if link.parent >= 0:
            force = rotation @ forces[i]
            forces[link.parent] += force
            moments[link.parent] += rotation @ moments[i] + cross(translation, force)
    return tau


def mass_matrix(links: Sequence[Link]) -> casadi.Function:
    """Return M(q)."""
    q = casadi.SX.sym('q', len(links))
    return function('mass', [q], inertia(links, q))


def inertia(links: Sequence[Link], q: casadi.SX) -> casadi.SX:
    """Return M by the composite-rigid-body algorithm in link axes."""
    n = len(links)
    placements = [_placement(link, q[i]) for i, link in enumerate(links)]
    # Composite body of each link's subtree: mass, first moment, inertia about the link's origin.
    masses = [link.mass for link in links]
    firsts = [link.mass * _vector(link.center) for link in links]
    inertias = [_vector(link.inertia + _about_origin(link)) for link in links]
    M = casadi.SX(n, n)
    for i in reversed(range(n)):
        link = links[i]
        axis, first = _vector(link.axis), firsts[i]
        if link.revolute:
            moment, force = inertias[i] @ axis, casadi.cross(axis, first)
        else:
            moment, force = casadi.cross(first, axis), masses[i] * axis
        j = i
        while True:
            M[i, j] = casadi.dot(_vector(links[j].axis), moment if links[j].revolute else force)
            M[j, i] = M[i, j]
            if links[j].parent < 0:
                break
            rotation, translation = placements[j]
            force = rotation @ force
            moment = rotation @ moment + casadi.cross(translation, force)
            j = links[j].parent
        if link.parent >= 0:
            _add_to_parent(masses, firsts, inertias, i, link.parent, placements[i])
    return M


def _add_to_parent(
    masses: list[float],
    firsts: list[casadi.SX],
    inertias: list[casadi.SX],
    child: int,
    parent: int,
    placement: tuple[casadi.SX, casadi.SX],
) -> None:
    rotation, p = placement
    first = rotation @ firsts[child]
    turned = _symmetric(rotation @ inertias[child] @ rotation.T)
    moved = first + masses[child] * p
    # With the first moment h: J' = J + (2 p.h + m p.p) 1 - p h' - h p' - m p p'.
    scale = casadi.dot(p, first + moved)
    shift = scale * casadi.SX.eye(3) - p @ moved.T - first @ p.T
    inertias[parent] += _symmetric(turned + shift)
    firsts[parent] += moved
    masses[parent] += masses[child]


def _symmetric(matrix: casadi.SX) -> casadi.SX:
    """Return the matrix with its upper triangle mirrored, so that the lower is not computed."""
    return casadi.triu2symm(casadi.triu(matrix))


def _about_origin(link: Link) -> Any:
    c = link.center
    return link.mass * (c @ c * np.eye(3) - np.outer(c, c))


def poses(links: Sequence[Link], q: casadi.SX) -> list[tuple[casadi.SX, casadi.SX]]:
    """Return rotation and origin of every link in base axes."""
    found: list[tuple[casadi.SX, casadi.SX]] = []
    for i, link in enumerate(links):
        rotation, translation = _placement(link, q[i])
        if link.parent >= 0:
            before, origin = found[link.parent]
            rotation, translation = before @ rotation, origin + before @ translation
        found.append((rotation, translation))
    return found


def function(name: str, arguments: list[casadi.SX], *results: casadi.SX) -> casadi.Function:
    """Return a function with dense results, after common subexpression elimination."""
    return casadi.Function(name, arguments, casadi.cse([casadi.densify(r) for r in results]))
