# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Check that the answers of measured services are the numbers of the model's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import kron_dynamics as kd
from benchmarks.timing import PythonTask, check_equal
from kron_dynamics.typing import FloatArray


def check_answer(service: str, robot: kd.Robot, tip: str, states: FloatArray, reply: Any) -> None:
    """Compare an answer with the model.

    Args:
        service: name of the service.
        robot: robot that the service has used.
        tip: link of the answer of frame_kinematics.
        states: shape (N, n), the positions and equally the rates of the request.
        reply: the answer.

    Raises:
        MeasurementError: numbers differ, or there are none.
    """
    wanted = _of_model(service, robot, tip, states, reply)
    given = [np.asarray(getattr(reply, name)).reshape(-1) for name in wanted]
    numbers = [values.reshape(-1) for values in wanted.values()]
    check_equal(
        PythonTask(f'the answer of {service}', 'pass', 'given', given=given),
        PythonTask('the model', 'pass', 'numbers', numbers=numbers),
    )


def _of_model(
    service: str, robot: kd.Robot, tip: str, x: FloatArray, reply: Any
) -> dict[str, FloatArray]:
    rigid = robot.rigid
    if service == 'equations_of_motion':
        return {
            'mass_matrix': rigid.mass_matrix(x),
            'velocity_free_coriolis_matrix': rigid.velocity_free_coriolis_matrix(x),
            'coriolis_matrix': rigid.coriolis_matrix(x, x),
            'gravity_vector': rigid.gravity_vector(x),
        }
    if service == 'frame_kinematics':
        frame = rigid.frame(tip)
        return {
            'position': frame.pose(x)[:, :3, 3],
            'jacobian': frame.jacobian(x),
            'kinematic_hessian': frame.kinematic_hessian(x),
            'twist': frame.velocity(x, x),
            'acceleration': frame.acceleration(x, x, x),
            'jerk': frame.jerk(x, x, x, x),
        }
    # Operating points have the deflections of flexible links, which the service has computed.
    fields = (reply.position, reply.velocity, reply.acceleration)
    motion = [np.array(field).reshape(len(x), robot.n) for field in fields]
    terms = robot.linearization(*motion)
    return {
        'mass_matrix': terms.mass_matrix,
        'damping_matrix': terms.damping_matrix + np.diag(robot.model.structural_damping),
        'stiffness_matrix': terms.stiffness_matrix,
    }
