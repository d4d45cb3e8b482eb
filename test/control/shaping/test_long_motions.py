# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Long motions and their short parts: modes are evaluated where they vary."""

from __future__ import annotations

import re

import numpy as np
import pytest
from shaping_motions import NAMES, W, Z, constant, move

import kron_dynamics.control as control
from kron_dynamics.control.shaping import shape
from kron_dynamics.exceptions import TrajectoryError


def modes(q):
    return [W * np.exp(0.1 * np.tanh(q[0]))], [Z]


def through(times, slews):
    """Moves from rest to rest between positions of the slewing joint."""
    points = np.column_stack((slews, np.zeros(len(slews))))
    return control.Trajectory.from_points(
        NAMES, times, points, np.zeros_like(points), np.zeros_like(points)
    )


def assert_same(whole, part, begin):
    """The part is what the whole does from a time on, to the accuracy of the table of modes."""
    fastest = np.abs(part.grid(9)[2]).max()
    for t in np.linspace(0.0, part.duration, 15):
        for got, alone in zip(whole.sample(begin + t)[:2], part.sample(t)[:2], strict=True):
            np.testing.assert_allclose(got, alone, atol=3e-4 * fastest)


def test_last_of_many_moves_is_shaped_as_if_it_were_alone():
    slews = np.sin(1.0 + np.arange(65) ** 2)
    whole = control.shape_trajectory(through(6.0 * np.arange(65), slews), modes)
    part = control.shape_trajectory(through([0.0, 6.0], slews[-2:]), modes)
    assert whole.duration == pytest.approx(6.0 * 63 + part.duration, abs=1e-4)


@pytest.mark.parametrize('wait', [600.0, 7200.0, 40000.0])
def test_short_move_amid_long_rests_is_shaped_as_if_it_were_alone(wait):
    slews = [0.0, 1.0, 1.0, 0.0]
    times = np.array([0.0, 2.0, 6.0, 8.0])
    part = control.shape_trajectory(through(times, slews), modes)
    whole = control.shape_trajectory(
        through([0.0, *(wait + times), 2.0 * wait + 8.0], [0.0, *slews, 0.0]), modes
    )
    assert_same(whole, part, wait)


def test_moves_amid_long_rests_take_as_many_poses_as_alone(monkeypatch):
    times, slews = [0.0, 2.0, 600.0, 602.0], [0.0, 0.2, 0.2, 1.0]
    part = control.shape_trajectory(through([0.0, 2.0], slews[-2:]), modes)
    monkeypatch.setattr(shape, '_MOST_POSES', 150)
    before = through([0.0, 1.7], [0.5, 0.0])
    for past in ((), [(-1.8, before)]):  # parts of an earlier move have still to arrive
        whole = control.shape_trajectory(through(times, slews), modes, past=past)
        assert_same(whole, part, times[-2])
        assert whole.duration == pytest.approx(times[-2] + part.duration, abs=1e-4)


def test_a_rest_within_which_parts_arrive_is_not_long():
    slow = constant((0.02, Z))  # half a period of 157 s
    rested = through([0.0, 2.0, 102.0, 104.0], [0.0, 1.0, 1.0, 0.0])
    shaped = control.shape_trajectory(rested, slow)
    half = np.pi / (0.02 * np.sqrt(1.0 - Z**2))
    share = np.exp(-Z * 0.02 * half)
    first, second = 1.0 / (1.0 + share), share / (1.0 + share)
    for t, slew in ((60.0, first), (103.0 + 20.0, 0.0), (half + 50.0, second), (300.0, 0.0)):
        assert shaped.sample(t)[0][0] == pytest.approx(slew, abs=1e-6)


def test_a_quick_piece_between_slow_ones_is_shaped():
    """All pieces move, and the modes change in each."""
    whole = control.shape_trajectory(
        through([0.0, 9000.0, 9000.5, 15000.5], [0.0, 0.5, 1.0, 1.5]), modes
    )
    half = np.pi / (modes([1.5, 0.0])[0][0] * np.sqrt(1.0 - Z**2))
    assert whole.duration == pytest.approx(15000.5 + half, abs=1e-4)


@pytest.mark.parametrize(
    ('ratio', 'damping'), [(1.01, Z), (1.0, 0.1)], ids=['frequency', 'damping']
)
def test_jump_of_the_modes_is_refused_with_its_time(ratio, damping):
    """It was the time half a period before, whose increments arrive in part after the jump."""
    shaped = control.shape_trajectory(move(), constant((W, Z)))
    times = np.linspace(0.0, shaped.duration, 5001)
    crossing = times[shaped.samples(times)[0][:, 0] > 0.5][0]
    with pytest.raises(TrajectoryError, match=r'jump along the motion at \d\.\d+ s') as refusal:
        control.shape_trajectory(
            move(), lambda q: ([W], [Z]) if q[0] < 0.5 else ([ratio * W], [damping])
        )
    told = float(re.search(r'at ([\d.]+) s', str(refusal.value))[1])
    assert told == pytest.approx(crossing, abs=0.01)


def test_modes_that_take_too_many_poses_do_not_jump(monkeypatch):
    monkeypatch.setattr(shape, '_MOST_POSES', 100)
    times = 6.0 * np.arange(9)
    with pytest.raises(
        TrajectoryError, match=r'not resolved with 100 poses over 48\.[56]\d* s: split'
    ):
        control.shape_trajectory(through(times, np.arange(9) % 2), modes)


@pytest.mark.parametrize('rest', [1e-9, 2.0])
def test_a_move_too_quick_to_be_shaped_is_refused_for_that(rest):
    # With the short rest, the whole motion is within two knots that are merged.
    quick = through([0.0, rest, rest + 1e-7], [0.0, 0.0, 1.0])
    with pytest.raises(TrajectoryError) as refusal:
        control.shape_trajectory(quick, constant((W, Z)))
    found = re.search(
        r'reference moves within 1e-07 s, expected pieces of at least (\S+) s', str(refusal.value)
    )
    # What is asked for is enough.
    control.shape_trajectory(through([0.0, float(found[1])], [0.0, 1.0]), constant((W, Z)))


def test_modes_that_change_too_fast_to_converge_do_not_jump():
    with pytest.raises(TrajectoryError, match='does not converge in 60 rounds: .* too fast'):
        control.shape_trajectory(move(), lambda q: ([W * np.exp(2.0 * np.sin(9.0 * q[0]))], [Z]))
