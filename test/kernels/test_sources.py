# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel is made of: nothing that runs while it is recorded may be missing from its key."""

from __future__ import annotations

import compileall
import functools
import json
import os
import shutil
import subprocess
import sys
import types
import zipfile
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest

from kron_dynamics import Robot
from kron_dynamics.kernels import source_notes, sources
from kron_dynamics.kernels.compiled import compiled_methods
from kron_dynamics.kernels.origins import origins_of
from kron_dynamics.kernels.sources import closure, sources_digest
from kron_dynamics.model import RigidModel, RobotModel

pytestmark = [pytest.mark.hurried, pytest.mark.usefixtures('read_anew')]

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / 'kron_dynamics'
GENERATOR = 'kron_dynamics.kernels.kernel_factory'
MADE_OF = sorted(closure(['kron_dynamics.robot', GENERATOR]))


RECORD = """
import json, sys
files = set()

def watch(frame, event, argument):
    files.add(frame.f_code.co_filename)

import numpy as np
sys.settrace(watch)
import kron_dynamics as kd
from kron_dynamics.kernels import specification as module
from kron_dynamics.kernels.compiled import compiled_methods
from kron_dynamics.kernels.emit import emit_c
from kron_dynamics.kernels.interpreted import Interpreted
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.trace import Graph

rigid, bending, description = sys.argv[1:]
loops, made = 0, set()
some = ('mass_matrix', 'inverse_dynamics', 'regressor', 'jacobian', 'joint_friction')
for robot, few, names in (
    (kd.load(rigid), 10, None),
    (kd.load(rigid), 1, some),
    (kd.load(bending, flexible=description), 10, (*some[:2], 'linearization', 'control_step')),
):
    module._JOINTS_OF_LOOPS = few
    module._LONG = 0 if few == 1 else 2500
    for instance in (robot, robot.frame(robot.model.tip_link)):
        for name, method in compiled_methods(type(instance)).items():
            if names is not None and name not in names:
                continue
            specification = method.specification(instance)
            trace = specification.record_for_compiler(robot.model, Graph())
            emit_c([trace])
            Interpreted(specification.record(robot.model))
            loops += isinstance(trace, LoopTrace)
            made.add(name)
sys.settrace(None)
sources = sys.modules['kron_dynamics.kernels.sources']
found = sources.closure(['kron_dynamics.kernels.kernel_factory', 'kron_dynamics.robot'])
imported = {name for name in sys.modules if name.split('.')[0] == 'kron_dynamics'}
print(json.dumps([sorted(files), sorted(imported), sorted(found), loops, sorted(made)]))
"""


def run(code: str, *arguments: Any, all_lines: bool = False, **environment: str) -> Any:
    """What another Python prints last, from JSON; or all its lines."""
    done = subprocess.run(
        [sys.executable, '-c', code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, 'PYTHONPATH': str(ROOT), **environment},
        cwd='/',  # `-c` looks there first
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    return lines if all_lines else json.loads(lines[-1])


def test_all_that_runs_or_is_imported_is_found() -> None:
    ran, imported, found, loops, made = run(RECORD, PLANAR, *FLEXIBLE)
    files = {name for name in ran if name.startswith(f'{PACKAGE}{os.sep}')}
    modules = {
        '.'.join(Path(name).relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')
        for name in files
    }
    assert loops == 5
    assert {'linearization', 'regressor', 'joint_friction', 'mass_matrix'} <= {*made}
    assert {
        *('kron_dynamics.flexible.flexible_dynamics', 'kron_dynamics.flexible.deformation'),
        *('kron_dynamics.dynamics.regressor', 'kron_dynamics.kernels.loops.code'),
        *('kron_dynamics.kernels.interpreted', 'kron_dynamics.frame', 'kron_dynamics.elementary'),
    } <= modules
    assert modules - set(found) == set()
    assert set(imported) - set(found) == set()
    assert 'kron_dynamics.ros' not in found


PLANAR = ROOT / 'test' / 'robots' / 'planar_2r.urdf'
FLEXIBLE = (
    ROOT / 'urdf' / 'flexible_manipulator.urdf',
    ROOT / 'config' / 'flexible_manipulator_flexible.yaml',
)


@pytest.fixture
def robot_file(tmp_path: Path, robot_text: Any) -> Path:
    path = tmp_path / 'robot.urdf'
    path.write_text(robot_text('spatial_3r'), encoding='utf-8')
    return path


FILES = [
    *(sources._files()[name] for name in MADE_OF),
    *(str(PACKAGE / 'kernels' / name) for name in ('prelude.h', 'caller.c')),
]


def test_every_file_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    read, module = sources._read, sources._module.__wrapped__
    first = digest_of_all()
    known = {name: sources._module(name) for name in MADE_OF}
    monkeypatch.setattr(source_notes.SourceNotes, 'find', lambda *_: None)
    names = {path: name for name, path in sources._files().items()}
    digests = {}
    for file in FILES:
        # As in another process, but for the rest, which has been read.
        longer = functools.partial(lambda file, path: read(path) + b' ' * (path == file), file)
        monkeypatch.setattr(sources, '_read', longer)
        name = names.get(file, 'kron_dynamics.kernels')
        monkeypatch.setattr(sources, '_module', {**known, name: module(name)}.__getitem__)
        sources._closure_digest.cache_clear()
        digests[file] = digest_of_all()
    assert len(digests) == len(FILES) > 200
    assert [file for file, digest in digests.items() if digest == first] == []
    monkeypatch.setattr(sources, '_read', read)
    for name in ('kron_dynamics.kernels', 'kron_dynamics.robot'):
        monkeypatch.setattr(sources, '_module', {**known, name: module(name)}.__getitem__)
        sources._closure_digest.cache_clear()
        assert digest_of_all() == first


def digest_of_all() -> str:
    return sources_digest(GENERATOR, 'kron_dynamics.robot')


def test_a_new_file_of_numbers_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a table that equations read: whatever lies beside them and is not Python."""
    table = copied_package(tmp_path) / 'dynamics' / 'table.csv'
    digests = run(DIGESTS, table, '', '1, 2\n', '1, 3\n', PYTHONPATH=str(tmp_path))
    assert len(digests) == len(set(digests)) == 3


# After each of some texts is added to a file; of forks, which have read nothing before.
DIGESTS = """
import json, multiprocessing, sys
from kron_dynamics.kernels.sources import sources_digest

digests = []
for text in sys.argv[2:]:
    if text:
        print(text, end='', file=open(sys.argv[1], 'a'))
    with multiprocessing.get_context('fork').Pool(1) as fork:
        digests.append(fork.apply(sources_digest, ['kron_dynamics.kernels.kernel_factory']))
print(json.dumps(digests))
"""
DIGEST = """
import json
from kron_dynamics.kernels.sources import sources_digest
print(json.dumps(sources_digest('kron_dynamics.kernels.kernel_factory')))
"""


def copied_package(folder: Path, *without: str) -> Path:
    """Copy the package with what Python has compiled of it, which takes a second."""
    ignored = shutil.ignore_patterns('ros', 'demo', 'bag', *without)
    return Path(shutil.copytree(PACKAGE, folder / 'kron_dynamics', ignore=ignored))


@pytest.mark.parametrize(
    ('text', 'module'),
    [
        ('import kron_dynamics.control.turns', 'control.turns'),
        ('import kron_dynamics.control.turns as s, os', 'control.turns'),
        ('import os, kron_dynamics.control.turns', 'control.turns'),
        ('from kron_dynamics.control import turns', 'control.turns'),
        ('from kron_dynamics.control import faults, turns as s', 'control.turns'),
        ('from kron_dynamics.control import (  # (\n  faults,  # a)\n turns)', 'control.turns'),
        ('from kron_dynamics.control import faults, \\\n    turns', 'control.turns'),
        ('if x: from kron_dynamics.control import turns; y = 1', 'control.turns'),
        ('def f():\n    from kron_dynamics.control.turns import x', 'control.turns'),
        ('from ..control import turns', 'control.turns'),
        ('from ..control.turns import x', 'control.turns'),
        ('from .. import control', 'control'),
        ('from . import emit', 'kernels.emit'),
        ('from .emit import x', 'kernels.emit'),
        ('from kron_dynamics.control import *', 'control.turns'),
        ('import_module("kron_dynamics.control.turns")', 'control.turns'),
        ('import_module("..control.turns", __package__)', 'control.turns'),
        ('import_module("kron_dynamics." + name)', 'control.turns'),
        ('import_module(f"kron_dynamics.{name}")', 'control.turns'),
        ('__import__(name)', 'control.turns'),
        ('from importlib import import_module as i\ni(name)', 'control.turns'),
    ],
)  # fmt: skip
def test_imports_of_every_form_are_seen(text: str, module: str) -> None:
    found = sources._imports(text, 'kron_dynamics.kernels')
    assert f'kron_dynamics.{module}' in found
    # With the packages around it, which are run then.
    assert {'kron_dynamics', 'kron_dynamics.kernels'} <= found
    assert f'kron_dynamics.{module}'.rpartition('.')[0] in found


def test_names_that_are_no_modules_are_none() -> None:
    text = 'from kron_dynamics.model import RobotModel\nkron_dynamics.nothing.at_all'
    assert sources._imports(text, 'other') == {'kron_dynamics', 'kron_dynamics.model'}


def outside(model: Any, q: Any) -> Any:
    return q


class Base:
    pass


class Other(Base):
    def method(self, model: Any, q: Any) -> Any:
        return q


def test_functions_are_followed_to_where_they_are_written() -> None:
    other, outside_of = Other(), outside

    @functools.wraps(outside)
    def wrapped(*args: Any) -> Any:
        return None

    assert outside in origins_of(outside)
    assert outside in origins_of(functools.partial(functools.partial(outside), None))
    assert outside in origins_of(lambda q: outside_of(q))
    assert outside in origins_of(wrapped)
    assert {Other.method, Other, Base} <= origins_of(other.method)
    robot: Any = types.SimpleNamespace(_kernel_prefix='')
    specification = compiled_methods(Robot)['mass_matrix'].specification(robot)
    modules = {getattr(origin, '__module__', '') for origin in origins_of(specification.function)}
    assert 'kron_dynamics.robot' in modules


def test_without_sources_all_compiled_files_count(tmp_path: Path) -> None:
    package = copied_package(tmp_path)
    first = run(DIGEST, PYTHONPATH=str(tmp_path))
    assert compileall.compile_dir(package, quiet=1)  # what is not compiled yet
    for file in package.rglob('*.py'):
        Path(cache_from_source(file)).rename(file.with_suffix('.pyc'))
        file.unlink()
    for folder in [*package.rglob('__pycache__')]:
        shutil.rmtree(folder)
    file = package / 'dynamics' / 'gravity.pyc'
    second, again, third = run(DIGESTS, file, '', '', ' ', PYTHONPATH=str(tmp_path))
    assert second == again
    assert len({first, second, third}) == 3


def test_an_archive_counts_as_a_whole(tmp_path: Path, robot_file: Path) -> None:
    copied_package(tmp_path / 'plain')
    archive = tmp_path / 'package.zip'
    with zipfile.ZipFile(archive, 'w') as file:
        for path in sorted((tmp_path / 'plain').rglob('*')):
            if '__pycache__' in path.parts:
                continue
            inside = path.relative_to(tmp_path / 'plain')
            file.write(path, inside)
            if path.suffix == '.py' and (made := Path(cache_from_source(path))).exists():
                # Where Python finds it in an archive, instead of compiling the package anew.
                file.write(made, inside.with_suffix('.pyc'))
    code = DIGEST + (
        'import kron_dynamics as kd, sys\n'
        'robot = kd.load(sys.argv[1])\n'
        'robot.gravity_vector([0.1, 0.2, 0.3])\n'
        'print(json.dumps([kd.__file__, robot.kernel_report()[0].source]))\n'
    )
    lines = run(code, robot_file, all_lines=True, PYTHONPATH=str(archive))
    first, (place, source) = map(json.loads, lines)
    assert place.startswith(str(archive))
    assert source == 'c'
    with zipfile.ZipFile(archive, 'a') as file:
        file.writestr('kron_dynamics/more', '')
    assert run(DIGEST, PYTHONPATH=str(archive)) != first


MEANWHILE = """
import json, logging, sys
from pathlib import Path
logging.basicConfig(format='%(message)s', stream=sys.stdout)
import kron_dynamics as kd
robot = kd.load(sys.argv[1])
first = robot.gravity_vector([0.1, 0.2, 0.3])
file = Path(kd.__file__).parent / 'dynamics' / 'gravity.py'
file.write_text(file.read_text().replace('return', 'return 2 *', 1) + sys.argv[2])
again = kd.load(sys.argv[1])
assert (again.gravity_vector([0.1, 0.2, 0.3]) == first).all()
print(json.dumps([report.cached for report in again.kernel_report()]))
"""


def test_what_was_changed_under_a_running_process_is_not_kept(
    tmp_path: Path, robot_file: Path
) -> None:
    """It computes with the old text, others would take it for the new one."""
    copied_package(tmp_path)
    cache = tmp_path / 'cache'
    environment = {'PYTHONPATH': str(tmp_path), 'KRON_DYNAMICS_CACHE': str(cache)}
    cached, warning = run(MEANWHILE, robot_file, '', all_lines=True, **environment)[::-1]
    assert json.loads(cached) == [False]
    assert 'gravity.py has changed since this process started' in warning
    assert len(list(cache.glob('*.json'))) == 2  # of a kernel and of the extension


def test_robot_models_are_of_the_closure() -> None:
    of_package = {c.__module__ for c in RigidModel.__mro__ if c.__module__.startswith('kron')}
    assert {RigidModel.__module__, RobotModel.__module__} < of_package <= set(MADE_OF)
