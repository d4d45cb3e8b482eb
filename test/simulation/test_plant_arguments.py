# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What `Plant` is called with: numbers, or an error by name that changes nothing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.exceptions import ArgumentTypeError
from kron_dynamics.simulation import Plant

REST = [0.0, 0.0]
NAN, INF = float('nan'), float('inf')


@pytest.fixture(scope='module')
def robot(robot_text: Any) -> kd.Robot:
    return kd.loads(robot_text('planar_2r'))


@pytest.mark.parametrize('call', ['advance', 'record'])
@pytest.mark.parametrize(
    ('arguments', 'error', 'words'),
    [
        ((REST, -1.0, 0.01), kd.ParameterError, 'duration is -1 s, expected 0 or more'),
        ((REST, NAN, 0.01), kd.ParameterError, 'duration is nan s'),
        ((REST, INF, 0.01), kd.ParameterError, 'duration is inf s'),
        ((REST, '1', 0.01), ArgumentTypeError, "duration is or holds '1'"),
        ((REST, [1.0], 0.01), kd.ShapeError, 'duration has shape (1,)'),
        ((REST, 1.0, 0.0), kd.ParameterError, 'step is 0 s, expected more than 0'),
        ((REST, 1.0, -0.01), kd.ParameterError, 'step is -0.01 s'),
        ((REST, 1.0, NAN), kd.ParameterError, 'step is nan s'),
        ((REST, 1.0, INF), kd.ParameterError, 'step is inf s'),
        ((REST, 1.0, None), ArgumentTypeError, 'step is or holds None'),
        ((REST, 1e300, 1e-300), kd.ParameterError, 'more than 1e+12 steps of 1e-300 s'),
        (([1.0, NAN], 1.0, 0.01), kd.NonFiniteError, "the command for joint 'elbow' is nan"),
        (([1.0, None], 1.0, 0.01), ArgumentTypeError, 'command is or holds None'),
        (('ab', 1.0, 0.01), ArgumentTypeError, "command is or holds 'ab'"),
        (([1.0, 1j], 1.0, 0.01), ArgumentTypeError, 'command is or holds'),
        (([1.0], 1.0, 0.01), kd.ShapeError, 'command has shape (1,), expected (2,)'),
    ],
)
def test_refused_by_name_before_anything_moves(
    robot: kd.Robot, call: str, arguments: Any, error: Any, words: str
) -> None:
    plant = Plant(robot, [0.3, -0.2])
    with pytest.raises(error, match=re.escape(words)) as caught:
        getattr(plant, call)(*arguments)
    assert '\n' not in str(caught.value)
    assert (plant.q.tolist(), plant.qd.tolist()) == ([0.3, -0.2], [0.0, 0.0])
    assert plant.effort.tolist() == [0.0, 0.0]


def test_brakes_slow_with_every_step_that_they_take(robot: kd.Robot) -> None:
    for step, is_taken in ((0.01, True), (0.39, True), (0.41, False), (0.6, False)):
        plant = Plant(robot, [0.3, -0.2])
        plant.qd = np.array([1e-3, -1e-3])
        plant.brakes_set = True
        if is_taken:
            plant.advance(REST, 4.0, step)
            assert np.abs(plant.qd).max() < 2e-6
        else:
            with pytest.raises(kd.ParameterError, match=r'too long for engaged.*at most 0\.4 s'):
                plant.advance(REST, 10 * step, step)
            # Divided evenly, the steps taken are shorter: 0.3 s, or twice 0.35 s.
            plant.advance(REST, 0.3, step)
            plant.advance(REST, 0.7, step)
            assert (0.0 < plant.qd / [1e-3, -1e-3]).all() and np.abs(plant.qd).max() < 3e-4


@pytest.mark.parametrize(
    ('name', 'value', 'error', 'words'),
    [
        ('q', 'abc', ArgumentTypeError, "q of the plant is or holds 'abc'"),
        ('q', [0.0, NAN], kd.NonFiniteError, 'q of the plant holds a NaN'),
        ('qd', [1.0], kd.ShapeError, 'qd of the plant has shape (1,), expected (2,)'),
        ('brakes_set', 'no', ArgumentTypeError, "brakes_set of the plant is 'no', expected True"),
    ],
)
def test_a_state_that_is_none_is_refused(
    robot: kd.Robot, name: str, value: Any, error: Any, words: str
) -> None:
    plant = Plant(robot, [0.3, -0.2])
    setattr(plant, name, value)
    with pytest.raises(error, match=re.escape(words)):
        plant.advance(REST, 0.1, 0.01)


def test_brakes_are_set_by_numpys_truth_values_too(robot: kd.Robot) -> None:
    plants = [Plant(robot, [0.3, -0.2]) for _ in range(2)]
    for plant, brakes in zip(plants, (True, np.True_), strict=True):
        plant.brakes_set = brakes  # type: ignore[assignment]
        plant.qd = np.array([0.5, -1.0])
        plant.advance(REST, 0.1, 0.01)
    np.testing.assert_array_equal(plants[0].q, plants[1].q)


@pytest.mark.parametrize(
    ('arguments', 'error', 'words'),
    [
        (('x', [0.0]), ArgumentTypeError, "robot is 'x', expected a Robot"),
        ((None, 'ab'), ArgumentTypeError, "start position is or holds 'ab'"),
        ((None, [0.0, 1j]), ArgumentTypeError, 'start position is or holds'),
    ],
)
def test_a_plant_of_something_else_is_refused(
    robot: kd.Robot, arguments: Any, error: Any, words: str
) -> None:
    machine, position = arguments
    with pytest.raises(error, match=re.escape(words)):
        Plant(machine or robot, position)


@pytest.mark.parametrize(
    ('state', 'error', 'words'),
    [
        (('x', REST), ArgumentTypeError, "q is or holds 'x'"),
        ((REST, [1.0]), kd.ShapeError, 'qd has shape (1,), expected (2,)'),
    ],
)
def test_accelerations_are_of_a_state(robot: kd.Robot, state: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        Plant(robot, REST).acceleration(*state)
