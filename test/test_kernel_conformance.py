# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every kernel of robots of all kinds is the equation on floats: one state and a batch.

Of some robots; of every one that can be had with `--long`, which takes minutes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from long_runs import some_of
from pinocchio_oracle import example_robots

import kron_dynamics as kd
from kron_dynamics.exceptions import ModelError
from kron_dynamics.kernels.compiled import compiled_methods

REL = 1e-12
ROBOTS = example_robots()
# The smallest, an arm with fingers on slides and a mimic joint; others differ in numbers.
SOME = (
    'asr_twodof_description/urdf/TwoDofs.urdf',
    'panda_description/urdf/panda.urdf',
)


def quantities(robot: kd.Robot) -> Iterator[tuple[str, Any, Any, list[int]]]:
    """(name, kernel's call, equation, lengths of its arguments) of all that `prepare` makes."""
    for owner in (robot, robot.frame(robot.model.tip_link)):
        for name, method in compiled_methods(type(owner)).items():
            impossible = method.inverts_mass and robot.model.is_massless
            if not (method.on_demand or impossible):
                specification = method.specification(owner)
                lengths = [length for _, length in specification.lengths(robot.model)]
                yield name, getattr(owner, name), specification.function, lengths


def scales(name: str, robot: kd.Robot, values: list[Any]) -> float:
    """Beside a quantity's own: forces cancel where nothing moves much."""
    return float(np.abs(robot.mass_matrix(values[0])).max()) if len(values) > 1 else 0.0


@pytest.mark.parametrize('name', some_of(ROBOTS, SOME))
def test_kernels_are_the_equations(name: str, rng: np.random.Generator) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', kd.ModelWarning)  # seen by test_conformance
            robot = kd.load(ROBOTS[name])
    except ModelError:
        pytest.skip('refused, for the reason that test_conformance gives')
    robot.prepare(robot.model.tip_link)
    for quantity, call, equation, lengths in quantities(robot):
        batch = [rng.uniform(-1.2, 1.2, (9, length)) for length in lengths]
        one = [values[4] for values in batch]
        expected = equation(robot.model, *one)
        made, many = call(*one), call(*batch)
        if not isinstance(made, tuple):
            expected, made, many = (expected,), (made,), (many,)
        for k, (right, single, rows) in enumerate(zip(expected, made, many, strict=True)):
            floor = max(np.abs(right).max(), scales(quantity, robot, one))
            where = f'{quantity}[{k}]'
            np.testing.assert_allclose(single, right, rtol=0, atol=REL * floor, err_msg=where)
            np.testing.assert_allclose(rows[4], right, rtol=0, atol=REL * floor, err_msg=where)
