# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Models with other numbers, by `dataclasses.replace`, have kernels of their own."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import dynamics

pytestmark = pytest.mark.hurried

ROOT = Path(__file__).parents[2]
FILES = {
    'rigid': ('four_bar.urdf', {}),
    'flexible': ('flexible_manipulator.urdf', {'flexible': 'flexible_manipulator_flexible.yaml'}),
    'closed': ('four_bar.urdf', {'constraints': 'four_bar_constraints.yaml'}),
}
# What each number changes.
READERS = {
    'damping': 'joint_friction',
    'friction': 'joint_friction',
    'velocity_limit': 'joint_friction',
    'armature': 'mass_matrix',
    'gravity': 'gravity_vector',
}
# Those that a model with closed loops has of its tree.
OF_TREE = ('armature', 'gravity')
CASES = [
    (kind, name) for kind in FILES for name in READERS if kind != 'closed' or name not in OF_TREE
]


@functools.cache
def model_of(kind: str) -> Any:
    urdf, given = FILES[kind]
    files: Any = {kind: ROOT / 'config' / name for kind, name in given.items()}
    return kd.load(ROOT / 'urdf' / urdf, **files).model


@pytest.mark.parametrize(('kind', 'name'), CASES)
def test_kernels_of_other_numbers_are_not_met(kind: str, name: str) -> None:
    """Neither in the cache nor in a process."""
    model = model_of(kind)
    limit = np.where(np.isfinite(model.velocity_limit), model.velocity_limit, 1.0)
    model = replace(model, friction=np.full(model.n, 2.0), velocity_limit=limit)
    reader, place = READERS[name], np.full(model.n, 0.01)
    if kind == 'closed':
        place = model.closing.start[list(model.closing.choice.independent)]
    argument = np.full(model.n, 1e-3) if reader == 'joint_friction' else place
    found = []
    for one in (model, replace(model, **{name: 3.0 * getattr(model, name) + 0.5})):
        equation, kernel = getattr(dynamics, reader), getattr(kd.Robot(one), reader)
        found.append(equation(one, argument))
        np.testing.assert_allclose(kernel(argument), found[-1], rtol=1e-12, atol=1e-12)
    assert not np.allclose(*found)


@pytest.mark.parametrize('name', OF_TREE)
def test_numbers_of_the_tree_are_not_replaced_beside_it(name: str) -> None:
    """The equations would not read them."""
    model = model_of('closed')
    with pytest.raises(kd.ModelError, match=f'{name} of model .* expected that of its tree'):
        replace(model, **{name: getattr(model, name) + 0.5})
