# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The descriptor: kernels as methods, and what reads a class without running it."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any, NamedTuple

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import ShapeError
from kron_dynamics.kernels import KernelCollection
from kron_dynamics.kernels.caller import call_type
from kron_dynamics.kernels.compiled import compiled, compiled_methods, prepare
from kron_dynamics.model import RobotModel, load_model
from kron_dynamics.typing import ArrayLike, FloatArray

pytestmark = pytest.mark.hurried

RAN: list[str] = []


class Thing:
    """Has kernels."""

    def __init__(self, model: RobotModel, prefix: str = '') -> None:
        self._kernels = KernelCollection(model)
        self._kernel_prefix = prefix

    @compiled
    def doubled(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return 2 q, (n,)."""
        RAN.append('doubled')
        return 2 * np.asarray(q)

    @compiled(force=3)
    def pushed(
        self, q: ArrayLike, force: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return 0 q and the force, (n + 3,)."""
        return np.concatenate([0 * np.asarray(q), np.asarray(force)])

    @compiled
    def halves(self, q: ArrayLike, *, out: tuple[FloatArray, ...] | None = None) -> Halves:
        """Return the halves of q, (1,) each."""
        a, b = np.asarray(q)
        return Halves(np.array([a]), np.array([b]))

    def plain(self) -> None:
        """Be no kernel."""


class Halves(NamedTuple):
    """Defined after the method that returns it."""

    first: FloatArray
    second: FloatArray


class Other(Thing):
    """Overrides a method and adds one."""

    @compiled
    def tripled(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return 3 q, (n,)."""
        return 3 * np.asarray(q)

    def doubled(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return 2 q with another sign, (n,)."""
        return -super().doubled(q, out=out)


@pytest.fixture
def model(robot_text: Any) -> RobotModel:
    return load_model(robot_text('planar_2r'))


@pytest.fixture
def thing(model: RobotModel) -> Thing:
    return Thing(model)


Q = np.array([[1.0, 2.0], [3.0, 5.0]])


def test_first_access_stores_the_call_on_the_instance(thing: Thing) -> None:
    assert 'doubled' not in vars(thing)
    call = thing.doubled
    assert type(call) is call_type()
    assert vars(thing)['doubled'] is call
    assert thing.doubled is call
    np.testing.assert_array_equal(thing.doubled(Q), 2 * Q)
    np.testing.assert_array_equal(thing.doubled(q=[1, 2]), [2.0, 4.0])


def test_body_runs_when_it_is_recorded_and_never_again(thing: Thing, own_cache: Any) -> None:
    RAN.clear()
    for _ in range(3):
        thing.doubled(Q)
    assert RAN == ['doubled']


def test_instances_have_their_own_kernels(model: RobotModel, robot_text: Any) -> None:
    first, second = Thing(model), Thing(load_model(robot_text('rrp')))
    assert first.doubled(Q[0]).shape == (2,)
    assert second.doubled(np.zeros(3)).shape == (3,)
    with pytest.raises(ShapeError, match='q of doubled has shape'):
        first.doubled(np.zeros(3))


def test_lengths_other_than_n(thing: Thing) -> None:
    np.testing.assert_array_equal(thing.pushed(Q[0], np.arange(3.0)), [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(thing.pushed(Q, [0, 1, 2]), [[0, 0, 0, 1, 2]] * 2)


def test_lengths_of_unknown_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match='push has no argument moment'):

        @compiled(moment=3)
        def push(self: Any, q: ArrayLike) -> FloatArray:
            return np.asarray(q)


def test_named_tuples(thing: Thing) -> None:
    result = thing.halves(Q)
    assert type(result) is Halves
    np.testing.assert_array_equal(result.first, [[1.0], [3.0]])
    out = (np.empty((2, 1)), np.empty((2, 1)))
    assert thing.halves(Q, out=out) is out
    np.testing.assert_array_equal(out[1], [[2.0], [5.0]])


def test_names_have_the_prefix(model: RobotModel) -> None:
    tip = Thing(model, 'tip.')
    tip.doubled(Q)
    assert [report.name for report in tip._kernels.reports] == ['tip.doubled']
    assert repr(tip.doubled) == '<kernel tip.doubled>'
    with pytest.raises(ShapeError, match=r'q of tip\.doubled has shape'):
        tip.doubled([1.0])


def test_class_shows_functions() -> None:
    for method in (Thing.doubled, Thing.pushed, Thing.halves):
        assert inspect.isfunction(method)
        assert str(inspect.getdoc(method)).startswith('Return ')
    assert list(inspect.signature(Thing.pushed).parameters) == ['self', 'q', 'force', 'out']
    assert Thing.pushed.__annotations__['return'] == 'FloatArray'
    assert inspect.isfunction(vars(Thing)['doubled'].__wrapped__)
    shown = pydoc.render_doc(Thing, renderer=pydoc.plaintext)
    assert 'pushed(self, q:' in shown
    assert 'Return 0 q and the force, (n + 3,).' in shown


def test_class_function_is_the_kernel_too(thing: Thing) -> None:
    out = np.empty(2)
    assert Thing.doubled(thing, [1, 2], out=out) is out
    np.testing.assert_array_equal(out, [2.0, 4.0])


@pytest.mark.parametrize('way', ['extension', 'ctypes'])
def test_kernel_reads_like_the_method(way: str, thing: Thing, monkeypatch: Any) -> None:
    if way == 'ctypes':
        monkeypatch.setattr('kron_dynamics.kernels.kernel.call_type', lambda: None)
    method: Any = thing.pushed
    assert method.__name__ == 'pushed'
    assert method.__module__ == __name__
    assert inspect.getdoc(method) == 'Return 0 q and the force, (n + 3,).'
    assert list(inspect.signature(method).parameters) == ['q', 'force', 'out']
    shown = pydoc.render_doc(method, renderer=pydoc.plaintext)
    assert 'Return 0 q and the force' in shown


def test_methods_are_listed_in_their_order() -> None:
    assert tuple(compiled_methods(Thing)) == ('doubled', 'pushed', 'halves')
    assert tuple(compiled_methods(Other)) == ('pushed', 'halves', 'tripled')
    assert set(compiled_methods(kd.RobotFrame)) >= {'pose', 'jacobian', 'external_wrench'}


def test_overriding_method_stays(model: RobotModel) -> None:
    other = Other(model)
    for _ in range(3):
        np.testing.assert_array_equal(other.doubled(Q), -2 * Q)
    assert 'doubled' not in vars(other)


def test_prepare_makes_and_stores_all(thing: Thing) -> None:
    prepare(thing)
    assert {'doubled', 'pushed', 'halves'} <= set(vars(thing))
    assert len(thing._kernels.reports) == 3


def test_threads_of_a_robot(robot_text: Any, rng: np.random.Generator, tmp_path: Any) -> None:
    path = tmp_path / 'rrp.urdf'
    path.write_text(robot_text('rrp'), encoding='utf-8')
    q = rng.uniform(-1, 1, (10_000, 3))
    expected = kd.loads(robot_text('rrp')).mass_matrix(q)
    for robot in (kd.load(path, threads=0), kd.loads(robot_text('rrp'), threads=3)):
        np.testing.assert_array_equal(robot.mass_matrix(q), expected)
        tip = robot.frame(robot.model.tip_link)
        assert tip.jacobian(q).shape == (10_000, 6, 3)
    with pytest.raises(kd.ParameterError, match='threads is -2'):
        kd.loads(robot_text('rrp'), threads=-2)
