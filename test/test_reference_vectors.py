# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reference vectors, computed elsewhere in 80 digits from particles and power series."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np
import pytest
from compiled_together import compile_together
from public_vectors import cases_of

from kron_dynamics.dynamics import (
    acceleration_energy,
    appell_forces,
    appell_rate_terms,
    direct_velocity_free_matrix,
    forward_jerk,
    lagrange_coriolis_matrix,
    lagrange_velocity_free_matrix,
    linearization,
    reduced_coriolis_matrix,
    second_order_acceleration_energy,
)
from kron_dynamics.kinematics import relative_jacobian, relative_jacobian_derivative
from kron_dynamics.linearized import LinearizedModel

RIGID_KINDS = ('stacker', '2tr', 'urdf_chain', 'urdf_tree', 'urdf_mimic')
RIGID = cases_of(*RIGID_KINDS)
STACKER = cases_of('stacker')
CHAINS = cases_of('urdf_chain', 'urdf_tree', 'urdf_mimic')
# Robots whose kernels run uncompiled, but for --long: test_robot.py holds compiled code of such
# robots against the equations, which is what these vectors are for.
INTERPRETED = ('rprrp', 'mimic4')
COMPILED = (
    *('mass_matrix', 'coriolis_vector', 'gravity_vector', 'inverse_dynamics', 'kinetic_energy'),
    *('forward_dynamics', 'velocity_free_coriolis_matrix', 'mass_matrix_derivative'),
    *('inverse_dynamics_rate', 'pose', 'velocity', 'acceleration', 'jerk'),
    *('jacobian', 'kinematic_hessian'),
)


def inertial(mass: float, center: tuple[float, ...], moments: tuple[float, ...]) -> str:
    return (
        f'<inertial><origin xyz="{center[0]!r} {center[1]!r} {center[2]!r}"/>'
        f'<mass value="{mass!r}"/><inertia ixx="{moments[0]!r}" iyy="{moments[1]!r}" '
        f'izz="{moments[2]!r}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def moving(name: str, kind: str, parent: str, child: str, axis: str, origin: str = '') -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin {origin}/><axis xyz="{axis}"/>'
        f'<limit lower="-9" upper="9" effort="1e6" velocity="9"/></joint>'
    )


def stacker_urdf(case: dict[str, Any]) -> str:
    """A Denavit-Hartenberg row is a joint about or along z, then a fixed placement.

    T = Rz(theta) Tz(d) Tx(a) Rx(alpha): what stands beside the variable goes into the fixed
    joint, whose child is the paper's frame. A row whose d varies slides along z.
    """
    p = case['inputs']['params']

    def number(text: Any) -> float:
        return pi / 2 if text == 'pi/2' else float(p.get(text, text))

    bodies = {
        1: inertial(p['m1'], (0, 0, 0), (1e3, 1e3, 1e3)),
        2: inertial(p['m2'], (0, p['y_G2'], 0), (p['I2x'], p['I2y'], p['I2z'])),
        3: inertial(p['m3'], (p['l3'] - p['a3'], 0, 0), (p['I3x'], p['I3y'], p['I3z'])),
    }
    parts = ['<link name="frame0"/>']
    for i, (d, theta, a, alpha) in enumerate(case['inputs']['dh'], start=1):
        slides = d == f'q{i}'
        kind, raised = ('prismatic', 0.0) if slides else ('revolute', number(d))
        assert slides or theta == f'q{i}'
        placement = f'xyz="{number(a)!r} 0 {raised!r}" rpy="{number(alpha)!r} 0 0"'
        parts += [
            f'<link name="moved{i}"/>',
            moving(f'q{i}', kind, f'frame{i - 1}', f'moved{i}', '0 0 1'),
            f'<link name="frame{i}">{bodies[i]}</link>',
            f'<joint name="row{i}" type="fixed"><parent link="moved{i}"/>'
            f'<child link="frame{i}"/><origin {placement}/></joint>',
        ]
    return f'<robot name="stacker">{"".join(parts)}</robot>'


def two_tr_urdf(case: dict[str, Any]) -> str:
    """Slides along x and z, then a turn about z of a flat body with its centre at a2."""
    p = case['inputs']['params']
    # The planar second moments of the vectors, as principal moments about the mass centre.
    flat = (p['I_yy'], p['I_xx'], p['I_xx'] + p['I_yy'])
    return (
        '<robot name="two_tr"><link name="ground"/>'
        f'<link name="cross">{inertial(p["M1"], (0, 0, 0), (1, 1, 1))}</link>'
        f'<link name="lift">{inertial(p["M2"], (0, 0, 0), (1, 1, 1))}</link>'
        f'<link name="arm">{inertial(p["M3"], (p["a2"], 0, 0), flat)}</link><link name="C3"/>'
        + moving('q1', 'prismatic', 'ground', 'cross', '1 0 0')
        + moving('q2', 'prismatic', 'cross', 'lift', '0 0 1')
        + moving('q3', 'revolute', 'lift', 'arm', '0 0 1')
        + '<joint name="tip" type="fixed"><parent link="arm"/><child link="C3"/>'
        f'<origin xyz="{p["a2"]!r} 0 0"/></joint></robot>'
    )


def description(case: dict[str, Any]) -> tuple[str, tuple[str, ...], str]:
    """URDF text, joint order and end effector of a case."""
    if case['kind'] == 'stacker':
        return stacker_urdf(case), ('q1', 'q2', 'q3'), 'frame3'
    if case['kind'] == '2tr':
        return two_tr_urdf(case), ('q1', 'q2', 'q3'), 'C3'
    inputs = case['inputs']
    return inputs['urdf'], tuple(inputs['joint_order']), inputs['end_effector']


class Case:
    """A robot, its end effector, a state and the numbers expected of them."""

    def __init__(self, case: dict[str, Any], make_robot: Callable[..., Any]) -> None:
        self.text, self.joints, tip = description(case)
        self.robot = make_robot(self.text, case['inputs']['gravity'], self.joints)
        compile_together(self.robot, tip, *COMPILED)
        self.tip = self.robot.frame(tip)
        state = case['inputs']['state']
        self.q, self.qd, self.qdd, self.qddd = (
            np.array(state[key]) for key in ('q', 'qd', 'qdd', 'qddd')
        )
        self.expected = case['expected']


@pytest.fixture(params=RIGID, ids=lambda case: case['id'])
def case(
    request: pytest.FixtureRequest, make_robot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> Case:
    if request.param['id'].startswith(INTERPRETED) and not request.config.getoption('--long'):
        monkeypatch.setenv('CC', 'no-compiler')
    return Case(request.param, make_robot)


@pytest.fixture(params=STACKER, ids=lambda case: case['id'])
def stacker(request: pytest.FixtureRequest, make_robot: Callable[..., Any]) -> Case:
    return Case(request.param, make_robot)


def test_mass_matrix(case: Case, assert_close: Any) -> None:
    assert_close(case.robot.mass_matrix(case.q), case.expected['M'])


def test_coriolis_vector(case: Case, assert_close: Any) -> None:
    assert_close(case.robot.coriolis_vector(case.q, case.qd), case.expected['h'])


def test_gravity_vector(case: Case, assert_close: Any) -> None:
    assert_close(case.robot.gravity_vector(case.q), case.expected['g'])


def test_inverse_dynamics(case: Case, assert_close: Any) -> None:
    tau = case.robot.inverse_dynamics(case.q, case.qd, case.qdd)
    assert_close(tau, case.expected['tau'])


def test_forward_dynamics(case: Case, assert_close: Any) -> None:
    qdd = case.robot.forward_dynamics(case.q, case.qd, np.array(case.expected['tau']))
    assert_close(qdd, case.qdd, rel=1e-11)  # the efforts are rounded, M^-1 magnifies that


def test_kinetic_energy(case: Case, assert_close: Any) -> None:
    assert_close(case.robot.kinetic_energy(case.q, case.qd), case.expected['T'])


def reduced(C: np.ndarray) -> np.ndarray:
    """The part of C* that is unique: columns (i, i), and (i, j) + (j, i) for i < j."""
    n = len(C)
    symbols = C.reshape(n, n, n)
    columns = [
        symbols[:, i, i] if i == j else symbols[:, i, j] + symbols[:, j, i]
        for i in range(n)
        for j in range(i, n)
    ]
    return np.stack(columns, axis=1)


def test_velocity_free_coriolis_matrix_reduced(case: Case, assert_close: Any) -> None:
    C = case.robot.velocity_free_coriolis_matrix(case.q)
    assert_close(reduced(C), case.expected['Cstar_reduced'])


def test_mass_matrix_derivative_gives_the_papers_form_of_cstar(
    case: Case, assert_close: Any
) -> None:
    # [T] eq. (101): C*[a, (i, j)] = d M_ai / d q_j - 1/2 d M_ij / d q_a.
    n = case.robot.n
    dM = case.robot.mass_matrix_derivative(case.q).reshape(n, n, n)
    form_101 = dM - 0.5 * dM.transpose(2, 0, 1)
    assert_close(form_101.reshape(n, n * n), case.expected['Cstar'])


def test_end_effector_pose(case: Case, assert_close: Any) -> None:
    pose = case.tip.pose(case.q)
    assert_close(pose[:3, 3], case.expected['ee']['position'])
    assert_close(pose[:3, :3], case.expected['ee']['rotation'])
    np.testing.assert_array_equal(pose[3], [0, 0, 0, 1])


def test_end_effector_velocity(case: Case, assert_close: Any) -> None:
    velocity = case.tip.velocity(case.q, case.qd)
    assert_close(velocity[:3], case.expected['ee']['velocity'])
    assert_close(velocity[3:], case.expected['ee']['omega'])


def test_end_effector_acceleration(case: Case, assert_close: Any) -> None:
    acceleration = case.tip.acceleration(case.q, case.qd, case.qdd)
    assert_close(acceleration[:3], case.expected['ee']['acceleration'])
    assert_close(acceleration[3:], case.expected['ee']['omega_dot'])


def test_end_effector_jerk(case: Case, assert_close: Any) -> None:
    jerk = case.tip.jerk(case.q, case.qd, case.qdd, case.qddd)
    assert_close(jerk[:3], case.expected['ee']['jerk'])
    assert_close(jerk[3:], case.expected['ee']['omega_ddot'])


@pytest.mark.parametrize('case', CHAINS, indirect=True, ids=lambda case: case['id'])
def test_end_effector_jacobians_and_hessians(case: Case, assert_close: Any) -> None:
    expected = case.expected['ee']
    J, H = case.tip.jacobian(case.q), case.tip.kinematic_hessian(case.q)
    assert_close(J[:3], expected['J_T'])
    assert_close(J[3:], expected['J_R'])
    assert_close(H[:3], expected['H_T'])
    assert_close(H[3:], expected['H_R'])
    model, base, tip = case.robot.model, case.robot.model.root_link, case.tip.name
    # [T] eqs. (40), (61): derivatives of what has body axes.
    J_body = relative_jacobian(model, case.q, tip, base, axes=tip)
    H_body = relative_jacobian_derivative(model, case.q, tip, base, axes=tip)
    assert_close(J_body[3:], expected['J_R_body'])
    assert_close(H_body[3:], expected['H_R_body'])


def test_rates_of_efforts_and_of_gravity(case: Case, assert_close: Any) -> None:
    """d tau/dt = M_L qddd + D_L qdd + K_L qd, with the terms of [K] eqs. (63)-(67)."""
    model, q, qd, qdd = case.robot.model, case.q, case.qd, case.qdd
    terms = linearization(model, q, qd, qdd)
    rate = terms.mass_matrix @ case.qddd + terms.damping_matrix @ qdd + terms.stiffness_matrix @ qd
    assert_close(rate, case.expected['dtau_dt'])
    at_rest = linearization(model, q, np.zeros_like(q), np.zeros_like(q))
    floor = np.abs(case.expected['g']).max()
    assert_close(at_rest.stiffness_matrix @ qd, case.expected['dg_dt'], floor=floor)


def test_third_order(case: Case, assert_close: Any) -> None:
    """By recursion and by the energies of acceleration.  [N] (64), (65)."""
    motion, expected = (case.q, case.qd, case.qdd, case.qddd), case.expected
    assert_close(case.robot.inverse_dynamics_rate(*motion), expected['dtau_dt'])
    # The rest on floats: every kernel more takes a second to compile.
    model = case.robot.model
    assert_close(acceleration_energy(model, *motion[:3]), expected['E_A1'])
    assert_close(second_order_acceleration_energy(model, *motion), expected['E_A2'])
    terms = appell_rate_terms(model, *motion)
    assert_close(terms.by_jerk, expected['dE_A2_dqddd'])
    assert_close(2 * terms.by_rate, expected['dE_A1_dqd'])
    floor = np.abs(expected['g']).max()
    assert_close(terms.gravity, expected['dg_dt'], floor=floor)
    assert_close(appell_forces(model, motion[:3]), expected['dE_A1_dqdd'])
    # The efforts and their rates are rounded, M^-1 magnifies that twice.
    efforts = np.array(expected['tau']), np.array(expected['dtau_dt'])
    assert_close(forward_jerk(model, case.q, case.qd, *efforts), case.qddd, rel=1e-10)


def test_stacker_jacobians_and_hessians(stacker: Case, assert_close: Any) -> None:
    J, H = stacker.tip.jacobian(stacker.q), stacker.tip.kinematic_hessian(stacker.q)
    assert_close(J[:3], stacker.expected['J_T3'])
    assert_close(J[3:], stacker.expected['J_R3'])
    assert_close(H[:3], stacker.expected['H_T3'])
    assert_close(H[3:], stacker.expected['H_R3'])


def test_stacker_coriolis_matrix_is_the_christoffel_one(stacker: Case, assert_close: Any) -> None:
    C = stacker.robot.coriolis_matrix(stacker.q, stacker.qd)
    assert_close(C, stacker.expected['C_christoffel'])


def test_stacker_mdot(stacker: Case, assert_close: Any) -> None:
    dM = stacker.robot.mass_matrix_derivative(stacker.q)
    n = stacker.robot.n
    assert_close(dM @ np.kron(np.eye(n), stacker.qd[:, None]), stacker.expected['Mdot'])


def test_stacker_gravity_along_another_axis(
    stacker: Case, make_robot: Callable[..., Any], assert_close: Any
) -> None:
    robot = make_robot(stacker.text, (0.0, 0.0, -9.81), stacker.joints)
    assert_close(robot.gravity_vector(stacker.q), stacker.expected['g_if_up_is_plus_z0'])


def test_stacker_body_axes_matrices(stacker: Case, assert_close: Any) -> None:
    model, q, expected = stacker.robot.model, stacker.q, stacker.expected
    base, tip = model.root_link, stacker.tip.name
    J = relative_jacobian(model, q, tip, base, axes=tip)
    assert_close(J[3:], expected['J_R3_body'])
    H = relative_jacobian_derivative(model, q, tip, base, axes=tip)
    assert_close(H[3:], expected['H_R3_body'])


def test_stacker_coriolis_forms_of_the_paper(stacker: Case, assert_close: Any) -> None:
    model, q, qd, expected = stacker.robot.model, stacker.q, stacker.qd, stacker.expected
    assert_close(lagrange_coriolis_matrix(model, q, qd), expected['C_eq97'])


def test_c_star_of_eq_101_and_its_reduced_form(case: Case, assert_close: Any) -> None:
    model, expected = case.robot.model, case.expected
    C = lagrange_velocity_free_matrix(model, case.q)
    assert_close(C, expected['Cstar'])
    for form in (lagrange_velocity_free_matrix, direct_velocity_free_matrix):
        reduced = reduced_coriolis_matrix(form(model, case.q))
        assert_close(reduced, expected['Cstar_reduced'])


LINEARIZED = cases_of('stacker_linearisation')


@pytest.mark.parametrize('case', LINEARIZED, ids=lambda case: case['id'])
def test_stacker_linearization(
    case: dict[str, Any], make_robot: Callable[..., Any], assert_close: Any
) -> None:
    inputs, expected = case['inputs'], case['expected']
    text = stacker_urdf({'inputs': inputs | {'dh': STACKER[0]['inputs']['dh']}})
    robot = make_robot(text, inputs['gravity'], ('q1', 'q2', 'q3'))
    motion = [np.array(inputs['state'][name]) for name in ('q', 'qd', 'qdd')]
    linear = LinearizedModel.about(robot.model, robot.linearization(*motion), motion)
    assert_close(linear.mass, expected['M_L'])
    assert_close(linear.damping, expected['D_L'])
    assert_close(linear.stiffness, expected['K_L'])
    assert_close(linear.effort, expected['minus_h_L_plus_tau'])
    system = linear.state_space()
    assert_close(system.A, expected['A'])
    assert_close(system.B, expected['B'])
    np.testing.assert_array_equal(system.C, np.eye(3, 6))
    np.testing.assert_array_equal(system.D, np.zeros((3, 3)))
