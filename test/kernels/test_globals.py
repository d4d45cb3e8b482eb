# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Users' equations that read globals, and equations of one name: each kernel has its own numbers.

The files stay the same: only values, or the class that an equation is of, tell kernels apart.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import logging
import math
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.elementary import sin
from kron_dynamics.kernels.captured import captured_text
from kron_dynamics.kernels.compiled import compiled
from kron_dynamics.typing import ArrayLike, FloatArray

pytestmark = pytest.mark.hurried

ROOT = Path(__file__).parents[2]
GAIN: Any = 2.0
SETTINGS = types.SimpleNamespace(gain=2.0)
FACTORS = [lambda x: 2.0 * x, lambda x: 3.0 * x]
FACTOR = FACTORS[0]
TABLE = {'factor': FACTOR}
other: Any = types.ModuleType('users_other')
other.GAIN = 2.0


class Mode(enum.Enum):
    """Of a user."""

    SLOW = 2.0
    FAST = 3.0


MODE = Mode.SLOW


class Rule:
    """Computes with a number of its class."""

    gain = 2.0

    def __init__(self, x: Any) -> None:
        self.x = x

    def value(self) -> Any:
        return self.gain * self.x


def helper(x: Any) -> Any:
    return GAIN * x


@functools.cache
def kept() -> Any:
    return GAIN


def around(gain: float) -> Any:
    return lambda x: gain * x


closed = around(2.0)
part = functools.partial(np.multiply, 2.0)


class Result(NamedTuple):
    """Of several parts."""

    whole: Any
    offset: float = 1.0


@dataclasses.dataclass
class Data:
    """Numbers and a list."""

    gain: float = 2.0
    more: list[float] = dataclasses.field(default_factory=list)


log = logging.getLogger(__name__)


def directly(model: Any, q: Any) -> Any:
    return GAIN * q


def in_a_function(model: Any, q: Any) -> Any:
    return [helper(x) for x in q]


def in_a_cache(model: Any, q: Any) -> Any:
    return kept() * q


def of_a_namespace(model: Any, q: Any) -> Any:
    return SETTINGS.gain * q


def of_a_module(model: Any, q: Any) -> Any:
    return other.GAIN * q


def of_a_class(model: Any, q: Any) -> Any:
    return Rule(q).value()


def by_a_function(model: Any, q: Any) -> Any:
    return FACTOR(q)


def by_a_table(model: Any, q: Any) -> Any:
    return TABLE['factor'](q)


def by_a_closure(model: Any, q: Any) -> Any:
    return closed(q)


def by_a_partial(model: Any, q: Any) -> Any:
    return part(q)


def by_a_member(model: Any, q: Any) -> Any:
    return MODE.value * q


def by_a_named_tuple(model: Any, q: Any) -> Any:
    return Result(q)


HERE = sys.modules[__name__]
CHANGES: list[tuple[Any, Any, str, Any]] = [
    (directly, HERE, 'GAIN', 3.0),
    (directly, HERE, 'GAIN', np.full(2, 2.0)),
    (in_a_function, HERE, 'GAIN', 3.0),
    (in_a_cache, HERE, 'GAIN', 3.0),
    (of_a_namespace, SETTINGS, 'gain', 3.0),
    (of_a_module, other, 'GAIN', 3.0),
    (of_a_class, Rule, 'gain', 3.0),
    (by_a_function, HERE, 'FACTOR', FACTORS[1]),
    (by_a_table, HERE, 'TABLE', {'factor': FACTORS[1]}),
    (by_a_closure, HERE, 'closed', around(3.0)),
    (by_a_partial, HERE, 'part', functools.partial(np.multiply, 3.0)),
    (by_a_partial, HERE, 'part', functools.partial(np.add, 2.0)),
    (by_a_member, HERE, 'MODE', Mode.FAST),
    (by_a_named_tuple, HERE, 'Result', type('Result', (Result,), {})),
    (by_a_named_tuple, Result.__new__, '__defaults__', (2.0,)),
]


@pytest.mark.parametrize(
    ('function', 'place', 'name', 'value'),
    CHANGES,
    ids=[f'{function.__name__}-{k}' for k, (function, *_) in enumerate(CHANGES)],
)
def test_a_global_counts_wherever_it_is_read(
    function: Any, place: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = captured_text(function)
    assert captured_text(function) == before
    monkeypatch.setattr(place, name, value)
    assert captured_text(function) != before


def ordinary(model: Any, q: Any) -> Any:
    log.debug('recorded')
    if len(q) > 9:
        raise kd.ShapeError('too long')
    q = cast(FloatArray, np.asarray(q)) * math.pi * Data().gain
    return Result(np.linalg.norm(q)) if MODE is Mode.FAST else Result(kd.dynamics, sin(q))


def test_what_is_ordinary_in_an_equation_has_an_exact_text() -> None:
    assert captured_text(ordinary) == captured_text(ordinary)


def test_globals_that_are_not_named_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = captured_text(directly)
    monkeypatch.setattr(HERE, 'MODE', object())
    assert captured_text(directly) == before


def test_a_global_without_an_exact_text_is_shared_by_none(monkeypatch: Any) -> None:
    monkeypatch.setattr(HERE, 'GAIN', object())
    assert captured_text(directly) != captured_text(directly)


PROGRAM = """
import sys
sys.path[:0] = [{folder!r}]
import users_gain
from kron_dynamics.kernels.captured import captured_text
print(captured_text(users_gain.f))
"""
MODULE = """
import os
GAIN = float(os.environ['GAIN'])
def f(model, q):
    return GAIN * q if 'a' in {'a', 'b', 'c', 'd'} else q
"""


def test_a_value_of_the_environment_counts_in_every_process_alike(tmp_path: Path) -> None:
    (tmp_path / 'users_gain.py').write_text(MODULE, encoding='utf-8')
    texts = []
    for gain, seed in ((2, 1), (3, 1), (2, 2)):
        more = {'GAIN': str(gain), 'PYTHONHASHSEED': str(seed), 'PYTHONPATH': str(ROOT)}
        program = PROGRAM.format(folder=str(tmp_path))
        done = subprocess.run(
            [sys.executable, '-c', program],
            env={**os.environ, **more},
            check=True,
            capture_output=True,
        )
        texts.append(done.stdout)
    assert texts[0] == texts[2] != texts[1]


class Doubled(kd.Robot):
    """Calls what its own classes define."""

    gain: Any = 2.0

    def factor(self) -> Any:
        return 2.0

    @property
    def of_a_global(self) -> Any:
        return GAIN

    @compiled(on_demand=True)
    def scaled(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read a method."""
        return self.factor() * np.asarray(q)

    @compiled(on_demand=True)
    def with_property(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read a property."""
        return self.of_a_global * np.asarray(q)

    @compiled(on_demand=True)
    def with_gain(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Read an attribute."""
        return self.gain * np.asarray(q)

    @compiled(has_inertia=True)
    def gravity_vector(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return twice the gravity vector."""
        return 2.0 * kd.dynamics.gravity_vector(self.model, q)


class OtherMethod(Doubled):
    """Overrides what the equation calls."""

    def factor(self) -> Any:
        return 3.0


class OtherEquation(kd.Robot):
    """Another equation of the same name, in the same file."""

    @compiled(on_demand=True)
    def scaled(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Multiply by a number."""
        return 5.0 * np.asarray(q)


Q = np.array([0.3, 0.7])


@pytest.fixture(scope='module')
def model(robot_text: Any) -> kd.RobotModel:
    return kd.loads(robot_text('planar_2r'), gravity=(0.0, -9.81, 0.0)).model


def test_equations_of_one_name_in_one_file_are_different(model: kd.RobotModel) -> None:
    for cls, factor in ((Doubled, 2.0), (OtherMethod, 3.0), (OtherEquation, 5.0)):
        robot: Any = cls(model)
        assert (robot.scaled(Q) == factor * Q).all()


def test_a_property_may_read_a_global(model: kd.RobotModel, monkeypatch: Any) -> None:
    for gain in (2.0, 3.0):
        monkeypatch.setattr(HERE, 'GAIN', gain)
        assert (Doubled(model).with_property(Q) == gain * Q).all()


@pytest.mark.parametrize('own_first', [True, False])
@pytest.mark.parametrize('carrying', [True, False])
def test_an_override_and_what_it_overrides_are_two_kernels(
    own_first: bool, carrying: bool, model: kd.RobotModel
) -> None:
    expected = kd.Robot(model).gravity_vector(Q)
    assert expected.all()
    robot = Doubled(model)
    if carrying:
        robot._kernels = kd.CarryingRobot(robot, 'hand')._kernels
    calls = {2.0: lambda: robot.gravity_vector(Q), 1.0: lambda: kd.Robot.gravity_vector(robot, Q)}
    for factor in sorted(calls, reverse=own_first):
        np.testing.assert_allclose(calls[factor](), factor * expected, rtol=1e-14)
    robot.prepare()
    for factor, call in calls.items():
        np.testing.assert_allclose(call(), factor * expected, rtol=1e-14)


class Frame(kd.RobotFrame):
    """Of two of them, which share a collection, each has its own number."""

    gain: Any = 1.0

    @compiled
    def scaled(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Multiply by the gain."""
        return self.gain * np.asarray(q)


def test_instances_that_share_a_collection_have_their_own_numbers(model: kd.RobotModel) -> None:
    kernels = kd.Robot(model)._kernels
    frames = [Frame('hand', model, kernels) for _ in range(3)]
    for frame, gain in zip(frames, (1.0, 3.0, 1.0), strict=True):
        frame.gain = gain
    for frame in frames:
        assert (frame.scaled(Q) == frame.gain * Q).all()
    assert len(kernels.reports) == 2


@pytest.mark.parametrize('values', [(2.0, 3.0), (np.ma.array(2.0), np.ma.array(3.0))])
def test_a_batch_has_the_numbers_of_single_states(values: Any, model: kd.RobotModel) -> None:
    """Though its code is compiled later, when attributes may have changed."""
    robot = Doubled(model)
    robot.gain, later = values
    robot.with_gain(Q)
    robot.gain = later
    batch = np.tile(Q, (40, 1))
    assert (robot.with_gain(batch) == 2.0 * batch).all()
    assert len(robot.kernel_report()) == 1
