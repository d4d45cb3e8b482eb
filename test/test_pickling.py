# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Pickles, copies and process pools: the same robot on the other side, kernels from the cache."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.kernels import kernel, kernel_factory
from kron_dynamics.model.pickling import restored_model

ROOT = Path(__file__).parents[1]
KINDS = ['rigid', 'flexible']
WAYS: dict[str, Callable[[Any], Any]] = {
    'pickle': lambda value: pickle.loads(pickle.dumps(value)),
    'oldest pickle': lambda value: pickle.loads(pickle.dumps(value, protocol=0)),
    'copy': copy.copy,
    'deepcopy': copy.deepcopy,
}


@pytest.fixture(scope='module', params=KINDS)
def robot(request: pytest.FixtureRequest, robot_text: Any) -> kd.Robot:
    """A robot that has been used: kernels, a frame and closed forms hang on it."""
    if request.param == 'rigid':
        made = kd.loads(robot_text('gripper'), threads=2)
    else:
        boom = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
        made = kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf', flexible=boom, threads=2)
    q = np.linspace(0.1, 0.2, made.n)
    made.mass_matrix(q), made.frame(made.model.tip_link).pose(q), made.symbolic
    return made


def arrays(value: Any) -> Iterator[np.ndarray]:
    """Every array in a model."""
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from arrays(getattr(value, field.name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from arrays(item)
    elif hasattr(value, 'values'):
        yield from arrays(tuple(value.values()))


@pytest.mark.parametrize('way', WAYS)
def test_models_come_back(way: str, robot: kd.Robot) -> None:
    model = WAYS[way](robot.model)
    assert type(model) is type(robot.model)
    assert model is not robot.model
    assert model.fingerprint == robot.model.fingerprint
    there, here = (getattr(m, 'skeleton', m) for m in (model, robot.model))
    assert there.paths == here.paths
    assert type(model.frames) is type(robot.model.frames)
    pairs = list(zip(arrays(model), arrays(robot.model), strict=True))
    assert len(pairs) > 20
    for there, here in pairs:
        np.testing.assert_array_equal(there, here)
        assert not there.flags.writeable


@pytest.mark.parametrize('way', WAYS)
def test_robots_come_back_without_their_kernels(way: str, robot: kd.Robot) -> None:
    other, frame = WAYS[way]((robot, robot.frame(robot.model.tip_link)))
    if way != 'copy':  # of a tuple, which holds the very same
        assert other.kernel_report() == []
        assert other.frame(frame.name) is frame
        assert other.model is frame.model
    states = np.random.default_rng(1).uniform(-1, 1, (5000, robot.n))
    np.testing.assert_array_equal(other.mass_matrix(states), robot.mass_matrix(states))
    expected = robot.frame(frame.name).pose(states)
    np.testing.assert_array_equal(frame.pose(states), expected)
    assert all(report.cached for report in other.kernel_report() if way != 'copy')
    assert other._kernels._threads == 2


def test_a_copy_shares_the_model_and_the_kernels(robot: kd.Robot) -> None:
    other = copy.copy(robot)
    assert other is not robot
    assert other.model is robot.model
    q = np.linspace(0.1, 0.2, robot.n)
    np.testing.assert_array_equal(other.mass_matrix(q), robot.mass_matrix(q))
    assert len(other.kernel_report()) == len(robot.kernel_report())


@pytest.mark.parametrize('way', ['copy', 'deepcopy', 'pickle'])
def test_copies_of_a_robot_that_carries_have_payloads_of_their_own(
    way: str, robot: kd.Robot
) -> None:
    """Either may be loaded: its frames and its rigid robot are loaded with it."""
    first = kd.CarryingRobot(robot, link := robot.model.tip_link)
    first.set_payload(link, 3.0)
    q, qd = np.linspace(0.1, 0.2, robot.n), np.full(robot.n, 0.3)

    def found(of: kd.CarryingRobot) -> list[np.ndarray]:
        step = of.frame(link).control_step(q, qd)
        stiff = of.rigid.mass_matrix(q[: of.rigid.n])
        return [of.mass_matrix(q), step.gravity_vector, stiff, of.inertial_parameters()]

    before = found(first)
    second = WAYS[way](first)
    for at, mass in ((first, 5.0), (second, 7.0), (first, 0.0)):
        other = second if at is first else first
        own, kept = found(at), found(other)
        at.set_payload(link, mass)
        assert all(np.array_equal(a, b) for a, b in zip(found(other), kept, strict=True))
        assert not any(np.array_equal(a, b) for a, b in zip(found(at), own, strict=True))
    third = kd.CarryingRobot(robot, link)
    third.set_payload(link, 7.0)
    for a, b in zip(found(second), found(third), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(before[0], found(second)[0])
    assert dict(second.payloads) != dict(first.payloads) == {}


def test_pickles_are_small(robot: kd.Robot) -> None:
    for value in (robot, robot.model, robot.frame(robot.model.tip_link), robot.mass_matrix):
        assert len(pickle.dumps(value)) < 20_000


def test_attributes_of_a_class_of_ones_own_go_along(robot_text: Any) -> None:
    robot = kd.loads(robot_text('rrp'))
    robot.note = 'kept'  # type: ignore[attr-defined]
    robot.mass_matrix([0, 0, 0])
    assert pickle.loads(pickle.dumps(robot)).note == 'kept'


@pytest.mark.parametrize('call', ['extension', 'ctypes', 'numpy'])
def test_compiled_methods_come_back(
    call: str, robot_text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if call == 'ctypes':
        monkeypatch.setattr(kernel, 'call_type', lambda: None)
    if call == 'numpy':
        monkeypatch.setattr(kernel_factory, 'find_compiler', lambda: None)
    robot = kd.loads(robot_text('rrp'))
    q = [0.1, 0.2, 0.3]
    tip = robot.frame(robot.model.tip_link)
    for method in (robot.mass_matrix, tip.pose):
        for way in ('pickle', 'deepcopy'):
            other = WAYS[way](method)
            assert other is not method
            np.testing.assert_array_equal(other(q), method(q))


@pytest.mark.parametrize('way', WAYS)
def test_linear_models_come_back(way: str, robot: kd.Robot) -> None:
    model = robot.linearize(*np.full((3, robot.n), 0.1))
    other = WAYS[way](model)
    assert other.joint_names == model.joint_names and other.inputs == model.inputs
    for field in fields(model):
        there = getattr(other, field.name)
        if isinstance(there, tuple):
            continue
        np.testing.assert_array_equal(there, getattr(model, field.name))
        assert not there.flags.writeable
    np.testing.assert_array_equal(other.poles(), model.poles())


@pytest.mark.parametrize('method', ['fork', 'spawn'])
def test_process_pools_take_robots(method: str, robot: kd.Robot) -> None:
    states = np.random.default_rng(1).uniform(-1, 1, (8, robot.n))
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.map(robot.mass_matrix, states)
        poses = pool.map(robot.frame(robot.model.tip_link).pose, states)
        model = pool.apply(robot.linearize, np.full((3, robot.n), 0.1))
    np.testing.assert_array_equal(found, robot.mass_matrix(states))
    np.testing.assert_array_equal(poses, robot.frame(robot.model.tip_link).pose(states))
    np.testing.assert_array_equal(model.mass, robot.mass_matrix(np.full(robot.n, 0.1)))


@pytest.mark.parametrize('parameters', ['numeric', 'symbolic'])
def test_closed_forms_come_back(parameters: str, robot_text: Any) -> None:
    closed = kd.loads(robot_text('planar_2r')).symbolic.with_parameters(parameters)
    for other in (copy.deepcopy(closed), pickle.loads(pickle.dumps(closed))):
        assert str(other.gravity_vector()) == str(closed.gravity_vector())
        assert other.values == closed.values


@pytest.mark.parametrize('way', ['pickle', 'copy', 'deepcopy'])
def test_matrices_of_closed_forms_come_back(way: str, robot_text: Any) -> None:
    """With the LaTeX of their symbols."""
    M = kd.loads(robot_text('planar_2r')).symbolic.mass_matrix()
    found = WAYS[way](M)
    assert found == M
    assert (type(found), found.latex()) == (type(M), M.latex())
    assert found.simplified().latex() == M.simplified().latex()


def test_a_pickle_of_another_version_says_so(robot: kd.Robot) -> None:
    _, (kind, fingerprint, values) = robot.model.__reduce__()
    for other in (
        (kind, 'another', values),
        (kind, fingerprint, {**values, 'colour': 1}),
        (kind, fingerprint, {k: v for k, v in values.items() if k != 'gravity'}),
        (kind, fingerprint, {**values, 'damping': values['damping'] + 1e-9}),
    ):
        with pytest.raises(kd.ModelError, match='another version of kron_dynamics; load'):
            restored_model(*other)
