# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What callers pass: numbers of every kind are taken, all else is refused by name, on one line."""

from __future__ import annotations

from array import array
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.arguments import real_array
from kron_dynamics.kernels import kernel, kernel_factory
from kron_dynamics.messages import clipped, listed, shown
from kron_dynamics.stability import motion_stability


class MyFloat(float):
    """A float of somebody's own."""


class ArrayLike:
    """Not an array, but it knows how to become one."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.values, dtype=dtype)


class Failing:
    """Fails at everything that it is asked."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise ZeroDivisionError('a\nsecret')

    def __repr__(self) -> str:
        raise KeyError('no repr')


class Loud:
    def __repr__(self) -> str:
        return 'loud\n' * 50_000


def endless() -> list[Any]:
    values: list[Any] = [1.0]
    values.append(values)
    return values


TAKEN = {
    'list': [1, 2.0, -3],
    'tuple': (1, 2, -3),
    'integers': np.array([1, 2, -3]),
    'small integers': np.array([1, 2, -3], dtype=np.int8),
    'float32': np.array([1, 2, -3], dtype=np.float32),
    'float16': np.array([1, 2, -3], dtype=np.float16),
    'long double': np.array([1, 2, -3], dtype=np.longdouble),
    'byte order': np.array([1, 2, -3], dtype='>f8'),
    'scalars of NumPy': [np.float64(1), np.float32(2), np.int16(-3)],
    'arrays of no axes': [np.array(1.0), np.array(2), -3],
    'a float of its own': [MyFloat(1), MyFloat(2), MyFloat(-3)],
    'fractions': [Fraction(2, 2), Decimal(2), Fraction(-6, 2)],
    'array-like': ArrayLike([1, 2, -3]),
    'array-likes': [ArrayLike(1.0), ArrayLike(2.0), ArrayLike(-3.0)],
    'range': range(1, 4),
    'buffer': array('d', [1, 2, -3]),
    'strided': np.array([1.0, 0, 2, 0, -3, 0])[::2],
}
BATCHES = {
    'lists': [[1, 2, 3], [4, 5, 6.0]],
    'tuples and lists': ((1, 2, 3), [4, 5, 6]),
    'rows': [np.arange(3.0), np.arange(3)],
    'an odd number': [[1, 2, 3], [4, 5, Fraction(6)]],
}
REFUSED = {
    'None': None,
    'text': 'abc',
    'text of numbers': ['1', '2', '3'],
    'bytes': b'abc',
    'dictionary': {},
    'set': {1.0, 2.0, 3.0},
    'generator': (x for x in (1.0, 2.0, 3.0)),
    'Nones': [None] * 3,
    'one None': [1.0, None, 3.0],
    'complex': np.array([1, 2, 3], dtype=complex),
    'complex number': [1.0, 2.0, 3j],
    'truth values': np.array([True, False, True]),
    'one truth value': [1.0, True, 3.0],
    'a truth value in a batch': [[1.0, True, 3.0], [1.0, 2.0, 3.0]],
    'dates': np.array(['2026-01-01'] * 3, dtype='M8[D]'),
    'durations': np.array([1, 2, 3], dtype='m8[s]'),
    'a date': [1.0, 2.0, np.datetime64('2026-01-01')],
    'fields': np.zeros(3, dtype=[('a', float)]),
    'masked': np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
    'a masked row': [np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), [1.0, 2.0, 3.0]],
    'objects': np.array([1.0, 2.0, 3.0], dtype=object),
    'array-like of objects': ArrayLike(np.array([1.0, None, 3.0], dtype=object)),
    'a function': len,
    'a failing object': Failing(),
    'failing objects': [Failing()] * 3,
    'long text': 'x' * 1_000_000,
    'long representation': Loud(),
    'endless': endless(),
    'a signal': [Decimal('sNaN'), 1.0, 2.0],
}
BEYOND = {
    'integer': [10**400, 0, 0],
    'huge integer': [0, -(10**5000), 0],
    'fraction': [Fraction(10**400), 1.0, 2.0],
    'long double': np.array([np.finfo(np.longdouble).max, 0, 0]),
}


@pytest.fixture(scope='module')
def robot(robot_text: Any) -> kd.Robot:
    return kd.loads(robot_text('rrp'))


@pytest.fixture(params=['extension', 'ctypes', 'numpy'])
def fresh(
    request: pytest.FixtureRequest, robot_text: Any, monkeypatch: pytest.MonkeyPatch
) -> kd.Robot:
    """A robot in each of the ways to call kernels."""
    if request.param == 'ctypes':
        monkeypatch.setattr(kernel, 'call_type', lambda: None)
    if request.param == 'numpy':
        monkeypatch.setattr(kernel_factory, 'find_compiler', lambda: None)
    return kd.loads(robot_text('rrp'))


def one_line(error: BaseException) -> str:
    text = str(error)
    assert text.isprintable()
    assert len(text) < 300
    return text


@pytest.mark.parametrize('values', TAKEN.values(), ids=TAKEN)
def test_numbers_of_every_kind_are_taken(values: Any, robot: kd.Robot) -> None:
    expected = robot.mass_matrix(np.array([1.0, 2.0, 3.0 if isinstance(values, range) else -3.0]))
    result = robot.mass_matrix(values)
    np.testing.assert_array_equal(result.reshape(3, 3), expected)


@pytest.mark.parametrize('values', BATCHES.values(), ids=BATCHES)
def test_batches_as_lists(values: Any, robot: kd.Robot) -> None:
    expected = robot.mass_matrix(np.array(values, dtype=float))
    assert expected.shape == (2, 3, 3)
    np.testing.assert_array_equal(robot.mass_matrix(values), expected)


@pytest.mark.parametrize('values', REFUSED.values(), ids=REFUSED)
def test_what_is_no_number_is_refused_by_name(values: Any, fresh: kd.Robot) -> None:
    with pytest.raises(kd.ArgumentTypeError) as raised:
        fresh.bias_forces([0.0, 0.0, 0.0], values)
    text = one_line(raised.value)
    assert text.startswith('qd of bias_forces is ')
    assert text.endswith(', expected real numbers')
    assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize('values', BEYOND.values(), ids=BEYOND)
def test_numbers_beyond_float64_are_refused(values: Any, robot: kd.Robot) -> None:
    with pytest.raises(kd.ParameterError, match='^q of mass_matrix is .* of float64') as raised:
        robot.mass_matrix(values)
    one_line(raised.value)


@pytest.mark.parametrize('values', [[1.0, [2.0], 3.0], [[1.0, 2.0, 3.0], [1.0]], [[1.0], 2.0]])
def test_ragged_lists_are_refused(values: Any, robot: kd.Robot) -> None:
    with pytest.raises(kd.ShapeError, match='^q of mass_matrix is .*differ in shape'):
        robot.mass_matrix(values)


def test_long_double_infinity_stays_infinite() -> None:
    values = np.array([np.inf, -np.inf, np.nan], dtype=np.longdouble)
    np.testing.assert_array_equal(real_array(values, 'x'), [np.inf, -np.inf, np.nan])


def test_none_is_no_coordinate_of_a_robot_with_one_joint(robot_text: Any) -> None:
    text = robot_text('planar_2r').replace(
        'name="elbow" type="revolute"', 'name="elbow" type="fixed"'
    )
    pendulum = kd.loads(text)
    assert pendulum.n == 1
    np.testing.assert_array_equal(pendulum.mass_matrix(0.1), pendulum.mass_matrix([0.1]))
    with pytest.raises(kd.ArgumentTypeError, match='q of mass_matrix is or holds None'):
        pendulum.mass_matrix(None)


def test_a_call_that_does_not_fit_stays_pythons(robot: kd.Robot) -> None:
    for call in (
        lambda: robot.mass_matrix(),
        lambda: robot.mass_matrix([0] * 3, [0] * 3),
        lambda: robot.mass_matrix(p=[0] * 3),
        lambda: robot.linearize([0] * 3),
    ):
        with pytest.raises(TypeError) as raised:
            call()
        assert not isinstance(raised.value, kd.KronDynamicsError)


def test_masked_out_is_refused(robot: kd.Robot) -> None:
    out = np.ma.masked_all((3, 3))
    with pytest.raises(kd.ShapeError, match='out of mass_matrix'):
        robot.mass_matrix([0.0, 0.0, 0.0], out=out)


@pytest.mark.parametrize('link', [None, 3, [], {}, b'tool', np.str_, ('tool',)])
def test_frame_wants_a_name(link: Any, robot: kd.Robot) -> None:
    for call in (robot.frame, robot.prepare):
        with pytest.raises(kd.ArgumentTypeError, match='^link is .*, expected the name of a link'):
            call(link)


@pytest.mark.parametrize('link', ['x' * 1_000_000, 'a\nb', '\ud800', ''])
def test_unknown_links_of_any_name_are_one_line(link: str, robot: kd.Robot) -> None:
    with pytest.raises(kd.UnknownFrameError) as raised:
        robot.frame(link)
    one_line(raised.value)


@pytest.mark.parametrize('friction', [None, 'yes', 1, [True], 0.0])
def test_friction_is_true_or_false(friction: Any, robot: kd.Robot) -> None:
    with pytest.raises(kd.ArgumentTypeError, match='^friction is .*, expected True or False'):
        robot.linearize([0] * 3, [0] * 3, [0] * 3, friction=friction)
    robot.linearize([0] * 3, [0] * 3, [0] * 3, friction=np.True_)


@pytest.mark.parametrize('name', ['q', 'qd', 'qdd'])
def test_linearize_names_its_arguments(name: str, robot: kd.Robot) -> None:
    motion: dict[str, Any] = {'q': [0] * 3, 'qd': [0] * 3, 'qdd': [0] * 3, name: [None] * 3}
    with pytest.raises(kd.ArgumentTypeError, match=f'^{name} of linearize is or holds None'):
        robot.linearize(**motion)


@pytest.mark.parametrize('model', [None, 'robot.urdf', kd.Robot])
def test_a_robot_wants_a_model(model: Any) -> None:
    with pytest.raises(kd.ArgumentTypeError, match='^model is .*, expected a RobotModel'):
        kd.Robot(model)


@pytest.mark.parametrize('threads', [None, 1.0, '2', True, [1]])
def test_threads_are_a_whole_number(threads: Any, robot: kd.Robot, robot_text: Any) -> None:
    with pytest.raises(kd.ArgumentTypeError, match='^threads is .*, expected a whole number'):
        kd.Robot(robot.model, threads=threads)
    states = np.linspace(0, 1, 3 * 5000).reshape(5000, 3)
    for many in (np.int64(2), 2**70):
        shared = kd.loads(robot_text('rrp'), threads=many)
        np.testing.assert_array_equal(shared.mass_matrix(states), robot.mass_matrix(states))


UNUSABLE: dict[str, list[Any]] = {
    'gravity': [None, 'down', 9.81j, [None] * 3, [True] * 3, ['0', '0', '1'], {}, Failing()],
    'joints': [True, 3, 'turn', b'turn', [[], [], []], [None], {'turn'}, Failing()],
    'armature': [
        *(True, 1.0, 'turn', ['turn'], {3: 1.0}, {'turn': None}, {'turn': '1'}, {'turn': True}),
        *({'turn': 1j}, {'turn': [1.0, 2.0]}, {'turn': 10**400}, Failing()),
    ],
    'payload': [
        *(True, 1.0, 'nozzle', [1.0], {None: 1.0}, {'nozzle': None}, {'nozzle': '1'}),
        *({'nozzle': True}, {'nozzle': (1.0, ['0', '0', '0'])}, {'nozzle': (1.0, [True] * 3)}),
        *({'nozzle': (None, [0, 0, 0])}, {'nozzle': 10**400}, {'x' * 10**6: None}),
    ],
    'flexible': [True, 3, ['boom.yaml'], b'boom.yaml', 'a\0b', '\ud800', Failing()],
    'threads': [None, True, 1.0, '2', []],
    'hold_base': [None, 1, 'yes', []],
    'strict': [None, 0, 'no', Failing()],
    'allow': [None, True, 3, {'joint_held': True}, [None], [b'joint_held']],
    'xacro_args': [True, 'name:=value', [('name', 'value')], {'name': 1}, {1: 'value'}],
    'expand_xacro': [None, 1, 'yes'],
    'path': [True, 3, ['robot.urdf'], 'a\0b', '\ud800', Failing()],
}


@pytest.mark.parametrize(
    ('option', 'value'),
    [
        pytest.param(option, value, id=f'{option}-{k}')
        for option, values in UNUSABLE.items()
        for k, value in enumerate(values)
    ],
)
def test_options_of_load_are_refused_by_name(option: str, value: Any, robot_text: Any) -> None:
    with pytest.raises((kd.ArgumentTypeError, kd.ParameterError, kd.ShapeError)) as raised:
        kd.loads(robot_text('rrp'), **{option: value})
    assert option in one_line(raised.value)[:40]


def test_options_of_load_in_other_guises(robot_text: Any) -> None:
    plain = kd.loads(robot_text('rrp'), gravity=(0, 0, -9.0), payload={'nozzle': 2.0})
    names = plain.joint_names
    other = kd.loads(
        robot_text('rrp'),
        gravity=np.array([0, 0, -9], dtype=np.int8),
        joints=dict.fromkeys(names).keys(),
        payload={'nozzle': (np.float32(2), np.zeros(3))},
        armature={},
        threads=np.int64(1),
    )
    assert other.model.fingerprint == plain.model.fingerprint


@pytest.mark.parametrize('source', [None, True, 3, b'x', [], {}, object(), Failing()])
def test_sources_of_load_are_refused_by_name(source: Any) -> None:
    with pytest.raises(kd.ArgumentTypeError, match='^text is .*, expected the text of a URDF'):
        kd.loads(source)
    with pytest.raises(kd.ArgumentTypeError, match='^path is .*, expected the path of a file'):
        kd.load(source)


@pytest.mark.parametrize('path', ['a\0b', '\ud800'])
def test_paths_that_cannot_be(path: str) -> None:
    with pytest.raises(kd.ParameterError, match='^path is .*, expected the path of a file'):
        kd.load(path)


def swing(times: Any) -> Any:
    return tuple(np.zeros((len(times), 3)) for _ in range(3))


@pytest.mark.parametrize(
    ('arguments', 'error', 'said'),
    [
        ({'robot': None}, kd.ArgumentTypeError, 'robot is None'),
        ({'motion': 3}, kd.ArgumentTypeError, 'motion is 3'),
        ({'motion': lambda t: None}, kd.ArgumentTypeError, 'motion returned None'),
        ({'motion': lambda t: (t, t)}, kd.ArgumentTypeError, 'motion returned'),
        ({'motion': lambda t: 'abc'}, kd.ArgumentTypeError, "motion returned 'abc'"),
        (
            {'motion': lambda t: ('a', t, t)},
            kd.ArgumentTypeError,
            'q of the motion is or hol',
        ),
        ({'period': 'long'}, kd.ArgumentTypeError, "period is or holds 'long'"),
        ({'period': [1.0, 2.0]}, kd.ShapeError, r'period has shape \(2,\)'),
        ({'period': np.nan}, kd.ParameterError, 'period is nan'),
        ({'held': 'waist'}, kd.ArgumentTypeError, "held is 'waist'"),
        ({'held': 7}, kd.ArgumentTypeError, 'held is 7'),
        ({'held': [[]]}, kd.ParameterError, 'held names'),
        ({'gains': 3}, kd.ArgumentTypeError, 'gains is 3'),
        ({'gains': ([0] * 3,)}, kd.ShapeError, 'gains has 1 parts'),
        ({'gains': ([0] * 3, [None] * 3)}, kd.ArgumentTypeError, 'kd is or holds None'),
        ({'gains': ([0] * 3, [np.nan] * 3)}, kd.NonFiniteError, 'kd holds a NaN'),
        ({'tolerance': 'fine'}, kd.ArgumentTypeError, 'tolerance is or holds'),
        ({'max_steps': 1e5}, kd.ArgumentTypeError, 'max_steps is 100000.0'),
        ({'breaks': 'none'}, kd.ArgumentTypeError, 'breaks is or holds'),
        ({'start': None}, kd.ArgumentTypeError, 'start is or holds None'),
    ],
)
def test_motion_stability_names_its_arguments(
    arguments: Any, error: type[Exception], said: str, robot: kd.Robot
) -> None:
    whole = {'robot': robot, 'motion': swing, 'period': 1.0, **arguments}
    with pytest.raises(error, match=f'^{said}') as raised:
        motion_stability(**whole)
    one_line(raised.value)


def test_what_messages_show_is_short() -> None:
    long = [['x'] * 99] * 99
    for value in (Failing(), Loud(), 'x' * 10**6, 10**9000, np.zeros(3), '\ud800', long):
        assert 3 < len(shown(value)) <= 100
        assert shown(value).isprintable()


def test_names_in_messages() -> None:
    assert clipped('boom') == 'boom'
    assert clipped('a\nb') == 'a\\nb'
    assert listed(['a', 'b']) == 'a, b'
    assert listed(f'link_{k}' for k in range(1000)).startswith('link_0, link_1, link_2, ')
    assert listed(f'link_{k}' for k in range(1000)).endswith(' more')
    assert len(listed('x' * 10**5 for _ in range(1000))) < 600
    assert len(clipped('x' * 1000)) <= 100
