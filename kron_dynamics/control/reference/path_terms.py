# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Limits along a path section as functions of the squared path rate, for time-optimal retiming.

With the path parameter r, ``x = (dr/dt)^2`` and ``u = d2r/dt2 = (dx/dr)/2``, rates and efforts
are linear in x and u:

    qd^2 = q'^2 x,    qdd = q' u + q'' x,    tau = a u + b x + g,
    a = M q',    b = M q'' + c(q, q')

and effort rates are sqrt(x) times a function that is linear in x, u and w = du/dr:

    dtau/dt = sqrt(x) (a w + (a' + 2 b) u + b' x + g')

x is a quadratic spline; each of x, u and w depends on two or three of its coefficients.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Quantities with limits, in the order of `Limits`.
VELOCITY, ACCELERATION, EFFORT, EFFORT_RATE = range(4)
QUANTITIES = ('velocity', 'acceleration', 'effort', 'effort rate')


class Limits(NamedTuple):
    """Limits of all joints, shape (n,) each; inf for no limit."""

    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray
    effort_rate: FloatArray


class PathTerms(NamedTuple):
    """Equations of motion along a path, shape (K, n) each; ' is the derivative by r."""

    position: FloatArray
    first: FloatArray  # q'
    second: FloatArray  # q''
    inertia: FloatArray  # a
    bend: FloatArray  # b
    weight: FloatArray  # g, including viscous friction if considered


def path_terms(robot: Robot, q: FloatArray, first: FloatArray, second: FloatArray) -> PathTerms:
    """Return the terms at K points of a path, by three kernel calls."""
    g = robot.gravity_vector(q)
    a = robot.inverse_dynamics(q, np.zeros_like(q), first) - g
    b = robot.inverse_dynamics(q, first, second) - g
    return PathTerms(q, first, second, a, b, g)
