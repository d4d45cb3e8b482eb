# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every robot description that can be had, against Pinocchio; what is refused, and why."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from long_runs import some_of
from pinocchio_oracle import Oracle, example_robots, more_robots, pin

from kron_dynamics import dynamics, kinematics
from kron_dynamics.exceptions import ModelError
from kron_dynamics.model import RobotModel, load_model, read_urdf_file
from kron_dynamics.model.xacro_text import expanded

ROBOTS = {**example_robots(), **more_robots()}
REL = 1e-9

# Refused, each for a fault that leaves nothing to compute; Pinocchio refuses them too, or finds
# no coordinates.
REFUSED = {
    'hector_description/robots/quadrotor_base.urdf': 'no moving joints',
    'iris_description/robots/iris_simple.urdf': 'no moving joints',
    'ur_description/urdf/ur3.urdf': 'no links',
    'rtb/data/test.urdf': 'not well-formed',
    'pybullet/bicycle/bike.urdf': r"xyz of <origin> is '0\.07, 0, -0\.69'",
    'pybullet/biped/biped2d_pybullet.urdf': r"lower of <limit> is '-1\.57\.'",
    'pybullet/humanoid/humanoid.urdf': 'not well-formed',
    'pybullet/husky/husky.urdf': 'looks like an expression of xacro',
    'pybullet/quadruped/microtaur/microtaur.urdf': 'got 4',
    'pybullet/spherical_joint_limit.urdf': "of type 'spherical'",
    'pybullet/torus_deform.urdf': 'no links',
}
MOVING = re.compile(r'type\s*=\s*["\'](revolute|continuous|prismatic)')


def moves(path: Path) -> bool:
    return MOVING.search(path.read_text(encoding='utf-8')) is not None


ACCEPTED = [name for name, path in ROBOTS.items() if name not in REFUSED and moves(path)]
# Faults of real robots, and what they are called: without them a check would not be seen to work.
WARNED = {
    'alex_description/urdf/alex_psyonic_hands.urdf': {'mimic_of_unknown'},
    'allegro_hand_description/urdf/allegro_left_hand.urdf': {'triangle_inequality'},
    'allegro_hand_description/urdf/allegro_right_hand.urdf': {'triangle_inequality'},
    'anymal_c_simple_description/urdf/anymal.urdf': {'triangle_inequality'},
    'hyq_description/robots/hyq_no_sensors.urdf': {'triangle_inequality'},
    'pr2_description/urdf/pr2.urdf': {'triangle_inequality'},
    'romeo_description/urdf/romeo.urdf': {'massless_joint'},
    'romeo_description/urdf/romeo_laas_small.urdf': {'not_positive_semidefinite'},
    'romeo_description/urdf/romeo_small.urdf': {'triangle_inequality'},
    'tiago_description/robots/tiago.urdf': {'not_positive_semidefinite'},
    'tiago_description/robots/tiago_dual.urdf': {'not_positive_semidefinite'},
    'tiago_description/robots/tiago_no_hand.urdf': {'not_positive_semidefinite'},
    'rtb/xacro/abb_irb140_description/urdf/irb140.urdf': {'massless_joint'},
    'rtb/xacro/kuka_description/kuka_lbr_iiwa/urdf/lbr_iiwa_14_r820.urdf': {'massless_joint'},
    'rtb/xacro/unimation_puma560_description/urdf/puma560_robot.urdf': {'massless_joint'},
    'rtb/xacro/lynxmotion_al5d_description/urdf/al5d_robot.urdf': {'massless_joint'},
    'pybullet/quadruped/minitaur.urdf': {'xml_declaration'},
    'pybullet/xarm/xarm6_robot.urdf': {'triangle_inequality'},
}
# Hints that numbers may be in other units; these robots have numbers to wonder about.
ODD_UNITS = re.compile(r'pybullet/(cartpole|r2d2|differential/|.*spiral)')
UNITS = {
    *('limit_in_degrees', 'mass_magnitude', 'inertia_magnitude', 'length_magnitude'),
    *('density', 'center_of_mass_far'),
}


def test_there_are_robots_to_conform_with() -> None:
    assert len(ACCEPTED) >= 70
    assert {name for name in REFUSED if not name.startswith('pybullet')} <= set(ROBOTS)


@pytest.mark.parametrize('name', [name for name in REFUSED if name in ROBOTS])
def test_refused_for_the_stated_reason(name: str, record_property: Any) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(ROBOTS[name].read_text(encoding='utf-8'))
    reason = str(caught.value)
    record_property('refused', f'{name}: {reason}')
    assert '\n' not in reason
    assert re.search(REFUSED[name], reason), reason


@pytest.mark.parametrize('name', [name for name in WARNED if name in ROBOTS])
def test_faults_are_told(name: str) -> None:
    found = {warning.kind for warning in load_model(read_urdf_file(ROBOTS[name])).warnings}
    assert WARNED[name] <= found


def test_numbers_of_real_robots_do_not_look_like_other_units() -> None:
    doubted = {
        name: [str(warning) for warning in warnings if warning.kind in UNITS]
        for name in ACCEPTED
        if not ODD_UNITS.match(name)
        for warnings in [load_model(read_urdf_file(ROBOTS[name])).warnings]
    }
    assert {name: hints for name, hints in doubted.items() if hints} == {}


XACRO = ('px100', 'vx300s', 'wx250')


@pytest.mark.parametrize('name', XACRO)
def test_robots_in_xacro(name: str, assert_close: Any) -> None:
    pytest.importorskip('xacro')
    folder = next(iter(more_robots().values())).parents[1]
    while not (folder / 'xacro').is_dir():
        folder = folder.parent
    path = folder / 'xacro' / 'trossen_descriptions' / 'urdf' / f'{name}.urdf.xacro'
    text = expanded(path.read_text(encoding='utf-8'), path)
    model = load_model(text)
    oracle = Oracle(text, model)
    q, qd, qdd = state_of(model, 5)
    tau = dynamics.inverse_dynamics(model, q, qd, qdd)
    assert_close(tau, oracle.inverse_dynamics(q, qd, qdd), REL)


@pytest.fixture(scope='module', params=ACCEPTED)
def robot(request: pytest.FixtureRequest) -> tuple[RobotModel, Oracle]:
    text = read_urdf_file(ROBOTS[request.param])
    model = load_model(text)
    return model, Oracle(text, model)


def state_of(model: RobotModel, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, qd, qdd = np.random.default_rng(seed).uniform(-1.2, 1.2, (3, model.n))
    return q, qd, qdd


@pytest.mark.parametrize('seed', some_of([1, 2], [1]))
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


def test_kinematics_of_leaves_are_pinocchios(
    robot: Any, assert_close: Any, request: pytest.FixtureRequest
) -> None:
    model, oracle = robot
    q, qd, qdd = state_of(model, 4)
    inner = {joint.parent for joint in model.joints}
    leaves = [k for k in range(len(model.joints)) if k not in inner]
    if not request.config.getoption('--long'):
        # Hands have many, and a Hessian has 6 n^2 entries.
        leaves = leaves[:: 1 + len(leaves) // 2] if model.n < 40 else leaves[-1:]
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
