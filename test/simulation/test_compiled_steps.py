# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled steps are looked at before they are used, and kept like kernels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.kernels import checked_function
from kron_dynamics.kernels.cache import NoFolderError
from kron_dynamics.kernels.compiler import find_compiler
from kron_dynamics.kernels.sources import read_beside
from kron_dynamics.simulation import Plant, compiled_motion
from kron_dynamics.simulation.motion import Motion
from kron_dynamics.simulation.stepper import Stepper


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache without anything, in a process that has not loaded the steps."""
    folder = tmp_path / 'cache'
    folder.mkdir(mode=0o700)
    monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(folder))
    compiled_motion.steps_address.cache_clear()
    yield folder
    compiled_motion.steps_address.cache_clear()


def steps() -> int:
    command = find_compiler()
    assert command is not None
    return compiled_motion.steps_address(command)


def with_text(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(compiled_motion, 'read_beside', lambda *_: text)


@pytest.mark.parametrize(
    ('right', 'wrong'),
    [
        ('{1.0, 2.0, 2.0, 1.0}', '{1.0, 2.0, 2.0, 1.00001}'),
        ('{0.5, 0.5, 1.0, 0.0}', '{0.5, 0.5, 0.9, 0.0}'),
        ('q < m->lower[i] ?', 'q > m->lower[i] ?'),
        ('q > m->upper[i] ?', '0 ?'),
        ('pulls ? 0.0 :', ''),
        ('depth > 0.0 ? push < 0.0 : push > 0.0', 'push < 0.0'),
        ('+ 2.0 * qd)', '+ 2.1 * qd)'),
        ('m->effort[i] - friction[i]', 'm->effort[i] + friction[i]'),
        ('i < m->joints ? -m->brake_rate * qd[i] : 0.0', '-m->brake_rate * qd[i]'),
        ('-(tau[i] + friction[i])', '-tau[i]'),
        ('x[i] -= A[i * n + j] * x[j]', 'x[i] += A[i * n + j] * x[j]'),
        ('x[i] -= factor * x[k]', 'x[i] -= x[k]'),
        ('push * free_inertia(i, n, M, A, x)', 'push * M[i * n + i]'),
        ('x[k] = k == i', 'x[k] = 1.0'),
        ('q[i] < m->lower[i] ||', ''),
        ('|| q[i] > m->upper[i]', ''),
        ('solve(0, n, A, x)', 'solve(i, n, A, x)'),
        ('A[k] = M[k]', 'A[k] = M[0]'),
        ('accelerate(m, q, qd, m->qdd, rest);', ''),
    ],
)
def test_steps_that_compute_something_else_are_refused(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    """Each statement that a compiler, or whoever stands in for it, could have got wrong."""
    text = read_beside(compiled_motion.__file__, 'stepper.c')
    assert text.count(right) == 1
    with_text(monkeypatch, text.replace(right, wrong))
    with pytest.raises(kd.KernelBuildError, match=r'^the compiled steps .*\$CC'):
        steps()
    assert list(fresh.glob('*.so')) == []


def test_another_text_is_another_library(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = read_beside(compiled_motion.__file__, 'stepper.c')
    made = set()
    for source in (text, text, text + '// another one\n'):
        with_text(monkeypatch, source)
        compiled_motion.steps_address.cache_clear()
        steps()
        made.add(len(list(fresh.glob('*.json'))))
    assert made == {1, 2}


def test_an_altered_library_is_built_again(fresh: Path) -> None:
    steps()
    (library,) = fresh.glob('*.so')
    content = library.read_bytes()
    library.unlink()  # this process has it in memory: it is not to change there
    library.write_bytes(content[:-100])
    library.chmod(0o600)
    compiled_motion.steps_address.cache_clear()
    steps()
    assert [path.stat().st_size for path in fresh.glob('*.so')] == [len(content)]


def test_a_compiler_that_fails_is_said(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, robot_text: Any
) -> None:
    plant = Plant(kd.loads(robot_text('planar_2r')), np.zeros(2))
    with_text(monkeypatch, 'this is no C')
    with pytest.raises(kd.KernelBuildError, match='failed with exit code'):
        plant.advance([0.0, 0.0], 0.1, 0.01)
    np.testing.assert_array_equal(plant.q, 0.0)


def in_python(robot: kd.Robot) -> Plant:
    plant = Plant(robot, np.zeros(2))
    plant.advance([0.0, 0.0], 0.1, 0.01)
    assert {type(motion) for motion in plant._steppers.values()} == {Motion}
    return plant


def test_kernels_without_steps_move_by_the_text_in_python(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any, robot_text: Any
) -> None:
    """The compiler has gone, or the last room on the disk, since the kernels were made."""
    robot = kd.loads(robot_text('planar_2r'))
    robot.prepare()
    with monkeypatch.context() as patch:
        patch.setenv('CC', '/nonexistent/compiler')
        one = in_python(robot)

    def full(*_: Any, **__: Any) -> None:
        raise NoFolderError('no room')

    with monkeypatch.context() as patch:
        patch.setattr(checked_function, 'fetch', full)
        other = in_python(robot)
    assert [record.message.split(';')[0] for record in caplog.records] == ['no room']
    compiled = Plant(robot, np.zeros(2))
    compiled.advance([0.0, 0.0], 0.1, 0.01)
    assert {type(motion) for motion in compiled._steppers.values()} == {Stepper}
    for plant in (one, other):
        np.testing.assert_allclose(plant.q, compiled.q, rtol=1e-10)
