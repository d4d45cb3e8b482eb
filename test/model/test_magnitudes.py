# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers in other units than SI: hints, and none for robots of any size in SI."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kron_dynamics import InvalidInertiaError, ModelError
from kron_dynamics.model import load_model

ROOT = Path(__file__).parents[2]
ARM = (ROOT / 'test' / 'robots' / 'spatial_3r.urdf').read_text(encoding='utf-8')
NUMBER = r'[-+.0-9e]+'


def scaled(text: str, pattern: str, factor: float) -> str:
    """The text with every number in the one group of a pattern multiplied."""

    def multiply(found: re.Match[str]) -> str:
        numbers = ' '.join(repr(float(word) * factor) for word in found[1].split())
        return found[0].replace(found[1], numbers)

    return re.sub(pattern, multiply, text)


def masses(text: str, factor: float) -> str:
    return scaled(text, f'<mass value="({NUMBER})"', factor)


def inertias(text: str, factor: float) -> str:
    return scaled(text, f'\\bi[xyz][xyz]="({NUMBER})"', factor)


def lengths(text: str, factor: float) -> str:
    return scaled(text, f'xyz="({NUMBER} {NUMBER} {NUMBER})"', factor)


def of_size(factor: float) -> str:
    """The arm with all lengths in a ratio, of the same matter."""
    return lengths(inertias(masses(ARM, factor**3), factor**5), factor)


SLIPS: dict[str, tuple[Callable[[str], str], str, type[ModelError]]] = {
    'g': (
        lambda text: inertias(masses(text, 1e3), 1e3),
        'mass_magnitude',
        InvalidInertiaError,
    ),
    'kg mm^2': (lambda text: inertias(text, 1e6), 'inertia_magnitude', InvalidInertiaError),
    'g mm^2': (lambda text: inertias(text, 1e9), 'inertia_magnitude', InvalidInertiaError),
    'mm': (lambda text: lengths(text, 1e3), 'length_magnitude', ModelError),
}


@pytest.mark.parametrize('size', [0.05, 1.0, 30.0])
def test_robots_of_any_size_are_not_doubted(size: float) -> None:
    found = {warning.kind for warning in load_model(of_size(size)).warnings}
    assert found <= {'axis_not_unit', 'root_inertia'}


@pytest.mark.parametrize('slip', SLIPS)
@pytest.mark.parametrize('size', [0.2, 1.0, 3.0])
def test_other_units_are_seen(slip: str, size: float, assert_warned: Any) -> None:
    change, kind, error = SLIPS[slip]
    found = [warning for warning in load_model(change(of_size(size))).warnings]
    assert kind in {warning.kind for warning in found}
    assert {warning.severity for warning in found} == {'hint'}


@pytest.mark.parametrize(('reach', 'doubted'), [(19, False), (20, False), (21, True)])
def test_light_robots_are_doubted_only_where_they_reach_far(
    reach: int, doubted: bool, parts: Any
) -> None:
    """A gram at the end of threads; lengths in mm are hundreds and more."""
    hand = parts.link('hand', '0.001', 'ixx="1e-9" iyy="1e-9" izz="1e-9" ixy="0" ixz="0" iyz="0"')
    grip = parts.joint('grip', parent='arm', child='hand', more=f'<origin xyz="{reach} 0 0"/>')
    model = load_model(parts.robot(hand, grip, arm='<link name="arm"/>'))
    assert ('length_magnitude' in {found.kind for found in model.warnings}) == doubted


def test_finger_of_three_tonnes(parts: Any, assert_warned: Any) -> None:
    hand = parts.robot(arm=parts.link('arm', mass='0.5'))
    finger = parts.link('finger', mass='3000') + parts.joint(
        'bend', parent='arm', child='finger', more='<origin xyz="0.1 0 0"/>'
    )
    text = hand.replace('</robot>', f'{finger}</robot>')
    assert_warned(text, 'mass_magnitude', InvalidInertiaError, "'finger'", '3000 kg')


@pytest.mark.parametrize(
    ('geometry', 'mass', 'dense'),
    [
        ('<box size="0.1 0.1 0.1"/>', 1, False),
        ('<box size="0.1 0.1 0.1"/>', 30, True),
        ('<box size="0.1 0.1 0.1"/>', 0.009, True),
        ('<box size="0.1 0.1 0.1"/>', 0, False),  # a robot without mass has no matter at all
        ('<box size="0.02 0.02 0.02"/>', 1, True),
        ('<box size="0.002 0.002 0.002"/>', 1, False),  # less than 2 % of the reach
        ('<cylinder radius="0.1" length="0.3"/>', 60, False),
        ('<cylinder radius="0.1" length="0.3"/>', 300, True),
        ('<sphere radius="0.1"/>', 100, False),
        ('<sphere radius="0.1"/>', 110, True),
        ('<sphere radius="0"/>', 110, False),
        ('<sphere radius="much"/>', 110, False),
        ('<box size="1 2"/>', 110, False),
        ('<mesh filename="arm.stl"/>', 110, False),
    ],
)
def test_density_of_simple_geometry(geometry: str, mass: float, dense: bool, parts: Any) -> None:
    collision = f'<collision><geometry>{geometry}</geometry></collision></link>'
    arm = parts.link('arm', mass=str(mass)).replace('</link>', collision)
    hinge = parts.joint(more='<origin xyz="0.3 0 0"/>')
    found = [w for w in load_model(parts.robot(arm=arm, hinge=hinge)).warnings]
    assert ['density' for _ in range(dense)] == [w.kind for w in found if w.kind == 'density']


def test_center_of_mass_far_away(parts: Any, assert_warned: Any) -> None:
    arm = parts.link('arm').replace('<mass', '<origin xyz="120 0 0"/><mass')
    hinge = parts.joint(more='<origin xyz="0.3 0 0"/>')
    text = parts.robot(arm=arm, hinge=hinge)
    assert_warned(text, 'center_of_mass_far', InvalidInertiaError, "'arm'", '120 m')


@pytest.mark.parametrize('more', [1.0, 1.01])
def test_the_largest_plausible_distances_are_not_doubted_yet(more: float, parts: Any) -> None:
    """Of a robot that reaches 1 m: a radius of gyration of 10 m, a centre of mass 3 m off."""
    x, y = 100 * more, 150 * more
    moments = f'ixx="{x}" iyy="{y}" izz="{y}" ixy="0" ixz="0" iyz="0"'
    arm = parts.link('arm', mass='2', moments=moments)
    arm = arm.replace('<mass', f'<origin xyz="{3 * more} 0 0"/><mass')
    text = parts.robot(arm=arm, hinge=parts.joint(more='<origin xyz="1 0 0"/>'))
    found = {warning.kind for warning in load_model(text).warnings}
    expected = {'inertia_magnitude', 'center_of_mass_far'} if more > 1.0 else set()
    assert found & {'inertia_magnitude', 'center_of_mass_far'} == expected


@pytest.mark.parametrize('path', sorted((ROOT / 'urdf').glob('*.urdf')), ids=lambda p: p.stem)
def test_machines_of_this_package_have_nothing_to_say(path: Path) -> None:
    text = path.read_text(encoding='utf-8')
    loops = ['open_loops'] if '<loop' in text else []
    assert [warning.kind for warning in load_model(text).warnings] == loops
