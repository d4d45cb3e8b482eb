# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Generated code: what it may hold, and that it says what the trace says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kron_dynamics.kernels import Kernel
from kron_dynamics.kernels.emit import emit_c, emit_numpy
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.kinematics.scalars import cos, sin

CONSTANTS = [0.1, -0.1, 1 / 3, 1e22, -1e-300, 5e-324, 1.7976931348623157e308, 123456789.0]


def sample(x: Any, y: Any) -> Any:
    return [sin(x[0]) * y[1] / (2.5 + cos(x[1])), -x[0], 0.1 * y[0] - x[1], 7.0]


def test_generated_code_is_made_of_a_closed_vocabulary() -> None:
    trace = Trace(sample, [2, 2])
    words = set(re.findall(r'[A-Za-z_]\w*', emit_c(trace)))
    numbered = {word for word in words if re.fullmatch(r'[tx]\d+', word)}
    assert words - numbered == {
        *('include', 'math', 'stddef', 'h', 'void', 'kron_kernel', 'ptrdiff_t', 'count'),
        *('const', 'double', 'restrict', 'out', 'for', 'sin', 'cos'),
    }
    words = set(re.findall(r'[A-Za-z_]\w*', emit_numpy(trace)))
    numbered = {word for word in words if re.fullmatch(r'[tx]\d+', word)}
    assert words - numbered == {'def', 'kron_kernel', 'out', 'sin', 'cos', 'divide'}


def test_constants_arrive_with_every_digit(no_compiler: None, monkeypatch: Any) -> None:
    for source in ('numpy', 'c'):
        if source == 'c':
            monkeypatch.delenv('CC')
        kernel = Kernel('constants', [('x', 1)], lambda x: CONSTANTS, 'test_emit')
        assert kernel.report.source == source
        np.testing.assert_array_equal(kernel([0.0]), CONSTANTS)


def test_compiled_and_numpy_code_agree(
    monkeypatch: Any, rng: np.random.Generator, assert_close: Any
) -> None:
    x, y = rng.uniform(-3, 3, (2, 9, 2))
    compiled = Kernel('sample', [('x', 2), ('y', 2)], sample, 'test_emit')
    monkeypatch.setenv('CC', '/nonexistent')
    plain = Kernel('sample', [('x', 2), ('y', 2)], sample, 'test_emit')
    assert (compiled.report.source, plain.report.source) == ('c', 'numpy')
    assert compiled.report.operations == plain.report.operations
    assert_close(compiled(x, y), plain(x, y))
    expected = [sample(*rows) for rows in zip(x, y, strict=True)]
    assert_close(compiled(x, y), expected)
