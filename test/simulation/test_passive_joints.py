# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Passive joints of a simulated mechanism: they close its loops with the bending it has."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from uncompiled import OnFloats

import kron_dynamics as kd
from kron_dynamics.constraints import ConstraintSystem, read_constraints
from kron_dynamics.simulation import Measurement
from kron_dynamics.simulation.passive_joints import passive_joints, with_passive_joints

ROOT = Path(__file__).parents[2]
URDF = ROOT / 'urdf' / 'stacker_reclaimer_cylinder.urdf'
STIFF = {'constraints': ROOT / 'config' / 'stacker_reclaimer_cylinder.yaml'}
BENDING = {
    'flexible': ROOT / 'config' / 'stacker_reclaimer_flexible.yaml',
    'constraints': ROOT / 'config' / 'stacker_reclaimer_cylinder_flexible.yaml',
}


@pytest.mark.parametrize('given', [STIFF, BENDING], ids=['stiff', 'bending'])
def test_all_joints_close_the_loops(given: dict[str, Path], assert_close: Any) -> None:
    robot = OnFloats(kd.load(URDF, **given).model)  # type: ignore[arg-type]
    count, modes = robot.model.joint_count, robot.n - robot.model.joint_count
    plant: Any = SimpleNamespace(
        robot=robot,
        q=np.array([5.0, 0.4, 0.3, 1.5, -0.8])[: robot.n],
        qd=np.array([0.2, -0.1, 0.05, 3.0, -2.0])[: robot.n],
    )
    # With errors of the sensors.
    sample = Measurement(plant.q[:count] + 0.01, plant.qd[:count] - 0.02, np.arange(3.0))
    found = with_passive_joints(plant, sample)
    names = robot.joint_names[:count] + passive_joints(robot.model)
    assert len(names) == len(set(names)) == len(found.position)
    for part, own in zip(
        (found.position, found.velocity, found.effort),
        (sample.position, sample.velocity, sample.effort),
        strict=True,
    ):
        np.testing.assert_array_equal(part[:count], own)
    assert not found.effort[count:].any()

    tree = kd.load(URDF, flexible=given.get('flexible')).model
    system = ConstraintSystem(tree, read_constraints(given['constraints'], tree).constraints)
    states = [
        dict(zip([*names, *robot.joint_names[count:]], [*part, *of_modes], strict=True))
        for part, of_modes in (
            (found.position, plant.q[count:]),
            (found.velocity, plant.qd[count:]),
        )
    ]
    q, qd = (np.array([state[name] for name in tree.joint_names]) for state in states)
    terms = system.terms(q, qd, 0.0)
    assert_close(terms.phi, 0 * terms.phi, 1e-9, floor=1.0)
    assert_close(terms.A @ qd, 0 * terms.b, 1e-9, floor=1.0)
    assert modes == (2 if 'flexible' in given else 0)
