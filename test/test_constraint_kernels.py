# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of constraints are those of the robot's own constraints, however similar others are."""

from __future__ import annotations

import copy
import pickle
import sys
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from constrained_robots import START, TIP, four_bar

from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import Attachment, Constraint, HingeLoop
from kron_dynamics.constraints.constraint import Geometry
from kron_dynamics.reduced import ReducedRobot
from kron_dynamics.robot import Robot

Q = np.array([0.3, -0.7, 1.1])


class Gear(Constraint):
    """A user's gear, as a class without any decorator."""

    units = ('rad',)

    def __init__(self, ratio: float) -> None:
        self.name, self.ratio = 'gear', ratio

    def check(self, model: Any) -> None: ...

    def geometry(self, model: Any, q: Any, qd: Any) -> Geometry:
        q = np.asarray(q)
        row = np.array([[1.0, -self.ratio, 0.0]])
        return Geometry(row @ q, row + 0 * q, 0 * q.reshape(1, 3), np.zeros((1, 6)))


@dataclass(frozen=True)
class Belt(Gear):
    """The same as a dataclass."""

    ratio: float
    name: str = 'belt'


SHIFT = 2.0


@dataclass(frozen=True)
class Shifted(Belt):
    """Reads a global in a property."""

    @property
    def shift(self) -> float:
        return SHIFT

    def geometry(self, model: Any, q: Any, qd: Any) -> Geometry:
        found = super().geometry(model, q, qd)
        return found._replace(f=found.f + self.shift)


def check_own(robot: ConstrainedRobot) -> None:
    """The robot's kernel is its own equation."""
    expected = robot._system.geometry(Q, Q)
    for part, own in zip(robot._geometry(Q, Q), expected, strict=True):
        np.testing.assert_allclose(part, own, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(('digits', 'step'), [(3, 4e-4), (None, 1e-9)])
def test_points_that_print_alike_have_kernels_of_their_own(digits: int, step: float) -> None:
    with np.printoptions(precision=digits):
        for x in (0.9, 0.9 + step):
            end = Attachment('coupler', np.array([x, 0, 0]))  # type: ignore[arg-type]
            check_own(ConstrainedRobot(four_bar(), [HingeLoop('pin', end, TIP)], start=START))


@pytest.mark.parametrize('kind', [Gear, Belt])
def test_reduced_robots_know_the_data_of_every_class(kind: type[Gear]) -> None:
    for ratio in (2.0, 3.0):
        reduced = ReducedRobot(ConstrainedRobot(four_bar(), [kind(ratio)]))
        assert reduced.residual(Q)[0] == pytest.approx(Q[0] - ratio * Q[1])
        again = [pickle.loads(pickle.dumps(reduced)), copy.deepcopy(reduced)]
        assert [robot.residual(Q)[0] for robot in again] == [reduced.residual(Q)[0]] * 2


def test_globals_that_a_constraint_reads_count(monkeypatch: pytest.MonkeyPatch) -> None:
    for shift in (2.0, 3.0):
        monkeypatch.setattr(sys.modules[__name__], 'SHIFT', shift)
        reduced = ReducedRobot(ConstrainedRobot(four_bar(), [Shifted(2.0)]))
        assert reduced.residual(Q)[0] == pytest.approx(Q[0] - 2.0 * Q[1] + shift)


@dataclass(frozen=True)
class Strong(Belt):
    """Reads what no equation of the package does."""

    def geometry(self, model: Any, q: Any, qd: Any) -> Geometry:
        found = super().geometry(model, q, qd)
        return found._replace(f=found.f + model.position_upper[0])


def test_all_of_the_model_counts_for_a_users_constraint() -> None:
    for upper in (2.0, 3.0):
        model = four_bar().model
        model = replace(model, position_upper=np.full(model.n, upper))
        reduced = ReducedRobot(ConstrainedRobot(Robot(model), [Strong(2.0)]))
        assert reduced.residual(Q)[0] == pytest.approx(Q[0] - 2.0 * Q[1] + upper)


def test_only_data_with_an_exact_text_give_names_that_return() -> None:
    names = [
        [ReducedRobot(ConstrainedRobot(four_bar(), [kind(2.0)]))._kernel_prefix for _ in range(2)]
        for kind in (Belt, Gear)
    ]
    assert names[0][0] == names[0][1] and names[1][0] != names[1][1]


def test_a_class_typed_again_has_kernels_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a notebook the class keeps its name, and the robot its kernels."""
    notebook = ModuleType('notebook')
    vars(notebook).update(dataclass=dataclass, Belt=Belt, Geometry=Geometry, np=np)
    monkeypatch.setitem(sys.modules, 'notebook', notebook)
    text = """
@dataclass(frozen=True)
class Typed(Belt):
    def geometry(self, model, q, qd):
        found = super().geometry(model, q, qd)
        return Geometry(SIGN * found.f, SIGN * found.A, found.A_dot, found.N)
"""
    for sign in ('1', '-1'):
        exec(text.replace('SIGN', sign), vars(notebook))
        check_own(ConstrainedRobot(four_bar(), [vars(notebook)['Typed'](2.0)]))
