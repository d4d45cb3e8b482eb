# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimates of a payload: intervals, their mean, and when two of them differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.typing import FloatArray

# Half of a 95 % interval in standard deviations.
INTERVAL = 1.96
# A change of payload is reported if masses or centres differ by this number of standard
# deviations and by this share of the mass or of the robot's reach.
DIFFERENT = 4.0
LEAST_CHANGE = 0.02
LEAST_MOVE = 0.005
# Smallest variance: of estimates whose centre is given, and of data without noise.
_LEAST_VARIANCE = 1e-300


@dataclass(frozen=True)
class PayloadEstimate:
    """Payload of a link during some time, with 95 % intervals.

    Attributes:
        start: begin of the time, s.
        end: end of the time, s.
        mass: kg.
        mass_deviation: standard deviation of the mass, kg.
        center_of_mass: centre of mass in the link's frame, m, shape (3,).
        center_deviation: standard deviations of the centre of mass, m, shape (3,).
        excited: whether each coordinate of the centre is identifiable (excited), shape (3,).
    """

    start: float
    end: float
    mass: float
    mass_deviation: float
    center_of_mass: FloatArray
    center_deviation: FloatArray
    excited: tuple[bool, bool, bool]

    @property
    def mass_interval(self) -> tuple[float, float]:
        """95 % interval of the mass, kg."""
        half = INTERVAL * self.mass_deviation
        return self.mass - half, self.mass + half

    @property
    def center_interval(self) -> FloatArray:
        """95 % intervals of the coordinates of the centre of mass, shape (3, 2), m."""
        half = INTERVAL * self.center_deviation
        return np.column_stack([self.center_of_mass - half, self.center_of_mass + half])


def mean_payload(estimates: Sequence[PayloadEstimate]) -> tuple[float, FloatArray]:
    """Return mass, kg, 0 or more, and centre of mass, (3,), m, weighted by their variances.

    A centre that no estimate has is 0.
    """
    masses = np.array([one.mass for one in estimates])
    centers = np.array([one.center_of_mass for one in estimates])
    sure, surer = (
        1.0 / np.maximum(np.square([getattr(one, name) for one in estimates]), _LEAST_VARIANCE)
        for name in ('mass_deviation', 'center_deviation')
    )
    known = np.isfinite(centers) & np.isfinite(surer)
    shares = np.where(known, surer, 0.0)
    shares = shares / np.maximum(shares.sum(axis=0), _LEAST_VARIANCE)
    mass = float(masses @ (sure / sure.sum()))
    return max(mass, 0.0), np.sum(shares * np.where(known, centers, 0.0), axis=0)


def difference(one: PayloadEstimate, two: PayloadEstimate, reach: float) -> float:
    """Return the difference of masses or centres, 1 at the threshold of a change."""
    noise = DIFFERENT * np.hypot(one.mass_deviation, two.mass_deviation)
    share = LEAST_CHANGE * max(abs(one.mass), abs(two.mass))
    masses = abs(one.mass - two.mass) / max(noise, share, 1e-300)
    excited = np.logical_and(one.excited, two.excited)
    noises = DIFFERENT * np.hypot(one.center_deviation, two.center_deviation)
    moves = np.abs(one.center_of_mass - two.center_of_mass)
    centers = moves[excited] / np.maximum(noises[excited], LEAST_MOVE * reach)
    return float(max([masses, *centers]))
