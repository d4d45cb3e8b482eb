# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels as functions of arrays: shapes, batches, out=, NaN, no compiler, hostile names."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import handmade
import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import ParameterError, ShapeError
from kron_dynamics.kernels import Kernel, KernelReport, compiler_process, kernel, kernel_factory
from kron_dynamics.kernels.prelude import prelude

# As an extension of Python calls it, as ctypes does, and without a compiler.
WAYS = ['extension', 'ctypes', 'numpy']


@pytest.fixture(params=WAYS)
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Make one of the kernels of `handmade`, in each way."""
    if request.param == 'ctypes':
        monkeypatch.setattr(kernel, 'call_type', lambda: None)

    def made(name: str, **options: Any) -> Any:
        source = 'numpy' if request.param == 'numpy' else 'c'
        call = handmade.make(name, source, **options).call
        assert (type(call).__name__ == 'Call') == (request.param == 'extension')
        return call

    return made


@pytest.fixture
def outer(make: Callable[..., Any]) -> Any:
    """Outer product of x, (2,), and y, (3,)."""
    return make('outer')


X, Y = np.arange(8.0).reshape(4, 2) + 1, np.arange(12.0).reshape(4, 3) - 5


def test_single_state(outer: Any) -> None:
    np.testing.assert_array_equal(outer(X[1], Y[2]), np.outer(X[1], Y[2]))
    np.testing.assert_array_equal(outer([1, 2], (3, 4, 5)), np.outer([1, 2], [3, 4, 5]))


def test_batch_is_the_singles(outer: Any) -> None:
    singles = [outer(x, y) for x, y in zip(X, Y, strict=True)]
    np.testing.assert_array_equal(outer(X, Y), singles)


def test_single_state_is_repeated_beside_a_batch(outer: Any) -> None:
    np.testing.assert_array_equal(outer(X[0], Y), [np.outer(X[0], y) for y in Y])
    np.testing.assert_array_equal(outer(X, Y[0]), [np.outer(x, Y[0]) for x in X])


def test_batch_of_one_keeps_its_dimension(outer: Any) -> None:
    assert outer(X[:1], Y[:1]).shape == (1, 2, 3)


def test_empty_batch(outer: Any) -> None:
    assert outer(X[:0], Y[:0]).shape == (0, 2, 3)


def test_long_batch(outer: Any) -> None:
    x = np.linspace(-1, 1, 2 * 9001).reshape(9001, 2)
    y = np.ones((9001, 3))
    np.testing.assert_array_equal(outer(x, y), x[:, :, None] * y[:, None, :])


def test_strided_and_integer_inputs(outer: Any) -> None:
    wide = np.arange(24).reshape(4, 6)
    expected = wide[::-1, ::3][:, :, None] * Y[:, None, :]
    np.testing.assert_array_equal(outer(wide[::-1, ::3], Y), expected)


def test_out_receives_the_result(outer: Any) -> None:
    out = np.full((4, 2, 3), np.nan)
    assert outer(X, Y, out=out) is out
    np.testing.assert_array_equal(out, X[:, :, None] * Y[:, None, :])
    single = np.empty((2, 3))
    assert outer(X[0], Y[0], out=single) is single


def read_only() -> np.ndarray:
    out = np.zeros((4, 2, 3))
    out.setflags(write=False)
    return out


@pytest.mark.parametrize(
    'out',
    [
        np.zeros((2, 3)),
        np.zeros((4, 3, 2)),
        np.zeros((4, 2, 3), dtype=np.float32),
        np.zeros((4, 2, 3), dtype='>f8'),
        np.zeros((4, 2, 3), order='F'),
        np.zeros((4, 2, 6))[:, :, ::2],
        read_only(),
    ],
    ids=['single', 'transposed', 'float32', 'byte order', 'Fortran', 'strided', 'read-only'],
)
def test_wrong_out_is_refused_and_left_alone(out: np.ndarray, outer: Any) -> None:
    with pytest.raises(ShapeError, match='out of outer'):
        outer(X, Y, out=out)
    assert not out.any()


@pytest.mark.parametrize(
    ('x', 'y', 'words'),
    [
        (np.zeros(3), Y[0], r'x of outer has shape \(3,\), expected \(2,\) or \(N, 2\)'),
        (X[0], np.zeros(2), r'y of outer has shape \(2,\), expected \(3,\) or \(N, 3\)'),
        (np.zeros((4, 3)), Y, r'x of outer has shape \(4, 3\)'),
        (np.zeros((1, 4, 2)), Y, r'x of outer has shape \(1, 4, 2\)'),
        (X[0, 0], Y[0], r'x of outer has shape \(1,\)'),
        (X, Y[:3], 'y of outer has 3 states, expected 4'),
        (X[:1], Y, 'y of outer has 4 states, expected 1'),
        ([], Y[0], r'x of outer has shape \(0,\)'),
    ],
)
def test_wrong_shapes_are_refused_with_the_arguments_name(
    x: Any, y: Any, words: str, outer: Any
) -> None:
    with pytest.raises(ShapeError, match=words):
        outer(x, y)


def test_arguments_by_name(outer: Any) -> None:
    np.testing.assert_array_equal(outer(y=Y[0], x=X[0]), np.outer(X[0], Y[0]))
    out = np.empty((4, 2, 3))
    assert outer(X, y=Y, out=out) is out
    np.testing.assert_array_equal(out, outer(X, Y))


@pytest.mark.parametrize(
    ('values', 'names', 'words'),
    [
        ((X[0],), {}, "missing a required argument: 'y'"),
        ((X[0], Y[0], Y[0]), {}, 'too many positional arguments'),
        ((X[0], Y[0]), {'x': X[0]}, "multiple values for argument 'x'"),
        ((X[0],), {'z': Y[0]}, "missing a required argument: 'y'|unexpected keyword"),
        ((X[0], Y[0]), {'where': True}, "unexpected keyword argument 'where'"),
    ],
)
def test_wrong_arguments_are_refused_as_a_functions(
    values: Any, names: Any, words: str, outer: Any
) -> None:
    with pytest.raises(TypeError, match=f'outer.*({words})'):
        outer(*values, **names)


def test_out_may_be_an_argument(make: Callable[..., Any]) -> None:
    muladd = make('muladd')
    block = np.arange(20.0)
    x, y, z = block[:3].copy(), block[3:6], block[6:9]
    expected = x + y * z
    assert muladd(x, y, z, out=x) is x
    np.testing.assert_array_equal(x, expected)
    # Partly the same memory, in a batch.
    x, y, z = block[:9].reshape(3, 3), block[2:11].reshape(3, 3), block[11:].reshape(3, 3)
    expected = x + y * z
    np.testing.assert_array_equal(muladd(x, y, z, out=y), expected)
    np.testing.assert_array_equal(y, expected)


def test_out_that_is_no_array(outer: Any) -> None:
    with pytest.raises(ShapeError, match='out of outer is list, expected a writable'):
        outer(X[0], Y[0], out=[0.0])


def test_several_results_are_a_named_tuple(make: Callable[..., Any]) -> None:
    both = make('both')
    for x in (X[1], X, X[:0], [[1, 2], [3, 5]]):
        result = both(x)
        assert type(result) is handmade.Both
        x = np.asarray(x)
        assert result.total.shape == x.shape[:-1]
        assert result.difference.shape == (*x.shape[:-1], 1)
        np.testing.assert_array_equal(result.total, x.sum(axis=-1))
        np.testing.assert_array_equal(result.difference[..., 0], x[..., 0] - x[..., 1])


def test_several_results_into_out(make: Callable[..., Any]) -> None:
    both = make('both')
    for out in ((np.empty(4), np.empty((4, 1))), handmade.Both(np.empty(4), np.empty((4, 1)))):
        assert both(X, out=out) is out
        for given, expected in zip(out, both(X), strict=True):
            np.testing.assert_array_equal(given, expected)
    x = X.copy()
    out = (np.empty(4), x[:2].reshape(4, 1))
    expected = both(x)
    assert both(x, out=out) is out
    np.testing.assert_array_equal(out[0], expected.total)
    np.testing.assert_array_equal(out[1], expected.difference)


@pytest.mark.parametrize(
    ('out', 'words'),
    [
        (np.empty(4), r'out of both has shape \(4,\) and type float64, expected a tuple of 2'),
        ([np.empty(4), np.empty((4, 1))], 'out of both is list, expected a tuple of 2 arrays'),
        ((np.empty(4),), 'out of both is tuple, expected a tuple of 2 arrays'),
        ((np.empty(4), np.empty(4)), r'out\[1\] of both has shape \(4,\) and type float64'),
        ((np.empty(4, int), np.empty((4, 1))), r'out\[0\] of both has shape \(4,\) and type int'),
        ((None, np.empty((4, 1))), r'out\[0\] of both is NoneType'),
    ],
)
def test_wrong_out_of_several_results(out: Any, words: str, make: Callable[..., Any]) -> None:
    with pytest.raises(ShapeError, match=words):
        make('both')(X, out=out)


def test_out_whose_arrays_share_memory(make: Callable[..., Any]) -> None:
    block = np.zeros(6)
    with pytest.raises(ShapeError, match='out of both holds arrays that share memory'):
        make('both')(X, out=(block[:4], block[2:].reshape(4, 1)))
    assert not block.any()


def test_read_only_arguments(outer: Any) -> None:
    x = X.copy()
    x.setflags(write=False)
    np.testing.assert_array_equal(outer(x[1], list(Y[2])), np.outer(X[1], Y[2]))


@pytest.mark.parametrize('threads', [0, 2, 3])
@pytest.mark.parametrize('count', [4095, 4096, 20_001])
def test_threads_share_a_batch(threads: int, count: int, make: Callable[..., Any]) -> None:
    x = np.arange(2.0 * count).reshape(count, 2)
    both, alone = make('both', threads=threads), make('both')
    for result, expected in zip(both(x), alone(x), strict=True):
        np.testing.assert_array_equal(result, expected)
    out = handmade.Both(np.empty(count), np.empty((count, 1)))
    assert both(x, out=out) is out
    np.testing.assert_array_equal(out.difference, alone(x).difference)


def test_several_results_need_a_type() -> None:
    with pytest.raises(TypeError, match='pair has 2 results, but no result_type'):
        Kernel('pair', [('x', 2)], [(), ()], KernelReport('pair', 0, 'numpy', 0.0, False))


def test_negative_threads_are_refused() -> None:
    with pytest.raises(ParameterError, match='threads is -1'):
        handmade.make('both', threads=-1)


def test_nan_stays_in_its_state(outer: Any) -> None:
    x = X.copy()
    x[1, 0] = np.nan
    result = outer(x, Y)
    assert np.isnan(result[1, 0]).all()
    assert np.isfinite(result[[0, 2, 3]]).all()
    assert np.isfinite(result[1, 1]).all()


def test_nan_comes_out_of_everything_it_matters_to(
    robot_text: Any, rng: np.random.Generator
) -> None:
    robot = kd.loads(robot_text('rrp'))
    q, qd, tau = rng.uniform(-1, 1, (3, robot.n))
    good = robot.forward_dynamics(q, qd, tau)
    for k in range(3 * robot.n):
        state = np.array([q, qd, tau])
        state.ravel()[k] += 0.1
        matters = robot.forward_dynamics(*state) != good
        state.ravel()[k] = np.nan
        result = robot.forward_dynamics(*state)
        assert np.isnan(result[matters]).all()
        # It turns about the vertical: nothing depends on its first coordinate.
        assert matters.any() or k == 0


def test_without_a_compiler_the_numbers_are_the_same_and_one_warning_says_so(
    robot_text: Any,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    assert_close: Any,
) -> None:
    q, qd, qdd = rng.uniform(-1, 1, (3, 5, 3))
    compiled, plain = kd.loads(robot_text('rrp')), kd.loads(robot_text('rrp'))
    expected = compiled.inverse_dynamics(q, qd, qdd), compiled.mass_matrix(q)
    kernel_factory._warn_not_compiled.cache_clear()
    monkeypatch.setenv('CC', '/nonexistent')
    with caplog.at_level(logging.WARNING):
        assert_close(plain.inverse_dynamics(q, qd, qdd), expected[0])
        assert_close(plain.mass_matrix(q), expected[1])
        assert_close(plain.mass_matrix(q[0]), expected[1][0])
    assert [record.levelname for record in caplog.records] == ['WARNING']
    assert 'no C compiler' in caplog.text
    assert {report.source for report in plain.kernel_report()} == {'numpy'}


NASTY = [
    '"; system("touch owned"); "',
    '*/ #error owned',
    '%s%n',
    '../../owned',
    'a\\b',
    '$(owned)',
]


def test_no_name_of_a_description_reaches_generated_code(
    robot_text: Any, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = robot_text('planar_2r')
    places = ('planar_2r', 'shoulder', 'elbow', 'upper_arm', 'forearm', 'hand')
    for place, name in zip(places, NASTY, strict=True):
        text = text.replace(f'"{place}"', quoteattr(name))
    sources = []
    compile_library = compiler_process.compile_library

    def spy(command: Any, source: str, target: Path, **more: Any) -> None:
        sources.append(source)
        compile_library(command, source, target, **more)

    monkeypatch.setattr(compiler_process, 'compile_library', spy)
    robot = kd.loads(text)
    nasty_link = robot.model.tip_link
    robot.inverse_dynamics([0, 0], [0, 0], [0, 0])
    robot.frame(nasty_link).jacobian([0, 0])
    assert len(sources) == 2
    for text in sources:
        assert text.startswith(prelude())
        source = re.sub(
            r'const char kernel_\d_is\[\] = "[0-9a-f]{64}: [0-9 ]+ -> [0-9 x]+";',
            '',
            text.removeprefix(prelude()),
        )
        assert all(word not in source for word in ('owned', 'system', '%', '"', '#error', '\\'))
    stems = {path.stem for path in own_cache.glob('*[!k]')}
    assert all(set(stem) <= set('0123456789abcdef') for stem in stems)
    assert not list(own_cache.parent.rglob('*owned*'))


def test_another_thread_finishes_the_code_for_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the question whether it is missing and the request for it."""
    kernel = handmade.make('both')
    reads = iter([lambda: None])
    found = property(lambda self: next(reads, None), lambda self, value: None)
    monkeypatch.setattr(Kernel, '_lanes', found, raising=False)
    x = np.arange(64.0).reshape(32, 2)
    np.testing.assert_array_equal(kernel(x).total, x.sum(axis=1))


def test_threads_share_a_robot(robot_text: Any, rng: np.random.Generator) -> None:
    robot, Q = kd.loads(robot_text('rrp')), rng.uniform(-1, 1, (4, 200, 3))
    results: list[Any] = [None] * 4
    barrier = threading.Barrier(4)

    def work(k: int) -> None:
        barrier.wait()
        results[k] = robot.gravity_vector(Q[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        np.testing.assert_array_equal(results[k], robot.gravity_vector(Q[k]))
