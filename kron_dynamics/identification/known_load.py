# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Known loads that links carried in a recording and that are not part of the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.carrying import carrier_of, tree_of
from kron_dynamics.dynamics.payload import inertia_of, parameters_of_inertia, placed
from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.exceptions import InvalidInertiaError
from kron_dynamics.messages import clipped
from kron_dynamics.model.inertia import rotational_inertia
from kron_dynamics.model.payload import RigidPayload
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True, eq=False)
class KnownLoad:
    """A load of known mass and centre of mass.

    Attributes:
        link: name of the link that carried it.
        payload: mass, above zero, centre of mass in the link's frame, and inertia about it.
        has_inertia: whether the inertia is known; else it is estimated with the gains.

    Raises:
        InvalidInertiaError: the mass is not positive.
    """

    link: str
    payload: RigidPayload
    has_inertia: bool = True

    def __post_init__(self) -> None:
        """Check the mass."""
        if not self.payload.mass > 0.0:
            raise InvalidInertiaError(
                f"the load of link '{clipped(self.link)}' has a mass of {self.payload.mass:g} kg, "
                f'expected > 0'
            )

    @property
    def parameters(self) -> FloatArray:
        """Its ten inertial parameters about the link's origin, in the link's axes, shape (10,)."""
        own = self.payload
        turning = np.asarray(rotational_inertia(own.second_moment), dtype=float)
        moments = own.mass * own.center_of_mass
        return np.array([own.mass, *moments, *turning[np.triu_indices(3)]])

    @property
    def values(self) -> tuple[str, tuple[float, ...]]:
        """Link, and mass, centre and known inertia: equal for a load that is given twice."""
        own = self.payload
        inertia = np.ravel(own.inertia) if self.has_inertia else np.zeros(0)
        return self.link, tuple(map(float, [own.mass, *own.center_of_mass, *inertia]))

    def with_inertia(self, six: FloatArray) -> KnownLoad:
        """Return the load with an inertia about its centre, xx, xy, xz, yy, yz, zz, kg m^2."""
        inertia = np.zeros((3, 3))
        inertia[np.triu_indices(3)] = six
        inertia = inertia + np.triu(inertia, 1).T
        own = self.payload
        return KnownLoad(self.link, RigidPayload(own.mass, own.center_of_mass, inertia))


def placing(robot: Robot, link: str) -> FloatArray:
    """Return the matrix from parameters about a link's frame to those of its body, shape (10, 10).

    Raises:
        ModelError: the link does not move, or is flexible.
        UnknownFrameError: the robot has no such link.
    """
    carrier_of(robot.model, link)
    frame = tree_of(robot.model).frame(link)
    return np.column_stack(
        [parameters_of_inertia(placed(inertia_of(row), frame)) for row in np.eye(10)]
    )


def body_columns(robot: Robot, link: str) -> slice:
    """Return the slice of the robot's inertial parameters that belongs to the body of a link."""
    first = PARAMETERS_PER_BODY * tree_of(robot.model).frame(link).body
    return slice(first, first + PARAMETERS_PER_BODY)


def carried_parameters(robot: Robot, loads: Sequence[KnownLoad]) -> FloatArray:
    """Return the inertial parameters that loads add to those of a robot, shape (10 b + n,).

    Args:
        robot: the robot without the loads.
        loads: the loads on its links.

    Raises:
        ModelError: a link does not move.
        UnknownFrameError: the robot has no such link.
    """
    total = np.zeros(len(robot.inertial_parameters()))
    for load in loads:
        total[body_columns(robot, load.link)] += placing(robot, load.link) @ load.parameters
    return total
