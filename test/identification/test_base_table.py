# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of base parameters: what the efforts do not determine has no narrow interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from identified_arms import identified_arm

import kron_dynamics as kd
from kron_dynamics.identification.least_squares import weighted_least_squares
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.parameter_table import base_table, parameter_names
from kron_dynamics.identification.results import BaseParameter
from kron_dynamics.identification.rows import Rows
from kron_dynamics.identification.structure import Structure

pytestmark = pytest.mark.interpreted

STRUCTURE = Structure(0.03, 'acceleration')
NAMES = [f'{joint} {term}' for joint in ('turn', 'lift', 'roll') for term in STRUCTURE.terms]


@pytest.fixture
def robot() -> kd.Robot:
    return kd.loads(identified_arm(3))


@pytest.fixture
def rows(robot: kd.Robot, rng: np.random.Generator) -> Rows:
    """Rows of a motion of all joints, with noisy efforts."""
    t = np.arange(0.0, 10.0, 0.01)
    w, phase = 2.0 * np.pi * rng.uniform(0.1, 0.6, (2, 3, 4))
    angles = t[:, None, None] * w + phase
    q, qd, qdd = (
        np.sum(part, axis=2) for part in (np.sin(angles) / w, np.cos(angles), -w * np.sin(angles))
    )
    tau = robot.inverse_dynamics(q, qd, qdd) + 0.1 * rng.standard_normal(q.shape)
    return STRUCTURE.rows(robot, [Motion(t, q, qd, tau)])


def table(robot: kd.Robot, rows: Rows) -> tuple[int, dict[str, BaseParameter]]:
    """The rank of the solution, and its base parameters by name."""
    found = weighted_least_squares(rows.matrix, rows.effort)
    return found.rank, {item.name: item for item in base_table(robot, STRUCTURE, rows, found)}


def test_as_many_as_the_rank_each_with_an_interval(robot: kd.Robot, rows: Rows) -> None:
    rank, known = table(robot, rows)
    assert len(known) == rank
    assert set(NAMES) <= set(known)
    assert all(item.low < item.value < item.high for item in known.values())


def test_the_friction_of_a_joint_without_efforts_is_left_out(robot: kd.Robot, rows: Rows) -> None:
    """Its rows have no weight: least squares gives its friction as 0, with covariance 0."""
    effort = rows.effort.copy()
    effort[:, 2] = np.nan
    rank, known = table(robot, replace(rows, effort=effort))
    assert len(known) == rank
    assert not any(term in name for name in known for term in NAMES[6:])
    assert all(item.low < item.value < item.high for item in known.values())


@pytest.mark.parametrize('apart', [1e-6, 1e-8])
def test_columns_that_are_nearly_alike(
    robot: kd.Robot, rows: Rows, rng: np.random.Generator, apart: float
) -> None:
    """They are told apart with a wide interval, or are one base parameter."""
    names = [name for name, _ in parameter_names(robot.model, STRUCTURE.terms)]
    one, other = (names.index(f'roll {term}') for term in ('viscous', 'offset'))
    matrix = rows.matrix.copy()
    column = matrix[..., one]
    matrix[..., other] = column * (1.0 + apart * rng.standard_normal(column.shape))
    rank, known = table(robot, replace(rows, matrix=matrix))
    assert len(known) == rank
    together = known.get('roll viscous + roll offset')
    if apart < 1e-7:
        assert together is not None and together.high - together.low < 1.0
        assert {'roll viscous', 'roll offset'}.isdisjoint(known)
    else:
        wide = [known[name] for name in ('roll viscous', 'roll offset')]
        assert together is None
        assert all(item.high - item.low > 100.0 for item in wide)
