# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nonlinear motion of flexible links keeps its energy, and close by goes the linear one."""

from __future__ import annotations

import numpy as np
import pytest
from long_runs import some_of
from scipy.integrate import solve_ivp

from kron_dynamics.simulation import Plant

# Position, rates, efforts, duration in s and size of the largest perturbation.
MOTIONS = {
    'stacker': ([5.0, 0.3, 0.1], [0.4, 0.1, -0.05], [2e5, 3e6, -1e6], 4.0, 0.01),
    'chain': ([0.7, -1.1], [1.9, -2.4], [0.5, -0.3], 0.8, 0.002),
}


def integrate(rates, start, duration, rtol, times=None):
    """States at some times, shape (k, 2n); not by the simulation's integrator."""
    solution = solve_ivp(
        rates, (0.0, duration), start, method='DOP853', rtol=rtol, atol=1e-3 * rtol, t_eval=times
    )
    assert solution.success
    return solution.y.T


@pytest.mark.long  # the next test has the same of the simulation's own steps
@pytest.mark.parametrize(
    ('machine', 'position', 'bent', 'rates', 'duration', 'drift'),
    [
        ('stacker', [0.0, 0.0, 0.0], [0.2, 0.3], [0.3, 0.03, 0.02, 0.0, 0.0], 60.0, 1e-9),
        ('chain', [0.7, -1.1], [0.0] * 4, [1.9, -2.4, 0.0, 0.0, 0.0, 0.5], 10.0, 1e-8),
    ],
)
def test_energy_is_conserved_by_free_joints_and_undamped_links(
    request, machine, position, bent, rates, duration, drift
):
    """Kinetic and potential energy sum up to a constant, relative to what is exchanged.

    By DOP853 on the forward dynamics, in which nothing rubs and nothing damps.
    """
    robot = request.getfixturevalue(machine)
    n, rest = robot.n, np.zeros(robot.n)
    q = Plant(robot, position).q
    q[len(position) :] += bent

    def derivative(_, y):
        return np.concatenate((y[n:], robot.forward_dynamics(y[:n], y[n:], rest)))

    times = np.linspace(0.0, duration, 301)
    states = integrate(derivative, np.concatenate((q, rates)), duration, 1e-10, times)
    kinetic = robot.kinetic_energy(states[:, :n].copy(), states[:, n:].copy())
    energy = kinetic + robot.potential_energy(states[:, :n].copy())
    assert np.ptp(states[:, :n], axis=0).min() > 0.02
    assert np.abs(energy - energy[0]).max() < drift * np.ptp(kinetic)


@pytest.mark.parametrize(
    ('duration', 'drift'), [(15, 2.5e-7), pytest.param(60, 1e-6, marks=pytest.mark.long)]
)
def test_the_simulation_keeps_the_energy_at_the_shipped_step(undamped, duration, drift):
    """With its own integrator: a turn of the slower mode a second and more."""
    plant = Plant(undamped, [50.0, 0.0, 0.0])
    plant.q[3:] += [0.2, 0.3]
    plant.qd[:3] = [0.3, 0.03, 0.02]
    kinetic, potential = [], []
    for _ in range(duration):
        plant.advance(np.zeros(3), 1.0, 0.004)
        kinetic.append(undamped.kinetic_energy(plant.q, plant.qd))
        potential.append(undamped.potential_energy(plant.q))
    energy = np.add(kinetic, potential)
    assert np.ptp(energy) < drift * np.ptp(kinetic)


def linear_rates(robot, q, qd, qdd, deviation):
    """Rates of a deviation (dq, dqd) from a motion, by the linear model of the moment."""
    model, n = robot.linearize(q, qd, qdd), robot.n
    forces = model.stiffness @ deviation[:n] + model.damping @ deviation[n:]
    return np.concatenate((deviation[n:], -np.linalg.solve(model.mass, forces)))


@pytest.mark.parametrize(
    ('machine', 'moving'),
    some_of(
        [(machine, moving) for machine in MOTIONS for moving in (False, True)],
        [('stacker', False), ('stacker', True)],
    ),
)
def test_the_error_of_the_linear_model_is_of_second_order(request, rng, machine, moving):
    """A perturbation half as large leaves a quarter of the error."""
    robot = request.getfixturevalue(machine)
    position, rates, effort, duration, size = MOTIONS[machine]
    n, joints = robot.n, len(position)
    plant = Plant(robot, position)
    # Holds the machine as it stands, or with more pushes it out of its free motion.
    plant.effort = robot.gravity_vector(plant.q)[:joints]
    start = np.zeros(2 * n)
    start[:n] = plant.q
    if moving:
        plant.effort += effort
        start[n : n + joints] = rates

    def derivative(_, y):
        return np.concatenate((y[n:], plant.acceleration(y[:n].copy(), y[n:].copy())))

    def with_deviation(_, y):
        motion = derivative(0.0, y[: 2 * n])
        linear = linear_rates(robot, y[:n].copy(), motion[:n].copy(), motion[n:], y[2 * n :])
        return np.concatenate((motion, linear))

    direction = rng.choice([-1.0, 1.0], 2 * n) * rng.uniform(0.5, 1.0, 2 * n)
    both = integrate(with_deviation, np.concatenate((start, direction)), duration, 1e-12)[-1]
    reference, response = both[: 2 * n], both[2 * n :]
    assert moving or np.abs(reference - start).max() < 1e-9
    errors = []
    for eps in size / 2.0 ** np.arange(2, 5):
        end = integrate(derivative, start + eps * direction, duration, 1e-12)[-1]
        errors.append(np.linalg.norm(end - reference - eps * response))
    assert errors[-1] > 1e-9  # far from rounding
    assert errors[-1] < 0.02 * eps * np.linalg.norm(response)
    for coarse, fine in zip(errors, errors[1:], strict=False):
        assert 3.8 < coarse / fine < 4.2
