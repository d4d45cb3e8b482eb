# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of one model: made once, when first needed or all at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from kron_dynamics import KernelBuildError, ParameterError
from kron_dynamics.kernels import KernelCollection, collection
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.model import RobotModel, load_model

pytestmark = pytest.mark.hurried


def doubled(model: Any, q: Any) -> Any:
    return 2 * q


def tripled(model: Any, q: Any) -> Any:
    return 3 * q


def pushed(model: Any, q: Any, force: Any) -> Any:
    return np.outer(force, q)


class Halves(NamedTuple):
    first: np.ndarray
    second: np.ndarray


def halves(model: Any, q: Any) -> Any:
    return q[:1], q[1:]


DOUBLED = KernelSpecification('doubled', ['q'], doubled)
TRIPLED = KernelSpecification('threefold', ['q'], tripled)
PUSHED = KernelSpecification('outer product', ['q', ('force', 3)], pushed)
HALVES = KernelSpecification('split', ['q'], halves, Halves)


@pytest.fixture
def model(robot_text: Any) -> RobotModel:
    return load_model(robot_text('planar_2r'))


@pytest.fixture
def kernels(model: RobotModel) -> KernelCollection:
    return KernelCollection(model)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Names of what `make_kernels` is asked for, each time."""
    calls: list[list[str]] = []
    make_kernels = collection.make_kernels

    def watch(recipes: Any, *others: Any) -> Any:
        calls.append([specification.name for specification in recipes])
        return make_kernels(recipes, *others)

    monkeypatch.setattr(collection, 'make_kernels', watch)
    return calls


def test_kernels_are_made_once_and_reported(kernels: KernelCollection) -> None:
    assert kernels.reports == []
    first = kernels.get(KernelSpecification('doubled', ['q'], doubled))
    assert kernels.get(KernelSpecification('doubled', ['q'], doubled)) is first
    np.testing.assert_array_equal(first([1.0, 2.0]), [2.0, 4.0])
    (report,) = kernels.reports
    assert (report.name, report.operations, report.source) == ('doubled', 2, 'c')
    assert report.build_seconds > 0


def test_models_do_not_share_kernels(robot_text: Any) -> None:
    def gravity(model: Any, q: Any) -> Any:
        return model.gravity + 0 * q[0]

    for g in ((0, 0, -1), (0, 0, -2)):
        model = load_model(robot_text('planar_2r'), gravity=g)
        kernel = KernelCollection(model).get(KernelSpecification('gravity', ['q'], gravity))
        np.testing.assert_array_equal(kernel([0.0, 0.0]), g)


def test_what_is_missing_is_prepared_at_once(
    kernels: KernelCollection, made: list[list[str]]
) -> None:
    kernels.get(TRIPLED)
    kernels.prepare([DOUBLED, TRIPLED, HALVES, PUSHED])
    assert made == [['threefold'], ['doubled', 'split', 'outer product']]
    kernels.prepare([PUSHED, DOUBLED])
    kernels.prepare([])
    for quantity in (DOUBLED, TRIPLED, HALVES, PUSHED):
        kernels.get(quantity)
    assert len(made) == 2


def test_reports_are_in_the_order_of_making(kernels: KernelCollection) -> None:
    kernels.get(TRIPLED)
    kernels.prepare([PUSHED, DOUBLED, TRIPLED])
    assert [report.name for report in kernels.reports] == ['threefold', 'outer product', 'doubled']
    assert [report.operations for report in kernels.reports] == [2, 6, 2]


def test_one_quantity_twice_is_one_kernel(
    kernels: KernelCollection, made: list[list[str]]
) -> None:
    kernels.prepare([DOUBLED, TRIPLED, DOUBLED])
    assert [report.name for report in kernels.reports] == ['doubled', 'threefold']
    np.testing.assert_array_equal(kernels.get(TRIPLED)([1.0, 2.0]), [3.0, 6.0])
    assert len(made) == 1


def test_prepared_kernels_are_those_that_are_got(kernels: KernelCollection) -> None:
    kernels.prepare([DOUBLED, PUSHED, HALVES])
    np.testing.assert_array_equal(kernels.get(DOUBLED)([1.0, 2.0]), [2.0, 4.0])
    np.testing.assert_array_equal(
        kernels.get(PUSHED)([1.0, 2.0], [3.0, 4.0, 5.0]), [[3, 6], [4, 8], [5, 10]]
    )
    both = kernels.get(HALVES)([1.0, 2.0])
    assert type(both) is Halves
    np.testing.assert_array_equal(both, [[1.0], [2.0]])


def test_arguments_are_as_long_as_the_robot_where_nothing_else_is_said(
    kernels: KernelCollection,
) -> None:
    assert kernels.n == 2
    kernel = kernels.get(PUSHED)
    for q, force in (([1.0], [1.0] * 3), ([1.0] * 3, [1.0] * 3), ([1.0] * 2, [1.0] * 2)):
        with pytest.raises(ValueError, match=r'of outer product has shape'):
            kernel(q, force)


def test_what_could_not_be_made_is_tried_again(
    model: RobotModel, fake_compiler: Any, own_cache: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = KernelCollection(model)
    fake_compiler('exit 1')
    with pytest.raises(KernelBuildError):
        kernels.prepare([DOUBLED, TRIPLED])
    assert kernels.reports == []
    monkeypatch.delenv('CC')
    kernels.prepare([DOUBLED, TRIPLED])
    assert [report.cached for report in kernels.reports] == [False, False]


def test_threads_reach_the_kernels(model: RobotModel) -> None:
    q = np.arange(20000.0).reshape(10000, 2)
    for threads in (0, 1, 3):
        kernel = KernelCollection(model, threads).get(DOUBLED)
        np.testing.assert_array_equal(kernel(q), 2 * q)
    with pytest.raises(ParameterError, match='threads is -1'):
        KernelCollection(model, -1).get(DOUBLED)
