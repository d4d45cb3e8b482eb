# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kane's equations body by body, against the composite forms and against derivatives."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from pinocchio_oracle import arm_text
from public_vectors import cases_of

import kron_dynamics as kd
from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics import (
    Wrench,
    coriolis_vector,
    gravity_vector,
    inverse_dynamics,
    kane_bodies,
    kane_coriolis_matrix,
    kane_energy_terms,
    kane_inertia_forces,
    kane_terms,
    kinetic_energy,
    lagrange_mass_matrix,
    mass_matrix,
    mass_matrix_derivative,
    wrench_forces,
)
from kron_dynamics.kernels.interpreted import Interpreted
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.kinematics import jacobian, relative_jacobian
from kron_dynamics.kronecker import contract_last, skew
from kron_dynamics.model import load_model

ROOT = Path(__file__).parents[2]
REAL = {'stacker': 'urdf/stacker_reclaimer.urdf', 'ur5': 'ur5_robot.urdf', 'panda': 'panda.urdf'}


def real_model(name: str) -> Any:
    text = (ROOT / REAL[name]).read_text() if name == 'stacker' else arm_text(REAL[name])
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', kd.ModelWarning)
        return load_model(text)


def printed_kane_terms(model: Any, q: Any, qd: Any) -> tuple[Any, Any, Any]:
    """M, h and C of [P] eqs. (35), (36) letter by letter, with [P] eqs. (13)-(16), (21), (25).

    J_i = [J_w; J_v], J_w in the axes of the body and J_v, of its mass centre, in those of the
    base; its rate is that of these components. M_i = diag(I_i, m E), W_i = diag([w x], 0).
    """
    M, h, C = np.zeros((model.n, model.n)), np.zeros(model.n), np.zeros((model.n, model.n))
    # The link that a joint moves has the frame of the body.
    first = {frame.body: name for name, frame in reversed(model.frames.items())}
    for k, body in enumerate(model.bodies):
        link = first[k]

        def J_i(x: Any, link: str = link, center: Any = body.center_of_mass) -> Any:
            J_w = relative_jacobian(model, x, link, model.root_link, axes=link)[3:]
            return np.concatenate([J_w, jacobian(model, x, link, center)[:3]])

        J, dJ = jacobian_of(J_i, q)
        M_i, W_i = np.zeros((2, 6, 6))
        M_i[:3, :3], M_i[3:, 3:] = body.inertia, body.mass * np.eye(3)
        W_i[:3, :3] = skew(J[:3] @ qd)
        M += J.T @ M_i @ J
        h += J.T @ (M_i @ (dJ @ qd) + W_i @ M_i @ J) @ qd
        C += J.T @ (M_i @ (dJ @ qd) + W_i @ M_i @ J + M_i @ W_i @ J)
    return M, h, C


@given(data=st.data())
def test_terms_are_the_printed_ones(data: Any, random_robots: Any, assert_close: Any) -> None:
    """[P] (13)-(16), (21), (25), (34)-(38).

    Christoffel's C + 3 [qd x] has the same C qd and a skew dM/dt - 2C too.
    """
    model, s = data.draw(random_robots)
    M, h, C = printed_kane_terms(model, s.q, s.qd)
    terms = kane_terms(model, s.q, s.qd)
    assert_close(terms.C, C, 1e-11, floor=1.0)
    assert_close(kane_coriolis_matrix(model, s.q, s.qd), C, 1e-11, floor=1.0)
    assert_close(terms.M - np.diag(model.armature), M, 1e-12)
    assert_close(lagrange_mass_matrix(model, s.q), terms.M, 1e-12)
    assert_close(terms.h, h, 1e-11, floor=1.0)
    assert_close(C @ s.qd, h, 1e-11, floor=1.0)


@pytest.mark.parametrize('name', REAL)
def test_terms_of_real_robots_are_the_composite_ones(
    name: str, rng: np.random.Generator, assert_close: Any
) -> None:
    """[P] (32), (34), (37), (38) with a skew dM/dt - 2C, rotors included."""
    model = real_model(name)
    for q, qd, qdd in rng.uniform(-1.2, 1.2, (2, 3, model.n)):
        M, h, C = kane_terms(model, q, qd)
        assert_close(M, mass_matrix(model, q), 1e-11)
        c = coriolis_vector(model, q, qd)
        assert_close(h, c, 1e-11, floor=1e-3)
        assert_close(C @ qd, c, 1e-11, floor=1e-3)
        S = contract_last(mass_matrix_derivative(model, q), qd) - 2 * C
        np.testing.assert_allclose(S, -S.T, atol=1e-11 * np.abs(C).max())
        tau = inverse_dynamics(model, q, qd, qdd) - gravity_vector(model, q)
        assert_close(kane_inertia_forces(model, q, qd, qdd), tau, 1e-11)


@pytest.mark.parametrize('case', cases_of('urdf_mimic'), ids=lambda case: case['id'])
def test_reference_vectors_with_mimic_joints(case: Any, assert_close: Any) -> None:
    # [P] eqs. (34), (35)
    inputs, expected = case['inputs'], case['expected']
    model = load_model(inputs['urdf'], gravity=inputs['gravity'], joints=inputs['joint_order'])
    q, qd, qdd = (np.array(inputs['state'][key]) for key in ('q', 'qd', 'qdd'))
    terms = kane_terms(model, q, qd)
    assert_close(terms.M, expected['M'], 1e-12)
    assert_close(terms.h, expected['h'], 1e-12)
    assert_close(terms.C @ qd, expected['h'], 1e-12)
    assert_close(kane_energy_terms(model, q, qd, qdd).kinetic_energy, expected['T'], 1e-12)
    f = kane_inertia_forces(model, q, qd, qdd) + gravity_vector(model, q)
    assert_close(f, expected['tau'], 1e-12)


def test_velocities_and_accelerations_of_a_body(
    model: Any, state: Any, derivative: Any, assert_close: Any
) -> None:
    """[P] (13)-(16): T of velocities; their rates along a motion are J qdd + dJ/dt qd."""

    def velocities(t: float) -> Any:
        q = state.q + state.qd * t + state.qdd * t**2 / 2
        qd = state.qd + state.qdd * t
        return np.array([body.velocity(qd) for body in kane_bodies(model, q, qd)])

    rates = derivative(velocities)
    bodies = list(kane_bodies(model, state.q, state.qd))
    found = np.array([body.acceleration(state.qd, state.qdd) for body in bodies])
    assert_close(found, rates, 1e-8, floor=1.0)
    for k, body in enumerate(bodies):
        # Newton and Euler, [P] (33), with these measured rates.
        own, (omega, v) = model.bodies[k], np.split(velocities(0.0)[k], 2)
        euler = own.inertia @ rates[k, :3] + np.cross(omega, own.inertia @ omega)
        wrench = body.inertia_wrench(state.qd, state.qdd)
        scale = 1.0 + np.abs(own.inertia).max() + own.mass
        assert_close(wrench, [*euler, *(own.mass * rates[k, 3:])], 1e-8, floor=scale)
        place = jacobian_of(lambda q, k=k: list(kane_bodies(model, q, 0 * q))[k].center, state.q)
        assert_close(place[1] @ state.qd, v, 1e-10, floor=1.0)


@given(data=st.data())
def test_lagranges_terms_are_derivatives_of_the_kinetic_energy(
    data: Any, random_robots: Any, derivative: Any, assert_close: Any
) -> None:
    """[P] (12), (13), (19), (20), (22), (23), (24), (29), (30)."""
    model, s = data.draw(random_robots)
    terms = kane_energy_terms(model, s.q, s.qd, s.qdd)
    assert_close(terms.kinetic_energy, kinetic_energy(model, s.q, s.qd), 1e-12, floor=1e-3)

    def momentum(q: Any, qd: Any) -> Any:
        return jacobian_of(lambda rates: kinetic_energy(model, q, rates), qd)[1]

    assert_close(terms.momentum, momentum(s.q, s.qd), 1e-11, floor=1e-3)
    rate = derivative(lambda t: momentum(s.q + s.qd * t + s.qdd * t**2 / 2, s.qd + s.qdd * t))
    assert_close(terms.momentum_rate, rate, 1e-8, floor=1.0)
    by_q = jacobian_of(lambda q: kinetic_energy(model, q, s.qd), s.q)[1]
    assert_close(terms.energy_gradient, by_q, 1e-11, floor=1.0)
    f = inverse_dynamics(model, s.q, s.qd, s.qdd) - gravity_vector(model, s.q)
    assert_close(terms.momentum_rate - terms.energy_gradient, f, 1e-10, floor=1.0)


def test_rotors_count_in_all_terms(robot_text: Any, rng: Any, assert_close: Any) -> None:
    model = load_model(robot_text('spatial_3r'), armature={'waist': 0.7, 'wrist': 0.2})
    q, qd, qdd = rng.uniform(-1, 1, (3, model.n))
    assert_close(kane_terms(model, q, qd).M, mass_matrix(model, q), 1e-12)
    tau = inverse_dynamics(model, q, qd, qdd) - gravity_vector(model, q)
    assert_close(kane_inertia_forces(model, q, qd, qdd), tau, 1e-12)
    terms = kane_energy_terms(model, q, qd, qdd)
    assert_close(terms.momentum_rate - terms.energy_gradient, tau, 1e-12)
    assert_close(terms.momentum, mass_matrix(model, q) @ qd, 1e-12)
    assert_close(terms.kinetic_energy, kinetic_energy(model, q, qd), 1e-12)


def test_partial_velocities_project_the_equations(
    model: Any, state: Any, rng: Any, assert_close: Any
) -> None:
    """[P] (42)-(46): the work of d/dt(momenta) and of wrenches, by motions dq = B du.

    T_i = J_i B by the places and axes of the bodies next to q.
    """
    q, B = state.q, rng.normal(size=(model.n, 2))
    forces, moments = rng.normal(size=(2, len(model.bodies), 3))
    first = {frame.body: name for name, frame in reversed(model.frames.items())}

    def poses(change: Any) -> Any:
        bodies = list(kane_bodies(model, q + B @ change, 0 * q))
        return np.array([np.concatenate([b.center[:, None], b.rotation], 1) for b in bodies])

    at_rest, slopes = jacobian_of(poses, np.zeros(2))
    inertia, work, wrenches = np.zeros(2), np.zeros(2), []
    for k, body in enumerate(kane_bodies(model, q, state.qd)):
        R = at_rest[k, :, 1:]
        v, turn = slopes[k, :, 0], np.tensordot(R.T, slopes[k, :, 1:], 1)
        T = np.concatenate([[turn[2, 1], turn[0, 2], turn[1, 0]], v])
        assert_close(body.J @ B, T, 1e-11, floor=1.0)
        inertia = inertia + T.T @ body.inertia_wrench(state.qd, state.qdd)
        work = work + T.T @ np.concatenate([moments[k], R @ forces[k]])
        center = model.bodies[k].center_of_mass
        wrenches.append(Wrench(first[k], forces[k], moments[k], center))
    rotors = model.armature * state.qdd
    projected = kane_inertia_forces(model, q, state.qd, state.qdd, B)
    assert_close(projected, inertia + B.T @ rotors, 1e-11, floor=1.0)
    assert_close(B.T @ wrench_forces(model, q, wrenches), work, 1e-11, floor=1.0)
    tau = inverse_dynamics(model, q, state.qd, state.qdd) - gravity_vector(model, q)
    assert_close(projected, B.T @ tau, 1e-11, floor=1.0)


def test_symbols_and_traced_scalars_give_the_same(robot_text: Any, assert_close: Any) -> None:
    model = load_model(robot_text('planar_2r'))
    symbols = np.array(sympy.symbols('q1 q2 w1 w2', real=True), dtype=object)
    values = np.array([0.4, -0.7, 1.3, 0.6])
    expected = kane_terms(model, values[:2], values[2:])
    at = dict(zip(symbols, values, strict=True))
    closed = kane_terms(model, symbols[:2], symbols[2:])
    trace = Trace(lambda q, qd: tuple(kane_terms(model, q, qd)), [2, 2])
    traced = [np.zeros((1, own.size)) for own in expected]
    Interpreted(trace)(1, [values[None, :2], values[None, 2:]], traced)
    for own, form, recorded in zip(expected, closed, traced, strict=True):
        numbers = [float(sympy.sympify(x).subs(at)) for x in np.asarray(form).flat]
        assert_close(np.reshape(numbers, own.shape), own, 1e-12)
        assert_close(np.reshape(recorded, own.shape), own, 1e-12)


def test_links_that_bend_are_refused() -> None:
    robot = kd.load(
        ROOT / REAL['stacker'], flexible=ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
    )
    with pytest.raises(kd.ModelError, match='flexible'):
        kane_terms(robot.model, np.zeros(robot.n), np.zeros(robot.n))
