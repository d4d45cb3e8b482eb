# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Planar cantilever with arbitrarily large deflection: exact theory, solved by Galerkin's method.

The inextensible Euler-Bernoulli beam is described by the slope angle theta(s) over its arc length
alone: the position of a cross-section is ``r = int (cos theta, sin theta) ds``, and the elastic
energy ``1/2 int EI theta'^2 ds`` without approximation. theta is a polynomial with theta(0) = 0;
results converge with about ten terms. The theory has no deflections v, no modes, no foreshortening
and no series expansion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre
from scipy.linalg import eigh


@dataclass(frozen=True)
class Elastica:
    """A cantilever from the origin along x in the xz plane, with a rigid body at its tip.

    Attributes:
        length: m.
        bending_stiffness: EI(s / length), N m^2.
        mass_per_length: kg/m at s / length.
        tip_mass: kg.
        tip_inertia: about the centre of the body at the tip, kg m^2.
        tip_offset: centre of that body relative to the tip, along and across the beam there, m.
        gravity: acceleration, (x, z), m/s^2.
        terms: number of Legendre polynomials.
    """

    length: float
    bending_stiffness: Callable[[np.ndarray], np.ndarray]
    mass_per_length: Callable[[np.ndarray], np.ndarray]
    tip_mass: float = 0.0
    tip_inertia: float = 0.0
    tip_offset: tuple[float, float] = (0.0, 0.0)
    gravity: tuple[float, float] = (0.0, -9.80665)
    terms: int = 12

    def __post_init__(self) -> None:
        """Tabulate the polynomials at quadrature points that integrate them exactly."""
        nodes, weights = legendre.leggauss(40)
        xi = (1 + nodes) / 2
        slopes = np.array([legendre.legval(nodes, row) for row in np.eye(self.terms)])
        integral = [legendre.legint(row, lbnd=-1) for row in np.eye(self.terms)]
        angles = np.array([legendre.legval(nodes, row) / 2 for row in integral]) * self.length
        at_tip = np.array([legendre.legval(1.0, row) / 2 for row in integral]) * self.length
        # Integrals from root to every point and to the tip, of the polynomial through all points.
        V = legendre.legvander(nodes, len(nodes) - 1)
        whole = [legendre.legint(row, lbnd=-1) for row in np.eye(len(nodes))]
        ends = np.append(nodes, 1.0)
        cumulated = np.array([legendre.legval(ends, row) for row in whole]).T
        table = cumulated @ np.linalg.inv(V) * self.length / 2
        for name, value in (
            ('angles', angles),
            ('at_tip', at_tip),
            ('table', table),
            ('mass', weights / 2 * self.length * self.mass_per_length(xi)),
            (
                'stiffness',
                (slopes * weights / 2 * self.length * self.bending_stiffness(xi)) @ slopes.T,
            ),
        ):
            object.__setattr__(self, name, value)

    def matrices(
        self, a: np.ndarray, share: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return mass matrix, stiffness matrix and forces at rest, and the tip's position.

        Args:
            a: coefficients of the slope angle.
            share: fraction of gravity that acts.
        """
        theta = a @ self.angles
        c, s = np.cos(theta), np.sin(theta)
        r = self.table @ np.array([c, s]).T  # points and tip, (k, 2)
        first = np.array([self.table @ (-s * row) for row in self.angles])
        first = np.stack([first, [self.table @ (c * row) for row in self.angles]], axis=-1)
        # Second variation of r: -int (cos, sin) times products of the polynomials.
        products = self.angles[:, None, :] * self.angles[None, :, :]
        second = -np.stack([(products * c) @ self.table.T, (products * s) @ self.table.T], -1)
        # The centre of the body at the tip.
        tip = a @ self.at_tip
        ct, st = np.cos(tip), np.sin(tip)
        b, h = self.tip_offset
        arm = np.array([ct * b - st * h, st * b + ct * h])
        turned = np.array([-arm[1], arm[0]])
        at = self.at_tip
        centre1 = first[:, -1] + np.outer(at, turned)
        centre2 = second[:, :, -1] - np.multiply.outer(np.outer(at, at), arm)
        g = share * np.array(self.gravity)
        M = np.einsum('iks,jks,k->ij', first[:, :-1], first[:, :-1], self.mass)
        M += self.tip_mass * centre1 @ centre1.T + self.tip_inertia * np.outer(at, at)
        forces = self.stiffness @ a
        forces -= np.einsum('iks,k,s->i', first[:, :-1], self.mass, g)
        forces -= self.tip_mass * centre1 @ g
        K = self.stiffness - np.einsum('ijks,k,s->ij', second[:, :, :-1], self.mass, g)
        K -= self.tip_mass * centre2 @ g
        return M, K, forces, r[-1]

    def at_rest(self) -> np.ndarray:
        """Return the coefficients of the slope angle in equilibrium, raising gravity in steps."""
        a = np.zeros(self.terms)
        for share in np.linspace(0.1, 1.0, 10):
            for _ in range(30):
                _, K, forces, _ = self.matrices(a, share)
                step = np.linalg.solve(K, forces)
                a = a - step
                if np.abs(step).max() < 1e-13 * max(1e-3, np.abs(a).max()):
                    break
        return a

    def tip(self) -> np.ndarray:
        """Return position and slope angle of the tip in equilibrium: x, z, theta."""
        a = self.at_rest()
        return np.append(self.matrices(a)[3], a @ self.at_tip)

    def frequencies(self, count: int = 1) -> np.ndarray:
        """Return the lowest natural frequencies about the equilibrium, rad/s."""
        M, K, _, _ = self.matrices(self.at_rest())
        return np.sqrt(eigh(K, M, eigvals_only=True)[:count])
