# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels without a compiler called for one state, with arrays of every layout and any number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from same_bits import assert_same_bits

from kron_dynamics.elementary import cos, sin
from kron_dynamics.exceptions import ShapeError
from kron_dynamics.kernels import Kernel, KernelReport
from kron_dynamics.kernels.interpreted import Interpreted
from kron_dynamics.kernels.trace import Trace

X, Y = np.array([0.3, -1.2]), np.array([2.0, 0.7, -0.4])


@pytest.fixture(scope='module')
def kernel() -> Kernel:
    """A kernel of generated Python code: x, (2,), and y, (3,) -> (2, 3)."""

    def equation(x: Any, y: Any) -> Any:
        return np.array([[sin(x[0]) * y[k] / x[1] for k in range(3)], [cos(x[1]) + v for v in y]])

    trace = Trace(equation, [2, 3])
    interpreted = Interpreted(trace)
    report = KernelReport('made', trace.operations, 'numpy', 0.0, False)
    arguments = (('x', 2), ('y', 3))
    return Kernel('made', arguments, [(2, 3)], report, interpreted, of_state=interpreted.of_state)


def layouts(plain: np.ndarray) -> dict[str, np.ndarray]:
    """The same numbers in arrays that are not all contiguous, aligned, writable or float64."""
    wide = np.repeat(plain, 2, axis=-1)
    shifted = np.zeros(plain.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(plain.shape)
    shifted[...] = plain
    fixed = plain.copy()
    fixed.setflags(write=False)
    return {
        'strided': wide[..., ::2],
        'reversed': np.flip(np.flip(plain).copy()),
        'misaligned': shifted,
        'read-only': fixed,
        'byte order': plain.astype('>f8'),
        'subclass': plain.view(np.matrix) if plain.ndim == 2 else plain.view(np.recarray),
    }


def expected() -> np.ndarray:
    return np.array([np.sin(X[0]) * Y / X[1], np.cos(X[1]) + Y])


@pytest.mark.parametrize('layout', layouts(X))
def test_arguments_of_every_layout_give_the_same_numbers(kernel: Kernel, layout: str) -> None:
    plain = kernel.call(X, Y)
    np.testing.assert_allclose(plain, expected(), rtol=1e-15)
    for x, y in ((layouts(X)[layout], Y), (X, layouts(Y)[layout])):
        assert_same_bits(kernel.call(x, y), plain)
        out = np.full((2, 3), np.nan)
        assert kernel.call(x, y, out=out) is out
        assert_same_bits(out, plain)


@pytest.mark.parametrize('layout', ['strided', 'reversed', 'read-only', 'byte order', 'Fortran'])
def test_an_unusable_out_is_refused_and_left_alone(kernel: Kernel, layout: str) -> None:
    zeros = np.zeros((2, 3))
    out = {**layouts(zeros), 'Fortran': np.asfortranarray(zeros)}[layout]
    with pytest.raises(ShapeError, match='out of made'):
        kernel.call(X, Y, out=out)
    assert not out.any()


@pytest.mark.parametrize('x', [(np.inf, 1.0), (0.3, 0.0), (0.0, 0.0), (np.nan, 1.0)])
def test_no_number_is_an_error(kernel: Kernel, x: tuple[float, float]) -> None:
    with np.errstate(all='ignore'):
        wanted = [np.sin(x[0]) * Y / x[1], np.cos(x[1]) + Y]
    out = np.empty((2, 3))
    np.testing.assert_allclose(kernel.call(np.array(x), Y), wanted, rtol=1e-15)
    np.testing.assert_allclose(kernel.call(np.array(x), Y, out=out), wanted, rtol=1e-15)


def test_a_result_may_lie_on_an_argument(kernel: Kernel) -> None:
    place = np.zeros((2, 3))
    place[1] = Y
    assert_same_bits(kernel.call(X, place[1], out=place), kernel.call(X, Y))
