# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Users' equations that read more than their arguments: no kernel has the numbers of another."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.kernels.captured import captured_text
from kron_dynamics.kernels.compiled import Compiled, compiled, compiled_methods
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.taylor import expand
from kron_dynamics.typing import ArrayLike, FloatArray

pytestmark = pytest.mark.hurried


def scaled(robot: Any, q: Any) -> Any:
    return robot.gain * np.asarray(q)


# Functions that no code names.
TABLE = {'f': lambda robot, q: robot.gain * np.asarray(q)}
module = types.SimpleNamespace(scale=TABLE['f'])


def logged(method: Any) -> Any:
    """Decorate a method, as many programs do."""

    @functools.wraps(method)
    def around(*arguments: Any) -> Any:
        return method(*arguments)

    return around


class Halved:
    """A property of the user's own kind."""

    def __get__(self, robot: Any, owner: Any = None) -> Any:
        return robot.gain / 2


class Scaling(kd.Robot):
    """Multiplies by a gain that each equation reads in another way."""

    gain: Any = 1.0
    unread = 0.0
    halved = Halved()

    def __init__(self, model: kd.RobotModel, gain: Any = 1.0) -> None:
        super().__init__(model)
        self.gain = gain

    @property
    def doubled(self) -> Any:
        return 2 * self.gain

    def half(self) -> Any:
        return self.doubled / 4

    @compiled(on_demand=True)
    def plainly(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read it."""
        return self.gain * np.asarray(q)

    @compiled(on_demand=True)
    def elsewhere(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read it in a function."""
        return scaled(self, q)

    @compiled(on_demand=True)
    def through(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read it in methods."""
        return self.half() * np.asarray(q)

    @compiled(on_demand=True)
    def inside(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read it in a function inside, beside another compiled method."""
        return np.stack([(lambda x: self.gain * x)(x) for x in self.plainly(q)])

    @compiled(on_demand=True)
    def unbound(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read it in a method of the class."""
        return type(self).half(self) * np.asarray(q)

    @compiled(on_demand=True)
    def in_a_module(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read it in a function of a module."""
        return module.scale(self, q)

    @compiled(on_demand=True)
    def in_a_table(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read it in a function of a table."""
        return TABLE['f'](self, q)

    @compiled(on_demand=True)
    def by_descriptor(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read it in what is no property of Python."""
        return self.halved * np.asarray(q)

    @compiled(on_demand=True)
    @logged
    def decorated(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read it in a method that is decorated."""
        return self.gain * np.asarray(q)

    @compiled(on_demand=True)
    def by_name(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read it by a name that is computed."""
        return getattr(self, 'ga' + 'in'[:2]) * np.asarray(q)


METHODS = {name: m for name, m in vars(Scaling).items() if isinstance(m, Compiled)}


@pytest.fixture(scope='module')
def model(robot_text: Any) -> kd.RobotModel:
    return kd.loads(robot_text('planar_2r')).model


def text(method: str, robot: kd.Robot) -> str:
    return captured_text(METHODS[method].specification(robot).function)


def test_two_robots_of_a_user_have_their_own_numbers(model: kd.RobotModel) -> None:
    q = np.array([0.3, 0.7])
    for gain, cached in ((2.0, None), (3.0, None), (2.0, True)):
        robot = Scaling(model, gain)
        assert (robot.plainly(q) == gain * q).all()
        (report,) = robot.kernel_report()
        assert cached is None or report.cached


def test_derivatives_are_those_of_the_kernel(model: kd.RobotModel) -> None:
    """Whose attributes may have changed since it was made."""
    robot, q = Scaling(model, 2.0), np.array([0.3, 0.7])
    for gain in (2.0, 3.0):
        robot.gain = gain
        expansion = expand(robot.plainly, q, 1)
        assert (expansion(q) == robot.plainly(q)).all()
        assert (expansion.derivatives[1] == 2.0 * np.eye(2)).all()
    again = Scaling(model, 3.0)
    assert (expand(again.plainly, q, 1)(q) == again.plainly(q)).all()


@pytest.mark.parametrize('method', METHODS)
def test_an_attribute_counts_wherever_it_is_read(method: str, model: kd.RobotModel) -> None:
    values = (1.0, np.nextafter(1.0, 2.0), 1, np.ones(2), [1.0, 2.0], {'a': 1.0})
    texts = [text(method, Scaling(model, value)) for value in values]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize('method', METHODS)
def test_equal_numbers_share_a_kernel(method: str, model: kd.RobotModel) -> None:
    """Also in another process: nothing tells two robots apart but what the user sets."""
    robot, other = Scaling(model, np.array([1.0, 2.0])), Scaling(model, np.array([1.0, 2.0]))
    other.frame('hand')
    assert text(method, robot) == text(method, other)


@pytest.mark.parametrize('method', ['plainly', 'through', 'inside'])
def test_what_is_not_read_is_no_part_of_a_kernel(method: str, model: kd.RobotModel) -> None:
    robot, other = Scaling(model), Scaling(model)
    other.unread = 5.0
    assert text(method, robot) == text(method, other)


class Number(float):
    """A number that may compute otherwise."""


ENDLESS: list[Any] = []
ENDLESS.append({'again': ENDLESS})


@pytest.mark.parametrize(
    'value',
    [
        object(),
        scaled,  # whose file is not among the sources
        np.ones((2, 2)).view(np.matrix),
        np.ma.masked_array([1.0, 2.0]),
        collections.Counter('ab'),
        collections.OrderedDict(a=1.0),
        Number(1.0),
        ENDLESS,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_exact_text_is_shared_by_none(value: Any, model: kd.RobotModel) -> None:
    robot = Scaling(model, value)
    assert text('plainly', robot) != text('plainly', robot)


def test_a_value_may_occur_several_times(model: kd.RobotModel) -> None:
    row = [1.0, 2.0]
    robot = Scaling(model, [row, row])
    assert text('plainly', robot) == text('plainly', Scaling(model, [[1.0, 2.0], [1.0, 2.0]]))


def test_numbers_of_the_class_count(model: kd.RobotModel, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = Scaling(model)
    del robot.gain
    before = text('plainly', robot)
    monkeypatch.setattr(Scaling, 'gain', 2.0)
    assert text('plainly', robot) != before


def around(gain: float) -> Callable[..., Any]:
    return lambda model, q: gain * np.asarray(q)


def bound(gain: float, model: Any, q: Any) -> Any:
    return gain * np.asarray(q)


def by_default(gain: float) -> Callable[..., Any]:
    def function(model: Any, q: Any, gain: float = gain) -> Any:
        return gain * np.asarray(q)

    return function


def wrapped(gain: float) -> Callable[..., Any]:
    inner = functools.partial(bound, gain)
    return lambda model, q: inner(model, q)


@pytest.mark.parametrize(
    'make', [around, functools.partial(functools.partial, bound), by_default, wrapped]
)
def test_values_around_a_function_count(make: Callable[[float], Any]) -> None:
    one, two, again = (KernelSpecification('f', ['q'], make(g)).function for g in (1.0, 2.0, 1.0))
    assert captured_text(one) == captured_text(again) != captured_text(two)


def test_the_packages_equations_capture_nothing(model: kd.RobotModel) -> None:
    """So that a start with all kernels in the cache takes no time for it."""
    functions = [vars(kd.dynamics)[name] for name in ('gravity_vector', 'mass_matrix')]
    for robot in (kd.Robot(model), Scaling(model, object())):
        for owner in (robot, robot.frame('hand')):
            methods = compiled_methods(type(owner)).items()
            own = [m.specification(owner) for name, m in methods if name not in METHODS]
            functions += [specification.function for specification in own]
    assert {captured_text(function) for function in functions} == {''}


def test_a_body_that_calls_the_kernel_of_another_ends(model: kd.RobotModel) -> None:
    """It holds the lock of the cache, for which the other kernel would wait for ever."""
    with pytest.raises(kd.KronDynamicsError, match='q of plainly .* expected real numbers'):
        Scaling(model).inside(np.array([0.3, 0.7]))
