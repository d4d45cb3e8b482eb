# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording holds the states that advancing piece by piece goes through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.simulation import Plant

COMMAND, STEP = [1.0, -1.0, 0.5], 0.002


@pytest.fixture(scope='module')
def robot(robot_text: Any) -> kd.Robot:
    return kd.loads(robot_text('rrp'))


def moving(robot: kd.Robot, brakes: bool = False) -> Plant:
    plant = Plant(robot, np.full(3, 0.1))
    plant.qd += 0.2
    plant.brakes_set = brakes
    return plant


@pytest.mark.parametrize('brakes', [False, True])
@pytest.mark.parametrize('every', [1, 3, 12])
def test_it_holds_the_states_on_the_way(robot: kd.Robot, every: int, brakes: bool) -> None:
    recorded, plant = moving(robot, brakes), moving(robot, brakes)
    recording = recorded.record(COMMAND, 12 * STEP, STEP, every)
    assert len(recording.time) == 12 // every
    for time, *values in zip(*recording, strict=True):
        plant.advance(COMMAND, every * STEP, STEP)
        for value, field in zip(values, ('q', 'qd', 'qdd', 'effort'), strict=True):
            np.testing.assert_array_equal(value, getattr(plant, field))
        number = round(time / STEP)
        assert time == pytest.approx(number * STEP, rel=1e-14)
        assert number % every == 0
    assert time == pytest.approx(12 * STEP, rel=1e-14)
    np.testing.assert_array_equal(recorded.q, plant.q)
    assert np.abs(np.diff(recording.q, axis=0)).max(initial=1.0) > 1e-4


@pytest.mark.parametrize('every', [0, -1, 5, 24])
def test_steps_that_do_not_come_out_even_are_refused(robot: kd.Robot, every: int) -> None:
    plant = moving(robot)
    with pytest.raises(kd.ParameterError, match=f'^every is {every}, .* the 12 steps'):
        plant.record(COMMAND, 12 * STEP, STEP, every)
    np.testing.assert_array_equal(plant.q, 0.1)
    with pytest.raises(kd.ArgumentTypeError, match='every'):
        plant.record(COMMAND, 12 * STEP, STEP, 1.5)
