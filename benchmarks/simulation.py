# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated machine against the same equations in Python: target 9."""

from __future__ import annotations

import numpy as np

import kron_dynamics as kd
from benchmarks import ours
from benchmarks.robots import CHAIN
from benchmarks.rows import Outcome
from benchmarks.timing import PythonTask, compare, pinned
from kron_dynamics.simulation import Plant
from kron_dynamics.simulation.motion import Motion

MANY, FEW = 500, 5  # steps per call; a controller's period has a few
STEP, STEP_OF_CHAIN = 2e-3, 2e-4  # s; the chain's light links are fast


def many(robot: str, rounds: int) -> Outcome:
    """Many steps in one call."""
    return _against_python(robot, MANY, rounds)


def few(robot: str, rounds: int) -> Outcome:
    """A few steps in one call."""
    return _against_python(robot, FEW, rounds)


def _against_python(name: str, steps: int, rounds: int) -> Outcome:
    """Time both from the same moving state, with joints within their limits."""
    robot, step = ours.robot(name), STEP_OF_CHAIN if name == CHAIN else STEP
    plant = Plant(robot, _middle(robot))
    plant.qd[: len(plant.effort)] = 0.01
    begin, rates = plant.q, plant.qd
    effort = robot.gravity_vector(begin)[: len(plant.effort)]
    limits = robot.model.position_lower, robot.model.position_upper
    motion = Motion(robot, len(effort), *limits)
    motion.fit_stops(step)
    names = {'q': begin, 'qd': rates, 'effort': effort, 'steps': steps, 'step': step}
    mine = PythonTask(
        'ours',
        'plant.q = q\nplant.qd = qd\nplant.advance(effort, steps * step, step)',
        '[plant.q, plant.qd, plant.qdd]',
        plant=plant,
        **names,
    )
    python = PythonTask(
        'Python', 'end = after(q, qd, effort, steps, step)', 'end', after=motion.after, **names
    )
    with pinned():
        return Outcome.of(compare(mine, python, rounds))


def _middle(robot: kd.Robot) -> np.ndarray:
    """Return positions halfway between the stops, 0 for joints without."""
    count = robot.model.joint_count
    lower, upper = robot.model.position_lower[:count], robot.model.position_upper[:count]
    known = np.isfinite(lower) & np.isfinite(upper)
    return np.where(known, np.where(known, lower, 0.0) + np.where(known, upper, 0.0), 0.0) / 2
