# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every robot description that can be had, against Pinocchio; what is refused, and why."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pinocchio_oracle import Oracle, example_robots, pin

from kron_dynamics import dynamics, kinematics
from kron_dynamics.exceptions import ModelError
from kron_dynamics.model import RobotModel, load_model

ROBOTS = example_robots()
REL = 1e-9

# Refused, each for a fault of its own: the reason is that fault, not a limit of this package,
# except that a robot needs a joint.
TRIANGLE = 'triangle inequality'
REFUSED = {
    'alex_description/urdf/alex_psyonic_hands.urdf': "mimics 'index_q1', which is not a moving",
    'allegro_hand_description/urdf/allegro_left_hand.urdf': TRIANGLE,
    'allegro_hand_description/urdf/allegro_right_hand.urdf': TRIANGLE,
    'anymal_c_simple_description/urdf/anymal.urdf': TRIANGLE,
    'hector_description/robots/quadrotor_base.urdf': 'no moving joints',
    'hyq_description/robots/hyq_no_sensors.urdf': TRIANGLE,
    'iris_description/robots/iris_simple.urdf': 'no moving joints',
    'pr2_description/urdf/pr2.urdf': TRIANGLE,
    'romeo_description/urdf/romeo.urdf': "'RThumb3' moves no mass",
    'romeo_description/urdf/romeo_laas_small.urdf': "'body'.* not positive semi-definite",
    'romeo_description/urdf/romeo_small.urdf': TRIANGLE,
    'tiago_description/robots/tiago.urdf': 'not positive semi-definite',
    'tiago_description/robots/tiago_dual.urdf': 'not positive semi-definite',
    'tiago_description/robots/tiago_no_hand.urdf': 'not positive semi-definite',
    'ur_description/urdf/ur3.urdf': 'name',
}
ACCEPTED = [name for name in ROBOTS if name not in REFUSED]


def test_there_are_robots_to_conform_with() -> None:
    assert len(ACCEPTED) >= 50
    assert set(REFUSED) <= set(ROBOTS)


@pytest.mark.parametrize('name', REFUSED)
def test_refused_for_the_stated_reason(name: str, record_property: Any) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(ROBOTS[name].read_text(encoding='utf-8'))
    reason = str(caught.value)
    record_property('refused', f'{name}: {reason}')
    assert '\n' not in reason
    assert re.search(REFUSED[name], reason), reason


@pytest.fixture(scope='module', params=ACCEPTED)
def robot(request: pytest.FixtureRequest) -> tuple[RobotModel, Oracle]:
    path: Path = ROBOTS[request.param]
    text = path.read_text(encoding='utf-8')
    model = load_model(text)
    return model, Oracle(text, model)


def state_of(model: RobotModel, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, qd, qdd = np.random.default_rng(seed).uniform(-1.2, 1.2, (3, model.n))
    return q, qd, qdd


@pytest.mark.parametrize('seed', [1, 2])
def test_forces_are_pinocchios(robot: Any, seed: int, assert_close: Any) -> None:
    model, oracle = robot
    q, qd, qdd = state_of(model, seed)
    tau = dynamics.inverse_dynamics(model, q, qd, qdd)
    assert_close(tau, oracle.inverse_dynamics(q, qd, qdd), REL)
    g = oracle.gravity_vector(q)
    scale = np.abs(tau).max()
    assert_close(dynamics.gravity_vector(model, q), g, REL, floor=scale)
    assert_close(dynamics.mass_matrix(model, q), oracle.mass_matrix(q), REL)
    bias = oracle.inverse_dynamics(q, qd, np.zeros(model.n))
    assert_close(dynamics.coriolis_vector(model, q, qd), bias - g, REL, floor=scale)


def test_coriolis_matrices_are_pinocchios(robot: Any, assert_close: Any) -> None:
    model, oracle = robot
    n = model.n
    q, qd, _ = state_of(model, 3)
    Gamma = oracle.christoffel_symbols(q)
    scale = np.abs(oracle.mass_matrix(q)).max()
    C = dynamics.velocity_free_coriolis_matrix(model, q)
    assert_close(C.reshape(n, n, n), Gamma, REL, floor=scale)
    dM = dynamics.mass_matrix_derivative(model, q).reshape(n, n, n)
    assert_close(dM, Gamma + Gamma.transpose(1, 0, 2), REL, floor=scale)
    C_qd = dynamics.coriolis_matrix(model, q, qd)
    assert_close(C_qd, oracle.coriolis_matrix(q, qd), REL, floor=scale)


def test_kinematics_of_every_leaf_are_pinocchios(robot: Any, assert_close: Any) -> None:
    model, oracle = robot
    q, qd, qdd = state_of(model, 4)
    inner = {joint.parent for joint in model.joints}
    leaves = [k for k in range(len(model.joints)) if k not in inner]
    for k in leaves:
        link = next(name for name, frame in model.frames.items() if frame.body == k)
        there = oracle.pin.getFrameId(link, pin.BODY)
        J = kinematics.jacobian(model, q, link)
        assert_close(J, oracle.jacobian(q, link), REL)
        if hasattr(pin, 'computeJointKinematicHessians'):  # not in the wheels for Python 3.10
            H = kinematics.kinematic_hessian(model, q, link).reshape(6, model.n, model.n)
            expected = oracle.kinematic_hessian_of_joint(q, model.joints[k].name)
            assert_close(H, expected, REL, floor=1.0)
        oracle.move(q, qd, qdd)
        here = oracle.pin, oracle.data, there, pin.LOCAL_WORLD_ALIGNED
        a = pin.getFrameClassicalAcceleration(*here).vector
        assert_close(kinematics.frame_acceleration(model, q, qd, qdd, link), a, REL)
