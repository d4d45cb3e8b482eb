# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every kernel of robots of all kinds is the equation on floats: one state and a batch.

Of some robots; of every one that can be had with `--long`, which takes minutes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from long_runs import some_of
from pinocchio_oracle import example_robots

import kron_dynamics as kd
from kron_dynamics.exceptions import ModelError
from kron_dynamics.kernels.compiled import compiled_methods

REL = 1e-12
ROOT = Path(__file__).parents[1]
ROBOTS = example_robots()
# The smallest, an arm with fingers on slides and a mimic joint; others differ in numbers.
SOME = (
    'asr_twodof_description/urdf/TwoDofs.urdf',
    'panda_description/urdf/panda.urdf',
)


def quantities(*owners: Any) -> Iterator[tuple[str, Any, Any, list[int]]]:
    """(name, kernel's call, equation, lengths of its arguments) of all that `prepare` makes."""
    for owner in owners:
        for name, method in compiled_methods(type(owner)).items():
            impossible = method.inverts_mass and owner.model.is_massless
            if not (method.on_demand or impossible):
                specification = method.specification(owner)
                lengths = [length for _, length in specification.lengths(owner.model)]
                yield name, getattr(owner, name), specification.function, lengths


def compare(owner: Any, found: Iterator[Any], middle: Any, rng: np.random.Generator) -> None:
    """Compare one state and a batch; `middle` is what positions are near, (n,)."""
    for quantity, call, equation, lengths in found:
        batch = [rng.uniform(-1.2, 1.2, (9, length)) for length in lengths]
        if middle is not None:
            batch[0] = middle + 0.05 * batch[0]
        one = [values[4] for values in batch]
        expected = equation(owner.model, *one)
        made, many = call(*one), call(*batch)
        if not isinstance(made, tuple):
            expected, made, many = (expected,), (made,), (many,)
        for k, (right, single, rows) in enumerate(zip(expected, made, many, strict=True)):
            largest = float(np.abs(right).max(initial=0.0))
            floor = max(largest, scales(owner, one) if middle is None else 0.0)
            where = f'{quantity}[{k}]'
            np.testing.assert_allclose(single, right, rtol=0, atol=REL * floor, err_msg=where)
            np.testing.assert_allclose(rows[4], right, rtol=0, atol=REL * floor, err_msg=where)


def scales(robot: kd.Robot, values: list[Any]) -> float:
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
    compare(robot, quantities(robot, robot.frame(robot.model.tip_link)), None, rng)


@pytest.mark.parametrize('kind', ['closed', 'reduced'])
def test_kernels_of_closed_loops_are_the_equations(kind: str, rng: np.random.Generator) -> None:
    """Other tests of such robots run the generated code without a compiler."""
    urdf, loops = ROOT / 'urdf' / 'four_bar.urdf', ROOT / 'config' / 'four_bar_constraints.yaml'
    if kind == 'closed':
        robot = kd.load(urdf, constraints=loops)
        closing = robot.model.closing
        middle = closing.start[list(closing.choice.independent)]
        robot.prepare(robot.model.tip_link)
        compare(robot, quantities(robot, robot.frame(robot.model.tip_link)), middle, rng)
        reports = robot.kernel_report()
    else:
        reduced = kd.ReducedRobot(kd.ConstrainedRobot.described(kd.load(urdf), loops))
        reduced.prepare()
        compare(reduced, quantities(reduced), reduced.constrained.start, rng)
        reports = reduced.constrained.robot.kernel_report()
    assert reports and all(report.source == 'c' for report in reports)
