# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time-optimal retiming as inequalities: limits along a section, in the squared path rate.

With the path's parameter r, ``x = (dr/dt)^2`` and ``u = d2r/dt2 = (dx/dr)/2``, rates and efforts
are linear in x and u:

    qd^2 = q'^2 x,    qdd = q' u + q'' x,    tau = a u + b x + g,
    a = M q',    b = M q'' + c(q, q')

and effort rates are sqrt(x) times a function that is linear in x, u and w = du/dr:

    dtau/dt = sqrt(x) (a w + (a' + 2 b) u + b' x + g')

x is a quadratic spline; each of x, u and w takes two or three of its coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kron_dynamics.control.reference.interior_point import Objective, Rows
from kron_dynamics.control.reference.path_sections import PathSection
from kron_dynamics.control.reference.rest_map import RestMap
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

IntArray = npt.NDArray[np.intp]

# How stiffly u is held straight beside rests.
_STIFF = 100.0
# Quantities with limits, in the order of `Limits`.
VELOCITY, ACCELERATION, EFFORT, EFFORT_RATE = range(4)
QUANTITIES = ('velocity', 'acceleration', 'effort', 'effort rate')


class Limits(NamedTuple):
    """Of all joints, shape (n,) each; inf for none."""

    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray
    effort_rate: FloatArray


class PathTerms(NamedTuple):
    """Equations of motion along a path, shape (K, n) each; derivatives are by its parameter."""

    position: FloatArray
    first: FloatArray  # q'
    second: FloatArray  # q''
    inertia: FloatArray  # a
    bend: FloatArray  # b
    weight: FloatArray  # g, with friction where it counts


def path_terms(robot: Robot, q: FloatArray, first: FloatArray, second: FloatArray) -> PathTerms:
    """Return the terms at places of a path, three calls of kernels."""
    g = robot.gravity_vector(q)
    a = robot.inverse_dynamics(q, np.zeros_like(q), first) - g
    b = robot.inverse_dynamics(q, first, second) - g
    return PathTerms(q, first, second, a, b, g)


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """A section divided into N intervals, with the spline of x on them.

    Attributes:
        nodes: r, shape (N + 1,).
        sizes: of the intervals, shape (N,).
        places: s at nodes and middles of intervals in turn, shape (2 N + 1,).
        terms: there, shape (2 N + 1, n).
        before: weight of coefficient k in x at node k, shape (N + 1, 1).
        after: weight of coefficient k + 1.
        slope: u at node k is this times the difference of both.
    """

    nodes: FloatArray
    sizes: FloatArray
    places: FloatArray
    terms: PathTerms
    before: FloatArray
    after: FloatArray
    slope: FloatArray

    @classmethod
    def of(cls, robot: Robot, section: PathSection, rest_map: RestMap, nodes: FloatArray) -> Mesh:
        """Return the mesh with given nodes."""
        sizes = np.diff(nodes)
        r = np.empty(2 * sizes.size + 1)
        r[::2], r[1::2] = nodes, nodes[:-1] + 0.5 * sizes
        s, slope, bend = (values[:, np.newaxis] for values in rest_map(r))
        piece = np.repeat(section.piece_at(s[1::2, 0]), 2)
        q, q1, q2 = section.derivatives(s[:, 0], np.append(piece, piece[-1]))
        terms = path_terms(robot, q, q1 * slope, q2 * slope**2 + q1 * bend)
        edged = np.concatenate((sizes[:1], sizes, sizes[-1:]))[:, np.newaxis]
        both = edged[:-1] + edged[1:]
        return cls(nodes, sizes, s[:, 0], terms, edged[1:] / both, edged[:-1] / both, 1.0 / both)

    @property
    def objective(self) -> Objective:
        """The time, as far as it depends on the N + 3 coefficients; the last one is in no row.

        At a rest no limit is about u: there it is held straight.
        """
        h, s = self.sizes, self.slope[:, 0]
        weights = np.concatenate((0.1 * h[:1], h, 0.1 * h[-1:], [0.0]))
        ends = [
            _STIFF * np.sqrt(h[k]) * np.array([a, -a - b, b])
            for k, a, b in ((0, 1.0, s[1] / s[0]), (-1, s[-2] / s[-1], 1.0))
        ]
        return Objective.of(weights, *ends)

    @property
    def centers(self) -> FloatArray:
        """Places of the coefficients, r, shape (N + 2,)."""
        half = 0.5 * self.sizes
        inner = self.nodes[:-1] + half
        return np.concatenate(([inner[0] - 2.0 * half[0]], inner, [inner[-1] + 2.0 * half[-1]]))

    def with_friction(self, robot: Robot, c: FloatArray) -> Mesh:
        """Return the mesh with the friction of a motion added to the weight."""
        x = np.empty_like(self.places)
        x[::2] = self.motion(c)[0]
        x[1::2] = c[1:-2]  # about
        friction = robot.joint_friction(self.terms.first * np.sqrt(x)[:, np.newaxis])
        terms = self.terms._replace(weight=self.terms.weight + friction)
        return replace(self, terms=terms)

    def motion(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return x and u at the nodes, shape (N + 1,) each, of coefficients (N + 3,)."""
        change = c[1:-1] - c[:-2]
        return (
            self.before[:, 0] * c[:-2] + self.after[:, 0] * c[1:-1],
            self.slope[:, 0] * change,
        )


def rows_of(mesh: Mesh, limits: Limits) -> tuple[Rows, IntArray]:
    """Return limits as rows, those that are inf left out, and what each row is about.

    Efforts, accelerations and velocities at the nodes, velocities in the middle of each interval
    and effort rates at both ends of it.

    Returns:
        The rows, and for each of r its quantity and its joint, shape (2, r); the velocity's are
        of all joints.
    """
    terms = PathTerms(*(values[::2] for values in mesh.terms))
    efforts, acting = _relative((terms.inertia, terms.bend, terms.weight), limits.effort)
    rates, moving = _relative((terms.first, terms.second), limits.acceleration)
    alpha, beta = (np.hstack((efforts[k], rates[k])) for k in (0, 1))
    steady = (mesh.before * beta - mesh.slope * alpha, mesh.after * beta + mesh.slope * alpha)
    rate_rows, rate_constant, places, driven = _rate_rows(mesh, limits)
    m, k = alpha.shape[1], rate_constant.shape[1]
    linear, fast, late = slice(0, m), slice(2 * m, 2 * m + 2), slice(2 * m + 2, 2 * m + 2 + k)
    coefficients = np.zeros((3, mesh.nodes.size, 2 * (m + k) + 2))
    constant = np.zeros(coefficients.shape[1:])
    coefficients[0, :, linear], coefficients[1, :, linear] = steady
    coefficients[:, :, m : 2 * m] = -coefficients[:, :, linear]
    constant[:, : acting.size] = efforts[2]
    constant[:, m : 2 * m] = -constant[:, linear]
    coefficients[:, :, fast] = _velocity_rows(mesh, limits.velocity)
    coefficients[:, :, late], coefficients[:, :, late.stop :] = rate_rows, -rate_rows
    constant[:, late], constant[:, late.stop :] = rate_constant, -rate_constant
    which = np.tile(np.repeat((0, 1), k // 2), 2)
    about = (
        *(2 * [*((EFFORT, j) for j in acting), *((ACCELERATION, j) for j in moving)]),
        *(2 * [(VELOCITY, 0)]),
        *(4 * [(EFFORT_RATE, j) for j in driven]),
    )
    return Rows(coefficients, constant, places, which), np.array(about, dtype=np.intp).T


def _relative(
    terms: tuple[FloatArray, ...], limit: FloatArray
) -> tuple[list[FloatArray], IntArray]:
    """Terms of the joints that have a limit, divided by it, and which joints these are."""
    limited = np.flatnonzero(np.isfinite(limit))
    return [values[:, limited] / limit[limited] for values in terms], limited


def _velocity_rows(mesh: Mesh, limit: FloatArray) -> FloatArray:
    """Coefficients, (3, N + 1, 2), of x over its bound at nodes and in the middles."""
    fastest = np.square(mesh.terms.first / limit).max(axis=1)
    rows = np.zeros((3, mesh.nodes.size, 2))
    before, after, slope = mesh.before[:, 0], mesh.after[:, 0], mesh.slope[:, 0]
    rows[0, :, 0], rows[1, :, 0] = before * fastest[::2], after * fastest[::2]
    # In the middle x is the mean of both nodes less a quarter of h times the difference of u.
    left, right = 0.25 * mesh.sizes * slope[:-1], 0.25 * mesh.sizes * slope[1:]
    rows[0, :-1, 1] = (0.5 * before[:-1] - left) * fastest[1::2]
    rows[1, :-1, 1] = (0.5 * (after[:-1] + before[1:]) + left + right) * fastest[1::2]
    rows[2, :-1, 1] = (0.5 * after[1:] - right) * fastest[1::2]
    return rows


def _rate_rows(mesh: Mesh, limits: Limits) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Coefficients (3, N + 1, 2 m), constants and places of effort rates, and whose they are.

    At the beginnings of the intervals, then at their ends. Slopes of a, b and g are those of the
    parabolas through both ends and the middle.
    """
    count, before, after, slope = mesh.sizes.size, mesh.before, mesh.after, mesh.slope
    terms = mesh.terms
    (a, b, g), driven = _relative((terms.inertia, terms.bend, terms.weight), limits.effort_rate)
    m, h = driven.size, mesh.sizes[:, np.newaxis]
    rows, constant = np.zeros((3, count + 1, 2 * m)), np.zeros((count + 1, 2 * m))
    places = np.zeros((3, count + 1, 2))
    places[0, :, :1], places[1, :, :1] = before, after
    places[1, :-1, 1:], places[2, :-1, 1:] = before[1:], after[1:]
    places[0, -1, 1] = 1.0  # no row is about it
    curve = (slope[:-1] / h, -(slope[:-1] + slope[1:]) / h, slope[1:] / h)
    for end in (0, 1) if m else ():
        at, columns = slice(end, count + end), slice(end * m, (end + 1) * m)
        da, db, dg = (
            (4.0 * f[1::2] - (3.0 - 2.0 * end) * f[:-2:2] - (1.0 + 2.0 * end) * f[2::2])
            * ((1.0 - 2.0 * end) / h)
            for f in (a, b, g)
        )
        turning, inertia = (da + 2.0 * b[::2][at]) * slope[at], a[::2][at]
        constant[:-1, columns] = dg
        for i in range(3):
            rows[i, :-1, columns] = inertia * curve[i]
        rows[end, :-1, columns] += db * before[at] - turning
        rows[end + 1, :-1, columns] += db * after[at] + turning
    return rows, constant, places, driven
