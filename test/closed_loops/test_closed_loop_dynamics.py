# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robots with closed loops: all quantities against the tree with its constraints beside it."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import dynamics
from kron_dynamics.carrying import CarryingRobot
from kron_dynamics.simulation import Plant

pytestmark = pytest.mark.interpreted


def close(actual, expected, scale=1e-10):
    size = max(float(np.abs(expected).max(initial=0.0)), 1e-9)
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=scale * size)


def test_dynamics_are_those_of_the_tree_with_its_constraints(mechanism, rng):
    """That route closes loops by damped Newton steps and decomposes A; it is NumPy's."""
    robot, tree = mechanism.robot, mechanism.tree
    drives = [tree.joint_names.index(joint) for joint in robot.joint_names]
    for q, qd, qdd in zip(*mechanism.states(rng, 4), strict=True):
        x = robot.tree_coordinates(q)
        np.testing.assert_array_equal(x[drives], q)
        assert np.abs(tree.residual(x)).max() < 1e-12
        xd = tree.velocities(x, qd)
        close(robot.tree_rates(q, qd), xd)
        xdd = tree.accelerations(x, xd, qdd)
        tau = tree.inverse_dynamics(x, xd, xdd)
        assert np.abs(np.delete(tau, drives)).max(initial=0.0) < 1e-9 * np.abs(tau).max()
        close(robot.inverse_dynamics(q, qd, qdd), tau[drives])
        close(robot.mass_matrix(q), tree.mass_matrix(x))
        moved = tree.forward_dynamics(x, xd, tau).qdd
        close(robot.forward_dynamics(q, qd, tau[drives]), moved[drives], 1e-8)
        close(robot.kinetic_energy(q, qd), tree.robot.kinetic_energy(x, xd))
        close(robot.potential_energy(q), tree.robot.potential_energy(x))
        pi = robot.inertial_parameters()
        close(robot.regressor(q, qd, qdd) @ pi, tau[drives])


def test_frames_are_those_of_the_tree(mechanism, rng):
    robot, tree = mechanism.robot, mechanism.tree
    link = robot.model.tip_link
    frame, of_tree = robot.frame(link), tree.robot.frame(link)
    for q, qd, qdd in zip(*mechanism.states(rng, 4), strict=True):
        x = robot.tree_coordinates(q)
        xd = tree.velocities(x, qd)
        xdd = tree.accelerations(x, xd, qdd)
        close(frame.pose(q), of_tree.pose(x))
        close(frame.velocity(q, qd), of_tree.velocity(x, xd))
        close(frame.jacobian(q) @ qd, of_tree.velocity(x, xd))
        close(frame.acceleration(q, qd, qdd), of_tree.acceleration(x, xd, xdd))
        acceleration = frame.jacobian(q) @ qdd + frame.kinematic_hessian(q) @ np.kron(qd, qd)
        close(acceleration, of_tree.acceleration(x, xd, xdd))

        def along(t, q=q, qd=qd, qdd=qdd):
            return frame.acceleration(q + t * qd + t * t / 2 * qdd, qd + t * qdd, qdd)

        step = 1e-4
        slope = (8 * (along(step) - along(-step)) - along(2 * step) + along(-2 * step)) / 12 / step
        close(frame.jerk(q, qd, qdd, np.zeros_like(q)), slope, 1e-7)


def test_third_order_is_that_of_the_tree_with_its_constraints(mechanism, rng):
    """[N] eq. (65) too: the energies know nothing of how the efforts are computed."""
    robot, tree = mechanism.robot, mechanism.tree
    drives = [tree.joint_names.index(joint) for joint in robot.joint_names]
    for q, qd, qdd in zip(*mechanism.states(rng, 2), strict=True):
        qddd = rng.uniform(-1, 1, robot.n)

        def motion(t, q=q, qd=qd, qdd=qdd, qddd=qddd):
            moved = q + t * qd + t**2 / 2 * qdd + t**3 / 6 * qddd, qd + t * qdd + t**2 / 2 * qddd
            x = robot.tree_coordinates(moved[0])
            xd = tree.velocities(x, moved[1])
            return x, xd, tree.accelerations(x, xd, qdd + t * qddd)

        def slope(along, step=1e-3):
            near, far = (along(k * step) - along(-k * step) for k in (1, 2))
            return (8 * near - far) / (12 * step)

        rate = robot.inverse_dynamics_rate(q, qd, qdd, qddd)
        close(rate, slope(lambda t: tree.inverse_dynamics(*motion(t))[drives]), 1e-6)
        terms = dynamics.appell_rate_terms(robot.model, q, qd, qdd, qddd)
        close(sum(terms), rate)
        of_tree = tree.robot.model
        x, xd, xdd = motion(0.0)
        energy = dynamics.acceleration_energy(of_tree, x, xd, xdd)
        close(robot.acceleration_energy(q, qd, qdd), energy)
        xddd = slope(lambda t: motion(t)[2])
        energy = dynamics.second_order_acceleration_energy(of_tree, x, xd, xdd, xddd)
        close(robot.second_order_acceleration_energy(q, qd, qdd, qddd), energy, 1e-6)
        tau = robot.inverse_dynamics(q, qd, qdd)
        close(robot.forward_jerk(q, qd, tau, rate), qddd, 1e-7)


def test_coriolis_matrices_have_their_properties(mechanism, rng):
    robot = mechanism.robot
    for q, qd, _ in zip(*mechanism.states(rng, 4), strict=True):
        c = robot.bias_forces(q, qd) - robot.gravity_vector(q)
        size = np.abs(robot.bias_forces(q, qd)).max()
        star = robot.velocity_free_coriolis_matrix(q)
        for other in (
            robot.coriolis_vector(q, qd),
            star @ np.kron(qd, qd),
            robot.coriolis_matrix(q, qd) @ qd,
        ):
            np.testing.assert_allclose(other, c, rtol=0, atol=1e-11 * size)
        Mdot = robot.mass_matrix_derivative(q) @ np.kron(np.eye(robot.n), qd[:, None])
        S = Mdot - 2.0 * robot.coriolis_matrix(q, qd)
        np.testing.assert_allclose(S, -S.T, rtol=0, atol=1e-11 * max(np.abs(Mdot).max(), 1e-9))
        h = 1e-4
        slope = (
            8 * (robot.mass_matrix(q + h * qd) - robot.mass_matrix(q - h * qd))
            - robot.mass_matrix(q + 2 * h * qd)
            + robot.mass_matrix(q - 2 * h * qd)
        ) / (12 * h)
        M = np.abs(robot.mass_matrix(q)).max()
        np.testing.assert_allclose(Mdot, slope, rtol=0, atol=1e-8 * M)


def test_linear_models_are_slopes(mechanism, rng):
    robot = mechanism.robot
    q, qd, qdd = (row[0] for row in mechanism.states(rng, 1))
    mass, damping, stiffness, effort = robot.linearization(q, qd, qdd)
    close(effort, robot.inverse_dynamics(q, qd, qdd))
    h, unit = 1e-4, np.eye(robot.n)

    def slopes(moved):
        rows = [
            (8 * (moved(h * e) - moved(-h * e)) - moved(2 * h * e) + moved(-2 * h * e)) / 12 / h
            for e in unit
        ]
        return np.transpose(rows)

    size = np.abs(effort).max()
    for actual, moved in (
        (stiffness, lambda d: robot.inverse_dynamics(q + d, qd, qdd)),
        (damping, lambda d: robot.inverse_dynamics(q, qd + d, qdd)),
        (mass, lambda d: robot.inverse_dynamics(q, qd, qdd + d)),
    ):
        np.testing.assert_allclose(
            actual, slopes(moved), rtol=1e-7, atol=1e-7 * max(size, np.abs(actual).max())
        )


def test_batches_and_copies_say_the_same(mechanism, rng):
    robot = mechanism.robot
    states = mechanism.states(rng, 40)
    together = robot.inverse_dynamics(*states)
    close(together, [robot.inverse_dynamics(*row) for row in zip(*states, strict=True)], 1e-12)
    for other in (pickle.loads(pickle.dumps(robot)), copy.deepcopy(robot)):
        assert other.model.fingerprint == robot.model.fingerprint
        np.testing.assert_array_equal(
            other.gravity_vector(states[0][0]), robot.gravity_vector(states[0][0])
        )


def test_payloads_are_those_of_the_tree(mechanism, rng):
    robot, tree = mechanism.robot, mechanism.tree
    link = robot.model.tip_link
    carrying = CarryingRobot(robot, link)
    carrying.set_payload(link, (3.0, [0.1, 0.2, -0.1]))
    heavy = CarryingRobot(tree.robot, link)
    heavy.set_payload(link, (3.0, [0.1, 0.2, -0.1]))
    for q, qd, qdd in zip(*mechanism.states(rng, 3), strict=True):
        x = robot.tree_coordinates(q)
        B = np.transpose([robot.tree_rates(q, e) for e in np.eye(robot.n)])
        xd = B @ qd
        xdd = tree.accelerations(x, xd, qdd)
        expected = B.T @ heavy.inverse_dynamics(x, xd, xdd)
        close(carrying.inverse_dynamics(q, qd, qdd), expected)


def test_the_plant_keeps_its_energy(mechanism):
    """The simulator's plant, falling without friction and effort."""
    model, none = mechanism.robot.model, np.zeros(mechanism.robot.n)
    robot = kd.Robot(dataclasses.replace(model, damping=none, friction=none))
    plant = Plant(robot, mechanism.lower + 0.4 * (mechanism.upper - mechanism.lower))
    before = robot.potential_energy(plant.q)
    plant.advance(none, 0.05, 0.0005)
    moved = robot.kinetic_energy(plant.q, plant.qd)
    assert moved > 0.0
    assert abs(robot.potential_energy(plant.q) + moved - before) < 1e-6 * moved


def test_what_needs_a_tree_says_so(mechanism):
    with pytest.raises(kd.ModelError, match='has closed loops'):
        _ = mechanism.robot.symbolic
