# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""[P] against the reference vectors, computed by other programs with more digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from shared.claims import relative
from shared.vectors import Row, cases

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics
from kron_dynamics.constraints import BladeConstraint, PointLoop
from kron_dynamics.dynamics import CentralField, Wrench
from kron_dynamics.elementary import cos, sin
from kron_dynamics.model import load_model

SLEIGH = """
<robot name="sleigh"><link name="ground"/><link name="along"/><link name="across"/>
  <joint name="x" type="prismatic"><parent link="ground"/><child link="along"/>
    <axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>
  <joint name="y" type="prismatic"><parent link="along"/><child link="across"/>
    <axis xyz="0 1 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>
  <joint name="turn" type="continuous"><parent link="across"/><child link="sleigh"/>
    <axis xyz="0 0 1"/></joint>
  <link name="sleigh"><inertial><origin xyz="{a} 0 0"/><mass value="{m}"/>
    <inertia ixx="{I}" iyy="{I}" izz="{I}" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


def rows() -> list[Row]:
    """Return the comparisons with all vectors for the equations of the paper."""
    return [
        *(_row(c, '(5)-(11), (39), (42)-(46)', FourBar(c).found()) for c in cases('fourbar')),
        *(_row(c, '(5)-(11), (39), (42)-(46)', _sleigh(c)) for c in cases('pfaffian')),
        *(_row(c, '(27), 3.2', _field(c)) for c in cases('gravity_field')),
        *(_row(c, '(28), (31)', _wrench(c)) for c in cases('external_wrench')),
        *(_row(c, '(B-9), (B-10)', _quaternion(c)) for c in cases('quaternion')),
    ]


def _row(case: Any, equations: str, found: dict[str, Any]) -> Row:
    expected = case['expected']
    assert found.keys() == expected.keys()
    errors = [relative(value, expected[name]) for name, value in found.items()]
    return Row(case['id'], equations, tuple(found), max(errors))


class FourBar:
    """A four-bar of the vectors, whose pin may move over time.

    Attributes:
        case: the vector.
        closed: the robot with its pin.
        q: coordinates.
        qd: rates.
        tau: efforts.
    """

    def __init__(self, case: Any) -> None:
        """Close the loop."""
        given, closure = case['inputs'], case['inputs']['closure']
        robot = kd.loads(given['urdf'], gravity=given['gravity'], joints=given['joint_order'])

        def opening(t: Any) -> Any:
            s = closure['s'] + closure['sdot'] * t + closure['sddot'] * t * t / 2
            return np.array([s, 0 * t])

        frames = closure['frame_a'], closure['frame_b']
        pin = PointLoop('pin', *frames, components='xy', base_axes=True, signal=opening)
        self.case, self.q = case, np.array(given['q'])
        self.closed = kd.ConstrainedRobot(
            robot, [pin], start=self.q, independent=[given['independent']]
        )
        self.qd = self.closed.velocities(self.q, [given['u']])
        self.tau = np.array(given['tau'])

    def found(self) -> dict[str, Any]:
        """Return the results for the entries of the vector, by name."""
        robot, q, qd = self.closed.robot, self.q, self.qd
        terms, speeds = self.closed.terms(q, qd), self.closed.speeds(q, qd)
        motion = self.closed.forward_dynamics(q, qd, self.tau)
        return {
            'A': terms.A,
            'Adot': terms.A_dot,
            'b': terms.b,
            'bdot': terms.b_dot,
            'B': speeds.B[:, 0],
            'd': speeds.d,
            'Bdot_u_plus_ddot': speeds.gamma,
            'M': robot.mass_matrix(q),
            'h': robot.coriolis_vector(q, qd),
            'g': robot.gravity_vector(q),
            'qd': qd,
            'qdd': motion.qdd,
            'udot': motion.qdd[0],
            'lam': motion.multipliers,
            'M_reduced': self.closed.mass_matrix(q)[0, 0],
        }


def _sleigh(case: Any) -> dict[str, Any]:
    given = case['inputs']
    robot = kd.loads(SLEIGH.format(**given), gravity=(0, 0, 0))
    closed = kd.ConstrainedRobot(
        robot,
        [BladeConstraint('blade', 'sleigh', (0.0, 1.0, 0.0))],
        independent=lambda q, t: np.array([[cos(q[2]), sin(q[2]), 0], [0, 0, 1]]),
    )
    q, u = np.array(given['q']), np.array(given['u'])
    qd = closed.velocities(q, u)
    motion, speeds = closed.forward_dynamics(q, qd, np.zeros(3)), closed.speeds(q, qd)
    s, c = np.sin(q[2]), np.cos(q[2])
    speeds_rate = [[c, s, 0], [0, 0, 1]] @ motion.qdd + [(c * qd[1] - s * qd[0]) * qd[2], 0]
    return {
        'M': robot.mass_matrix(q),
        'h': robot.coriolis_vector(q, qd),
        'qd': qd,
        'udot': speeds_rate,
        'qdd': motion.qdd,
        'lam': motion.multipliers,
        'A': closed.terms(q, qd).A,
        'Bdot': speeds.B_dot,
    }


def _field(case: Any) -> dict[str, Any]:
    given = case['inputs']
    model, q = load_model(given['urdf'], joints=given['joint_order']), given['q']
    field = CentralField(given['mu'], tuple(given['centre']))
    return {
        'f_point_mass': dynamics.field_forces(model, q, field),
        'f_with_gradient': dynamics.field_forces(model, q, field, extended=True),
        'V_point_mass': dynamics.central_field_potential(model, q, field),
        'V_with_gradient': dynamics.central_field_potential(model, q, field, extended=True),
    }


def _wrench(case: Any) -> dict[str, Any]:
    given = case['inputs']
    model = load_model(given['urdf'], gravity=given['gravity'], joints=given['joint_order'])
    q, qd, qdd = (np.array(given['state'][key]) for key in ('q', 'qd', 'qdd'))
    wrench = Wrench(given['link'], given['force_body'], given['moment_body'])
    f = dynamics.wrench_forces(model, q, [wrench])
    return {'f_ext': f, 'tau_actuator': dynamics.inverse_dynamics(model, q, qd, qdd) - f}


def _quaternion(case: Any) -> dict[str, Any]:
    first, second = case['inputs']['eta1'], case['inputs']['eta2']
    return {
        'star': kinematics.star(first, second),
        'times': kinematics.times(first, second),
    }
