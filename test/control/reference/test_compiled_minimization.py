# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled search of a retiming is that of the equations, and looked at before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from long_runs import some_of
from single_carts import cart

import kron_dynamics as kd
from benchmarks.retiming_plans import effort_rate_limits, waypoints
from benchmarks.robots import description
from kron_dynamics.control import retime
from kron_dynamics.control.reference import compiled_minimization, interior_point, section_timing
from kron_dynamics.control.reference.compiled_minimization import (
    known_problem,
    minimize,
    minimize_address,
)
from kron_dynamics.kernels import checked_function
from kron_dynamics.kernels.cache import NoFolderError
from kron_dynamics.kernels.sources import read_beside

# What a compiler, or whoever stands in for it, could have got wrong: the text and another.
MISTAKES = [
    ('1.0 / sqrt(x)', '1.0 / x'),
    ('(0.5 * bound[s] / x)', '(0.4 * bound[s] / x)'),
    ('slack[j] += bound[s] - 1.0', 'slack[j] += bound[s]'),
    ('p->which[j - steady]', '0'),
    ('+ b[j]);', ');'),
    ('-0.5 * share', '-0.6 * share'),
    ('-1.5 * p->gradient[k]', '-1.4 * p->gradient[k]'),
    ('at = end * (count - 4)', 'at = end * (count - 5)'),
    ('p->gradient[at + i] +=', 'p->gradient[at + i] -='),
    ('+= e[i] * e[l]', '+= e[i]'),
    ('bc += b[j] * ratio * c[j]', 'bc += b[j] * ratio'),
    ('{aa, ab, ac, bb, bc, 0.0, cc}', '{aa, ac, ab, bb, bc, 0.0, cc}'),
    ('cd += c[j] * dual', 'cd += b[j] * dual'),
    ('-= band[i] * band[l]', '-= band[i]'),
    ('d < 3 && d <= k', 'd < 2 && d <= k'),
    ('d < 3 && k + d < count', 'd < 2 && k + d < count'),
    ('+ p->ratio[at] * change', '- p->ratio[at] * change'),
    ('kept_above(length, p->duals[at]', 'kept_above(length, 2.0 * p->duals[at]'),
    ('(aim - p->dual_change[at]', '(aim + p->dual_change[at]'),
    ('share * share * share', 'share * share'),
    ('p->centered * lacking', 'lacking'),
    ('third += c[j] * target', 'third += a[j] * target'),
    ('p->to_bound * solve(p)', 'solve(p)'),
    ('2.0 * p->gap * cost', '0.0'),
    ('p->first * cost / count', 'p->first * cost'),
]


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache without anything, in a process that has not loaded the search."""
    folder = tmp_path / 'cache'
    folder.mkdir(mode=0o700)
    monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(folder))
    minimize_address.cache_clear()
    yield folder
    minimize_address.cache_clear()


def problems_of(robot: kd.Robot, points: Any, **limits: Any) -> list[Any]:
    """Arguments of all searches of a retiming."""
    found = []

    def noted(*args: Any, **options: Any) -> Any:
        found.append((args, options))
        return minimize(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(section_timing, 'minimize', noted)
        retime(robot, points, **limits)
    return found


@pytest.mark.parametrize('name', ['ur5', 'stacker'])
@pytest.mark.parametrize('rated', [True, False])
def test_it_goes_the_way_of_the_equations(name: str, rated: bool) -> None:
    robot = kd.loads(description(name).text)
    assert minimize_address('') is not None
    limits = effort_rate_limits(name, robot) if rated else None
    problems = problems_of(robot, waypoints(robot, 0), effort_rate_limit=limits)
    assert len(problems) > (1 if rated else 0)
    for args, options in problems:
        given = [np.copy(array) for array in args[2:]]
        got = minimize(*args, **options)
        right = interior_point.minimize(*args, **options)
        np.testing.assert_allclose(got[0], right[0], rtol=1e-10)
        np.testing.assert_allclose(got[1], right[1], rtol=1e-6, atol=1e-9 * right[1].max())
        for values, before in zip(args[2:], given, strict=True):  # the start is left as it was
            np.testing.assert_array_equal(values, before)
        for values, again in zip(got, minimize(*args, **options), strict=True):
            np.testing.assert_array_equal(values, again)


def test_duals_of_a_similar_problem_are_taken_up() -> None:
    objective, rows, start = known_problem()
    first = minimize(objective, rows, start, gap=1e-3, most=40)
    again = (objective, rows, 0.98 * first[0], first[1])
    for most in (0, 1, 40):
        right = interior_point.minimize(*again, gap=1e-6, most=most)
        got = minimize(*again, gap=1e-6, most=most)
        np.testing.assert_allclose(got[0], right[0], rtol=1e-12)
        np.testing.assert_allclose(got[1], right[1], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(('right', 'wrong'), some_of(MISTAKES, MISTAKES[::6]))
def test_a_search_that_computes_something_else_is_refused(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    text = read_beside(compiled_minimization.__file__, 'interior_point.c')
    assert text.count(right) == 1
    monkeypatch.setattr(
        compiled_minimization, 'read_beside', lambda *_: text.replace(right, wrong)
    )
    with pytest.raises(kd.KernelBuildError, match=r'^the compiled search .*\$CC'):
        minimize_address('')
    assert list(fresh.glob('*.so')) == []


def test_a_compiler_that_fails_is_said(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_minimization, 'read_beside', lambda *_: 'this is no C')
    with pytest.raises(kd.KernelBuildError, match='failed with exit code'):
        retime(cart(), [[0.0], [1.0]], effort_rate_limit=[20.0])


def test_paths_are_retimed_by_the_text_in_python_where_nothing_can_be_compiled(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """The compiler has gone, or the last room on the disk, since the kernels were made."""
    robot = cart()
    right = retime(robot, [[0.0], [1.0]], effort_rate_limit=[20.0]).duration
    calls = []

    def in_python(*args: Any, **options: Any) -> Any:
        calls.append(args)
        return original(*args, **options)

    def full(*_: Any, **__: Any) -> None:
        raise NoFolderError('no room')

    original = interior_point.minimize
    monkeypatch.setattr(interior_point, 'minimize', in_python)
    for name, value in (('CC', '/nonexistent/compiler'), ('CC', 'cc')):
        monkeypatch.setenv(name, value)
        calls.clear()
        found = retime(robot, [[0.0], [1.0]], effort_rate_limit=[20.0])
        assert calls
        assert found.duration == pytest.approx(right, rel=1e-9)
        monkeypatch.setattr(checked_function, 'fetch', full)
    assert [record.message.split(';')[0] for record in caplog.records] == ['no room']
