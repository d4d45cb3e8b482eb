# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Composite bodies: each joint's whole subtree as one inertia."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kron_dynamics.kinematics.forward import BodyPlacement, place_bodies
from kron_dynamics.kinematics.jacobian import PathColumns, body_columns
from kron_dynamics.kronecker import cross
from kron_dynamics.model.inertia import rotational_inertia
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@dataclass(frozen=True, slots=True, eq=False)
class CompositeInertia:
    """Moments of the mass distribution about a body's origin, in base axes.

    The blocks of the pseudo-inertia [[S, h], [h^T, m]].

    Attributes:
        mass: m, kg.
        first: h = integral of r dm, shape (3,), kg m.
        second: S = integral of r r^T dm, shape (3, 3), kg m^2.
    """

    mass: Any
    first: ScalarArray
    second: ScalarArray

    def __add__(self, other: CompositeInertia) -> CompositeInertia:
        """Return both together; the moments must be about one point."""
        return CompositeInertia(
            self.mass + other.mass, self.first + other.first, self.second + other.second
        )

    def about(self, offset: ScalarArray) -> CompositeInertia:
        """Return the moments about the point from which this origin is `offset` away."""
        shift = np.outer(self.first + self.mass / 2 * offset, offset)
        return CompositeInertia(
            self.mass, self.first + self.mass * offset, self.second + (shift + shift.T)
        )

    @property
    def rotational(self) -> ScalarArray:
        """Rotational inertia tr(S) E - S about the origin, shape (3, 3), kg m^2."""
        return rotational_inertia(self.second)


def _turned(R: ScalarArray, S: ScalarArray) -> ScalarArray:
    """R S R^T for symmetric S, each entry computed once."""
    RS = R @ S
    upper = [[RS[i] @ R[j] if i <= j else None for j in range(3)] for i in range(3)]
    return np.array([[upper[min(i, j)][max(i, j)] for j in range(3)] for i in range(3)])


def composite_inertias(
    model: RobotModel, placements: Sequence[BodyPlacement]
) -> list[CompositeInertia]:
    """Return the composite of the subtree behind every joint, about that joint's body origin."""
    composites = [
        CompositeInertia(
            body.mass,
            placement.rotation @ body.first_moment,
            _turned(placement.rotation, body.second_moment),
        )
        for body, placement in zip(model.bodies, placements, strict=True)
    ]
    for k in reversed(range(len(composites))):
        parent = model.joints[k].parent
        if parent >= 0:
            composites[parent] += composites[k].about(placements[k].offset)
    return composites


@dataclass(frozen=True, slots=True, eq=False)
class Subtree:
    """A joint with all it carries, as the composite forms of M, C* and g need it.

    Attributes:
        coordinate: the joint's coordinate.
        columns: Jacobian columns of the body's origin, base to this joint.
        coordinates: coordinate of each column.
        composite: inertia of the subtree about the body's origin.
        momentum: linear momentum per unit rate of the joint, shape (3,), base axes.
    """

    coordinate: int
    columns: PathColumns
    coordinates: tuple[int, ...]
    composite: CompositeInertia
    momentum: ScalarArray


def subtrees(model: RobotModel, q: ArrayLike) -> Iterator[Subtree]:
    """Yield the subtree of every joint, in the order of `model.joints`."""
    placements = place_bodies(model, q)
    composites = composite_inertias(model, placements)
    for k, columns in enumerate(body_columns(model, placements)):
        composite = composites[k]
        momentum = cross(columns.angular[-1], composite.first)
        momentum = momentum + composite.mass * columns.linear[-1]
        coordinates = tuple(model.joints[i].coordinate for i in columns.joints)
        yield Subtree(coordinates[-1], columns, coordinates, composite, momentum)
