# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tolerances of goals and what becomes of a goal whose machine leaves them."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control import Reference, Trajectory
from kron_dynamics.control.goal_code import GoalCode
from kron_dynamics.control.goal_monitor import GoalMonitor, GoalTolerances, JointTolerance
from kron_dynamics.exceptions import JointNamesError, TrajectoryError

NAMES = ('slew', 'luff')
REST = np.zeros((2, 2))
DEFAULT = GoalTolerances(
    path=np.array([[np.inf, 0.3], [np.inf, np.inf]]),
    goal=np.array([[0.02, 0.01], [0.1, 0.1]]),
    goal_time=5.0,
)
# One that starts at 10 s and ends at 12 s.
MOVE = Trajectory.from_points(NAMES, [0.0, 2.0], [[0.0, 0.0], [1.0, 0.5]], REST, REST)
TURN = 2.0 * np.pi


def monitor(tolerances=DEFAULT, turns=(0.0, 0.0), chosen=(True, True)):
    return GoalMonitor(Reference(10.0, MOVE, MOVE), tolerances, NAMES, np.array(turns), chosen)


def outcome(watched, time, off=(0.0, 0.0), speed_off=(0.0, 0.0)):
    q, qd, _ = MOVE.sample(time - 10.0)
    return watched.outcome((q, qd), q - off, qd - speed_off, time)


def test_zero_is_the_default_and_minus_one_is_none():
    changed = DEFAULT.changed(
        NAMES,
        [JointTolerance('slew', 0.4, 0.0), JointTolerance('luff', -1.0, 0.2)],
        [JointTolerance('luff', 0.0, -1.0)],
        -1.0,
    )
    np.testing.assert_array_equal(changed.path, [[0.4, np.inf], [np.inf, 0.2]])
    np.testing.assert_array_equal(changed.goal, [[0.02, 0.01], [0.1, np.inf]])
    assert changed.goal_time == np.inf
    assert DEFAULT.changed(NAMES, [], [], 0.0).goal_time == 5.0
    assert DEFAULT.changed(NAMES, [], [], 2.5).goal_time == 2.5
    assert DEFAULT.path[0, 0] == np.inf


@pytest.mark.parametrize(
    ('path', 'goal', 'time', 'error', 'said'),
    [
        ([JointTolerance('sleew', 1, 0)], [], 0, JointNamesError, "path_tolerance .*'sleew'"),
        ([], [JointTolerance('lift', 1, 0)], 0, JointNamesError, "goal_tolerance .*'lift'"),
        ([JointTolerance('slew', -2, 0)], [], 0, TrajectoryError, "'slew' is -2, expected"),
        ([], [JointTolerance('luff', 0, np.nan)], 0, TrajectoryError, "'luff' is nan"),
        ([], [], -3.0, TrajectoryError, 'goal_time_tolerance is -3'),
    ],
)
def test_tolerances_that_mean_nothing_are_refused(path, goal, time, error, said):
    with pytest.raises(error, match=said):
        DEFAULT.changed(NAMES, path, goal, time)


def test_a_goal_succeeds_at_its_end_and_not_before():
    watched = monitor()
    assert outcome(watched, 9.0, off=(9.0, 9.0)) is None
    assert outcome(watched, 11.9) is None
    assert outcome(watched, 12.0).code is GoalCode.SUCCESSFUL


def test_leaving_the_path_ends_it_with_joint_and_number():
    assert outcome(monitor(), 11.0, off=(9.0, 0.29)) is None
    found = outcome(monitor(), 11.0, off=(9.0, -0.31))
    assert found.code is GoalCode.PATH_TOLERANCE_VIOLATED
    assert found.text == "'luff': position off by 0.31, tolerance 0.3 (on the way)"


def test_a_machine_that_does_not_arrive_has_the_goal_time():
    watched = monitor()
    for late in (12.0, 14.0, 16.99):
        assert outcome(watched, late, off=(0.03, 0.0)) is None
        assert outcome(watched, late, speed_off=(0.0, 0.2)) is None
    found = outcome(watched, 17.5, off=(0.03, 0.0))
    assert found.code is GoalCode.GOAL_TOLERANCE_VIOLATED
    assert "'slew': position off by 0.03, tolerance 0.02 (5.5 s after the end)" == found.text
    assert 'velocity off by 0.2' in outcome(watched, 17.5, speed_off=(0.0, 0.2)).text
    endless = monitor(DEFAULT.changed(NAMES, [], [], -1.0))
    assert outcome(endless, 1e6, off=(0.03, 0.0)) is None


def test_joints_that_a_goal_is_not_for_do_not_count():
    watched = monitor(chosen=(True, False))
    assert outcome(watched, 11.0, off=(0.0, 3.0)) is None
    assert outcome(watched, 12.0, off=(0.0, 3.0)).code is GoalCode.SUCCESSFUL


def test_a_position_that_is_not_a_number_is_outside():
    assert outcome(monitor(), 11.0, off=(0.0, np.nan)).code is GoalCode.PATH_TOLERANCE_VIOLATED


def test_whole_turns_of_a_joint_without_end_are_no_error():
    off = (3.0 * TURN, 0.0)
    assert outcome(monitor(turns=(TURN, 0.0)), 12.0, off=off).code is GoalCode.SUCCESSFUL
    assert outcome(monitor(), 12.0, off=off) is None


def test_progress():
    watched = monitor()
    assert [watched.progress(t) for t in (9.0, 10.0, 11.0, 12.0, 20.0)] == [0, 0, 0.5, 1, 1]


def test_a_goal_that_takes_no_time_is_done_from_its_start_on():
    still = Trajectory.from_points(NAMES, [0.0], [[0.0, 0.0]])
    watched = GoalMonitor(Reference(10.0, still, still), DEFAULT, NAMES, np.zeros(2), (True, True))
    assert [watched.progress(t) for t in (9.0, 10.0, 11.0)] == [0, 1, 1]


def test_codes_are_those_of_follow_joint_trajectory():
    """Clients know them by their numbers, in the order of the action's definition."""
    assert [(code.name, code.value) for code in GoalCode] == [
        ('SUCCESSFUL', 0),
        ('INVALID_GOAL', -1),
        ('INVALID_JOINTS', -2),
        ('OLD_HEADER_TIMESTAMP', -3),
        ('PATH_TOLERANCE_VIOLATED', -4),
        ('GOAL_TOLERANCE_VIOLATED', -5),
    ]
