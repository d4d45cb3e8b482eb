# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Real kernels on a disk that turns bits, and libraries that are not what their records say."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kron_dynamics import KernelBuildError, dynamics
from kron_dynamics.kernels import cache
from kron_dynamics.kernels.kernel_factory import make_kernels
from kron_dynamics.kernels.library import address_of
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.model import RobotModel, load_model

pytestmark = pytest.mark.hurried

RECIPES = [
    KernelSpecification('gravity_vector', ('q',), dynamics.gravity_vector),
    KernelSpecification('mass_matrix', ('q',), dynamics.mass_matrix),
]
Q = np.array([0.3, -0.7])


@pytest.fixture
def model(robot_text: Any) -> RobotModel:
    return load_model(robot_text('planar_2r'))


def check_numbers(kernels: list[Any], model: RobotModel, assert_close: Any) -> None:
    for kernel, specification in zip(kernels, RECIPES, strict=True):
        assert_close(kernel.call(Q), specification.function(model, Q))


@pytest.fixture
def library(own_cache: Path, compiled_once: list[str], model: RobotModel) -> Path:
    """The file of two kernels."""
    make_kernels(RECIPES, model, 'altered')
    compiled_once.clear()
    records = [json.loads(path.read_bytes().split(b'\n')[1]) for path in own_cache.glob('*.json')]
    (name,) = {fields['library'] for fields in records if fields['operations']}
    return own_cache / f'{name}.so'


def test_no_flipped_bit_gives_a_wrong_number(
    library: Path,
    compiled_once: list[str],
    model: RobotModel,
    assert_close: Any,
    request: pytest.FixtureRequest,
) -> None:
    records = [
        path
        for path in library.parent.glob('*.json')
        if library.stem.encode() in path.read_bytes()
    ]
    drawn = random.Random(20190301)
    for _ in range(200 if request.config.getoption('--long') else 30):
        whole = {file: file.read_bytes() for file in (library, *records)}
        file = drawn.choice((library, *records))
        content = bytearray(whole[file])
        content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
        # A new file: this process has the old one in its memory.
        file.unlink()
        cache.write_private(file, bytes(content))
        compiled_once.clear()
        kernels = make_kernels(RECIPES, model, 'altered')
        assert len(compiled_once) == 1
        assert [kernel.report.cached for kernel in kernels].count(False) == 1 + (file == library)
        check_numbers(kernels, model, assert_close)
        for path, before in whole.items():
            path.unlink(missing_ok=True)
            cache.write_private(path, before)
        again = make_kernels(RECIPES, model, 'altered')
        assert all(kernel.report.cached for kernel in again)


@pytest.mark.parametrize(
    'changed',
    [
        {'symbol': 'kernel_1'},
        {'symbol': 'nothing'},
        {'shapes': [[3]]},
        {'shapes': [[2], [2]]},
        {'shapes': []},
        {'shapes': [[10**9]]},
        {'shapes': [[-2]]},
    ],
    ids=str,
)
def test_what_the_library_says_of_itself_counts(
    changed: dict[str, Any],
    library: Path,
    compiled_once: list[str],
    model: RobotModel,
    assert_close: Any,
) -> None:
    """Even a record sealed as the cache would seal it."""
    for record in library.parent.glob('*.json'):
        fields = json.loads(record.read_bytes().split(b'\n')[1])
        if fields['symbol'] == 'kernel_0':
            text = json.dumps({**fields, **changed}).encode()
            record.write_bytes(cache._seal(record.stem, text) + b'\n' + text)
    kernels = make_kernels(RECIPES, model, 'altered')
    assert len(compiled_once) == 1
    assert [kernel.report.cached for kernel in kernels].count(False) == 1
    check_numbers(kernels, model, assert_close)


def test_a_library_tells_what_it_is_for(library: Path) -> None:
    with pytest.raises(KernelBuildError, match='not the one asked for'):
        address_of(library, 'kernel_0', 'another')
    with pytest.raises(KernelBuildError, match='cannot be loaded'):
        address_of(library, 'kernel_9', 'another')
    with pytest.raises(KernelBuildError, match='cannot be loaded'):
        address_of(library.with_name('nothing.so'), 'kernel_0', 'another')
