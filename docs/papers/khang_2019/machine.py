# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The shipped manipulator as a general robot, linearized and in periodic motion."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np
import yaml

import kron_dynamics as kd
from kron_dynamics.flexible import Beam, SingleLinkManipulator
from kron_dynamics.resources import resource_path
from kron_dynamics.stability import FloquetAnalysis, motion_stability

URDF = resource_path('urdf', 'flexible_manipulator.urdf')
FLEXIBLE = resource_path('config', 'flexible_manipulator_flexible.yaml')
# q in rad, qd in rad/s, qdd in rad/s^2.
STATE = (0.6, 2.3, -1.1)
AMPLITUDES = (0.3, 0.8, 1.2)
SPEEDS = (2.0, 3.0, 4.0, 5.0, 5.5, 6.0, 8.0, 10.0, 11.0, 12.0, 14.0, 16.0)


class Comparison(NamedTuple):
    """Largest differences of the robot from (68)-(71), relative to the largest entry."""

    geometric_stiffness: bool
    M: float
    D: float
    K: float
    h: float


@cache
def robot(geometric_stiffness: bool) -> kd.Robot:
    """Return the manipulator of the URDF and YAML files, with or without geometric stiffness."""
    description = yaml.safe_load(FLEXIBLE.read_text(encoding='utf-8'))
    description['flexible_links']['link_oe']['geometric_stiffness'] = geometric_stiffness
    return kd.load(URDF, flexible=description)


def comparisons() -> list[Comparison]:
    """Return the differences of the robot's linearization from the equations of the link."""
    # Parameters of the files, for (68)-(71) with one mode.
    modes = Beam(1.3, 14.0, 0.9).modes(1)
    link = SingleLinkManipulator(modes, hub_inertia=0.08, tip_mass=0.45, gravity=9.80665)
    rows = []
    for keeps in (False, True):
        found = robot(keeps).linearize(*([number, 0.0] for number in STATE))
        wanted = link.linearized(*STATE, geometric_stiffness=keeps)
        pairs = (
            (found.mass, wanted.M),
            (found.damping, wanted.D),
            (found.stiffness, wanted.K),
            (-found.effort, wanted.h),
        )
        rows.append(Comparison(keeps, *(_difference(*pair) for pair in pairs)))
    return rows


def natural_frequency() -> float:
    """Return the natural frequency of the link at rest with the hub held, rad/s."""
    terms = robot(True).linearize([0, 0], [0, 0], [0, 0])
    return sqrt(terms.stiffness[1, 1] / terms.mass[1, 1])


def margin(speed: float, amplitude: float, geometric_stiffness: bool) -> float:
    """Return the stability margin of a swing q = amplitude sin(speed t), 1/s."""
    return _swinging(geometric_stiffness)(speed, amplitude).stability_margin


def _swinging(geometric_stiffness: bool) -> Callable[[float, float], FloquetAnalysis]:
    def analysis(speed: float, amplitude: float) -> FloquetAnalysis:
        def motion(t: Any) -> Any:
            s, c = (amplitude * f(speed * t)[:, None] for f in (np.sin, np.cos))
            return s, speed * c, -(speed**2) * s

        return motion_stability(
            robot(geometric_stiffness), motion, 2 * pi / speed, held=['q_a'], tolerance=1e-8
        )

    return analysis


def _difference(found: Any, wanted: Any) -> float:
    scale = np.abs(wanted).max()
    return float(np.abs(found - wanted).max() / (scale or 1.0))
