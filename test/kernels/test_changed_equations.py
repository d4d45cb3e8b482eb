# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A package whose equations change meets no kernel of before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.hurried

ROOT = Path(__file__).parents[2]
FLEXIBLE = (
    ROOT / 'urdf' / 'flexible_manipulator.urdf',
    ROOT / 'config' / 'flexible_manipulator_flexible.yaml',
)

NUMBERS = """
import json, sys
import numpy as np
import kron_dynamics as kd
from kron_dynamics.kernels.compiled import compiled_methods

rigid, bending, description = sys.argv[1:]
answer, reports = [], []
for robot, names in (
    (kd.load(rigid), ('joint_friction', 'mass_matrix', 'kinetic_energy', 'gravity_vector')),
    (kd.load(rigid).frame('tool'), ('pose', 'kinematic_hessian')),
    (kd.load(bending, flexible=description), ('inverse_dynamics',)),
):
    methods = {name: compiled_methods(type(robot))[name] for name in names}
    robot._kernels.prepare([method.specification(robot) for method in methods.values()])
    for name, method in methods.items():
        x = [0.1 * (k + 1) + np.linspace(0.2, 0.01, robot.model.n) for k in range(3)]
        x = x[: len(method._arguments)]
        values = np.hstack([np.ravel(part) for part in _tuple(getattr(robot, name)(*x))])
        right = np.hstack([np.ravel(part) for part in _tuple(method.body(robot, *x))])
        error = np.abs(values - right).max() / np.abs(right).max()
        answer.append([name, bool(error < 1e-9), values.tolist()])
    reports += [report.cached for report in robot._kernels.reports]
print(json.dumps([answer, reports]))
""".replace('_tuple(', '(lambda r: r if isinstance(r, tuple) else (r,))(')

CHANGES = (
    ('dynamics/friction.py', 'damping * qd[k] +', '5.0 * damping * qd[k] +', 'joint_friction'),
    ('model/robot_model.py', 'np.trace(self.inertia) / 2', 'np.trace(self.inertia) / 1',
     'mass_matrix'),
    ('robot.py', 'energy: FloatArray = dynamics.kin', 'energy: FloatArray = 2.0 * dynamics.kin',
     'kinetic_energy'),
    ('frame.py', 'return kinematics.forward', 'return 2.0 * kinematics.forward', 'pose'),
    ('kinematics/hessian.py', 'H[:3, j, i] += bend', 'H[:3, j, i] += 3.0 * bend',
     'kinematic_hessian'),
    ('flexible/flexible_dynamics.py', 'moved + _elastic_forces', 'moved + 2 * _elastic_forces',
     'inverse_dynamics'),
    ('elementary.py', "return _apply('cos', x)", "return 0.9 * _apply('cos', x)",
     'gravity_vector'),
)  # fmt: skip


def run(code: str, *arguments: Any, **environment: str) -> Any:
    """What another Python prints, from JSON."""
    done = subprocess.run(
        [sys.executable, '-c', code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        cwd='/',  # `-c` looks there first
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_kernels_of_other_equations_are_not_met_again(tmp_path: Path, robot_text: Any) -> None:
    robot_file = tmp_path / 'robot.urdf'
    robot_file.write_text(robot_text('spatial_3r'), encoding='utf-8')
    # With what Python has compiled of it: that takes a second, and is known by its source.
    ignored = shutil.ignore_patterns('ros', 'demo', 'bag')
    package = tmp_path / 'kron_dynamics'
    shutil.copytree(ROOT / 'kron_dynamics', package, ignore=ignored)
    environment = {'PYTHONPATH': str(tmp_path), 'KRON_DYNAMICS_CACHE': str(tmp_path / 'cache')}
    first, _ = run(NUMBERS, robot_file, *FLEXIBLE, **environment)
    again, cached = run(NUMBERS, robot_file, *FLEXIBLE, **environment)
    assert (again, set(cached)) == (first, {True})
    assert {name for name, right, _ in first if right} == {name for name, _, _ in first}

    for name, old, new, _ in CHANGES:
        change(package / name, old, new)
    changed, cached = run(NUMBERS, robot_file, *FLEXIBLE, **environment)
    assert set(cached) == {False}
    assert all(right for _, right, _ in changed)
    for (name, _, before), (_, _, after) in zip(first, changed, strict=True):
        assert before != after, name
    assert {quantity for *_, quantity in CHANGES} == {name for name, _, _ in first}


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding='utf-8')
    assert old in text
    file.write_text(text.replace(old, new), encoding='utf-8')
