# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Shapers, modes and pasts that cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from shaping_motions import GOAL, NAMES, W, Z, constant, hold, move

import kron_dynamics.control as control
from kron_dynamics.exceptions import (
    ArgumentTypeError,
    KronDynamicsError,
    NonFiniteError,
    ParameterError,
    ShapeError,
    TrajectoryError,
)


@pytest.mark.parametrize(
    ('arguments', 'error', 'words'),
    [
        (('zvdd', W, Z), ParameterError, "kind is 'zvdd', expected one of 'zv', 'zvd', 'ei'"),
        (('zv', -1.0, Z), ParameterError, 'frequency is -1 rad/s, expected above 0'),
        (('zv', 0.0, Z), ParameterError, 'frequency is 0 rad/s'),
        (('zv', W, 1.0), ParameterError, 'damping_ratio is 1, expected at least 0 and below 1'),
        (('zv', W, -0.1), ParameterError, 'damping_ratio is -0.1'),
        (('zv', np.nan, Z), NonFiniteError, 'frequency is nan, expected a finite number'),
        (('zv', W, np.inf), NonFiniteError, 'damping_ratio is inf'),
        (
            ('ei', W, 0.4),
            ParameterError,
            "damping_ratio is 0.4, expected at most 0.3 for kind 'ei'",
        ),
        (('ei', W, Z, 0.5), ParameterError, 'tolerated_vibration is 0.5, expected above 0'),
        (('ei', W, Z, np.nan), NonFiniteError, 'tolerated_vibration is nan'),
        ((['zv'], W, Z), ParameterError, "kind is ['zv'], expected one of"),
        (('zv', '5', Z), ArgumentTypeError, 'frequency'),
        (('zv', W, None), ArgumentTypeError, 'damping_ratio'),
        (('ei', W, Z, 'x'), ArgumentTypeError, 'tolerated_vibration'),
    ],
)
def test_shapers_that_cannot_be_are_refused(arguments, error, words):
    with pytest.raises(error) as caught:
        control.shaper(*arguments)
    assert words in str(caught.value)
    assert isinstance(caught.value, KronDynamicsError)


@pytest.mark.parametrize(
    ('modes', 'error', 'words'),
    [
        (([W, 0.0], [Z, Z]), ParameterError, 'frequency is 0 rad/s for mode 1 at 0 s, q = [0.0'),
        (([W, np.nan], [Z, Z]), NonFiniteError, 'frequency is nan for mode 1'),
        (([W], [1.0]), ParameterError, 'damping_ratio is 1 for mode 0'),
        (([W], [Z, Z]), ShapeError, 'shape (1,) and damping ratios of shape (2,)'),
        (([], []), ShapeError, 'expected (m,) both'),
        ((W, Z), ShapeError, 'shape ()'),
        (W, ShapeError, 'modes_of gives 5.0 at q = [0.0, 0.0], expected frequencies and damping'),
        (([W], [Z], [Z]), ShapeError, 'modes_of gives'),
        ((['5'], [Z]), ArgumentTypeError, 'frequency'),
        (([W], [1j]), ArgumentTypeError, 'damping_ratio'),
    ],
)
def test_modes_that_cannot_be_are_refused(modes, error, words):
    with pytest.raises(error) as caught:
        control.shape_trajectory(move(), lambda q: modes)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ('given', 'error', 'words'),
    [
        ({'modes_of': None}, ArgumentTypeError, 'modes_of is None, expected a function'),
        ({'kind': ['zv']}, ParameterError, 'kind'),
        ({'tolerated_vibration': 'x'}, ArgumentTypeError, 'tolerated_vibration'),
        ({'start': (np.zeros(2), np.zeros(2))}, ShapeError, r'start has shape \(2, 2\)'),
        ({'start': (np.zeros(2), np.zeros(3), np.zeros(2))}, ShapeError, 'start'),
        ({'start': ('a', 'b', 'c')}, ArgumentTypeError, 'start'),
    ],
)
def test_arguments_of_another_kind_are_refused_by_name(given, error, words):
    with pytest.raises(error, match=words):
        control.shape_trajectory(move(), **{'modes_of': constant((W, Z)), **given})


def test_number_of_modes_must_not_change():
    with pytest.raises(ShapeError, match='the same m at every pose'):
        control.shape_trajectory(move(), lambda q: ([0.5] * (1 + (q[0] > 0.5)),) * 2)


def test_kind_is_refused_even_with_nothing_to_shape():
    with pytest.raises(ParameterError, match='kind'):
        control.shape_trajectory(hold(GOAL), constant((W, Z)), 'none')
    with pytest.raises(ParameterError, match='shapers is empty'):
        control.convolved([])


@pytest.mark.parametrize('past', [[], [(-0.1, 0.8)]])
def test_motion_that_starts_moving_is_refused_without_its_past(past):
    old = move()
    start = old.sample(0.9)
    new = control.Trajectory.from_points(NAMES, [2.0], [GOAL], [[0.0, 0.0]], start=start)
    # Followed before, but for a tenth of a second only; it started in motion too.
    tail = control.Trajectory.from_points(
        NAMES, [0.1, 0.5], [start[0], GOAL], [start[1], [0, 0]], start=old.sample(0.8)
    )
    with pytest.raises(TrajectoryError, match="'slew' is in motion .* reaches back 0.6.* s, got"):
        control.shape_trajectory(new, constant((W, Z)), past=[(begin, tail) for begin, _ in past])


@pytest.mark.parametrize(
    ('past', 'words'),
    [
        ([(0.5, move())], 'past starts at [0.5] s, expected negative times that ascend'),
        ([(-1.0, move()), (-2.0, move())], 'past starts at [-1.0, -2.0] s'),
        ([(-1.0, move(names=('a', 'b')))], "past moves the joints ('a', 'b'), expected"),
        ([(-0.9, move())], "the velocity of 'slew' steps at 0 s"),
    ],
)
def test_past_that_cannot_be_is_refused(past, words):
    with pytest.raises(TrajectoryError) as caught:
        control.shape_trajectory(move(), constant((W, Z)), past=past)
    assert words in str(caught.value)
