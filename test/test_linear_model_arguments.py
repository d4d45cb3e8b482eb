# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What linear models are asked with numbers, places and arguments that give no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd


@pytest.fixture(scope='module')
def robot(robot_text: Any) -> kd.Robot:
    return kd.loads(robot_text('rrp'))


def poison(model: kd.LinearizedModel, name: str) -> kd.LinearizedModel:
    values = {field: getattr(model, field) for field in model.__dataclass_fields__}
    values[name] = np.full_like(values[name], np.nan)
    return kd.LinearizedModel(**values)


QUESTIONS: dict[str, Callable[[kd.LinearizedModel], Any]] = {
    'poles': lambda model: model.poles(),
    'modes': lambda model: model.modes(),
    'damping_ratios': lambda model: model.damping_ratios(),
    'state_space': lambda model: model.state_space(),
    'transfer': lambda model: model.transfer(0, 0, 1.0),
    'frequencies': lambda model: model.frequencies(),
    'undamped_modes': lambda model: model.undamped_modes(),
}


@pytest.mark.parametrize('question', QUESTIONS)
def test_linear_models_that_are_not_finite_have_no_answer(question: str, robot: kd.Robot) -> None:
    nan = robot.linearize([np.nan] * 3, [0] * 3, [0] * 3)
    assert np.isnan(nan.q).all()
    with pytest.raises(kd.NonFiniteError, match='of the linear model holds a NaN'):
        QUESTIONS[question](nan)
    sound = robot.linearize([0.1] * 3, [0] * 3, [0] * 3)
    QUESTIONS[question](sound)
    for name in ('mass', 'stiffness'):
        with pytest.raises(kd.NonFiniteError, match=f'^{name} of the linear model holds'):
            QUESTIONS[question](poison(sound, name))


@pytest.mark.parametrize('question', [name for name in QUESTIONS if name != 'transfer'])
def test_linear_models_without_inertia_have_no_answer(question: str, robot: kd.Robot) -> None:
    sound = robot.linearize([0.1] * 3, [0] * 3, [0] * 3)
    values = {field: getattr(sound, field) for field in sound.__dataclass_fields__}
    empty = kd.LinearizedModel(**{**values, 'mass': np.zeros((3, 3))})
    with pytest.raises(kd.InvalidInertiaError, match="^joint 'turn' can move without"):
        QUESTIONS[question](empty)


@pytest.mark.parametrize(
    ('arguments', 'error', 'said'),
    [
        ((None, 0, 1.0), kd.ArgumentTypeError, 'joint is None, expected a whole number'),
        ((0, 1.0, 1.0), kd.ArgumentTypeError, r'joint is 1\.0, expected a whole number'),
        ((True, 0, 1.0), kd.ArgumentTypeError, 'joint is True'),
        ((0, 2**70, 1.0), kd.ParameterError, 'there is no joint 1180'),
        (('x' * 10**6, 0, 1.0), kd.ParameterError, "there is no joint 'xxx"),
        ((0, 0, 'fast'), kd.ArgumentTypeError, "omega is or holds 'fast'"),
        ((0, 0, 1j), kd.ArgumentTypeError, 'omega is or holds 1j'),
        ((0, 0, [1.0, np.inf]), kd.NonFiniteError, 'omega holds'),
    ],
)
def test_transfer_names_its_arguments(
    arguments: Any, error: type[Exception], said: str, robot: kd.Robot
) -> None:
    model = robot.linearize([0.1] * 3, [0] * 3, [0] * 3)
    with pytest.raises(error, match=f'^{said}') as raised:
        model.transfer(*arguments)
    assert str(raised.value).isprintable() and len(str(raised.value)) < 300


@pytest.mark.parametrize('places', [[0, 0], [3], [-1], [0.0], ['0'], 7, None, [True]])
def test_parts_of_linear_models_name_their_places(places: Any, robot: kd.Robot) -> None:
    model = robot.linearize([0.1] * 3, [0] * 3, [0] * 3)
    with pytest.raises((kd.ParameterError, kd.ArgumentTypeError), match='place|joint'):
        model.part(places)


def test_names_of_a_linear_model_differ() -> None:
    """With two of one name, `transfer` and `part` would take the first."""
    one, row = np.eye(2), np.zeros(2)
    with pytest.raises(kd.ParameterError, match="^joint_names has 'a' twice"):
        kd.LinearizedModel(('a', 'a'), one, one, one, row, row, row, row)
    with pytest.raises(kd.ParameterError, match="^inputs has 'm' twice"):
        kd.LinearizedModel(
            ('a', 'b'), one, one, one, row, row, row, row, inputs=('m', 'm'), transmission=one
        )


def test_a_linear_model_leaves_the_arrays_that_it_is_made_of_alone() -> None:
    one, row = np.eye(2), np.zeros(2)
    model = kd.LinearizedModel(('a', 'b'), one, one, one, row, row, row, row)
    one[0, 0] = row[0] = 7.0
    assert model.mass[0, 0] == 1.0 and model.q[0] == 0.0
    with pytest.raises(kd.ShapeError, match=r'^damping has shape \(2,\), expected \(2, 2\)'):
        kd.LinearizedModel(('a', 'b'), one, row, one, row, row, row, row)
    with pytest.raises(kd.ArgumentTypeError, match='^effort is or holds None'):
        kd.LinearizedModel(('a', 'b'), one, one, one, None, row, row, row)
