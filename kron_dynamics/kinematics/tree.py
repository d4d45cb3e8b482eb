# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Coordinates of the spanning tree: all joints, with closed loops cut open."""

from __future__ import annotations

from functools import singledispatch

from kron_dynamics.kinematics.scalars import number_vector
from kron_dynamics.model.rigid_model import checked_model
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@singledispatch
def tree_coordinates(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return the coordinates of the spanning tree, shape (n_t,), rad or m; q without loops.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    return number_vector(q, 'q', checked_model(model).n)


@singledispatch
def tree_rates(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return the rates of the tree's coordinates, shape (n_t,), rad/s or m/s; qd without loops.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
    """
    number_vector(q, 'q', checked_model(model).n)  # checked as where they matter
    return number_vector(qd, 'qd', model.n)
