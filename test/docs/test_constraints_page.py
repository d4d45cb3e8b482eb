# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/constraints.md: its examples run, its file is the package's, its table is complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import kron_dynamics as kd
from kron_dynamics import constraints

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / 'docs' / 'constraints.md').read_text(encoding='utf-8')


def blocks(language: str) -> list[str]:
    return re.findall(rf'^```{language}\n(.*?)^```', PAGE, flags=re.MULTILINE | re.DOTALL)


def test_examples_run_as_one_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    scope: dict[str, Any] = {}
    for block in blocks('python'):
        exec(compile(block, 'docs/constraints.md', 'exec'), scope)
    np.testing.assert_allclose(scope['motion'].qdd, scope['qdd'], atol=1e-9)
    assert scope['tau'][1:].tolist() == [0.0, 0.0] and scope['tau'][0] > 1.0
    assert np.abs(scope['loads'].wrenches['pin'][:3]).max() > 1.0
    assert scope['driven'].degrees_of_freedom == 0
    q, qd, tau = (scope[name] for name in ('q', 'qd', 'tau'))
    for name in ('same', 'gepetto', 'mujoco'):
        found = scope[name].forward_dynamics(q, qd, tau).qdd
        np.testing.assert_allclose(found, scope['qdd'], atol=1e-9)
    np.testing.assert_allclose(scope['mujoco'].start[0], np.pi / 2)
    np.testing.assert_allclose(scope['gazebo'].start, 0.0, atol=1e-12)
    assert scope['swing'].q.shape == (201, 3)
    np.testing.assert_allclose(scope['moved'].u_dot, scope['u_dot'], atol=1e-9)
    assert np.abs(scope['fast'].residual(scope['q'])).max() < 1e-12
    weight = scope['fast'].gravity_vector(scope['q'])
    np.testing.assert_allclose(scope['near'].effort, weight, rtol=1e-10)
    assert scope['pushed'].effort.tolist() == [3.0] and scope['pushed'].damping[0, 0] > 0.0
    assert scope['terms'].transmission.tolist() == [[1.0]]


def test_its_file_is_that_of_the_package() -> None:
    text, _ = blocks('yaml')
    own = (ROOT / 'config' / 'four_bar_constraints.yaml').read_text(encoding='utf-8')
    assert yaml.safe_load(text) == yaml.safe_load(own)


def test_its_pin_lets_the_boom_bend_sideways() -> None:
    """The shipped hinge holds it, which makes one freedom less."""
    folder = ROOT / 'config'
    robot = kd.load(
        ROOT / 'urdf' / 'stacker_reclaimer_cylinder.urdf',
        flexible=folder / 'stacker_reclaimer_flexible.yaml',
    )
    text = (folder / 'stacker_reclaimer_cylinder.yaml').read_text(encoding='utf-8')
    given = yaml.safe_load(text)
    given['independent'] = [*given['independent'], 'boom/w1']
    held = kd.ConstrainedRobot.described(robot, given)
    assert abs(held.speeds(held.start, np.zeros(9)).B[7]).max() < 1e-12
    given['constraints'] |= yaml.safe_load(blocks('yaml')[1])
    given['independent'] = [*given['independent'], 'boom/v1']
    assert kd.ConstrainedRobot.described(robot, given).degrees_of_freedom == 5


def test_its_table_has_every_constraint() -> None:
    rows = re.findall(r'^\| (?:`(\w+)`)? ?\| `(\w+)` \|', PAGE, flags=re.MULTILINE)
    kinds = {
        name
        for name in constraints.__all__
        if isinstance(item := getattr(constraints, name), type)
        and issubclass(item, constraints.Constraint)
    }
    assert {name for _, name in rows} == kinds - {'Constraint'}
    from kron_dynamics.constraints.description import _KINDS

    assert {kind for kind, _ in rows if kind} == set(_KINDS)
