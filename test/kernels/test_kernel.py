# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels as functions of arrays: shapes, batches, out=, NaN, no compiler, hostile names."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import ShapeError
from kron_dynamics.kernels import Kernel, kernel


def product(x: Any, y: Any) -> Any:
    return np.outer(x, y)


@pytest.fixture(params=['c', 'numpy'])
def outer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """Outer product of x, (2,), and y, (3,), compiled and not."""
    if request.param == 'numpy':
        monkeypatch.setenv('CC', '/nonexistent')
    made = Kernel('outer', [('x', 2), ('y', 3)], product, 'test_kernel')
    assert made.report.source == request.param
    return made


X, Y = np.arange(8.0).reshape(4, 2) + 1, np.arange(12.0).reshape(4, 3) - 5


def test_single_state(outer: Kernel) -> None:
    np.testing.assert_array_equal(outer(X[1], Y[2]), np.outer(X[1], Y[2]))
    np.testing.assert_array_equal(outer([1, 2], (3, 4, 5)), np.outer([1, 2], [3, 4, 5]))


def test_batch_is_the_singles(outer: Kernel) -> None:
    singles = [outer(x, y) for x, y in zip(X, Y, strict=True)]
    np.testing.assert_array_equal(outer(X, Y), singles)


def test_single_state_is_repeated_beside_a_batch(outer: Kernel) -> None:
    np.testing.assert_array_equal(outer(X[0], Y), [np.outer(X[0], y) for y in Y])
    np.testing.assert_array_equal(outer(X, Y[0]), [np.outer(x, Y[0]) for x in X])


def test_batch_of_one_keeps_its_dimension(outer: Kernel) -> None:
    assert outer(X[:1], Y[:1]).shape == (1, 2, 3)


def test_empty_batch(outer: Kernel) -> None:
    assert outer(X[:0], Y[:0]).shape == (0, 2, 3)


def test_batch_longer_than_a_chunk(outer: Kernel) -> None:
    x = np.linspace(-1, 1, 2 * 9001).reshape(9001, 2)
    y = np.ones((9001, 3))
    np.testing.assert_array_equal(outer(x, y), x[:, :, None] * y[:, None, :])


def test_strided_and_integer_inputs(outer: Kernel) -> None:
    wide = np.arange(24).reshape(4, 6)
    expected = wide[::-1, ::3][:, :, None] * Y[:, None, :]
    np.testing.assert_array_equal(outer(wide[::-1, ::3], Y), expected)


def test_out_receives_the_result(outer: Kernel) -> None:
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
def test_wrong_out_is_refused_and_left_alone(out: np.ndarray, outer: Kernel) -> None:
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
    x: Any, y: Any, words: str, outer: Kernel
) -> None:
    with pytest.raises(ShapeError, match=words):
        outer(x, y)


def test_nan_stays_in_its_state(outer: Kernel) -> None:
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
    kernel._warn_no_compiler.cache_clear()
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
    compile_library = kernel.compile_library

    def spy(command: Any, source: str, target: Path) -> None:
        sources.append(source)
        compile_library(command, source, target)

    monkeypatch.setattr(kernel, 'compile_library', spy)
    robot = kd.loads(text)
    nasty_link = robot.model.tip_link
    robot.inverse_dynamics([0, 0], [0, 0], [0, 0])
    robot.frame(nasty_link).jacobian([0, 0])
    assert len(sources) == 2
    for source in sources:
        assert all(word not in source for word in ('owned', 'system', '%', '"', '#error', '\\'))
    stems = {path.stem for path in own_cache.iterdir()}
    assert all(set(stem) <= set('0123456789abcdef') for stem in stems)
    assert not list(own_cache.parent.rglob('*owned*'))


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
