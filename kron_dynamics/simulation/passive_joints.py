# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Passive joints: joints without a drive that closed loops make dependent on driven joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from kron_dynamics.model import RobotModel
from kron_dynamics.simulation.plant import Plant
from kron_dynamics.simulation.sensors import Measurement

if TYPE_CHECKING:
    from kron_dynamics.closed_loops import ClosedLoopModel


def passive_joints(model: RobotModel) -> tuple[str, ...]:
    """Return the names of the passive joints of closed loops; empty for a tree."""
    if not model.has_closed_loops:
        return ()
    closed = cast('ClosedLoopModel', model)
    return tuple(closed.tree.joint_names[k] for k in closed.closing.choice.dependent)


def with_passive_joints(plant: Plant, sample: Measurement) -> Measurement:
    """Return a sample extended by the passive joints, appended after the driven ones.

    Args:
        plant: robot with closed loops. The passive joints' states follow from loop closure with
            the measured drives and the true bending of flexible links, which no sensor measures.
        sample: sample of the driven joints. Passive joints get effort 0.
    """
    robot, count = plant.robot, len(sample.position)
    model = cast('ClosedLoopModel', robot.model)
    passive = list(model.closing.choice.dependent)
    q = np.concatenate([sample.position, plant.q[count:]])
    qd = np.concatenate([sample.velocity, plant.qd[count:]])
    position, velocity = robot.tree_coordinates(q)[passive], robot.tree_rates(q, qd)[passive]
    return Measurement(
        np.concatenate([sample.position, position]),
        np.concatenate([sample.velocity, velocity]),
        np.concatenate([sample.effort, np.zeros(len(passive))]),
    )
