# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""M_u, C_u, C*_u and g_u of constrained robots: identities, and mechanisms worked out by hand."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import sympy
from mechanisms import four_bar_text
from reduced_cases import (
    CRANK,
    DOWN,
    HOLONOMIC,
    MACHINES,
    ROD,
    crank_pose,
    slider_crank,
    states_of,
)

import kron_dynamics as kd
from kron_dynamics.constraints import Attachment, Coupling, PointLoop
from kron_dynamics.dual import jacobian_of

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize('name', MACHINES)
def test_matrices_are_the_parts_of_the_equations(name: str, assert_close: Any) -> None:
    robot = MACHINES[name]()
    m = robot.degrees_of_freedom
    for q, u, u_dot in states_of(robot):
        terms = robot.equations_of_motion(q, u)
        C, g = robot.velocity_free_coriolis_matrix(q), robot.gravity_vector(q)
        assert C.shape == (m, m * m)
        assert_close(robot.mass_matrix(q), terms.mass_matrix, 1e-13)
        assert_close(C @ np.kron(u, u) + g, terms.bias, 1e-12)
        assert_close(C @ np.kron(np.eye(m), u.reshape(-1, 1)), robot.coriolis_matrix(q, u), 1e-12)
        assert_close(robot.coriolis_matrix(q, u) @ u + g, terms.bias, 1e-12)
        general, qd = robot.constrained, robot.velocities(q, u)
        assert_close(robot.coriolis_matrix(q, u), general.coriolis_matrix(q, qd), 1e-11)
        B, B_q = robot.velocity_matrix(q), robot.velocity_matrix_derivative(q)
        assert_close(B @ u, qd, 1e-13)
        expected = robot.accelerations(q, u, u_dot)
        assert_close(B @ u_dot + B_q @ np.kron(u, u), expected, 1e-12)


@pytest.mark.parametrize('name', MACHINES)
def test_rate_of_mass_less_twice_coriolis_is_skew(name: str, assert_close: Any) -> None:
    """[P] eq. (36), in independent speeds; dM_u/dt by exact derivatives along the motion."""
    robot = MACHINES[name]()
    mass: Any = robot.mass_matrix
    for q, u, _ in states_of(robot):
        qd = robot.velocities(q, u)
        rate = jacobian_of(lambda t, q=q, qd=qd: mass.equation(q + t[0] * qd), [0.0])[1][..., 0]
        for C in (
            robot.coriolis_matrix(q, u),
            robot.velocity_free_coriolis_matrix(q).reshape(len(u), len(u), len(u)) @ u,
        ):
            skew = rate - 2 * C
            assert_close(skew, -skew.T, 1e-12, floor=np.abs(rate).max())


@pytest.mark.parametrize('name', HOLONOMIC)
def test_entries_are_christoffels_symbols_of_the_reduced_mass(
    name: str, assert_close: Any
) -> None:
    """From exact derivatives of M_u along the constraints, and those of V for gravity."""
    robot = HOLONOMIC[name]()
    mass: Any = robot.mass_matrix
    m = robot.degrees_of_freedom
    for q, _, _ in states_of(robot):
        B = robot.velocity_matrix(q)
        M, dM = jacobian_of(lambda p, q=q, B=B: mass.equation(q + B @ p), np.zeros(m))
        symbols = (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1)) / 2
        found = robot.velocity_free_coriolis_matrix(q).reshape(m, m, m)
        assert_close(found, symbols, 1e-11, floor=np.abs(M).max() * 1e-3)
        energy: Any = robot.constrained.robot.potential_energy
        slope = jacobian_of(lambda p, q=q, B=B, V=energy: V.equation(q + B @ p), np.zeros(m))[1]
        assert_close(robot.gravity_vector(q), slope, 1e-11)


@functools.cache
def lagrange() -> tuple[Any, ...]:
    """M, dM/d(angle), dV/d(angle), d2V and d2M of the slider-crank: one coordinate, by SymPy.

    The loop is gone before anything is differentiated: the slider is at r cos + sqrt(l^2 - ...).
    """
    angle, rate = sympy.symbols('angle rate')
    r, length = sympy.Rational(3, 10), sympy.Rational(8, 10)
    lean = sympy.asin(r * sympy.sin(angle) / length)
    end = sympy.Matrix([r * sympy.cos(angle), r * sympy.sin(angle)])
    slider = r * sympy.cos(angle) + length * sympy.cos(lean)

    def placed(x: float, y: float, turn: Any) -> Any:
        x, y = sympy.nsimplify(x), sympy.nsimplify(y)
        c, s = sympy.cos(turn), sympy.sin(turn)
        return sympy.Matrix([c * x - s * y, s * x + c * y])

    bodies = [
        (1.3, 0.02, placed(0.4 * CRANK, 0.03, angle), angle),
        (0.9, 0.04, end + placed(0.6 * ROD, -0.02, -lean), -lean),
        (2.2, 0.0, sympy.Matrix([slider, 0]), sympy.Integer(0)),
    ]
    M, V = sympy.Integer(0), sympy.Integer(0)
    for mass, inertia, center, turn in bodies:
        mass, inertia = sympy.nsimplify(mass), sympy.nsimplify(inertia)
        v = center.diff(angle)
        M += mass * v.dot(v) + inertia * turn.diff(angle) ** 2
        V += mass * sympy.nsimplify(9.81) * center[1]
    terms = [M, M.diff(angle), M.diff(angle, 2), V.diff(angle), V.diff(angle, 2)]
    terms += [slider.diff(angle), slider.diff(angle, 2)]
    return tuple(sympy.lambdify(angle, term, 'mpmath') for term in terms)


@pytest.mark.parametrize('angle', [0.7, 2.4, -1.1])
def test_slider_crank_with_its_loop_eliminated_by_hand(angle: float, assert_close: Any) -> None:
    M, M1, M2, V1, V2, x1, x2 = (float(term(angle)) for term in lagrange())
    robot = slider_crank('turn')
    q, w, a = np.array(crank_pose(angle)), 1.7, -0.6
    assert np.abs(robot.residual(q)).max() < 1e-14
    assert_close(robot.mass_matrix(q), [[M]], 1e-10)
    assert_close(robot.velocity_free_coriolis_matrix(q), [[M1 / 2]], 1e-10, floor=M)
    assert_close(robot.coriolis_matrix(q, [w]), [[M1 / 2 * w]], 1e-10, floor=M)
    assert_close(robot.gravity_vector(q), [V1], 1e-10, floor=1.0)
    force = M * a + M1 / 2 * w**2 + V1
    assert_close(robot.inverse_dynamics(q, [w], [a]), [force], 1e-10, floor=1.0)
    # A torque on the crank stays as it is; a force on the slider has a lever arm that changes.
    stiffness = M1 * a + M2 / 2 * w**2 + V2
    for name, lever, change in (('turn', 1.0, 0.0), ('slide', x1, x2)):
        found = slider_crank(name).linearization(q, [w], [a])
        assert_close(found.mass_matrix, [[M]], 1e-10)
        assert_close(found.damping_matrix, [[M1 * w]], 1e-10, floor=M)
        assert_close(found.transmission, [[lever]], 1e-10)
        assert_close(found.effort, [force / lever], 1e-10, floor=1.0)
        expected = stiffness - change * force / lever
        assert_close(found.stiffness_matrix, [[expected]], 1e-10, floor=1.0)


def geared_text(how: str) -> str:
    """Two skew joints in series, the second one free or a mimic of the first."""
    body = (
        '<inertial><origin xyz="0.2 0.1 0.05"/><mass value="1.7"/><inertia ixx="0.02" '
        'iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0.002"/></inertial>'
    )
    return f"""<robot name="geared"><link name="a"/><link name="b">{body}</link>
    <link name="c">{body}</link><joint name="first" type="continuous"><parent link="a"/>
    <child link="b"/><origin xyz="0 0 0.3" rpy="0.2 0 0"/><axis xyz="0 1 0.3"/></joint>
    <joint name="second" type="continuous"><parent link="b"/><child link="c"/>
    <origin xyz="0.4 0 0.1" rpy="0 0.5 0.1"/><axis xyz="1 0.2 0"/>{how}</joint></robot>"""


def test_a_gear_is_a_mimic_joint(assert_close: Any) -> None:
    """``second = -1.5 first + 0.3``, as a constraint and as a URDF says it."""
    mimic = kd.loads(geared_text('<mimic joint="first" multiplier="-1.5" offset="0.3"/>'))
    gear = Coupling('gear', {'second': 1.0, 'first': 1.5}, signal=0.3)
    robot = kd.ReducedRobot(
        kd.ConstrainedRobot(
            kd.loads(geared_text('')), [gear], independent=['first'], actuated=['first']
        )
    )
    for x, w, a in ((0.4, 1.2, -0.7), (-1.9, -0.8, 0.3)):
        q, state = np.array([x, 0.3 - 1.5 * x]), ([x], [w], [a])
        assert_close(robot.mass_matrix(q), mimic.mass_matrix([x]), 1e-12)
        assert_close(robot.coriolis_matrix(q, [w]), mimic.coriolis_matrix([x], [w]), 1e-12)
        assert_close(
            robot.velocity_free_coriolis_matrix(q), mimic.velocity_free_coriolis_matrix([x]), 1e-12
        )
        assert_close(robot.gravity_vector(q), mimic.gravity_vector([x]), 1e-12)
        found, expected = robot.linearization(q, [w], [a]), mimic.linearization(*state)
        assert_close(found.mass_matrix, expected.mass_matrix, 1e-12)
        assert_close(found.damping_matrix, expected.damping_matrix, 1e-12, floor=1.0)
        assert_close(found.stiffness_matrix, expected.stiffness_matrix, 1e-12, floor=1.0)
        assert_close(found.effort, expected.effort, 1e-12, floor=1.0)
        poles, others = robot.linearize(q, [w], [a]).poles(), mimic.linearize(*state).poles()
        np.testing.assert_allclose(poles, others, rtol=1e-11)


@pytest.mark.parametrize('name', ['five-bar', 'sleigh'])
def test_batches_and_floats_are_the_single_states(name: str, assert_close: Any) -> None:
    robot = MACHINES[name]()
    q, u, u_dot = map(np.array, zip(*states_of(robot, 18), strict=True))
    cases: dict[str, tuple[Any, ...]] = {
        'mass_matrix': (q,),
        'velocity_free_coriolis_matrix': (q,),
        'coriolis_matrix': (q, u),
        'gravity_vector': (q,),
        'velocity_matrix': (q,),
        'velocity_matrix_derivative': (q,),
    }
    if name != 'sleigh':
        cases['linearization'] = (q, u, u_dot)
    for method, arguments in cases.items():
        call: Any = getattr(robot, method)
        batch = call(*arguments)
        for k in (0, 7, 17):
            single = call(*(x[k] for x in arguments))
            plain = call.equation(*(x[k] for x in arguments))
            parts = [x if isinstance(x, tuple) else [x] for x in (batch, single, plain)]
            for of_all, alone, on_floats in zip(*parts, strict=True):
                assert_close(of_all[k], alone, 1e-12, floor=1e-6)
                assert_close(on_floats, alone, 1e-11, floor=1e-6)


def test_payloads_count_in_the_matrices(assert_close: Any) -> None:
    pin = PointLoop(
        'pin',
        Attachment('coupler', (0.9, 0.0, 0.0)),
        Attachment('rocker', (0.7, 0.0, 0.0)),
        components='xy',
    )
    options: dict[str, Any] = {'start': (0.9, -0.4, 1.5), 'independent': ['j1']}
    robot = kd.loads(four_bar_text(), gravity=DOWN)
    carrying = kd.CarryingRobot(robot, 'rocker')
    carrying.set_payload('rocker', (2.0, (0.4, 0.1, 0.0)))
    loaded, empty = (
        kd.ReducedRobot(kd.ConstrainedRobot(r, [pin], **options)) for r in (carrying, robot)
    )
    q = loaded.constrained.start
    rocker = loaded.velocity_matrix(q)[2, 0]
    added = 2.0 * (0.4**2 + 0.1**2) * rocker**2
    assert_close(loaded.mass_matrix(q) - empty.mass_matrix(q), [[added]], 1e-10)
    lean = q[2]
    weight = 2.0 * 9.81 * (0.4 * np.cos(lean) - 0.1 * np.sin(lean)) * rocker
    assert_close(loaded.gravity_vector(q) - empty.gravity_vector(q), [weight], 1e-10)
    slopes = [r.linearization(q, [1.0], [0.3]).mass_matrix for r in (loaded, empty)]
    assert_close(slopes[0] - slopes[1], [[added]], 1e-10)


def test_on_symbols_too(assert_close: Any) -> None:
    """The same functions on SymPy's numbers, to 40 digits."""
    robot = slider_crank('turn')
    exact: Any = robot.velocity_free_coriolis_matrix
    q = np.array(crank_pose(0.7))
    symbols = np.array([sympy.Float(x, 40) for x in q], dtype=object)
    found = exact.equation(symbols)
    assert isinstance(found[0, 0], sympy.Float)
    assert_close(float(found[0, 0]), exact(q)[0, 0], 1e-12)
