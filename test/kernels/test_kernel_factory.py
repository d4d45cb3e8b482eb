# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""From equations to kernels: together, what is missing only, all or nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from long_runs import some_of

from kron_dynamics import KernelBuildError, dynamics
from kron_dynamics.elementary import sin
from kron_dynamics.kernels import (
    Kernel,
    cache,
    caller,
    kernel_builder,
    kernel_factory,
    translation_units,
)
from kron_dynamics.kernels.kernel_factory import make_kernels
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.kernels.trace import Graph, Trace
from kron_dynamics.kernels.translation_units import in_translation_units
from kron_dynamics.model import RobotModel, load_model

pytestmark = pytest.mark.hurried

RAN: list[str] = []


def specification(name: str, factor: float = 1.0) -> KernelSpecification:
    """Of a function that tells when it is run."""

    def function(model: Any, x: Any) -> Any:
        RAN.append(name)
        return [sin(x[0]) * factor, x[1] + factor]

    return KernelSpecification(name, (('x', 2),), function)


def make(*recipes: KernelSpecification, fingerprint: str = 'test_compilation') -> list[Kernel]:
    RAN.clear()
    model: Any = SimpleNamespace(joints=(), is_flexible=False, has_closed_loops=False)
    return make_kernels(recipes, model, fingerprint)


@pytest.fixture
def two_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores, and nothing too small to be compiled apart."""
    monkeypatch.setattr(kernel_builder, 'thread_count', lambda threads: 2)
    monkeypatch.setattr(translation_units, '_SMALL', 1)


@pytest.fixture
def model(robot_text: Any) -> RobotModel:
    return load_model(robot_text('spatial_3r'))


def test_what_is_missing_is_built_and_nothing_else(
    own_cache: Path, logging_compiler: Callable[[], list[str]]
) -> None:
    first = make(specification('a', 2), specification('b', 3))
    assert (RAN, logging_compiler()) == (['a', 'b'], ['0.c'])
    assert [kernel.report.cached for kernel in first] == [False, False]

    second = make(
        specification('c', 4), specification('b', 3), specification('a', 2), specification('d', 5)
    )
    assert (RAN, logging_compiler()) == (['c', 'd'], ['0.c', '0.c'])
    assert [kernel.name for kernel in second] == ['c', 'b', 'a', 'd']
    assert [kernel.report.cached for kernel in second] == [False, True, True, False]
    for kernel, factor in zip(second, (4, 3, 2, 5), strict=True):
        np.testing.assert_array_equal(kernel([0.0, 1.0]), [0.0, 1.0 + factor])

    make(specification('d', 5), specification('a', 2))
    assert (RAN, len(logging_compiler())) == ([], 2)
    assert make() == []


def test_reports_say_what_was_done(own_cache: Path) -> None:
    (built,) = make(specification('a', 2))
    (found,) = make(specification('a', 2))
    for kernel, cached in ((built, False), (found, True)):
        report = kernel.report
        assert (report.name, report.operations, report.source) == ('a', 3, 'c')
        assert report.cached is cached
        assert 0 < report.build_seconds < 100
    # What it cost when it was built.
    assert built.report.build_seconds == found.report.build_seconds


def test_time_of_a_compilation_is_shared_by_work(own_cache: Path) -> None:
    def heavy(model: Any, x: Any) -> Any:
        return [x[0] * k + x[1] for k in range(2, 80)]

    light, loaded, none = make(
        specification('light'),
        KernelSpecification('heavy', (('x', 2),), heavy),
        KernelSpecification('none', (('x', 2),), lambda model, x: x),
    )
    assert none.report.operations == 0
    assert 0 < none.report.build_seconds < loaded.report.build_seconds
    assert light.report.build_seconds < loaded.report.build_seconds


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


def test_several_results_come_in_their_type(own_cache: Path) -> None:
    both = KernelSpecification(
        'both', (('x', 1), ('y', 2)), lambda model, x, y: (x[0] * y, [x]), Pair
    )
    for _ in range(2):  # built, then found
        (kernel,) = make(both)
        pair = kernel([3.0], [5.0, 7.0])
        assert type(pair) is Pair
        np.testing.assert_array_equal(pair.first, [15.0, 21.0])
        np.testing.assert_array_equal(pair.second, [[3.0]])


def test_a_unit_that_fails_leaves_nothing_of_the_others(
    own_cache: Path, fake_compiler: Any, two_units: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_compiler('case "$*" in */1.c*) echo "unit 1 burns"; exit 4;; esac\nexec cc "$@"')
    with pytest.raises(KernelBuildError, match='exit code 4: unit 1 burns'):
        make(specification('a', 2), specification('b', 3))
    assert {path.suffix for path in own_cache.iterdir()} == {'.lock'}

    monkeypatch.delenv('CC')
    kernels = make(specification('a', 2), specification('b', 3))
    assert [kernel.report.cached for kernel in kernels] == [False, False]
    np.testing.assert_array_equal(kernels[1]([0.0, 1.0]), [0.0, 4.0])
    assert len(list(own_cache.glob('*.so'))) == 2


def test_a_function_that_fails_leaves_nothing(own_cache: Path) -> None:
    branching = KernelSpecification('branching', (('x', 2),), lambda model, x: x if x[0] else -x)
    with pytest.raises(TypeError, match='truth value'):
        make(specification('a'), branching)
    assert {path.suffix for path in own_cache.iterdir()} == {'.lock'}


def test_units_are_compiled_at_the_same_time(
    own_cache: Path, fake_compiler: Any, tmp_path: Path, two_units: None
) -> None:
    meeting = tmp_path / 'meeting'
    meeting.mkdir()
    # Each waits until the other has come, ten seconds at most.
    fake_compiler(
        f'touch "{meeting}/$$"; tries=0\n'
        f'while [ "$(ls "{meeting}" | wc -l)" -lt 2 ]; do\n'
        '  tries=$((tries + 1)); [ $tries -gt 200 ] && { echo alone; exit 5; }; sleep 0.05\n'
        'done\nexec cc "$@"'
    )
    kernels = make(specification('a', 2), specification('b', 3))
    assert len(list(meeting.iterdir())) == 2
    for kernel, factor in zip(kernels, (2, 3), strict=True):
        np.testing.assert_array_equal(kernel([0.0, 1.0]), [0.0, 1.0 + factor])


def test_the_extension_is_compiled_beside_the_first_kernel(
    own_cache: Path,
    logging_compiler: Callable[[], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As in a new process, which has not looked for it yet.
    monkeypatch.setattr(caller, '_state', SimpleNamespace(type=None, try_again=0.0))
    make(specification('a'))
    assert sorted(logging_compiler()) == ['0.c', 'kron_caller.c']
    make(specification('b'))
    assert sorted(logging_compiler()) == ['0.c', '0.c', 'kron_caller.c']


DYNAMICS: dict[Callable[..., Any], int] = {
    dynamics.mass_matrix: 1,
    dynamics.velocity_free_coriolis_matrix: 1,
    dynamics.coriolis_matrix: 2,
    dynamics.mass_matrix_derivative: 1,
    dynamics.gravity_vector: 1,
    dynamics.inverse_dynamics: 3,
    dynamics.forward_dynamics: 3,
}


# One that others call, two that call it, and one that does not.
FEW = ['mass_matrix', 'velocity_free_coriolis_matrix', 'coriolis_matrix', 'gravity_vector']


def recipes_of_dynamics(n: int) -> list[KernelSpecification]:
    return [
        KernelSpecification(function.__name__, (('q', n), ('v', n), ('w', n))[:count], function)
        for function, count in DYNAMICS.items()
    ]


@pytest.mark.parametrize(
    'names',
    some_of([FEW, [function.__name__ for function in DYNAMICS]], [FEW]),
    ids=['few', 'all'],
)
def test_kernels_made_together_and_one_by_one_are_the_same(
    own_cache: Path,
    two_units: None,
    model: RobotModel,
    rng: np.random.Generator,
    assert_close: Any,
    names: list[str],
) -> None:
    recipes = [one for one in recipes_of_dynamics(model.n) if one.name in names]
    counts = [len(one.arguments) for one in recipes]
    together = make_kernels(recipes, model, 'together')
    assert len(list(own_cache.glob('*.so'))) >= 2
    arguments = rng.uniform(-2, 2, (3, 9, model.n))
    for kernel, one, count in zip(together, recipes, counts, strict=True):
        (alone,) = make_kernels([one], model, 'alone')
        assert not kernel.report.cached
        assert not alone.report.cached
        assert kernel.report.operations == alone.report.operations
        values = arguments[:count]
        assert_close(kernel(*values), alone(*values), rel=1e-14)
        assert_close(kernel(*values[:, 0]), alone(*values[:, 0]), rel=1e-14)
        assert_close(kernel(*values[:, 0]), one.function(model, *values[:, 0]))


def test_without_a_compiler_there_is_one_warning_and_the_same_numbers(
    no_compiler: None,
    own_cache: Path,
    model: RobotModel,
    rng: np.random.Generator,
    caplog: pytest.LogCaptureFixture,
    assert_close: Any,
) -> None:
    kernel_factory._warn_not_compiled.cache_clear()
    recipes = recipes_of_dynamics(model.n)
    with caplog.at_level(logging.WARNING):
        kernels = make_kernels(recipes, model, 'test')
        make(specification('a'), specification('b'))
    (record,) = caplog.records
    assert record.levelname == 'WARNING'
    assert record.getMessage().startswith('no C compiler found: $CC is ')
    for kernel, one, count in zip(kernels, recipes, DYNAMICS.values(), strict=True):
        report = kernel.report
        assert (report.name, report.source, report.cached) == (one.name, 'numpy', False)
        assert report.operations == one.record(model).operations
        assert report.build_seconds > 0
        values = rng.uniform(-2, 2, (count, 1, model.n))
        assert_close(kernel(*values)[0], one.function(model, *values[:, 0]))
    assert not own_cache.exists() or not list(own_cache.iterdir())


def test_a_library_without_the_function_is_an_error(own_cache: Path, fake_compiler: Any) -> None:
    fake_compiler(
        'while [ "$1" != -o ]; do shift; done\necho "int x;" | cc -shared -x c - -o "$2"'
    )
    with pytest.raises(KernelBuildError, match='a compiled kernel cannot be loaded: .*kernel_0'):
        make(specification('a'))


def traces_of(**operations: int) -> dict[str, Trace]:
    """Traces without anything in common, of so many operations each."""
    graph = Graph()
    made = {}
    for k, (name, count) in enumerate(operations.items()):
        made[name] = Trace(
            lambda x, k=k, count=count: [
                sum(x[0] * (1000 * k + i + 2) for i in range(count // 2))
            ],
            [1],
            graph,
        )
    return made


def keys_of(traces: dict[str, Trace]) -> list[list[str]]:
    return [list(unit) for unit in in_translation_units(traces.items())]


def test_units_are_large_enough_for_a_compiler_and_grow() -> None:
    assert keys_of(traces_of(a=100, b=100)) == [['a', 'b']]
    assert keys_of(traces_of(a=700, b=100, c=700)) == [['a'], ['b', 'c']]
    many = traces_of(**{f'a{k}': 700 for k in range(20)})
    units = keys_of(many)
    assert [key for unit in units for key in unit] == list(many)
    assert len(units) < 12
    assert len(units[0]) == 1
    assert len(units[-2]) > 2
    assert keys_of({}) == []


def test_a_unit_is_out_before_the_next_trace_is_made() -> None:
    asked = []

    def one_by_one() -> Iterator[tuple[str, Trace]]:
        for key, trace in traces_of(a=700, b=700, c=700).items():
            asked.append(key)
            yield key, trace

    units = in_translation_units(one_by_one())
    assert list(next(units)) == ['a']
    assert asked == ['a', 'b']  # b tells that a is alone


def test_who_calls_whom_stays_together() -> None:
    graph = Graph()

    def powers(x: Any, shift: int) -> Any:
        terms = [(x[0] + k) * (x[0] + k + shift) for k in range(300)]
        return [sum(terms[: k + 1]) for k in range(300)]

    traces = {
        'least': Trace(lambda x: powers(x, 1), [1], graph),
        'more': Trace(lambda x: sum(powers(x, 1)), [1], graph),
        'most': Trace(lambda x: [y * 3 for y in powers(x, 1)], [1], graph),
        'other': Trace(lambda x: powers(x, 2), [1], graph),
    }
    assert keys_of(traces) == [['least', 'more', 'most'], ['other']]


class Keys(Exception):
    """Carries what `fetch` was asked for."""


def test_key_depends_on_everything_that_makes_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(keys: list[str], build: Any, load: Any, lock: str, origins: Any) -> None:
        raise Keys(*keys, lock)

    def keys(*recipes: KernelSpecification, fingerprint: str = 'robot') -> tuple[str, ...]:
        with pytest.raises(Keys) as caught:
            make(*recipes, fingerprint=fingerprint)
        *found, _ = caught.value.args
        return tuple(found)

    monkeypatch.setattr(kernel_factory, 'fetch', fetch)
    base = specification('a')
    (first,) = keys(base)
    assert keys(base) == (first,)
    assert keys(specification('b'), base)[1] == first  # whoever is with it
    seen = {first}
    seen.update(keys(specification('b')))
    seen.update(keys(base._replace(arguments=(('y', 2),))))
    seen.update(keys(base._replace(arguments=(('x', 3),))))
    seen.update(keys(base._replace(arguments=(('x', 2), ('y', 2)))))
    seen.update(keys(base, fingerprint='another'))
    for place, name in (
        (kernel_factory, 'compiler_identity'),
        (kernel_factory, 'processor_identity'),
        (cache, 'sources_digest'),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, lambda *_: 'another')
            seen.update(keys(base))
    with monkeypatch.context() as patch:
        patch.setenv('CC', 'cc -O1')
        seen.update(keys(base))
    assert len(seen) == 10
    assert keys(base) == (first,)
