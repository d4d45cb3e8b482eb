# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kron_dynamics.control import Trajectory, point_to_point
from kron_dynamics.exceptions import ParameterError

positions = arrays(float, 3, elements=st.floats(-50.0, 50.0))
limits = arrays(float, 3, elements=st.floats(1e-3, 10.0))


@given(start=positions, goal=positions, velocity=limits, acceleration=limits)
def test_some_joint_reaches_a_limit_and_none_passes_it(start, goal, velocity, acceleration):
    goal = np.where(np.abs(goal - start) < 1e-3, start + 1.0, goal)
    duration = point_to_point(start, goal, velocity, acceleration)
    rest = np.zeros((2, 3))
    trajectory = Trajectory.from_points(
        ['a', 'b', 'c'], [0.0, duration], [start, goal], rest, rest
    )
    fastest = np.abs(trajectory.sample(duration / 2)[1]) / velocity
    hardest = np.abs(trajectory.sample(duration * (3 - np.sqrt(3)) / 6)[2]) / acceleration
    _, _, qd, qdd = trajectory.grid(200)
    assert (np.abs(qd) <= velocity * (1 + 1e-6)).all()
    assert (np.abs(qdd) <= acceleration * (1 + 1e-6)).all()
    assert max(fastest.max(), hardest.max()) == pytest.approx(1.0, rel=1e-6)


def test_nothing_to_move_takes_no_time():
    assert point_to_point([1.0, 2.0], [1.0, 2.0], [1.0, 1.0], [np.inf, np.inf]) == 0.0


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (([0.0], [1.0, 2.0], [1.0], [1.0]), 'expected one'),
        (([np.nan], [1.0], [1.0], [1.0]), 'must be finite'),
        (([0.0], [np.inf], [1.0], [1.0]), 'must be finite'),
        (([0.0], [1.0], [0.0], [1.0]), 'must be above 0'),
        (([0.0], [1.0], [1.0], [np.nan]), 'must be above 0'),
        (([0.0], [1.0], [np.inf], [np.inf]), 'no velocity or acceleration limit'),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        point_to_point(*arguments)
