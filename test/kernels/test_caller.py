# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The extension that calls kernels: what it serves itself, what it hands over, what it keeps."""

from __future__ import annotations

import inspect
import pydoc
import sys
from typing import Any

import numpy as np
import pytest
from handmade import Both, Five, make_call, never

from kron_dynamics.kernels.caller import call_type

X, Y, Z = np.arange(36.0).reshape(3, 4, 3) - 7


class Slow:
    """Remembers what it is called with."""

    def __init__(self) -> None:
        self.seen: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        self.seen = args, kwargs
        return 'slow'


def test_plain_arrays_go_the_short_way() -> None:
    muladd = make_call('muladd')
    np.testing.assert_array_equal(muladd(X[0], Y[0], Z[0]), X[0] + Y[0] * Z[0])
    np.testing.assert_array_equal(muladd(X, Y, Z), X + Y * Z)
    np.testing.assert_array_equal(muladd(X, X, X, out=None), X + X * X)
    assert muladd(X[:0], Y[:0], Z[:0]).shape == (0, 3)
    assert muladd(X[:1], Y[:1], Z[:1]).shape == (1, 3)
    for result in (muladd(X[0], Y[0], Z[0]), muladd(X, Y, Z)):
        assert type(result) is np.ndarray
        assert result.dtype == np.float64
        assert result.flags.owndata
        assert result.flags.carray


def test_out_goes_the_short_way_and_is_returned() -> None:
    muladd = make_call('muladd')
    single, batch, none = np.empty(3), np.empty((4, 3)), np.empty((0, 3))
    assert muladd(X[0], Y[0], Z[0], out=single) is single
    np.testing.assert_array_equal(single, X[0] + Y[0] * Z[0])
    assert muladd(X, Y, Z, out=batch) is batch
    np.testing.assert_array_equal(batch, X + Y * Z)
    assert muladd(X[:0], Y[:0], Z[:0], out=none) is none


def test_out_beside_the_arguments_goes_the_short_way() -> None:
    block = np.arange(12.0)
    x, y, z, out = block.reshape(4, 3)
    expected = x + y * z
    assert make_call('muladd')(x, y, z, out=out) is out
    np.testing.assert_array_equal(out, expected)


def test_results_without_dimensions() -> None:
    toil = make_call('toil')
    result = toil(np.zeros(1))
    assert type(result) is np.ndarray
    assert result.shape == ()
    assert toil(np.zeros((2, 1))).shape == (2,)
    out = np.array(3.0)
    assert toil(np.zeros(1), out=out) is out
    assert out == 0


def test_several_results_come_in_their_tuple() -> None:
    five = make_call('five')
    for lead in (np.s_[0], np.s_[:], np.s_[:0]):
        x, y, z = X[lead], Y[lead], Z[lead]
        result = five(x, y, z)
        assert type(result) is Five
        for k, array in enumerate(result):
            np.testing.assert_array_equal(array, x + y * z + k)
        for out in (Five(*np.empty((5, *x.shape))), tuple(np.empty((5, *x.shape)))):
            assert five(x, y, z, out=out) is out
            np.testing.assert_array_equal(out, result)
    total, difference = make_call('both')(X[:, :2].copy())
    np.testing.assert_array_equal(total, X[:, 0] + X[:, 1])
    np.testing.assert_array_equal(difference, X[:, :1] - X[:, 1:2])


def misaligned() -> np.ndarray:
    array = np.zeros(25, np.uint8)[1:].view(np.float64)
    assert not array.flags.aligned
    return array


def read_only() -> np.ndarray:
    array = np.zeros(3)
    array.setflags(write=False)
    return array


class Sub(np.ndarray):
    """Arrays of another kind may mean something else by their elements."""


def unusual_arrays() -> dict[str, Any]:
    """What is not a plain array of shape (3,)."""
    return {
        'list': [1.0, 2.0, 3.0],
        'tuple': (1.0, 2.0, 3.0),
        'number': 1.0,
        'None': None,
        'text': 'abc',
        'int': np.zeros(3, int),
        'float32': np.zeros(3, np.float32),
        'complex': np.zeros(3, complex),
        'long double': np.zeros(3, np.longdouble),
        'object': np.zeros(3, object),
        'byte-swapped': np.zeros(3, '>f8' if sys.byteorder == 'little' else '<f8'),
        'misaligned': misaligned(),
        'strided': np.zeros(6)[::2],
        'reversed': np.zeros(3)[::-1],
        'subclass': np.zeros(3).view(Sub),
        'masked': np.ma.zeros(3),
        'no dimension': np.array(1.0),
        'short': np.zeros(2),
        'long': np.zeros(4),
        'empty': np.zeros(0),
        'cube': np.zeros((1, 1, 3)),
        'row beside single states': np.zeros((1, 3)),
        'column': np.zeros((3, 1)),
    }


@pytest.mark.parametrize('place', [0, 1, 2])
@pytest.mark.parametrize('kind', unusual_arrays())
def test_unusual_arguments_are_handed_over_as_they_came(kind: str, place: int) -> None:
    slow = Slow()
    muladd = make_call('muladd', slow)
    arguments: list[Any] = [X[0], Y[0], Z[0]]
    arguments[place] = unusual_arrays()[kind]
    assert muladd(*arguments) == 'slow'
    args, kwargs = slow.seen
    assert len(args) == 3
    assert all(a is b for a, b in zip(args, arguments, strict=True))
    assert kwargs == {}


@pytest.mark.parametrize(
    'arrays',
    [
        (X, Y, Z[:3]),
        (X[0], Y, Z),
        (X, Y, Z[0]),
        (X[::2], Y[::2], Z[::2]),
        (np.asfortranarray(X), Y, Z),
        (X[:, :2], Y[:, :2], Z[:, :2]),
        (),
        (X[0],),
        (X[0], Y[0], Z[0], Z[0]),
        (X[0], Y[0], Z[0], np.empty(3)),
    ],
)
def test_unusual_batches_and_counts_are_handed_over(arrays: Any) -> None:
    slow = Slow()
    assert make_call('muladd', slow)(*arrays) == 'slow'
    assert all(a is b for a, b in zip(slow.seen[0], arrays, strict=True))


def test_unusual_names_are_handed_over() -> None:
    slow = Slow()
    muladd, out = make_call('muladd', slow), np.zeros(3)
    name = ''.join(['o', 'ut'])  # equal, but another object than the one in the code
    for args, kwargs in [
        ((X[0], Y[0]), {'z': Z[0]}),
        ((X[0], Y[0]), {'out': out}),
        ((X[0], Y[0], Z[0]), {'where': True}),
        ((X[0], Y[0], Z[0]), {'out': out, 'where': True}),
        ((), {'x': X[0], 'y': Y[0], 'z': Z[0]}),
    ]:
        assert muladd(*args, **kwargs) == 'slow'
        assert slow.seen == (args, kwargs)
    assert muladd(X[0], Y[0], Z[0], **{name: out}) in ('slow', out)
    assert muladd(X[0], Y[0], Z[0], **{}) is not out


def unusual_outs() -> dict[str, Any]:
    wrong = {**unusual_arrays(), 'read-only': read_only(), 'tuple of one': (np.zeros(3),)}
    return {**wrong, 'batch': np.zeros((4, 3))}


@pytest.mark.parametrize('kind', sorted(set(unusual_outs()) - {'None'}))
def test_unusual_outs_are_handed_over(kind: str) -> None:
    slow = Slow()
    out = unusual_outs()[kind]
    assert make_call('muladd', slow)(X[0], Y[0], Z[0], out=out) == 'slow'
    assert slow.seen[1]['out'] is out
    outs = [*np.empty((4, 3)), out]
    assert make_call('five', slow)(X[0], Y[0], Z[0], out=tuple(outs)) == 'slow'
    assert make_call('five', slow)(X[0], Y[0], Z[0], out=outs) == 'slow'
    batches = [np.empty((4, 3)), np.empty((3, 3)), np.empty((4, 2)), np.empty(3), np.empty((4,))]
    for batch in batches[1:]:
        assert make_call('muladd', slow)(X, Y, Z, out=batch) == 'slow'
    for number in (0, 4, 6):
        assert make_call('five', slow)(X, Y, Z, out=tuple(batches[:1] * number)) == 'slow'


def test_out_that_shares_memory_is_handed_over() -> None:
    block = np.arange(40.0)
    muladd, five = make_call('muladd', Slow()), make_call('five', Slow())

    def handed_over(call: Any, *arrays: Any, out: Any) -> bool:
        return isinstance(call(*arrays, out=out), str)

    single = block[0:3], block[3:6], block[6:9]
    for start in range(38):
        assert handed_over(muladd, *single, out=block[start : start + 3]) == (start < 9)
    table = block[:36].reshape(12, 3)
    batch = table[:2], table[2:4], table[4:6]
    for start in range(11):
        assert handed_over(muladd, *batch, out=table[start : start + 2]) == (start < 6)

    free = [block[k : k + 3] for k in (10, 13, 16, 19, 22)]
    assert not handed_over(five, *single, out=tuple(free))
    for k in range(5):
        for start, shares in ((8, True), (9 + 3 * k, k > 0), (11 + 3 * k, k < 4), (25, False)):
            out = (*free[:k], block[start : start + 3], *free[k + 1 :])
            assert handed_over(five, *single, out=out) == shares, (k, start)


def test_long_batches_are_for_slow_from_the_limit_on() -> None:
    muladd = make_call('muladd', Slow(), 4)
    assert muladd(X, Y, Z) == 'slow'
    np.testing.assert_array_equal(muladd(X[:3], Y[:3], Z[:3]), (X + Y * Z)[:3])


def test_what_slow_raises_arrives() -> None:
    with pytest.raises(AssertionError, match='handed over'):
        make_call('muladd')([1, 2, 3], Y[0], Z[0])


def test_float64_by_another_type_object_is_float64() -> None:
    described = np.dtype(np.float64, metadata={'of': 'another kind'})
    x = X[0].astype(described)
    assert x.dtype is not np.dtype(np.float64)
    np.testing.assert_array_equal(make_call('muladd')(x, Y[0], Z[0]), X[0] + Y[0] * Z[0])


def test_nan_and_infinity_go_through() -> None:
    x = np.array([np.nan, np.inf, 1.0])
    np.testing.assert_array_equal(make_call('muladd')(x, Y[0], Z[0])[:2], [np.nan, np.inf])


@pytest.mark.parametrize(
    ('name', 'arguments'),
    [
        ('address', ('1', (3,), ((3,),), None, never)),
        ('zero', (0, (3,), ((3,),), None, never)),
        ('sizes', (1, [3], ((3,),), None, never)),
        ('no argument', (1, (), ((3,),), None, never)),
        ('six arguments', (1, (3,) * 6, ((3,),), None, never)),
        ('negative size', (1, (-3,), ((3,),), None, never)),
        ('size', (1, ('3',), ((3,),), None, never)),
        ('no result', (1, (3,), (), Both, never)),
        ('nine results', (1, (3,), ((3,),) * 9, tuple, never)),
        ('two results', (1, (3,), ((3,),) * 2, None, never)),
        ('shape', (1, (3,), (3,), None, never)),
        ('rank', (1, (3,), ((1,) * 5,), None, never)),
        ('negative length', (1, (3,), ((-1,),), None, never)),
        ('result_type', (1, (3,), ((3,),), list, never)),
        ('no type', (1, (3,), ((3,),), 'tuple', never)),
    ],
)
def test_constructor_refuses_what_makes_no_kernel(name: str, arguments: Any) -> None:
    kind = call_type()
    assert kind is not None
    with pytest.raises((TypeError, ValueError)):
        kind(*arguments)


def test_attributes_make_it_look_like_a_method() -> None:
    made = make_call('muladd')
    assert repr(made) == '<kernel>'
    made.__name__, made.__qualname__ = 'muladd', 'tip.muladd'
    made.__doc__ = 'Return x + y * z, (3,).'
    made.__signature__ = inspect.signature(lambda x, y, z, *, out=None: None)
    assert repr(made) == '<kernel tip.muladd>'
    assert 'Return x + y * z' in pydoc.render_doc(made)
    assert str(inspect.signature(made)) == '(x, y, z, *, out=None)'
    assert callable(made)
    del made.__qualname__
    assert repr(made) == '<kernel>'
