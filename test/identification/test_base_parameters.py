# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Base parameters: as many as the rank, and the regressor is theirs alone."""

from __future__ import annotations

import numpy as np
import pytest
from sampled_runs import machine

import kron_dynamics as kd
from kron_dynamics.identification.base_parameters import BaseParameters, base_parameters

pytestmark = pytest.mark.interpreted


def regressors(robot: kd.Robot, rng: np.random.Generator, count: int = 100) -> np.ndarray:
    return robot.regressor(*rng.uniform(-1.5, 1.5, (3, count, robot.n)))


@pytest.mark.parametrize('name', ['stacker', 'ur5', 'panda'])
def test_base_parameters_are_all_that_a_regressor_depends_on(
    name: str, rng: np.random.Generator
) -> None:
    robot = machine(name)
    known = base_parameters(regressors(robot, rng))
    Y = regressors(robot, rng)  # at other states
    rebuilt = Y[..., known.columns] @ known.combination
    assert np.abs(rebuilt - Y).max() < 1e-9 * np.abs(Y).max()
    A = Y.reshape(-1, Y.shape[-1])
    length = np.linalg.norm(A, axis=0)
    felt = length > 1e-9 * length.max()
    assert known.rank == np.linalg.matrix_rank(A[:, felt] / length[felt], tol=1e-8)
    pi = robot.inertial_parameters()
    base = known.combination @ pi
    tau = Y @ pi
    assert np.abs(Y[..., known.columns] @ base - tau).max() < 1e-9 * np.abs(tau).max()


def test_sums_are_written_with_their_factors_and_signs() -> None:
    combination = np.array([[1.0, 0.0, -0.25, 1.0], [0.0, 1.0, -1.0, 1.5]])
    known = BaseParameters((0, 1), combination)
    assert known.names(['a', 'b', 'c', 'd']) == ('a - 0.25 c + d', 'b - c + 1.5 d')


def test_a_ur5_has_36_without_rotors(rng: np.random.Generator) -> None:
    robot = machine('ur5')
    bodies = regressors(robot, rng)[..., : 10 * len(robot.model.bodies)]
    known = base_parameters(bodies)
    assert known.rank == 36
    names = known.names([f'p{k}' for k in range(bodies.shape[-1])])
    assert len(names) == 36 and any('p19' in name and '+' in name for name in names)
