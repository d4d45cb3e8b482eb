# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Loads that are known: what a link carried in a recording is no part of the robot."""

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
    """What a link carried, by its scales and its drawing.

    Attributes:
        link: what carried it.
        payload: mass, above zero, and centre of mass in the link's frame; inertia about it.
        has_inertia: whether the inertia is known; else it is estimated along.

    Raises:
        InvalidInertiaError: there is no mass.
    """

    link: str
    payload: RigidPayload
    has_inertia: bool = True

    def __post_init__(self) -> None:
        """Check what was given."""
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

    def with_inertia(self, six: FloatArray) -> KnownLoad:
        """Return it with an inertia about its centre of mass, xx, xy, xz, yy, yz, zz, (6,)."""
        inertia = np.zeros((3, 3))
        inertia[np.triu_indices(3)] = six
        inertia = inertia + np.triu(inertia, 1).T
        own = self.payload
        return KnownLoad(self.link, RigidPayload(own.mass, own.center_of_mass, inertia))


def placing(robot: Robot, link: str) -> FloatArray:
    """Return what makes parameters of a link's body of those about the link, shape (10, 10).

    Raises:
        ModelError: the link does not move, or bends.
        UnknownFrameError: the robot has no such link.
    """
    carrier_of(robot.model, link)
    frame = tree_of(robot.model).frame(link)
    return np.column_stack(
        [parameters_of_inertia(placed(inertia_of(row), frame)) for row in np.eye(10)]
    )


def body_columns(robot: Robot, link: str) -> slice:
    """Return which inertial parameters of the robot are those of the body of a link."""
    first = PARAMETERS_PER_BODY * tree_of(robot.model).frame(link).body
    return slice(first, first + PARAMETERS_PER_BODY)


def carried_parameters(robot: Robot, loads: Sequence[KnownLoad]) -> FloatArray:
    """Return what loads add to the inertial parameters of a robot, shape (10 b + n,).

    Args:
        robot: the robot without them.
        loads: what its links carry.

    Raises:
        ModelError: a link does not move.
        UnknownFrameError: the robot has no such link.
    """
    total = np.zeros(len(robot.inertial_parameters()))
    for load in loads:
        total[body_columns(robot, load.link)] += placing(robot, load.link) @ load.parameters
    return total
