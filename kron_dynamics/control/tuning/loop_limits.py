# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stability limits of sampled loops in gain, joint-state rate and delay."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from kron_dynamics.control.tuning.linear_machine import LinearMachine, ModelErrors
from kron_dynamics.control.tuning.sampled_loop import (
    SampledPlant,
    closed_loop,
    contracting,
    growth,
    sampled_plant,
    spectral_radius,
)
from kron_dynamics.typing import FloatArray, IndexArray

# Number of cases nearest to instability that a search evaluates.
_HARDEST = 12
# Search range as a factor from the start, factor of its steps, and number of bisections.
_FARTHEST, _STEP, _HALVINGS = 1000.0, 1.3, 14
# Relative margin by which reported bounds are inside the bounds found.
_INSIDE = 1e-3


class SampledLoops:
    """Sampled computed-torque loops of a machine in many poses, with many models with errors.

    The law is ``u = M_hat (kp e + kd ed) + g_hat(q)`` of sampled states; with natural frequencies
    w, kp = w^2 and kd = 2 z w.
    """

    def __init__(
        self,
        machine: LinearMachine,
        errors: ModelErrors,
        frequency: FloatArray,
        damping_ratio: float,
        period: float,
        delay: float,
    ) -> None:
        """Make the loops.

        Args:
            machine: linearizations in N poses.
            errors: C cases of the model.
            frequency: natural frequencies w, shape (n_j,), rad/s.
            damping_ratio: z.
            period: time between states, s.
            delay: time from a state until its efforts act, s.
        """
        self._machine, self._errors = machine, errors
        self._w, self._z = frequency, damping_ratio
        self._period, self._delay = period, delay
        self._plant = self._sampled(np.arange(len(machine.q)), period, delay)
        self._given = self.growth_of(errors)
        self._hard = self._worst(self._given)
        self._last = 0  # place in it of the case that was the last to be the least stable one

    def of(self, cases: IndexArray) -> SampledLoops:
        """Return the loops of some of the cases.

        Args:
            cases: their indices, shape (C,).
        """
        some = copy.copy(self)
        some._errors = self._errors.of(cases)
        some._given = self._given[cases]
        some._hard = self._worst(some._given)
        return some

    def growth_of(self, errors: ModelErrors, factor: float = 1.0) -> FloatArray:
        """Return the spectral radius of each case of any models, shape (C,); stable below 1.

        Args:
            errors: C cases of models of the machine.
            factor: factor on the natural frequencies of all joints.
        """
        return growth(self._plant.of(errors.pose), *self._gains(errors, factor))

    def growth(self, factor: float = 1.0) -> FloatArray:
        """Return the spectral radius of each case, shape (C,); stable below 1.

        Args:
            factor: factor on the natural frequencies of all joints.
        """
        return self._given if factor == 1.0 else self.growth_of(self._errors, factor)

    def stable(self, factor: float = 1.0) -> bool:
        """Return whether all cases are stable with the natural frequencies times a factor."""
        if factor == 1.0:
            return bool((self._given < 1.0).all())
        if self._any_unstable(self._plant.of(self._errors.pose[self._hard]), factor):
            return False
        plant = self._plant.of(self._errors.pose)
        unsure, found = _unsure(closed_loop(plant, *self._gains(self._errors, factor)))
        if (found < 1.0).all():
            return True
        self._hard = np.union1d(self._hard, unsure[self._worst(found)])
        return False

    def stable_range(self) -> tuple[float, float] | None:
        """Return the range of factors on the frequencies in which all cases are stable.

        None if there is no such range, or one that is not wider than the margin of its bounds.
        The lower bound is 0 if there is no lower limit. Model errors cause one: the uncompensated
        part of gravity needs position gains.
        """

        def unstable(factor: float) -> bool:
            return self._any_unstable(self._plant.of(self._errors.pose[self._hard]), factor)

        while True:
            start: float | None = 1.0
            if unstable(1.0):
                start = _first(lambda x: not unstable(x), 1.0 / _STEP)
                start = start or _first(lambda x: not unstable(x), _STEP)
            if start is None:
                return None
            lower, upper = _edge(unstable, start, 1.0 / _STEP), _edge(unstable, start, _STEP)
            lower, upper = (1.0 + _INSIDE) * lower, (1.0 - _INSIDE) * upper
            known = len(self._hard)
            if lower > upper:
                return None
            if self.stable(upper) and (lower == 0.0 or self.stable(lower)):
                return lower, upper
            if len(self._hard) == known:  # another search would find the same
                return None

    def least_rate(self, factor: float = 1.0) -> float:
        """Return the lowest stable rate of the states, Hz, with constant delay / period, or inf.

        Args:
            factor: factor on the natural frequencies.
        """

        def unstable(slower: float) -> bool:
            poses = self._errors.pose[self._hard]
            plant = self._sampled(poses, self._period * slower, self._delay * slower)
            return self._any_unstable(plant, factor)

        start = _first(lambda x: not unstable(x), 1.0 / _STEP) if unstable(1.0) else 1.0
        return (
            float(np.inf)
            if start is None
            else 1.0 / (self._period * _edge(unstable, start, _STEP))
        )

    def longest_delay(self) -> float:
        """Return the longest delay with which the loops are stable, s."""
        longest = 20.0 * self._period

        def unstable(longer: float) -> bool:
            delay = self._delay + (longer - 1.0) * self._period
            if delay > longest:
                return True
            plant = self._sampled(self._errors.pose[self._hard], self._period, delay)
            return self._any_unstable(plant, 1.0)

        return self._delay + (_edge(unstable, 1.0, _STEP) - 1.0) * self._period

    def fastest_joint(self, factor: float = 1.0) -> int:
        """Return the joint with the most kinetic energy in the least stable mode."""
        case = self._errors.of(np.array([self.growth(factor).argmax()]))
        plant = self._plant.of(case.pose)
        values, vectors = np.linalg.eig(closed_loop(plant, *self._gains(case, factor))[0])
        n = self._machine.M.shape[1]
        y = vectors[:n, np.abs(values).argmax()]
        # Kinetic energy of each joint: its share of conj(q) M q.
        pose = int(case.pose[0])
        q = np.linalg.inv(np.linalg.cholesky(self._machine.M[pose])).T @ y
        energy = np.abs(np.real(np.conj(q) * (self._machine.M[pose] @ q)))
        return int(energy[: len(self._w)].argmax())

    def _sampled(self, poses: IndexArray, period: float, delay: float) -> SampledPlant:
        M, D, K = (terms[poses] for terms in self._machine[1:4])
        return sampled_plant(M, D, K, len(self._w), period, delay)

    def _gains(self, errors: ModelErrors, factor: float) -> tuple[FloatArray, FloatArray]:
        w = factor * self._w
        return errors.inertia * w**2 - errors.weight, errors.inertia * (2.0 * self._z * w)

    def _any_unstable(self, plant: SampledPlant, factor: float) -> bool:
        """Return whether one of the hardest cases is unstable, with machines in their poses."""
        loops = closed_loop(plant, *self._gains(self._errors.of(self._hard), factor))
        # Mostly it is the same one, which alone takes a tenth of the time.
        if self._last < len(loops) and spectral_radius(loops[[self._last]])[0] >= 1.0:
            return True
        unsure, found = _unsure(loops)
        if (found < 1.0).all():
            return False
        self._last = int(unsure[found.argmax()])
        return True

    def _worst(self, growths: FloatArray) -> IndexArray:
        return np.argsort(growths)[-_HARDEST:]


def _unsure(loops: FloatArray) -> tuple[IndexArray, FloatArray]:
    """The loops that are not clearly stable, and their spectral radii.

    Eigenvalues take long, and most loops are clearly stable.
    """
    unsure = np.flatnonzero(~contracting(loops))
    return unsure, spectral_radius(loops[unsure])


def _first(holds: Callable[[float], bool], step: float) -> float | None:
    """The first of step, step^2, ... for which a predicate holds; None within the range."""
    x = step
    while 1.0 / _FARTHEST < x < _FARTHEST:
        if holds(x):
            return x
        x *= step
    return None


def _edge(unstable: Callable[[float], bool], start: float, step: float) -> float:
    """Edge of the stable range from start, upwards with a step above 1, else downwards.

    Without instability within the search range: its end upwards, 0 downwards.
    """
    beyond = _first(lambda x: unstable(start * x), step)
    if beyond is None:
        return start * _FARTHEST if step > 1.0 else 0.0
    inside, outside = start * beyond / step, start * beyond
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        inside, outside = (inside, middle) if unstable(middle) else (middle, outside)
    return inside
