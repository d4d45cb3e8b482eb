# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Constrained robots of several tests: a four-bar, and two arms that hold each other."""

from __future__ import annotations

import functools

import numpy as np
from mechanisms import four_bar_text, four_hinges_text, two_arms_text
from uncompiled import ConstrainedOnFloats, uncompiled

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import Attachment, Coupling, HingeLoop, PointLoop

END, TIP = Attachment('coupler', (0.9, 0.0, 0.0)), Attachment('rocker', (0.7, 0.0, 0.0))
PIN = PointLoop('pin', END, TIP, components='xy', base_axes=True)
HINGE = HingeLoop('pin', END, TIP)
START = (0.9, -0.4, 1.5)
GRAVITY = 9.81


@functools.cache
def four_bar(**changes: float) -> kd.Robot:
    return kd.loads(four_bar_text(), gravity=(0.0, -GRAVITY, 0.0), **changes)


@functools.cache
def two_arms() -> kd.Robot:
    return uncompiled(two_arms_text())


def hands() -> ConstrainedRobot:
    left = Attachment('left3', (0.3, 0.1, 0.0), (0.2, 1.0, 0.1))
    right = Attachment('right3', (0.3, -0.1, 0.0), (0.0, 1.0, 0.2))
    constraints = [
        PointLoop('hands', left, right),
        Coupling('gear', {'left2_joint': 1.0, 'right2_joint': 0.5}),
    ]
    return ConstrainedOnFloats(two_arms(), constraints, start=[0.2, 0.5, -0.4, 0.1, 0.6, 0.3, 0.2])


def spatial_loop(stretch: float) -> ConstrainedRobot:
    """Four hinges in space; with stretch 1 they have Bennett's proportions."""
    length, twist, other_twist = 0.5, 0.6, 1.1
    other = float(stretch * length * np.sin(other_twist) / np.sin(twist))
    robot = uncompiled(four_hinges_text((length, other, length), (twist, other_twist, twist)))
    end = Attachment('link3', (length, 0.0, 0.0), (0.0, -np.sin(twist), np.cos(twist)))
    axis = (0.0, np.sin(other_twist), np.cos(other_twist))
    hinge = HingeLoop('loop', end, Attachment('base', (-other, 0.0, 0.0), axis))
    return ConstrainedOnFloats(robot, [hinge], start=[0.7, 1.8, -0.8])
