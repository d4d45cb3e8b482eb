# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Coordinates of all joints of the tree that a robot is, or that its closed loops are made of."""

from __future__ import annotations

from functools import singledispatch

from kron_dynamics.kinematics.scalars import as_scalars
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@singledispatch
def tree_coordinates(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return the coordinates of the tree, shape (n_t,), rad or m; q itself without closed loops.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    return as_scalars(q)


@singledispatch
def tree_rates(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return the rates of the tree's coordinates, shape (n_t,); qd without closed loops.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
    """
    return as_scalars(qd)
