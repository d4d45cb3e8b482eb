# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The stacker of [Tuan2019] as a URDF, against the paper's closed forms and reference vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kron_dynamics as kd

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[2]
URDF = ROOT / 'urdf' / 'paper_stacker.urdf'
VECTORS = json.loads((ROOT / 'test' / 'vectors' / 'public_vectors.json').read_text())
# The unit-sized stacker of the vectors has other parameters than this file.
CASES = [case for case in VECTORS['cases'] if case['id'].startswith('stacker-real')]
GRAVITY = (0.0, 9.81, 0.0)
D2, A3 = 3.2, 9.5


def state(case: dict[str, Any]) -> tuple[NDArray[np.float64], ...]:
    return tuple(np.array(case['inputs']['state'][key]) for key in ('q', 'qd', 'qdd'))


def assert_close(actual: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12 * abs(expected).max())


def denavit_hartenberg(d: float, theta: float, a: float, alpha: float) -> NDArray[np.float64]:
    """Rz(theta) Tz(d) Tx(a) Rx(alpha)."""
    (ct, st), (ca, sa) = (np.cos(theta), np.sin(theta)), (np.cos(alpha), np.sin(alpha))
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    )


@pytest.fixture(scope='module')
def robot() -> kd.Robot:
    return kd.load(URDF, gravity=GRAVITY)


@pytest.fixture(scope='module')
def oracle() -> tuple[Any, Any, Any]:
    """Pinocchio, its model and its data, with the paper's gravity."""
    pin = pytest.importorskip('pinocchio')
    model = pin.buildModelFromUrdf(str(URDF))
    model.gravity.linear = np.array(GRAVITY)
    return pin, model, model.createData()


def test_there_are_vectors_for_this_file() -> None:
    assert len(CASES) >= 2


@pytest.mark.parametrize('case', CASES, ids=lambda case: case['id'])
def test_frames_are_the_denavit_hartenberg_frames(robot: kd.Robot, case: dict[str, Any]) -> None:
    q = state(case)[0]
    rows = [(q[0], 0, 0, np.pi / 2), (D2, q[1], 0, np.pi / 2), (0, q[2], A3, 0)]
    pose = np.eye(4)
    for k, row in enumerate(rows, start=1):
        pose = pose @ denavit_hartenberg(*row)
        np.testing.assert_allclose(robot.frame(f'frame_{k}').pose(q), pose, atol=1e-13)
    c2, s2, c3, s3 = np.cos(q[1]), np.sin(q[1]), np.cos(q[2]), np.sin(q[2])
    closed_form = [A3 * c2 * c3, -D2 - A3 * s3, q[0] + A3 * s2 * c3]
    np.testing.assert_allclose(pose[:3, 3], closed_form, atol=1e-13)


@pytest.mark.parametrize('case', CASES, ids=lambda case: case['id'])
def test_pinocchio_reads_the_paper_from_this_file(
    oracle: tuple[Any, Any, Any], case: dict[str, Any]
) -> None:
    pin, model, data = oracle
    q, qd, qdd = state(case)
    upper = np.triu(pin.crba(model, data, q))
    assert_close(upper + np.triu(upper, 1).T, case['expected']['M'])
    assert_close(pin.computeGeneralizedGravity(model, data, q), case['expected']['g'])
    assert_close(pin.rnea(model, data, q, qd, qdd), case['expected']['tau'])
    pin.framesForwardKinematics(model, data, q)
    tip = data.oMf[model.getFrameId('frame_3')]
    assert_close(tip.translation, case['expected']['ee']['position'])
    assert_close(tip.rotation, case['expected']['ee']['rotation'])


@pytest.mark.parametrize('case', CASES, ids=lambda case: case['id'])
def test_equations_of_motion_are_the_reference_vectors(
    robot: kd.Robot, case: dict[str, Any]
) -> None:
    q, qd, qdd = state(case)
    assert_close(robot.mass_matrix(q), case['expected']['M'])
    assert_close(robot.gravity_vector(q), case['expected']['g'])
    assert_close(robot.coriolis_vector(q, qd), case['expected']['h'])
    assert_close(robot.inverse_dynamics(q, qd, qdd), case['expected']['tau'])


@pytest.mark.parametrize('case', CASES, ids=lambda case: case['id'])
def test_tip_kinematics_are_the_reference_vectors(robot: kd.Robot, case: dict[str, Any]) -> None:
    q = state(case)[0]
    assert robot.model.tip_link == 'frame_3'
    frame = robot.frame('frame_3')
    assert_close(frame.jacobian(q)[:3], case['expected']['J_T3'])
    assert_close(frame.jacobian(q)[3:], case['expected']['J_R3'])
    assert_close(frame.kinematic_hessian(q)[:3], case['expected']['H_T3'])
    assert_close(frame.kinematic_hessian(q)[3:], case['expected']['H_R3'])


def test_gravity_along_minus_z0_loads_the_travel_joint() -> None:
    robot = kd.load(URDF, gravity=(0.0, 0.0, -9.81))
    for case in CASES:
        expected = case['expected']['g_if_up_is_plus_z0']
        assert_close(robot.gravity_vector(state(case)[0]), expected)


@pytest.mark.parametrize('body', range(3), ids=['carriage', 'mast', 'boom'])
def test_inertia_belongs_to_a_real_body(robot: kd.Robot, body: int) -> None:
    principal = np.linalg.eigvalsh(robot.model.bodies[body].inertia)
    assert principal[0] > 0
    assert principal[2] < principal[0] + principal[1]


def test_numbers_are_those_of_the_vectors(robot: kd.Robot) -> None:
    given = CASES[0]['inputs']['params']
    carriage, mast, boom = robot.model.bodies
    assert [body.mass for body in (carriage, mast, boom)] == [given[k] for k in ('m1', 'm2', 'm3')]
    # Frame 2 has its y axis along the mast's z: the moments of Table 2 change places.
    moments = [given['I2x'], given['I2z'], given['I2y']]
    np.testing.assert_allclose(mast.inertia, np.diag(moments), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(boom.inertia, np.diag([given[f'I3{a}'] for a in 'xyz']))
    np.testing.assert_allclose(mast.center_of_mass, [0, 0, given['d2'] + given['y_G2']])
    np.testing.assert_allclose(boom.center_of_mass, [given['l3'], 0, 0])


@pytest.mark.parametrize('case', CASES, ids=lambda case: case['id'])
def test_limits_contain_the_reference_states(robot: kd.Robot, case: dict[str, Any]) -> None:
    q, qd, _ = state(case)
    assert np.all(q > robot.model.position_lower)
    assert np.all(q < robot.model.position_upper)
    assert np.all(abs(qd) < robot.model.velocity_limit)
    assert np.all(abs(np.array(case['expected']['tau'])) < robot.model.effort_limit)
