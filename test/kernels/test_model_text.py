# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Users' equations may read all of a model; the package's own read what the fingerprint tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.dynamics import Wrench, wrench_forces
from kron_dynamics.kernels.compiled import compiled, compiled_methods
from kron_dynamics.kernels.model_text import model_text
from kron_dynamics.kernels.typed_code import value_text
from kron_dynamics.typing import ArrayLike, FloatArray

pytestmark = pytest.mark.hurried

MASS = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
# Two links of equal mass fixed to a third, at equal distances on either side.
BALANCE = (
    '<robot name="balance"><link name="base"/><link name="beam"/>'
    + ''.join(
        f'<link name="{name}"><inertial><origin xyz="{{{name}}} 0 0"/>{MASS}</inertial></link>'
        f'<joint name="to_{name}" type="fixed"><parent link="beam"/><child link="{name}"/></joint>'
        for name in ('left', 'right')
    )
    + '<joint name="turn" type="revolute"><parent link="base"/><child link="beam"/>'
    '<axis xyz="0 1 0"/><limit lower="-1" upper="{upper}" effort="{effort}" velocity="1"/>'
    '</joint></robot>'
)


class Reading(kd.Robot):
    """Reads of the model what no equation of the package does."""

    @compiled
    def loads(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the distance from the middle of the range by the effort limit."""
        middle = (self.model.position_lower + self.model.position_upper) / 2
        return (np.asarray(q) - middle) / self.model.effort_limit

    @compiled
    def pushed(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the effort of a force at the mass centre of one of two links in a body."""
        return wrench_forces(self.model, q, [Wrench('left', (0.0, 0.0, 1.0), axes='base')])


def balance(left: int = 1, right: int = -1, upper: int = 1, effort: int = 10) -> kd.RobotModel:
    text = BALANCE.format(left=left, right=right, upper=upper, effort=effort)
    return kd.loads(text).model


USUAL = balance()


def test_limits_that_an_equation_reads_are_its_own() -> None:
    for upper, effort in ((1, 10), (1, 50), (3, 10)):
        robot = Reading(balance(upper=upper, effort=effort))
        assert robot.loads([0.5])[0] == pytest.approx((0.5 - (upper - 1) / 2) / effort)


def test_links_within_a_body_are_its_own() -> None:
    models = USUAL, balance(left=-1, right=1)
    assert models[0].fingerprint == models[1].fingerprint
    efforts = [Reading(model).pushed([0.0])[0] for model in models]
    assert efforts == [pytest.approx(-1), pytest.approx(1)]


def changes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the place of each number and name in a value, and the value with another one."""
    if isinstance(value, str):
        yield '', {'revolute': 'continuous'}.get(value, f'{value}_')
    elif isinstance(value, float | int):
        yield '', value + 1
    elif isinstance(value, np.ndarray):
        for k in range(value.size):
            other = value.copy()
            other.flat[k] = np.nextafter(other.flat[k], 0.5)
            yield f'[{k}]', other
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            for place, part in changes(getattr(value, field.name)):
                yield f'.{field.name}{place}', replace(value, **{field.name: part})
    elif isinstance(value, Mapping):
        for key, item in value.items():
            for place, part in changes(item):
                yield f'[{key!r}]{place}', {**value, key: part}
    elif isinstance(value, tuple):
        for k, item in enumerate(value):
            for place, part in changes(item):
                yield f'[{k}]{place}', (*value[:k], part, *value[k + 1 :])


def test_every_number_and_name_of_a_model_counts() -> None:
    seen = {model_text(USUAL): ''}
    for place, other in changes(USUAL):
        assert model_text(other) not in seen, place
        seen[model_text(other)] = place
    found = {place.split('[')[0].split('.')[1] for place in seen.values() if place}
    assert found == {field.name for field in fields(USUAL)} - {'warnings'}
    assert '.bodies[0].parts[1].center_of_mass[2]' in seen.values()


def test_a_model_in_an_attribute_counts_as_a_whole() -> None:
    other = replace(USUAL, effort_limit=2 * USUAL.effort_limit)
    assert value_text(USUAL) == value_text(balance()) != value_text(other)


def test_the_packages_equations_read_what_the_fingerprint_tells(model: kd.RobotModel) -> None:
    """So that kernels are shared by robots that differ in limits."""
    unread: Any = object()
    bodies = tuple(replace(body, links=unread, parts=unread) for body in model.bodies)
    names = ('name', 'tip_link', 'position_lower', 'position_upper', 'effort_limit')
    poisoned = replace(model, bodies=bodies, **dict.fromkeys(names, unread))
    assert poisoned.fingerprint == model.fingerprint
    robot = kd.Robot(poisoned)
    frame = robot.frame(model.tip_link)
    for owner in (robot, frame, frame.relative_to(model.link_names[1])):
        for method in compiled_methods(type(owner)).values():
            known = method.specification(owner)
            assert known.captured == ''
            known.record(poisoned)
