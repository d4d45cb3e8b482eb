# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The service ~/annotate_trajectory: feed-forward efforts and limit violations."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from kron_dynamics.ros.batch import check_size, flat, held_positions, table_of
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.controller_factory import effort_rate_limits, known_effort_limits
from kron_dynamics.ros.parameter_set import ParameterSet

_RATES = ('velocity', 'acceleration')
# Numbers per violation in an answer.
_VIOLATION = 6


def annotate(
    parameters: ParameterSet, present: ConfiguredRobot, largest: int, request: Any, response: Any
) -> None:
    """Answer a request of ~/annotate_trajectory.

    Args:
        parameters: parameters of dynamics_node, those of the joints included.
        present: robot that the node is configured for.
        largest: largest count of numbers in a request or an answer.
        request: AnnotateTrajectory request.
        response: answer, to be filled in.

    Raises:
        KronDynamicsError: the request is refused.
    """
    # Imported late, for a faster start of the node.
    from kron_dynamics.control import annotate_trajectory

    robot = present.robot
    names = list(request.joint_names) or list(robot.joint_names)
    count, n = len(request.time_from_start), len(names)
    check_size('request', count, 1 + 3 * n, largest)
    annotated = annotate_trajectory(
        robot,
        request.time_from_start,
        table_of('position', request.position, count, n),
        *(
            table_of(name, getattr(request, name), count, n) if getattr(request, name) else None
            for name in _RATES
        ),
        joint_names=names,
        held=held_positions(request),
        friction=request.include_friction,
        effort_limit=known_effort_limits(parameters, robot),
        effort_rate_limit=effort_rate_limits(parameters, robot),
    )
    response.joint_names = names
    response.velocity = flat(annotated.velocities)
    response.acceleration = flat(annotated.accelerations)
    response.effort = flat(annotated.efforts)
    found = annotated.violations
    response.violations, response.violation_count = list(annotated.reports), found.point.size
    listed = slice(max(0, largest - 3 * count * n) // _VIOLATION)
    response.violation_point = array('I', found.point[listed].astype(np.uint32).tobytes())
    response.violation_time = flat(found.time[listed])
    response.violation_joint = [robot.joint_names[k] for k in found.joint[listed].tolist()]
    response.violation_quantity = array('B', found.quantity[listed].astype(np.uint8).tobytes())
    response.violation_value = flat(found.value[listed])
    response.violation_limit = flat(found.limit[listed])
