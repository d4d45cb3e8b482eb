# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Discretization of a path section: intervals and a quadratic spline of the squared path rate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.control.reference.interior_point import Objective
from kron_dynamics.control.reference.path_sections import PathSection
from kron_dynamics.control.reference.path_terms import PathTerms, path_terms
from kron_dynamics.control.reference.rest_map import RestMap
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Weight of the penalty that keeps u constant beside rests.
_STIFF = 100.0


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """A section divided into N intervals, with the spline of x on them.

    Attributes:
        nodes: r, shape (N + 1,).
        sizes: lengths of the intervals in r, shape (N,).
        places: s at nodes and midpoints of intervals, alternating, shape (2 N + 1,).
        terms: path terms at `places`, shape (2 N + 1, n).
        before: weight of coefficient k in x at node k, shape (N + 1, 1).
        after: weight of coefficient k + 1 in x at node k, shape (N + 1, 1).
        slope: u at node k is this times the difference of the two coefficients, (N + 1, 1).
        coulomb: Coulomb friction at `places`, shape (2 N + 1, n); 0 if friction is not considered.
            It is not part of the terms, because effort rates exclude its steps.
    """

    nodes: FloatArray
    sizes: FloatArray
    places: FloatArray
    terms: PathTerms
    before: FloatArray
    after: FloatArray
    slope: FloatArray
    coulomb: FloatArray | float = 0.0

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
        """The motion time as a function of N + 3 coefficients; the last is in no constraint.

        No limit depends on u at a rest, so a penalty keeps u constant beside it.
        """
        h, s = self.sizes, self.slope[:, 0]
        weights = np.concatenate((0.1 * h[:1], h, 0.1 * h[-1:], [0.0]))
        a, b = np.array([1.0, s[-2] / s[-1]]), np.array([s[1] / s[0], 1.0])
        ends = _STIFF * np.sqrt(h[[0, -1]]) * np.stack((a, -a - b, b))
        return Objective(weights, ends.T)

    @property
    def centers(self) -> FloatArray:
        """Abscissae r of the coefficients, shape (N + 2,)."""
        half = 0.5 * self.sizes
        inner = self.nodes[:-1] + half
        return np.concatenate(([inner[0] - 2.0 * half[0]], inner, [inner[-1] + 2.0 * half[-1]]))

    def with_friction(self, robot: Robot, c: FloatArray) -> Mesh:
        """Return the mesh with the friction of a motion."""
        x = np.empty_like(self.places)
        x[::2] = self.motion(c)[0]
        x[1::2] = c[1:-2]  # approximately
        v = self.terms.first * np.sqrt(x)[:, np.newaxis]
        viscous = robot.model.damping * v
        terms = self.terms._replace(weight=self.terms.weight + viscous)
        return replace(self, terms=terms, coulomb=robot.joint_friction(v) - viscous)

    @property
    def standing(self) -> FloatArray:
        """Effort that does not depend on x and u: weight and friction, shape (2 N + 1, n)."""
        return self.terms.weight + self.coulomb

    def motion(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return x and u at the nodes, shape (N + 1,) each, of coefficients (N + 3,)."""
        change = c[1:-1] - c[:-2]
        return (
            self.before[:, 0] * c[:-2] + self.after[:, 0] * c[1:-1],
            self.slope[:, 0] * change,
        )
