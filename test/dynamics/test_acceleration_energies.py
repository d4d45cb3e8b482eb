# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the energies of acceleration, and statements about them that do not hold."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from long_runs import some_of

import kron_dynamics as kd
from kron_dynamics.dual import derivatives_of, jacobian_of
from kron_dynamics.dynamics import (
    Wrench,
    acceleration_energy,
    appell_forces,
    appell_jerk_forces,
    appell_rate_terms,
    body_acceleration_energy,
    body_second_order_acceleration_energy,
    gravity_vector,
    inverse_dynamics,
    inverse_dynamics_rate,
    kane_bodies,
    kane_inertia_forces,
    kinetic_energy,
    mangeron_tsenov_forces,
    second_order_acceleration_energy,
    wrench_forces,
)
from kron_dynamics.kinematics import forward_kinematics, frame_motion
from kron_dynamics.model import load_model

SMALL = some_of(['planar_2r', 'rrp', 'rail_boom', 'gripper', 'screws'], ['rrp', 'gripper'])


def centres(model: Any, s: Any) -> Any:
    """Of every body: mass, I about the mass centre, its motion; all in base axes."""
    first = {frame.body: name for name, frame in reversed(model.frames.items())}
    for k, body in enumerate(model.bodies):
        link = first[k]  # the link that joint k moves: its frame is the body's
        R = forward_kinematics(model, s.q, link)[:3, :3]
        motion = frame_motion(model, s.q, s.qd, s.qdd, s.qddd, link, body.center_of_mass)
        yield link, body, R @ body.inertia @ R.T, motion


def of_bodies(model: Any, s: Any, turn: Any) -> tuple[float, float]:
    """Both energies by the mass centres and central inertias, in axes turned once more."""
    first = 0.5 * s.qdd**2 @ model.armature
    second = 0.5 * s.qddd**2 @ model.armature
    for _, body, inertia, motion in centres(model, s):
        (_, a, j), rates = ([turn @ x for x in each] for each in (motion.linear, motion.angular))
        turned = turn @ inertia @ turn.T
        first += body_acceleration_energy(body.mass, turned, a, *rates[:2])
        second += body_second_order_acceleration_energy(body.mass, turned, j, *rates)
    return first, second


def check_bodies(model: Any, s: Any, turn: Any, assert_close: Any) -> None:
    first, second = of_bodies(model, s, turn)
    assert_close(acceleration_energy(model, s.q, s.qd, s.qdd), first, 1e-11)
    energy = second_order_acceleration_energy(model, s.q, s.qd, s.qdd, s.qddd)
    assert_close(energy, second, 1e-11)


def test_energies_are_those_of_the_bodies_in_any_axes(
    model: Any, state: Any, assert_close: Any, rng: np.random.Generator
) -> None:
    """[N] eqs. (49), (50), (52), (53), (63)."""
    check_bodies(model, state, np.eye(3), assert_close)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    check_bodies(model, state, turn * np.linalg.det(turn), assert_close)


def test_rotors_have_energies_of_their_own(
    robot_text: Any, random_state: Any, assert_close: Any, rng: np.random.Generator
) -> None:
    """Half of armature times the square of what their joint does."""
    model = load_model(robot_text('spatial_3r'), armature={'waist': 0.7, 'wrist': 0.2})
    check_bodies(model, random_state(3, rng), np.eye(3), assert_close)


@given(data=st.data())
def test_random_trees(random_robots: Any, assert_close: Any, data: Any) -> None:
    check_bodies(*data.draw(random_robots), np.eye(3), assert_close)


def test_energies_are_those_of_particles(assert_close: Any, rng: np.random.Generator) -> None:
    """[N] eqs. (49), (52): a body of a few masses that turns by a power series."""
    masses, places = rng.uniform(1, 2, 5), rng.normal(size=(5, 3))
    places -= masses @ places / masses.sum()
    moments = np.einsum('k,ki,kj->ij', masses, places, places)
    inertia = np.trace(moments) * np.eye(3) - moments
    w, wd, wdd, a, j = rng.normal(size=(5, 3))
    # R' = w~ R with w(t) = w + wd t + wdd t^2/2, from R = 1: the derivatives of R.
    tilde, tilde1, tilde2 = (np.cross(x, np.eye(3), axisb=0, axisc=0) for x in (w, wd, wdd))
    R1 = tilde
    R2 = tilde1 + tilde @ R1
    R3 = tilde2 + 2 * tilde1 @ R1 + tilde @ R2
    accelerations, jerks = a + places @ R2.T, j + places @ R3.T
    first = body_acceleration_energy(masses.sum(), inertia, a, w, wd)
    assert_close(first, 0.5 * masses @ (accelerations**2).sum(axis=1))
    second = body_second_order_acceleration_energy(masses.sum(), inertia, j, w, wd, wdd)
    assert_close(second, 0.5 * masses @ (jerks**2).sum(axis=1))


@pytest.mark.parametrize('name', SMALL)
def test_inertia_forces_by_energies_of_any_order(
    name: str, robot_text: Any, assert_close: Any, rng: np.random.Generator
) -> None:
    """[N] eqs. (57)-(60): Gibbs and Appell's equations, Mangeron and Tsenov's.

    (60) is by the derivative of order k + 2.
    """
    model = load_model(robot_text(name))
    motion = rng.uniform(-1, 1, (5, model.n))
    tau = inverse_dynamics(model, *motion[:3]) - gravity_vector(model, motion[0])
    for order in range(3):
        assert_close(appell_forces(model, motion[: order + 3], order), tau, 1e-10)
    for order in (1, 2, 3):
        forces = mangeron_tsenov_forces(model, motion[: order + 2], order)
        assert_close(forces, tau, 1e-10)


def test_dalemberts_principle(model: Any, state: Any, assert_close: Any) -> None:
    """[N] eqs. (54), (56), (57): with + omega x I omega, and partial angular velocities."""
    s = state
    slopes = jacobian_of(lambda x: acceleration_energy(model, s.q, s.qd, x), s.qdd)[1]
    assert_close(kane_inertia_forces(model, s.q, s.qd, s.qdd), slopes, 1e-11)
    wrenches = []
    for link, body, inertia, motion in centres(model, s):
        w, wd, _ = motion.angular
        moment = inertia @ wd + np.cross(w, inertia @ w)
        place = body.center_of_mass
        force = body.mass * motion.linear[1]
        wrenches.append(Wrench(link, force, moment, place, axes=model.root_link))
    rotors = model.armature * s.qdd
    assert_close(wrench_forces(model, s.q, wrenches) + rotors, slopes, 1e-11)


def test_rate_of_dalemberts_principle(model: Any, state: Any, assert_close: Any) -> None:
    """[N] eqs. (61), (62): rates of wrenches and of Jacobians, both sums together."""
    s, terms = state, appell_rate_terms(model, state.q, state.qd, state.qdd, state.qddd)
    rate = model.armature * s.qddd
    bodies = kane_bodies(model, s.q, s.qd)
    for body, (_, own, inertia, motion) in zip(bodies, centres(model, s), strict=True):
        w, wd, wdd = motion.angular
        gyroscopic = np.cross(w, inertia @ w)
        inertia_rate = np.cross(w, inertia, axisb=0, axisc=0)
        inertia_rate += inertia_rate.T
        moment = inertia @ wd + gyroscopic
        moment_rate = inertia @ wdd + inertia_rate @ wd + np.cross(wd, inertia @ w)
        moment_rate += np.cross(w, inertia_rate @ w + inertia @ wd)
        R, J = body.rotation, body.J
        # Of the angular part, whose axes are the body's, the rate of base components.
        J_rate = R @ body.J_dot[:3] + np.cross(w, R @ J[:3], axisb=0, axisc=0)
        rate += J[3:].T @ (own.mass * motion.linear[2]) + (R @ J[:3]).T @ moment_rate
        rate += body.J_dot[3:].T @ (own.mass * motion.linear[1]) + J_rate.T @ moment
    assert_close(rate, terms.by_jerk + terms.by_rate, 1e-11, floor=model.total_mass)


@pytest.fixture
def screw_free(robot_text: Any, rng: np.random.Generator) -> SimpleNamespace:
    model = load_model(robot_text('rrp'))
    return SimpleNamespace(model=model, motion=rng.uniform(-1, 1, (6, model.n)))


def test_slopes_of_time_derivatives(screw_free: Any, assert_close: Any) -> None:
    """[N] eq. (67): right for E_A^(2), not for E_A^(1) by the derivative of order k + 1."""
    model, motion = screw_free.model, screw_free.motion
    q, qd, qdd, qddd = motion[:4]
    terms = appell_rate_terms(model, q, qd, qdd, qddd)
    for order in (0, 1, 2):
        assert_close(appell_jerk_forces(model, motion[: order + 4], order), terms.by_jerk, 1e-10)

    def energy_rate(x: Any) -> Any:
        def at(t: Any) -> Any:
            t = t[0]
            return acceleration_energy(
                model, q + t * qd + t**2 / 2 * x, qd + t * x + t**2 / 2 * qddd, x + t * qddd
            )

        return derivatives_of(at, np.zeros(1), 1)[1].reshape(())

    by_rate = 2 * terms.by_rate
    momentum_rate = inverse_dynamics_rate(model, q, qd, qdd, qddd) - terms.gravity
    slope = jacobian_of(energy_rate, qdd)[1]
    assert_close(slope, by_rate + momentum_rate, 1e-10)
    assert np.abs(slope - by_rate).max() > 0.1 * np.abs(by_rate).max()


def test_middle_member_of_67_lacks_gravity(screw_free: Any, assert_close: Any) -> None:
    """[N] eq. (67): d/dt(dE_A^(1)/dqdd) is the rate of the efforts without that of the weights."""
    model, (q, qd, qdd, qddd) = screw_free.model, screw_free.motion[:4]
    terms = appell_rate_terms(model, q, qd, qdd, qddd)
    rate = inverse_dynamics_rate(model, q, qd, qdd, qddd)
    assert_close(terms.by_jerk + terms.by_rate, rate - terms.gravity, 1e-10)
    assert np.abs(terms.gravity).max() > 0.05 * np.abs(rate).max()


PENDULUM = (
    '<robot name="pendulum"><link name="base"/><link name="arm"><inertial>'
    '<origin xyz="0.5 0 0"/><mass value="2"/>'
    '<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>'
    '<axis xyz="0 0 1"/></joint></robot>'
)


def test_kinetic_energy_alone_does_not_do() -> None:
    """[N] (66) fails for a point on a circle: M is constant, m R^2 qd^3 is still there."""
    model, q, qd = load_model(PENDULUM), np.array([0.3]), np.array([1.7])
    qdd, qddd = np.array([-0.4]), np.array([0.9])
    terms = appell_rate_terms(model, q, qd, qdd, qddd)
    np.testing.assert_allclose(terms.by_rate, 2 * 0.5**2 * qd**3, rtol=1e-13)
    # What stands in the bracket: third derivatives of T, with at least one by q.
    by_q = jacobian_of(lambda x: jacobian_of(lambda y: kinetic_energy(model, x, y), qd)[1], q)[1]
    np.testing.assert_array_equal(by_q, [[0.0]])
    # So dE_A^(2)/dqddd is not the rate of the torque either.
    rate = inverse_dynamics_rate(model, q, qd, qdd, qddd)
    np.testing.assert_allclose(rate, 2 * 0.5**2 * qddd, rtol=1e-13)
    np.testing.assert_allclose(terms.by_jerk, rate - 2 * 0.5**2 * qd**3, rtol=1e-13)


def test_energy_of_first_order_must_be_complete(screw_free: Any) -> None:
    """[N] (62) ends with an E_A^(1) without its term in qd alone: too little."""
    model, (q, qd, qdd, qddd) = screw_free.model, screw_free.motion[:4]
    terms = appell_rate_terms(model, q, qd, qdd, qddd)

    def short(x: Any) -> Any:
        whole = acceleration_energy(model, q, x, qdd)
        return whole - acceleration_energy(model, q, x, np.zeros(model.n))

    by_rate = jacobian_of(short, qd)[1] / 2
    assert np.abs(by_rate - terms.by_rate).max() > 0.05 * np.abs(terms.by_rate).max()


def test_pure_rotation_of_50_forgets_the_mass_centre(assert_close: Any) -> None:
    """[N] (50) with Delta = 1: the first term is missing, and the mass centre moves."""
    model = load_model(PENDULUM)
    qd, qdd = np.array([1.7]), np.array([-0.4])
    energy = acceleration_energy(model, np.zeros(1), qd, qdd)
    assert_close(energy, 0.5 * 2 * 0.5**2 * (qdd @ qdd + qd[0] ** 4))
    assert body_acceleration_energy(0.0, np.zeros((3, 3)), *np.ones((3, 3))) == 0.0


def test_rest_of_53_as_printed_is_no_energy(rng: np.random.Generator) -> None:
    """[N] (53): its first term without qddd, of which only the last two are right."""
    inertia, (w, wd) = np.diag([2.0, 3.0, 4.0]), rng.normal(size=(2, 3))
    planar = np.trace(inertia) / 2 * np.eye(3) - inertia
    none = np.zeros(3)
    right = body_second_order_acceleration_energy(1.0, inertia, none, w, wd, none)
    last = w @ w * (w @ np.cross(wd, planar @ w)) + (w @ w) ** 2 / 2 * (w @ inertia @ w)
    printed = 2 * (wd @ w) * (w @ inertia @ wd) + last
    assert abs(printed - right) > 0.05 * right
    # With wd = 0 both are the last term alone.
    steady = body_second_order_acceleration_energy(1.0, inertia, none, w, none, none)
    np.testing.assert_allclose(steady, (w @ w) ** 2 / 2 * (w @ inertia @ w), rtol=1e-13)


def test_motions_of_wrong_length_are_named(robot_text: Any) -> None:
    model = load_model(robot_text('planar_2r'))
    with pytest.raises(kd.ShapeError, match=r'motion has shape \(3, 2\), expected \(4, 2\)'):
        appell_forces(model, np.zeros((3, 2)), 1)
    with pytest.raises(kd.ParameterError, match='order is 0, expected 1 or more'):
        mangeron_tsenov_forces(model, np.zeros((2, 2)), 0)
    with pytest.raises(kd.ParameterError, match='order is -1'):
        appell_jerk_forces(model, np.zeros((3, 2)), -1)


def test_motions_of_bodies_have_three_components() -> None:
    one, none = np.eye(3), np.zeros(3)
    for first, second, text in (
        ((1.0, one, none[:2], none, none), (1.0, one, none, none, none, none[:2]), 'shape'),
        ((1.0, one[:2, :2], *[none] * 3), (1.0, one[:2, :2], *[none] * 4), 'inertia has shape'),
        ((None, one, *[none] * 3), (None, one, *[none] * 4), 'mass is or holds None'),
    ):
        with pytest.raises(kd.KronDynamicsError, match=text):
            body_acceleration_energy(*first)
        with pytest.raises(kd.KronDynamicsError, match=text):
            body_second_order_acceleration_energy(*second)
