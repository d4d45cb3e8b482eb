# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Both forms of the regressor rows say what the efforts of a known motion are."""

from __future__ import annotations

import numpy as np
import pytest
from sampled_runs import POSE, machine

import kron_dynamics as kd
from kron_dynamics.exceptions import NonFiniteError, ParameterError, ShapeError
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.rows import FORMS, joined, regressor_rows

pytestmark = pytest.mark.interpreted

TERMS = ('coulomb', 'viscous', 'offset', 'asymmetry', 'stribeck', 'cubic')
SMOOTH = ('viscous', 'offset', 'cubic')


@pytest.fixture(scope='module', params=['stacker', 'ur5', 'panda'])
def robot(request: pytest.FixtureRequest) -> kd.Robot:
    return machine(request.param)


def swing(robot: kd.Robot, duration: float = 4.0, step: float = 0.005) -> tuple[np.ndarray, ...]:
    """Time, position, velocity and acceleration of sines of all joints."""
    t = np.arange(0.0, duration, step)
    name = {3: 'stacker', 6: 'ur5', 7: 'panda'}.get(robot.model.joint_count, 'panda')
    pose = np.resize(POSE[name], robot.n)
    w = 2.0 * np.pi * (0.3 + 0.05 * np.arange(robot.n))
    a = 0.2 * np.minimum(robot.model.velocity_limit, 2.0) / w
    angle = np.outer(t, w)
    return t, pose + a * np.sin(angle), a * w * np.cos(angle), -a * w**2 * np.sin(angle)


@pytest.mark.parametrize('form', FORMS)
def test_rows_hold_the_efforts_of_a_motion(robot: kd.Robot, form: str) -> None:
    t, q, qd, qdd = swing(robot)
    coefficients = np.tile([3.0, -1.0, 0.5], (robot.n, 1))
    friction = coefficients[:, 0] * qd + coefficients[:, 1] + coefficients[:, 2] * qd**3
    tau = robot.inverse_dynamics(q, qd, qdd) + friction
    rows = regressor_rows(robot, Motion(t, q, qd, tau), 0.03, terms=SMOOTH, form=form)
    predicted = rows.matrix @ np.concatenate([robot.inertial_parameters(), coefficients.ravel()])
    error = np.sqrt(np.mean((rows.effort - predicted) ** 2, axis=0))
    moving = np.sqrt(np.mean((tau - robot.gravity_vector(q)) ** 2, axis=0))
    assert (error < 3e-4 * moving + 1e-9 * np.abs(tau).max(axis=0)).all()


def test_no_acceleration_enters_the_momentum_form(robot: kd.Robot) -> None:
    """A jump of the velocity, as of a stop, is an impulse: its average is the effort's."""
    t = np.arange(0.0, 2.0, 0.002)
    v = np.zeros(robot.n)
    v[0] = 0.4
    qd = np.where(t[:, None] < 1.0, v, 0.0)
    q = np.cumsum(qd, axis=0) * 0.002
    rows = regressor_rows(robot, Motion(t, q, qd, np.zeros_like(q)), 0.05, terms=('offset',))
    pi = robot.inertial_parameters()
    motionless = rows.matrix[:, :, : len(pi)] @ pi - robot.gravity_vector(q[0])
    impulse = np.sum(motionless[:, 0]) * (rows.time[1] - rows.time[0])
    assert impulse == pytest.approx(-robot.mass_matrix(q[500])[0, 0] * 0.4, rel=0.02)


def test_an_average_of_the_recorder_is_made_up_for(robot: kd.Robot) -> None:
    t, q, qd, qdd = swing(robot)
    tau = robot.inverse_dynamics(q, qd, qdd)
    weights = np.exp(-0.5 * np.square(np.arange(-60, 61) * 0.005 / 0.06))
    weights /= weights.sum()
    late = np.column_stack([np.convolve(column, weights, 'same') for column in tau.T])
    motion = Motion(t[100:-100], q[100:-100], qd[100:-100], late[100:-100])
    pi = robot.inertial_parameters()

    def error(width: float) -> float:
        rows = regressor_rows(robot, motion, 0.02, terms=(), effort_width=width)
        return float(np.linalg.norm(rows.effort - rows.matrix @ pi))

    assert error(0.06) < 0.02 * error(0.0)


def test_what_does_not_fit_is_refused(robot: kd.Robot) -> None:
    t, q, qd, _ = swing(robot, 1.0)
    with pytest.raises(ShapeError, match='effort of motion has shape'):
        Motion(t, q, qd, q[:-1])
    with pytest.raises(NonFiniteError, match='qd of motion'):
        Motion(t, q, qd * np.nan, q)
    motion = Motion(t, q, qd, q)
    with pytest.raises(ParameterError, match='too short'):
        regressor_rows(robot, motion, 1e-4)
    with pytest.raises(ParameterError, match="no friction term 'dry'"):
        regressor_rows(robot, motion, 0.05, terms=('dry',))
    with pytest.raises(ParameterError, match='no form'):
        regressor_rows(robot, motion, 0.05, form='energy')
    assert len(regressor_rows(robot, motion.part(0, 10), 0.05)) == 0
    rows = regressor_rows(robot, motion, 0.05, terms=TERMS)
    twice = joined([rows, rows])
    assert len(twice) == 2 * len(rows) and list(np.unique(twice.group)) == [0.0, 1.0]
