# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Motions of two joints and modes for the tests of reference shaping."""

from __future__ import annotations

import numpy as np

import kron_dynamics.control as control

NAMES = ('slew', 'luff')
GOAL = np.array([1.0, -0.4])
KINDS = ('zv', 'zvd', 'ei')
W, Z = 5.0, 0.02


def move(duration=1.7, goal=GOAL, start=None, names=NAMES):
    start = np.zeros_like(goal) if start is None else start
    rest = np.zeros((2, len(goal)))
    return control.Trajectory.from_points(names, [0.0, duration], [start, goal], rest, rest)


def constant(*modes):
    frequencies, ratios = np.array(modes).T
    return lambda q: (frequencies, ratios)


def hold(q):
    return control.Trajectory.from_points(NAMES, [0.0], [q])
