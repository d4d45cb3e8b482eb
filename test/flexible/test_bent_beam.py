# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Equal beams with equal loads are computed once; what differs in any number is computed anew."""

from __future__ import annotations

from typing import Any

import pytest

import kron_dynamics as kd
from kron_dynamics.exceptions import ModelError
from kron_dynamics.flexible import FlexibleModel, bent_beam

# A mast of 2 m with a lamp on its top.
MAST = """<robot name="mast"><link name="ground"/>
<joint name="motor" type="continuous"><parent link="ground"/><child link="NAME"/>
<axis xyz="0 0 1"/></joint>
<link name="NAME"><inertial><origin xyz="0 0 1"/><mass value="3"/>
<inertia ixx="IXX" iyy="IXX" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="top" type="fixed"><parent link="NAME"/><child link="lamp"/>
<origin xyz="0 0 2"/></joint><link name="lamp"><inertial><mass value="MASS"/>
<inertia ixx="0.01" iyy="IYY" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
BEAM: dict[str, Any] = {
    'length': 2.0,
    'axis': [0, 0, 1],
    'mass_per_length': 1.5,
    'bending_stiffness': 40.0,
    'modes': {'v': 1, 'w': 1},
}


def mast(
    name: str = 'pole', mass: str = '0.5', iyy: str = '0.01', ixx: str = '1.01', **changes: Any
) -> FlexibleModel:
    text = MAST.replace('NAME', name).replace('MASS', mass).replace('IYY', iyy)
    links = {'flexible_links': {name: BEAM | changes}}
    model = kd.loads(text.replace('IXX', ixx), flexible=links).model
    assert isinstance(model, FlexibleModel)
    return model


@pytest.mark.parametrize(
    'changes',
    [
        {'mass': '0.6'},
        {'iyy': '0.015'},
        {'ixx': '1.0'},
        {'length': 1.9},
        {'stations': [0.0, 1.0, 2.0], 'mass_per_length': [1.2, 1.1, 1.0]},
        {'stations': [0.0, 0.9, 2.0], 'bending_stiffness': {'v': [41.0, 40.0, 40.0], 'w': 40.0}},
        {'bending_stiffness': {'v': 40.0, 'w': 41.0}},
        {'modes': {'w': 1}},
        {'damping_ratio': 0.1},
        {'damping_ratio': 0.1, 'damping': 'stiffness_proportional', 'modes': {'v': 2, 'w': 1}},
        {'mode_shapes': 'clamped_free'},
        {'attachments': {'lamp': 1.7}},
        {'geometric_stiffness': False},
    ],
    ids=str,
)
def test_a_beam_that_differs_in_one_number_is_another(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = mast().fingerprint
    other = mast(**changes).fingerprint
    monkeypatch.setattr(bent_beam, '_computed', bent_beam._computed.__wrapped__)
    assert mast(**changes).fingerprint == other != known


def test_equal_beams_are_computed_once_whatever_their_links_are_called() -> None:
    bent_beam._computed.cache_clear()
    robots = mast(), mast(), mast(name='tower')
    assert bent_beam._computed.cache_info().misses == 1
    assert [robot.flexible_links[0].link for robot in robots] == ['pole', 'pole', 'tower']
    link = robots[0].flexible_links[0]
    (top,) = link.sections.values()
    for array in (link.planes[0].stiffness, top.slopes[1], link.outline):
        with pytest.raises(ValueError, match='read-only'):
            array[...] = 0.0
    # What cannot be computed is refused by its own name each time.
    for name in ('pole', 'tower'):
        with pytest.raises(ModelError, match=f"'{name}'.* too heavy"):
            mast(name=name, mass='1e13', iyy='1e13', modes={'v': 9})
