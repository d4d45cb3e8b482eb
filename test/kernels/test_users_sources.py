# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sources of a user's own equations, in modules or typed in; threads that look at sources."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kron_dynamics.kernels import sources
from kron_dynamics.kernels.origins import origins_of
from kron_dynamics.kernels.sources import (
    changed_meanwhile,
    closure,
    forget_changed,
    sources_digest,
)
from kron_dynamics.kernels.specification import KernelSpecification

pytestmark = [pytest.mark.hurried, pytest.mark.usefixtures('read_anew')]

ROOT = Path(__file__).parents[2]


def outside(model: Any, q: Any) -> Any:
    return q


def user_module(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    (folder / f'{name}.py').write_text(text, encoding='utf-8')
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return __import__(name)


def test_a_users_own_equations_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'def f(model, q):\n    from kron_dynamics.control import turns\n    return q\n'
    module = user_module(tmp_path, 'users_equations', text, monkeypatch)
    model: Any = types.SimpleNamespace(n=2)
    specification = KernelSpecification('f', ('q',), module.f)
    first = sources_digest(*specification.origins(model))
    assert 'kron_dynamics.control.turns' in closure(['users_equations'])
    sources._module.cache_clear()
    sources._closure_digest.cache_clear()
    assert sources_digest(*specification.origins(model)) == first
    (tmp_path / 'users_equations.py').write_text(text + '\n', encoding='utf-8')
    sources._module.cache_clear()
    sources._closure_digest.cache_clear()
    assert sources_digest(*specification.origins(model)) != first


def test_the_users_other_modules_count_and_libraries_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / 'users_package'
    folder.mkdir()
    (folder / '__init__.py').touch()
    (folder / 'profiles.py').write_text('import numpy\nRISE = 0.1\n', encoding='utf-8')
    text = 'from users_package import profiles\nimport numpy as np, os\n'
    user_module(tmp_path, 'users_cam', text, monkeypatch)
    names = closure(['users_cam'])
    assert {'users_cam', 'users_package', 'users_package.profiles', 'numpy'} <= names
    assert not {name for name in names if name.startswith(('numpy.', 'os'))}
    (folder / 'steps.py').write_text('from . import profiles\n', encoding='utf-8')
    monkeypatch.delitem(sys.modules, 'users_package')
    monkeypatch.delitem(sys.modules, 'users_package.profiles')
    user_module(tmp_path, 'users_steps', 'import users_package.steps\n', monkeypatch)
    assert 'users_package.profiles' in closure(['users_steps'])
    digests = []
    for rise in (0.1, 0.2, 0.1):
        text = f'import numpy\nRISE = {rise}\n'
        (folder / 'profiles.py').write_text(text, encoding='utf-8')
        forget_changed()
        digests.append(sources_digest('users_cam'))
    assert digests[0] == digests[2] != digests[1]


def test_threads_look_at_the_files_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_module(tmp_path, 'users_first', '', monkeypatch)
    user_module(tmp_path, 'users_second', '', monkeypatch)
    sources_digest('users_first')
    second = threading.Thread(target=lambda: sources_digest('users_second'))
    look = sources._changed_at

    def looked_at(file: str) -> int:
        """Let the other thread begin while this one is among the files."""
        if second.ident is None:
            second.start()
            second.join(0.1)
        return look(file)

    monkeypatch.setattr(sources, '_changed_at', looked_at)
    forget_changed()
    second.join()
    assert str(tmp_path / 'users_second.py') in sources._seen


def test_a_change_stays_known_where_another_thread_looks_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel whose digest is of the text before must not be stored."""
    module = user_module(tmp_path, 'users_changed', '', monkeypatch)
    monkeypatch.setattr(sources, '_IMPORTED', time.time_ns())
    sources_digest('users_changed')
    Path(module.__file__).write_text('# changed', encoding='utf-8')
    forget_changed()
    assert changed_meanwhile(['users_changed'], anew=False) == module.__file__


SECOND = 1_000_000_000


# Times of the import, of now and of a file's change, s; the process has run for 100 s.
@pytest.mark.parametrize(
    ('imported', 'now', 'changed', 'refused'),
    [
        (1000, 1100, 1000, False),
        (1000, 1100, 1000 + 1e-9, True),
        (1000, 1100, 1100, True),
        (1000, 1100, 10**8, False),  # the clock is behind the files
        (1000, 10**8 + 500, 10**8, False),  # it has been set meanwhile, after these
        (1000, 10**8 + 500, 1010, True),  # before it was set
        (1000, 10**8 + 500, 10**8 + 490, True),  # after it was set
        (10**8, 500, 10**8 + 10, True),  # it has been set back
        (10**8, 500, 490, True),
        (10**8, 500, 300, False),
    ],
)
def test_changes_of_this_process_are_known_by_any_clock(
    imported: float, now: float, changed: float, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = sources.__file__
    monkeypatch.setattr(sources, '_IMPORTED', round(imported * SECOND))
    monkeypatch.setattr(sources, '_STARTED', 7 * SECOND)
    clock = types.SimpleNamespace(
        time_ns=lambda: round(now * SECOND), monotonic_ns=lambda: 107 * SECOND
    )
    monkeypatch.setattr(sources, 'time', clock)
    monkeypatch.setattr(sources, '_seen', {file: round(changed * SECOND)})
    assert changed_meanwhile([], anew=False) == (file if refused else None)


def test_a_model_of_ones_own_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'class Model:\n    n = 2\n'
    module = user_module(tmp_path, 'users_model', text, monkeypatch)
    specification = KernelSpecification('f', ('q',), outside)
    assert sources_digest(*specification.origins(module.Model())) != sources_digest(
        *specification.origins(types.SimpleNamespace(n=2))  # type: ignore[arg-type]
    )


def typed_in(factor: float) -> Any:
    """A function of no file, which calls another one."""
    space: dict[str, Any] = {'__name__': 'typed_in'}
    exec(f'def g(q):\n    return q * {factor}\ndef f(model, q):\n    return g(q)', space)
    return space['f']


def test_equations_of_no_file_count_by_their_code() -> None:
    model: Any = types.SimpleNamespace(n=2)
    digests = [
        sources_digest(*KernelSpecification('f', ('q',), typed_in(factor)).origins(model))
        for factor in (2.0, 2.0, 3.0)
    ]
    assert digests[0] == digests[1] != digests[2]


TYPED_CONSTRAINT = """
import sys
sys.path[:0] = [{folder!r}]
import users_library
from numpy import sin
from dataclasses import dataclass
from kron_dynamics.constraints import Constraint
from kron_dynamics.kernels.origins import origins_of
from kron_dynamics.kernels.sources import sources_digest
@dataclass(frozen=True)
class Typed(Constraint):
    name: str = 'typed'
    def geometry(self, model, q, qd):
        return helper(q), sin(q[0]), users_library.f(q)
def helper(q):
    return {factor} * q
print(sources_digest(*origins_of(Typed)))
"""


def test_a_typed_constraint_has_one_digest_until_what_it_uses_changes(tmp_path: Path) -> None:
    """In every process; its library of the user and the function that it calls count."""

    def digest(factor: int, library: str) -> str:
        (tmp_path / 'users_library.py').write_text(library, encoding='utf-8')
        program = TYPED_CONSTRAINT.format(folder=str(tmp_path), factor=factor)
        path = os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')])
        done = subprocess.run(
            [sys.executable, '-'],
            input=program,
            env={**os.environ, 'PYTHONPATH': path, 'KRON_DYNAMICS_CACHE': str(tmp_path / 'cache')},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    first = digest(2, 'f = lambda q: q')
    assert digest(2, 'f = lambda q: q') == first
    others = [digest(3, 'f = lambda q: q'), digest(2, 'f = lambda q: 3 * q + 1')]
    assert len({first, *others}) == 3


TYPED_CLASS = """
import math
LIFTS = {'cam': (LIFT, [1, 'a'], table)}
def helper(q):
    return q * FACTOR
class Cam:
    step = STEP
    @property
    def rise(self):
        return LIFTS['cam'][0]
    def geometry(self, model, q, power=POWER):
        return [helper(math.sin(k)) for k in q]
"""


def test_classes_of_no_file_count_with_the_values_that_they_use() -> None:
    given = {'LIFT': 0.1, 'FACTOR': 2.0, 'STEP': 3, 'POWER': 1, 'table': np.ones(2000)}

    def digest(**changes: Any) -> str:
        space: dict[str, Any] = {'__name__': 'typed_in', **given, **changes}
        exec(TYPED_CLASS, space)
        return sources_digest(*origins_of(space['Cam']().geometry))

    other = np.ones(2000)
    other[1000] += 1e-12
    changes: list[dict[str, Any]] = [
        *({name: 7} for name in ('LIFT', 'FACTOR', 'STEP', 'POWER')),
        *({'table': other}, {'FACTOR': np.float64(3.0)}, {'LIFT': digest}),
    ]
    digests = [digest(), *(digest(**change) for change in changes)]
    assert digest() == digests[0]
    assert len(set(digests)) == len(digests)
