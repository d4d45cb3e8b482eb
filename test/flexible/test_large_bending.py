# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Links that are bent far: against exact theories of beams, which know no modes and no series.

delta is the deflection of the tip by linear theory over the length.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elastica import Elastica
from segment_chain import SegmentBeam, SegmentChain, extrapolate
from uncompiled import uncompiled

from kron_dynamics import dynamics
from kron_dynamics.dual import jacobian_of
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.flexible import FlexibleModel
from kron_dynamics.kinematics import forward_kinematics

EXUDYN: dict[str, Any] = json.loads(
    (Path(__file__).parent / 'reference' / 'exudyn_cables.json').read_text('utf-8')
)
GRAVITY = 9.80665
LENGTH, LINE_MASS = 4.0, 3.0

pytestmark = pytest.mark.filterwarnings('ignore::kron_dynamics.ModelWarning')


def lift(
    length: float = LENGTH,
    line_mass: float = LINE_MASS,
    tip_mass: float = 24.0,
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0),
    inertia: float = 1e-6,
    more: str = '',
) -> str:
    """A beam along x that is lifted about -y, with a body at its tip."""
    J = line_mass * length**3 / 12
    return f"""<robot name="lift"><link name="base"/>
<joint name="lift" type="continuous"><parent link="base"/><child link="beam"/>
  <axis xyz="0 -1 0"/></joint>
<link name="beam"><inertial><origin xyz="{length / 2} 0 0"/><mass value="{line_mass * length}"/>
  <inertia ixx="0" iyy="{J!r}" izz="{J!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="end" type="fixed"><parent link="beam"/><child link="load"/>
  <origin xyz="{length} 0 0"/></joint>
<link name="load"><inertial><origin xyz="{' '.join(map(str, offset))}"/><mass value="{tip_mass}"/>
  <inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>
</link>{more}</robot>"""


def entry(**keys: Any) -> dict[str, Any]:
    return {'flexible_links': {'beam': {'length': LENGTH, **keys}}}


def frequencies(model: Any, q: np.ndarray, count: int = 1) -> np.ndarray:
    """With joints held, rad/s."""
    rest = np.zeros(model.n)
    M, _, K, _ = dynamics.linearization(model, q, rest, rest)
    bends = slice(model.joint_count, None)
    # K is symmetric about a state of rest.
    squares = np.linalg.eigvals(np.linalg.solve(M[bends, bends], K[bends, bends]))
    return np.sqrt(np.sort(squares.real)[:count])


def bent(
    text: str, flexible: Mapping[str, Any], angle: float = 0.0, **options: Any
) -> tuple[np.ndarray, float, float]:
    """Place and slope of the tip in the plane of x and z of the root, w1 there and if straight."""
    robot = uncompiled(text, flexible=flexible, **options)
    q = quasi_static_equilibrium(robot, [angle])
    pose = forward_kinematics(robot.model, np.concatenate([[0.0], q[1:]]), 'load')
    tip = np.array([pose[0, 3], pose[2, 3], np.arctan2(pose[2, 0], pose[0, 0])])
    straight = frequencies(robot.model, np.concatenate([[angle], 0 * q[1:]]))[0]
    return tip, frequencies(robot.model, q)[0], straight


@pytest.mark.parametrize('name', EXUDYN)
def test_two_exact_theories_agree(name: str) -> None:
    """Galerkin's method on slope angles, and exudyn's cubic elements on places and slopes."""
    beam = EXUDYN[name]
    exact = Elastica(
        beam['length'],
        lambda x: beam['bending_stiffness'] + 0 * x,
        lambda x: beam['mass_per_length'] + 0 * x,
        beam['tip_mass'],
    )
    np.testing.assert_allclose(exact.tip()[1], beam['tip'][1], rtol=3e-5)
    # The elements stretch a little, which counts in so small a quantity.
    short = beam['length'] - np.array([exact.tip()[0], beam['tip'][0]])
    np.testing.assert_allclose(*short, rtol=3e-4)
    np.testing.assert_allclose(exact.frequencies()[0], beam['frequency'], rtol=2e-5)


# Relative errors that are allowed of tip, shortening and w1.
ALLOWED = {
    'delta 0.01': (1e-4, 5e-4, 1e-5),
    'delta 0.05': (1e-4, 2e-3, 5e-5),
    'delta 0.1': (3e-4, 5e-3, 5e-4),
    'delta 0.2': (3e-3, 1.5e-2, 4e-3),
    'delta 0.3': (1e-2, 2e-2, 1.5e-2),
}


@pytest.mark.parametrize('name', ALLOWED)
def test_sag_and_its_frequency_are_exudyns(name: str) -> None:
    beam, allowed = EXUDYN[name], ALLOWED[name]
    flexible = entry(bending_stiffness=beam['bending_stiffness'], modes={'w': 3})
    tip, w1, straight = bent(lift(), flexible)
    found = np.array([tip[1], LENGTH - tip[0], w1])
    right = np.array([beam['tip'][1], LENGTH - beam['tip'][0], beam['frequency']])
    assert (np.abs(found / right - 1) < allowed).all(), found / right - 1
    # Sag makes a cantilever stiffer; bending of second order alone would make it softer.
    assert w1 > straight
    np.testing.assert_allclose(w1 - straight, beam['frequency'] - straight, rtol=0.25)


@pytest.mark.parametrize('mass', [0.0, 60e3, 1e6])
def test_a_loaded_boom_has_exudyns_frequency(mass: float) -> None:
    beam = EXUDYN[f'boom with {mass:g} kg']
    flexible = {'flexible_links': {'beam': {'length': 60.0, 'bending_stiffness': 1.8e11}}}
    flexible['flexible_links']['beam']['modes'] = {'w': 1}  # type: ignore[assignment]
    text = lift(60.0, 2750.0, 0.0, inertia=0.0)
    _, w1, _ = bent(text, flexible, payload={'load': mass})
    np.testing.assert_allclose(w1, beam['frequency'], rtol=2e-4)


@pytest.mark.parametrize(
    ('changes', 'keys', 'angle'),
    [
        ({}, {}, 0.6),
        ({}, {}, -0.6),
        ({}, {'mode_shapes': 'clamped_free', 'modes': {'w': 4}}, 0.0),
        ({'offset': (0.4, 0.0, 0.2), 'inertia': 5.0}, {}, 0.0),
        ({'offset': (0.4, 0.0, -0.3), 'inertia': 5.0}, {}, 0.5),
        ({}, {'stations': [0, LENGTH], 'taper': 0.2}, 0.0),
    ],
    ids=['raised', 'lowered', 'shapes of the beam alone', 'body aside', 'both', 'taper'],
)
def test_a_tenth_of_the_length(
    changes: dict[str, Any], keys: dict[str, Any], angle: float
) -> None:
    """The tip to 0.05 %, its slope to 0.1 %, w1 to 0.08 %."""
    offset, inertia = changes.get('offset', (0.0, 0.0, 0.0)), changes.get('inertia', 1e-6)
    taper = keys.get('taper', 1.0)
    EI = 14906.108 / (1 if taper == 1 else 0.6)
    given = {'modes': {'w': 3}} | {key: keys[key] for key in keys if key != 'taper'}
    stiffness = EI if taper == 1 else [EI, taper * EI]
    tip, w1, _ = bent(lift(**changes), entry(bending_stiffness=stiffness, **given), angle)
    exact = Elastica(
        LENGTH,
        lambda x: EI * (1 + (taper - 1) * x),
        lambda x: LINE_MASS + 0 * x,
        24.0,
        inertia,
        (offset[0], offset[2]),
        (-GRAVITY * np.sin(angle), -GRAVITY * np.cos(angle)),
    )
    x, z, slope = exact.tip()
    assert 0.07 < -z / LENGTH < 0.12
    assert tip[1] == pytest.approx(z, rel=5e-4)
    assert LENGTH - tip[0] == pytest.approx(LENGTH - x, rel=1e-2)
    assert tip[2] == pytest.approx(slope, rel=1e-3 if 'mode_shapes' not in keys else 2e-2)
    assert w1 == pytest.approx(exact.frequencies()[0], rel=8e-4)


LAMP = """<joint name="hook" type="fixed"><parent link="beam"/><child link="lamp"/>
  <origin xyz="2.4 0.3 -0.2"/></joint>
<link name="lamp"><inertial><origin xyz="0.1 0.2 0"/><mass value="9"/>
  <inertia ixx="0.6" iyy="0.5" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


@pytest.mark.parametrize(
    ('gravity', 'more', 'allowed'),
    [
        # Plane v feels the sag w by the twist of the sections alone where it has another EI.
        ((0.0, 0.0, -5.0), '', 1e-3),
        ((0.0, -3.0, -6.0), LAMP, 1e-3),
    ],
    ids=['sag', 'askew with a body halfway'],
)
def test_bending_in_both_planes(
    gravity: tuple[float, float, float], more: str, allowed: float
) -> None:
    """Against chains of rigid segments, which Pinocchio computes, about the state at rest.

    What is compared is the change of the frequencies by the bending, relative to the largest.
    """
    EI = {'v': 4e4, 'w': 1.2e4}
    text = lift(offset=(0.3, 0.2, -0.3) if more else (0.0, 0.0, 0.0), inertia=2.0, more=more)

    def chain(refinement: int) -> np.ndarray:
        beams = {'beam': SegmentBeam(LENGTH, LINE_MASS, EI)}
        made = SegmentChain(text, beams, ['lift'], refinement, 10, gravity)
        linear, y = made.hanging([0.0])
        pose = made.pose('load', y)
        straight = made.frequencies(made.linearized([0.0], [0.0], [0.0]))[:4]
        return np.concatenate([pose[:3].ravel(), made.frequencies(linear)[:4] / straight])

    expected = extrapolate([chain(refinement) for refinement in (1, 2, 4)])
    robot = uncompiled(
        text, flexible=entry(bending_stiffness=EI, modes={'v': 5, 'w': 5}), gravity=gravity
    )
    q = quasi_static_equilibrium(robot, [0.0])
    pose = forward_kinematics(robot.model, q, 'load')
    np.testing.assert_allclose(pose[:3].ravel(), expected[:12], atol=3e-4)
    change = frequencies(robot.model, q, 4) / frequencies(robot.model, 0 * q, 4) - 1
    right = expected[12:] - 1
    assert np.abs(right).max() > 3e-3
    np.testing.assert_allclose(change, right, atol=0.05 * np.abs(right).max())


def both_planes(**keys: Any) -> FlexibleModel:
    flexible = entry(
        stations=[0, 1.5, LENGTH],
        bending_stiffness={'v': [3e4, 2e4, 1e4], 'w': 1.5e4},
        modes={'v': 2, 'w': 2},
        **keys,
    )
    model = uncompiled(lift(offset=(0.3, 0.1, -0.2)), flexible=flexible).model
    assert isinstance(model, FlexibleModel)
    return model


def test_forces_are_the_derivatives_of_the_energy(assert_close: Callable[..., None]) -> None:
    model = both_planes()
    q = np.array([0.4, 0.3, -0.05, -0.4, 0.08])
    energy, slope = jacobian_of(lambda x: np.array([dynamics.potential_energy(model, x)]), q)
    assert_close(slope[0], dynamics.gravity_vector(model, q), 1e-10)
    # That is more than the energy of small bending has.
    (link,) = model.flexible_links
    state = link.state(q)
    linear = sum(
        e[0] @ plane.stiffness @ e[0] / 2
        for plane, e in zip(link.planes, (state.v, state.w), strict=True)
    )
    assert link.elastic_energy(state) > 1.002 * linear


def test_without_geometric_stiffness_bending_stays_linear() -> None:
    (link,) = both_planes(geometric_stiffness=False).flexible_links
    assert not link.pair_stiffness.any()
    (link,) = both_planes().flexible_links
    assert link.pair_stiffness.any()
    size = np.abs(link.pair_stiffness).max()
    np.testing.assert_allclose(link.pair_stiffness, link.pair_stiffness.T, atol=1e-12 * size)


def test_the_turn_of_a_section_is_that_of_the_tangent() -> None:
    """[sqrt(1 - v'^2 - w'^2), v', w'] to third order, whichever way the beam is bent."""
    model = both_planes()
    (link,) = model.flexible_links
    (at,) = link.sections.values()
    errors = []
    for size in (0.1, 0.2):
        q = size * np.array([0.0, 1.0, -0.3, -1.2, 0.2])
        slopes = [at.slopes[0] @ q[1:3], at.slopes[1] @ q[3:]]
        tangent = np.array([np.sqrt(1 - np.square(slopes).sum()), *slopes])
        found = forward_kinematics(model, q, 'load')[:3, 0]
        errors.append(np.abs(found - tangent)[1:].max())
    # Of fifth order: twice the bending, 32 times the error.
    assert errors[0] < 1e-4
    assert errors[1] / errors[0] > 24
