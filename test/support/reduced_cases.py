# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Constrained robots in independent speeds, with one, two and three degrees of freedom."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mechanisms import five_bar_text, sleigh_text, slider_crank_text, two_arms_text

import kron_dynamics as kd
from kron_dynamics.constraints import Attachment, BladeConstraint, Coupling, PointLoop

ROOT = Path(__file__).parents[2]
DOWN = (0.0, -9.81, 0.0)
CRANK, ROD = 0.3, 0.8


@functools.cache
def shipped(urdf: str, constraints: str) -> kd.ReducedRobot:
    robot = kd.load(ROOT / 'urdf' / urdf)
    return kd.ReducedRobot(kd.ConstrainedRobot.described(robot, ROOT / 'config' / constraints))


def four_bar() -> kd.ReducedRobot:
    return shipped('four_bar.urdf', 'four_bar_constraints.yaml')


def stacker() -> kd.ReducedRobot:
    return shipped('stacker_reclaimer_cylinder.urdf', 'stacker_reclaimer_cylinder.yaml')


@functools.cache
def five_bar() -> kd.ReducedRobot:
    """Return a five-bar: independent joints left crank and elbow, drives both cranks."""
    pin = PointLoop(
        'pin',
        Attachment('left_coupler', (0.8, 0.0, 0.0)),
        Attachment('right_coupler', (0.6, 0.0, 0.0)),
        components='xy',
    )
    return kd.ReducedRobot(
        kd.ConstrainedRobot(
            kd.loads(five_bar_text(), gravity=DOWN),
            [pin],
            start=[2.0, -1.2, 1.0, 0.9],
            independent=['left', 'left_elbow'],
            actuated=['left', 'right'],
        )
    )


@functools.cache
def two_arms() -> kd.ReducedRobot:
    left = Attachment('left3', (0.3, 0.1, 0.0), (0.2, 1.0, 0.1))
    right = Attachment('right3', (0.3, -0.1, 0.0), (0.0, 1.0, 0.2))
    gear = Coupling('gear', {'left2_joint': 1, 'right2_joint': 0.5})
    start = [0.2, 0.5, -0.4, 0.1, 0.6, 0.3, 0.2]
    robot = kd.loads(two_arms_text())
    return kd.ReducedRobot(
        kd.ConstrainedRobot(robot, [PointLoop('hands', left, right), gear], start=start)
    )


@functools.cache
def sleigh() -> kd.ReducedRobot:
    robot = kd.loads(sleigh_text(3.0, 0.4, 0.5), gravity=(0.3, 0.2, 0.0))
    blade = BladeConstraint('blade', 'sleigh', (0.0, 1.0, 0.0))
    return kd.ReducedRobot(kd.ConstrainedRobot(robot, [blade], start=[0.3, -0.2, 0.7]))


@functools.cache
def slider_crank(*actuated: str) -> kd.ReducedRobot:
    pin = PointLoop(
        'pin', Attachment('rod', (ROD, 0.0, 0.0)), Attachment('slider'), components='xy'
    )
    return kd.ReducedRobot(
        kd.ConstrainedRobot(
            kd.loads(slider_crank_text(CRANK, ROD), gravity=DOWN),
            [pin],
            start=crank_pose(0.7),
            independent=['turn'],
            actuated=actuated,
        )
    )


def crank_pose(angle: float) -> list[float]:
    """Return all joint positions of the slider-crank, by trigonometry."""
    lean = np.arcsin(CRANK * np.sin(angle) / ROD)
    return [angle, -lean - angle, CRANK * np.cos(angle) + ROD * np.cos(lean)]


HOLONOMIC: dict[str, Callable[[], kd.ReducedRobot]] = {
    'four-bar': four_bar,
    'five-bar': five_bar,
    'two arms': two_arms,
    'stacker': stacker,
}
MACHINES = {**HOLONOMIC, 'sleigh': sleigh}


def states_of(robot: kd.ReducedRobot, count: int = 3) -> list[tuple[Any, Any, Any]]:
    """Return states near the start: q with closed loops, u and du/dt."""
    closed, m = robot.constrained, robot.degrees_of_freedom
    rng = np.random.default_rng(6)
    return [
        (
            closed.close(closed.start + 0.05 * rng.normal(size=robot.n)),
            *rng.normal(size=(2, m)),
        )
        for _ in range(count)
    ]
