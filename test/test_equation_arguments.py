# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vectors of every function of a model: refused by name, or of dual numbers, each alone."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics
from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics import CentralField, FieldOf, Wrench
from kron_dynamics.model import RobotModel

FUNCTIONS = {
    name: function
    for module in (dynamics, kinematics)
    for name in module.__all__
    if inspect.isfunction(inspect.unwrap(function := getattr(module, name)))
    and next(iter(inspect.signature(function).parameters), '') == 'model'
}
LENGTHS = dict.fromkeys(('force', 'moment', 'point'), 3)
STATE = ('q', 'qd', 'qdd', 'qddd', 'tau', 'tau_rate')
WITH_STATE = [f for f in FUNCTIONS if {*STATE} & {*inspect.signature(FUNCTIONS[f]).parameters}]
# They take square roots, or choose among branches by the values.
OF_FLOATS = {'orientation_angles', 'central_field_potential'}


@pytest.fixture(scope='module')
def model(robot_text: Any) -> RobotModel:
    return kd.loads(robot_text('gripper')).model


@pytest.fixture(scope='module')
def values(model: RobotModel) -> dict[str, Any]:
    """A value for each parameter that a function may have."""
    rng = np.random.default_rng(7)
    known: dict[str, Any] = {name: rng.uniform(-1.0, 1.0, model.n) for name in STATE}
    known |= {name: rng.uniform(-1.0, 1.0, 3) for name in LENGTHS}
    known |= {'link': model.tip_link, 'reference': model.root_link, 'axes': model.tip_link}
    known |= {'field': CentralField(20.0, (9.0, 8.0, 7.0)), 'extended': True, 'sequence': 'xyz'}
    known |= {'wrenches': [Wrench(model.tip_link, (1.0, 2.0, 3.0))], 'B': np.eye(model.n)[:, :2]}
    return known | {'values': np.ones(3)}


def called(function: Callable[..., Any], model: RobotModel, known: dict[str, Any]) -> Any:
    names = [name for name in inspect.signature(function).parameters if name != 'model']
    return np.concatenate(list(parts(function(model, **{name: known[name] for name in names}))))


def parts(result: Any) -> Iterator[np.ndarray]:
    """All arrays of a result, flat."""
    if dataclasses.is_dataclass(result):
        result = tuple(getattr(result, field.name) for field in dataclasses.fields(result))
    if isinstance(result, (tuple, list, Iterator)):
        for part in result:
            yield from parts(part)
    else:
        yield np.ravel(result)


def vectors(name: str) -> list[str]:
    return [x for x in inspect.signature(FUNCTIONS[name]).parameters if x in (*STATE, *LENGTHS)]


@pytest.mark.parametrize('name', WITH_STATE)
def test_wrong_vectors_are_refused_by_name(
    name: str, model: RobotModel, values: dict[str, Any]
) -> None:
    for argument in vectors(name):
        length = len(values[argument])
        wrong = [np.ones(length + 1), np.ones(length - 1), np.ones((length, length)), 1.0]
        texts = [['1'] * length, [True] * length, np.ones(length) * 1j, [None] * length]
        for value in (*wrong, *texts):
            with pytest.raises(kd.KronDynamicsError, match=f'^{argument} (has|is)') as caught:
                called(FUNCTIONS[name], model, values | {argument: value})
            assert '\n' not in str(caught.value)


@pytest.mark.parametrize('name', WITH_STATE)
def test_only_the_highest_derivatives_may_be_left_out(
    name: str, model: RobotModel, values: dict[str, Any]
) -> None:
    rates = [x for x in vectors(name) if x in ('qd', 'qdd', 'qddd')]
    kinds = inspect.signature(FUNCTIONS[name]).parameters
    may_be_left_out = [x for x in rates if 'None' in kinds[x].annotation]
    for argument in rates:
        if argument in may_be_left_out and argument == rates[-1]:
            called(FUNCTIONS[name], model, values | {argument: None})
            continue
        with pytest.raises(kd.ArgumentTypeError, match=f'^{argument} is'):
            called(FUNCTIONS[name], model, values | {argument: None})


@pytest.mark.parametrize('name', FUNCTIONS)
def test_a_robot_in_place_of_its_model_is_refused(
    name: str, model: RobotModel, values: dict[str, Any]
) -> None:
    robot: Any = kd.Robot(model)
    with pytest.raises(kd.ArgumentTypeError, match=r'^model is a Robot, expected a model'):
        called(FUNCTIONS[name], robot, {'motion': np.ones((3, model.n)), 'order': 1} | values)


@pytest.mark.parametrize('name', FUNCTIONS)
def test_links_are_given_by_their_names(
    name: str, model: RobotModel, values: dict[str, Any]
) -> None:
    if 'link' in inspect.signature(FUNCTIONS[name]).parameters:
        for link in (['tool'], 3, None):
            with pytest.raises(kd.ArgumentTypeError, match='^link is .*expected the name of'):
                called(FUNCTIONS[name], model, values | {'link': link})


@pytest.mark.parametrize('name', [name for name in WITH_STATE if name not in OF_FLOATS])
def test_each_argument_alone_may_be_of_dual_numbers(
    name: str, model: RobotModel, values: dict[str, Any], assert_close: Any
) -> None:
    """The others are floats. The derivatives are those of differences."""
    values = values | {'field': FieldOf(lambda c: np.array([c[0] * c[1], c[2] ** 2, 1 - c[0]]))}
    plain = called(FUNCTIONS[name], model, values)
    for argument in vectors(name):

        def of_one(x: Any, argument: str = argument) -> Any:
            return called(FUNCTIONS[name], model, values | {argument: x})

        value, derivative = jacobian_of(of_one, values[argument])
        assert_close(np.asarray(value, dtype=float), plain, 1e-12, floor=1e-9)
        way = np.linspace(1.0, 2.0, len(values[argument]))
        at, h = values[argument], 1e-6
        difference = (of_one(at + h * way) - of_one(at - h * way)) / (2 * h)
        assert_close(np.asarray(derivative @ way, dtype=float), difference, 1e-6, floor=1e-3)


def test_wrenches_may_be_of_dual_numbers(model: RobotModel, values: dict[str, Any]) -> None:
    q, link = values['q'], model.tip_link
    force, moment, point = np.ones(3), np.arange(3.0), np.array([0.1, 0.2, 0.3])
    rest = np.zeros(model.n)
    for k in range(3):
        each = [force, moment, point]

        def moved(x: Any, k: int = k, each: list[Any] = each) -> Any:
            wrench = Wrench(link, *(x if k == j else part for j, part in enumerate(each)))
            reactions = dynamics.joint_reactions(model, q, rest, rest, [wrench])
            return np.append(reactions, dynamics.wrench_forces(model, q, [wrench]))

        value, slopes = jacobian_of(moved, each[k])
        np.testing.assert_allclose(value, moved(each[k]), rtol=1e-12, atol=1e-12)
        # Linear in each.
        np.testing.assert_allclose(slopes[:, 1], moved(each[k] + [0, 1, 0]) - value, atol=1e-9)


@pytest.mark.parametrize(
    ('wrench', 'words'),
    [
        (('force', [1.0, 0.0]), r'force has shape \(2,\)'),
        (('moment', ['1', '2', '3']), 'moment is or holds'),
        (('point', [1.0, 2.0]), r'point has shape \(2,\)'),
    ],
)
def test_wrong_wrenches_are_refused(model: RobotModel, wrench: Any, words: str) -> None:
    name, value = wrench
    wrong = Wrench(model.tip_link, (1.0, 2.0, 3.0))._replace(**{name: value})
    with pytest.raises(kd.KronDynamicsError, match=words):
        dynamics.wrench_forces(model, np.zeros(model.n), [wrong])


@pytest.mark.parametrize(
    ('field', 'words'),
    [
        ((1.0, 9.0), r'center has shape \(\)'),
        ((1.0, (9.0, 9.0)), r'center has shape \(2,\)'),
        (('1', (9.0, 9.0, 9.0)), "mu is '1'"),
    ],
)
def test_wrong_fields_are_refused(field: Any, words: str) -> None:
    with pytest.raises(kd.KronDynamicsError, match=words):
        CentralField(*field)


def test_partial_velocities_are_a_matrix(model: RobotModel, values: dict[str, Any]) -> None:
    with pytest.raises(kd.ShapeError, match=r'^B has shape'):
        called(dynamics.kane_inertia_forces, model, values | {'B': np.ones(model.n)})


def test_partial_velocities_of_a_body_take_rates(
    model: RobotModel, values: dict[str, Any]
) -> None:
    body = next(dynamics.kane_bodies(model, values['q'], values['qd']))
    for wrong in (None, '1', 1.0, np.ones(model.n + 1), np.ones((model.n, 2))):
        for rate in (body.velocity, lambda qd: body.acceleration(qd, values['qdd'])):
            with pytest.raises(kd.KronDynamicsError, match='^qd (has|is)'):
                rate(wrong)
        with pytest.raises(kd.KronDynamicsError, match='^qdd (has|is)'):
            body.inertia_wrench(values['qd'], wrong)


@pytest.mark.parametrize('wrong', [None, 1.0, Wrench('tool', (0.0, 0.0, 1.0))])
def test_wrenches_are_a_list(wrong: Any, model: RobotModel, values: dict[str, Any]) -> None:
    for function in (dynamics.wrench_forces, dynamics.joint_reactions):
        with pytest.raises(kd.ArgumentTypeError, match='^wrenches is .*, expected a list of'):
            called(function, model, values | {'wrenches': wrong})


@pytest.mark.parametrize(
    'name', [f for f in FUNCTIONS if 'axes' in inspect.signature(FUNCTIONS[f]).parameters]
)
def test_axes_without_a_name_are_no_links(
    name: str, model: RobotModel, values: dict[str, Any]
) -> None:
    with pytest.raises(kd.UnknownFrameError, match="^link '' does not exist"):
        called(FUNCTIONS[name], model, values | {'axes': ''})


def test_wrenches_in_axes_without_a_name_are_refused(model: RobotModel) -> None:
    wrench = Wrench(model.tip_link, (1.0, 2.0, 3.0), axes='')
    with pytest.raises(kd.UnknownFrameError, match="^link '' does not exist"):
        dynamics.wrench_forces(model, np.zeros(model.n), [wrench])


@pytest.mark.parametrize(
    ('field', 'words'),
    [
        (None, 'field is None, expected a gravity field'),
        (lambda place: place, "field is .* with 'acceleration'"),
        (FieldOf(lambda place: place[:2]), r'acceleration of the field has shape \(2,\)'),
    ],
)
def test_gravity_fields_have_vectors(
    field: Any, words: str, model: RobotModel, values: dict[str, Any]
) -> None:
    with pytest.raises(kd.KronDynamicsError, match=words):
        dynamics.field_forces(model, values['q'], field)
    with pytest.raises(kd.ArgumentTypeError, match='^field is .*, expected a CentralField'):
        dynamics.central_field_potential(model, values['q'], field)
    with pytest.raises(kd.ArgumentTypeError, match='^function is None, expected a function'):
        FieldOf(None)  # type: ignore[arg-type]
