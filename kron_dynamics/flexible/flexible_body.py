# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A flexible link in the floating frame of reference: inertia and elastic forces of its beam.

The position of a particle in the beam's axes is ``W(e) f(x)`` with the functions

    f = [1, x, Phi_v, Phi_w, G_v,ij, G_w,ij]

and a matrix W of shape (3, N) that depends on the modal coordinates e alone. All integrals over
the beam's mass therefore reduce to the constant integral of ``f f^T``, which generalizes the
pseudo-inertia of a rigid body, where f is [1, x, y, z].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from kron_dynamics.dynamics.composite import FieldMoments, Inertia
from kron_dynamics.flexible.deformation import ModalState
from kron_dynamics.flexible.link_modes import CrossSection, PlaneModes
from kron_dynamics.flexible.pair_stiffness import pairs
from kron_dynamics.kinematics.forward import JointPlacement
from kron_dynamics.kinematics.motion import FrameMotion
from kron_dynamics.kronecker import skew
from kron_dynamics.reproducible import product
from kron_dynamics.typing import FloatArray, ScalarArray


@dataclass(frozen=True, slots=True, eq=False)
class FlexibleBody:
    """A flexible link in a tree.

    Attributes:
        link: name in the URDF.
        body: index of the body that its root is fixed to, -1 for the base.
        rotation: shape (3, 3), axes of the beam in that body's axes.
        translation: shape (3,), root of the beam in that body's frame, m.
        axes: shape (3, 3), axes of the beam in the link's axes.
        length: length of the beam, m.
        coordinates: indices of the modal coordinates, those of v first.
        planes: modes in the planes of v and of w.
        shape_integrals: inertia shape integrals, the integral of f f^T dm, shape (N, N).
        pair_stiffness: Q of the elastic energy, shape (n_p, n_p), N/m^3: see `pair_stiffness`.
        sections: sections of the beam by the index of the body attached to it.
        outline: deflections over the length, and slopes, each in v and w, at k points of the
            beam per unit of each of the m modal coordinates, shape (2, 2, k, m), 1/m.
    """

    link: str
    body: int
    rotation: FloatArray
    translation: FloatArray
    axes: FloatArray
    length: float
    coordinates: tuple[int, ...]
    planes: tuple[PlaneModes, PlaneModes]
    shape_integrals: FloatArray
    pair_stiffness: FloatArray
    sections: dict[int, CrossSection]
    outline: FloatArray

    @property
    def mode_counts(self) -> tuple[int, int]:
        """Number of modes in the planes of v and of w."""
        return len(self.planes[0].scale), len(self.planes[1].scale)

    @property
    def natural_frequencies(self) -> FloatArray:
        """Natural frequencies of the modes with the root clamped, shape (m,), rad/s."""
        bending = (plane.modes for plane in self.planes)
        return np.concatenate([m.natural_frequencies for m in bending if m is not None])

    @property
    def root(self) -> JointPlacement:
        """Placement of the beam's axes on the body."""
        none = np.zeros(3, dtype=int)
        return JointPlacement(self.rotation, self.translation, none, none)

    def state(self, *derivatives: ScalarArray) -> ModalState:
        """Return this link's modal coordinates from all coordinates and derivatives, (n,) each.

        Missing derivatives up to the third are zero.
        """
        count = self.mode_counts[0]
        parts = [[x[k] for k in self.coordinates] for x in derivatives]
        parts += [[0] * len(self.coordinates)] * (4 - len(parts))
        return ModalState(
            [np.array(part[:count]) for part in parts], [np.array(part[count:]) for part in parts]
        )

    def elastic_forces(self, state: ModalState) -> ScalarArray:
        """Return the derivatives of the elastic energy by modal coordinates, shape (m,), N."""
        forces = self._linear_forces(state)
        if not self.pair_stiffness.any():
            return forces
        terms, first = self.pair_stiffness @ _products(state), 0
        place = 0
        for e in (state.v[0], state.w[0]):
            for i, j in pairs(len(e)):
                forces[first + i] = forces[first + i] + terms[place] * e[j]
                forces[first + j] = forces[first + j] + terms[place] * e[i]
                place += 1
            first += len(e)
        return forces

    def elastic_energy(self, state: ModalState) -> Any:
        """Return ``1/2 e^T K e + 1/2 p^T Q p`` with the products p of modal coordinates, J."""
        e, p = np.concatenate([state.v[0], state.w[0]]), _products(state)
        return (e @ self._linear_forces(state) + p @ (self.pair_stiffness @ p)) / 2

    def _linear_forces(self, state: ModalState) -> ScalarArray:
        """Return K e, shape (m,), N, with K = int EI Phi'' Phi''^T dx in each plane."""
        v, w = (
            plane.stiffness @ e[0] if len(e[0]) else e[0]
            for plane, e in zip(self.planes, (state.v, state.w), strict=True)
        )
        return np.concatenate([v, w])

    def beam_forces(self, state: ModalState, root: FrameMotion) -> tuple[FieldMoments, list[Any]]:
        """Return the inertia forces of the beam.

        Args:
            state: modal coordinates with two derivatives.
            root: motion of the root, beam axes, with gravity subtracted from the acceleration.

        Returns:
            the moments of the particles' accelerations about the root, beam axes, and the
            generalized forces of the m modal coordinates, N.
        """
        taken = self._field(state, root, 1) @ self.shape_integrals
        W = placing_matrix(state, 0)
        return FieldMoments(taken[:, 0], taken @ W.T), _along_modes(state, taken)

    def acceleration_energy(self, state: ModalState, root: FrameMotion, order: int) -> Any:
        """Return half the integral of the squared acceleration, or jerk, over the beam, SI.

        Args:
            state: modal coordinates with their derivatives.
            root: motion of the root, beam axes.
            order: 1 for the acceleration, 2 for the jerk.
        """
        field = self._field(state, root, order)
        return (field * (field @ self.shape_integrals)).sum() / 2

    def _field(self, state: ModalState, root: FrameMotion, order: int) -> ScalarArray:
        """Return A of the particles' accelerations (1) or jerks (2) A f(x), beam axes, (3, N)."""
        W = [placing_matrix(state, k) for k in range(order + 2)]
        everywhere = np.eye(len(self.shape_integrals), dtype=int)[0]
        carried = np.outer(root.linear[order], everywhere) + root.field(order) @ W[0]
        if order == 2:
            carried = carried + 3 * root.field(1) @ W[1]
        turned = (order + 1) * skew(root.angular[0]) @ W[order]
        field: ScalarArray = carried + turned + W[order + 1]
        return field

    def inertia(self, state: ModalState) -> Inertia:
        """Return the moments of the deformed beam about its root, beam axes."""
        W = placing_matrix(state, 0)
        moved = W @ self.shape_integrals
        return Inertia(self.shape_integrals[0, 0], moved[:, 0], moved @ W.T)


def _products(state: ModalState) -> ScalarArray:
    """Return p, the products of modal coordinates within each plane, shape (n_p,), m^2."""
    return np.array([e[i] * e[j] for e in (state.v[0], state.w[0]) for i, j in pairs(len(e))])


def placing_matrix(state: ModalState, order: int) -> ScalarArray:
    """Return W or its time derivative of an order, shape (3, N), in the units of the state."""
    v, w = state.v, state.w
    along = [0, 1 if order == 0 else 0, *[0] * (len(v[0]) + len(w[0]))]
    for e in (v, w):
        for i, j in pairs(len(e[0])):
            product = sum(comb(order, k) * e[k][i] * e[order - k][j] for k in range(order + 1))
            along.append(-product / 2 if i == j else -product)
    rest = [0] * (len(along) - 2 - len(v[0]) - len(w[0]))
    return np.array(
        [
            along,
            [0, 0, *v[order], *[0] * len(w[0]), *rest],
            [0, 0, *[0] * len(v[0]), *w[order], *rest],
        ]
    )


def _along_modes(state: ModalState, taken: ScalarArray) -> list[Any]:
    """Return the products of a field's moments, shape (3, N), with dW/de for each coordinate."""
    v, w = state.v[0], state.w[0]
    counts = len(v), len(w)
    forces = [taken[1, 2 + i] for i in range(counts[0])]
    forces += [taken[2, 2 + counts[0] + i] for i in range(counts[1])]
    place, first = 2 + sum(counts), 0
    for e, count in zip((v, w), counts, strict=True):
        for i, j in pairs(count):
            forces[first + i] = forces[first + i] - taken[0, place] * e[j]
            if i != j:
                forces[first + j] = forces[first + j] - taken[0, place] * e[i]
            place += 1
        first += count
    return forces


def beam_shape_integrals(sections: Sequence[CrossSection], mass: FloatArray) -> FloatArray:
    """Return the inertia shape integrals, the integral of f f^T dm, shape (N, N).

    Args:
        sections: sections at the k points of a quadrature.
        mass: mass at each point, shape (k,), kg.
    """
    rows = []
    for at in sections:
        row = [1.0, at.x, *at.shapes[0], *at.shapes[1]]
        for shortening in at.shortening:
            row += [shortening[i, j] for i, j in pairs(len(shortening))]
        rows.append(row)
    f = np.array(rows)
    return product(f.T * mass, f)
