# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Code with one state per SIMD lane: made by the first batch that it pays for, or in advance."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from long_runs import some_of

import kron_dynamics
from kron_dynamics import KernelBuildError, Robot
from kron_dynamics.kernels import kernel_factory
from kron_dynamics.kernels.kernel import BATCH

pytestmark = pytest.mark.hurried

Compilations = Callable[[], list[str]]


@pytest.fixture
def robot(own_cache: Path, robot_text: Any) -> Robot:
    return kron_dynamics.loads(robot_text('spatial_3r'))


@pytest.fixture
def states(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-2, 2, (3, 100, 3))


def test_the_first_batch_compiles_it_and_no_other(
    robot: Robot, states: np.ndarray, logging_compiler: Compilations
) -> None:
    call = robot.inverse_dynamics
    singles = np.array([call(*states[:, k]) for k in range(100)])
    few = call(*states[:, : BATCH - 1])
    np.testing.assert_array_equal(few, singles[: BATCH - 1])
    assert len(logging_compiler()) == 1
    for _ in range(2):
        np.testing.assert_array_equal(call(*states[:, :BATCH]), singles[:BATCH])
        assert len(logging_compiler()) == 2
    np.testing.assert_array_equal(call(*states), singles)
    np.testing.assert_array_equal(call(*states.tolist()), singles)  # the way through Python
    np.testing.assert_array_equal(call(*states[:, 0]), singles[0])
    assert len(logging_compiler()) == 2
    again = kron_dynamics.Robot(robot.model)
    np.testing.assert_array_equal(again.inverse_dynamics(*states), call(*states))
    assert len(logging_compiler()) == 2  # found in the cache


@pytest.mark.parametrize('name', some_of(['planar_2r', 'spatial_3r'], ['planar_2r']))
def test_prepare_compiles_it_on_request(
    name: str, own_cache: Path, robot_text: Any, states: np.ndarray, logging_compiler: Compilations
) -> None:
    robot = kron_dynamics.loads(robot_text(name))
    link, states = robot.model.tip_link, states[:, :, : robot.n]
    robot.prepare(link)
    without = len(logging_compiler())
    robot.prepare(link, batches=True)
    prepared = len(logging_compiler())
    assert prepared > without
    robot.prepare(link, batches=True)
    robot.inverse_dynamics(*states)
    robot.coriolis_matrix(*states[:2])
    robot.frame(link).jacobian(states[0])
    assert len(logging_compiler()) == prepared


def test_wide_results_have_no_code_of_their_own_for_batches(
    own_cache: Path, make_kernel: Any, logging_compiler: Compilations
) -> None:
    kernel = make_kernel('wide', lambda x: [x[0] * k for k in range(101)], ('x', 1))
    assert not kernel.lacks_lanes
    np.testing.assert_array_equal(kernel(np.ones((40, 1))), np.tile(np.arange(101.0), (40, 1)))
    assert logging_compiler() == ['0.c']


@pytest.mark.parametrize('threads', [1, 2])
def test_large_batches_are_divided_among_threads(
    threads: int, own_cache: Path, robot_text: Any, rng: np.random.Generator
) -> None:
    robot = kron_dynamics.loads(robot_text('planar_2r'), threads=threads)
    q = rng.uniform(-2, 2, (10_001, 2))
    expected = [robot.gravity_vector(one) for one in q]
    for _ in range(2):
        np.testing.assert_array_equal(robot.gravity_vector(q), expected)


def test_without_a_compiler_any_more_batches_are_computed_state_by_state(
    robot: Robot,
    states: np.ndarray,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    singles = np.array([robot.gravity_vector(q) for q in states[0]])
    monkeypatch.setenv('CC', '/nonexistent')
    kernel_factory._warn_not_compiled.cache_clear()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            np.testing.assert_array_equal(robot.gravity_vector(states[0]), singles)
    assert len(caplog.records) == 1


def test_a_compiler_that_fails_is_an_error_each_time(
    robot: Robot, states: np.ndarray, fake_compiler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    single = robot.gravity_vector(states[0, 0])
    for script in ('exit 3', 'true'):
        fake_compiler(script)
        for _ in range(2):
            with pytest.raises(KernelBuildError):
                robot.gravity_vector(states[0])
        np.testing.assert_array_equal(robot.gravity_vector(states[0, 0]), single)
    monkeypatch.delenv('CC')
    assert robot.gravity_vector(states[0]).shape == (100, 3)


def test_code_for_batches_is_checked_before_it_is_used(
    robot: Robot, states: np.ndarray, fake_compiler: Any
) -> None:
    robot.gravity_vector(states[0, 0])
    # Where a unit has lanes, its sines and cosines change places.
    fake_compiler(
        'for word; do case $word in */0.c) sed -i "s/sincos_wide(\\(.*\\), &s\\([0-9]*\\), '
        '&c[0-9]*);/sincos_wide(\\1, \\&c\\2, \\&s\\2);/" "$word";; esac; done\nexec cc "$@"'
    )
    with pytest.raises(KernelBuildError, match="kernel 'gravity_vector' gives .* equations give"):
        robot.gravity_vector(states[0])
