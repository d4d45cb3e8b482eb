# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms whose loops are closed, in the coordinates of their drives, and as trees."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from closed_loops import GEAR, SLIDER_CONSTRAINTS, slider_crank
from pinocchio_oracle import arm_text

import kron_dynamics as kd
from kron_dynamics import ConstrainedRobot, Robot

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / 'config'
CYLINDER = 'stacker_reclaimer_cylinder'


class Mechanism(NamedTuple):
    """One mechanism, twice.

    Attributes:
        robot: in the coordinates of its drives.
        tree: with its constraints beside it, whose independent speeds are the rates of the drives.
        lower: of the drives, where positions are drawn from, shape (m,).
        upper: likewise.
    """

    robot: Robot
    tree: ConstrainedRobot
    lower: np.ndarray
    upper: np.ndarray

    def states(self, rng, count):
        """Positions, rates and accelerations of the drives, (count, m) each."""
        share = rng.uniform(size=(count, self.robot.n))
        rates, accelerations = rng.uniform(-1, 1, (2, count, self.robot.n))
        return self.lower + share * (self.upper - self.lower), rates, accelerations


def made(name):
    if name == 'slider_crank':
        text, constraints = slider_crank(), SLIDER_CONSTRAINTS
    elif name == 'ur5':
        text, constraints = arm_text('ur5_robot.urdf'), GEAR
    else:
        text = (ROOT / 'urdf' / f'{name}.urdf').read_text(encoding='utf-8')
        files = {'four_bar': 'four_bar_constraints'}
        constraints = CONFIG / f'{files.get(name, name)}.yaml'
    robot = kd.loads(text, constraints=constraints)
    described = ConstrainedRobot.described(kd.loads(text), constraints)
    tree = ConstrainedRobot(
        described.robot,
        described.constraints,
        start=described.start,
        independent=described.actuated,
        actuated=described.actuated,
    )
    start = robot.model.closing.start[list(robot.model.closing.choice.independent)]
    lower, upper = robot.model.position_lower, robot.model.position_upper
    return Mechanism(
        *(robot, tree),
        np.where(np.isfinite(lower), np.maximum(lower, start - 3.0), start - 4.0),
        np.where(np.isfinite(upper), np.minimum(upper, start + 3.0), start + 4.0),
    )


@pytest.fixture(
    scope='package', params=['four_bar', 'slider_crank', 'stacker_reclaimer_cylinder', 'ur5']
)
def mechanism(request, kernel_cache):
    return made(request.param)
