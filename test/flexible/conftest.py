# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Flexible robots for the tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from long_runs import some_of
from uncompiled import OnFloats

import kron_dynamics as kd

PROJECT = Path(__file__).parents[2]

# A rail, a mast that bends in both planes and stands askew in its frame, and on it: an arm beside
# its middle, a follower of the arm, and at its tip a carriage on a steep screw, whose blade bends.
SKEW = """<robot name="skew"><link name="base"/>
<joint name="rail" type="prismatic"><parent link="base"/><child link="mast"/>
<origin xyz="0 0.2 0" rpy="0.1 0 0.3"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" velocity="1" effort="1"/><dynamics damping="2" friction="1"/></joint>
<link name="mast"><inertial><origin xyz="0.1 -0.7 0.2"/><mass value="4"/>
<inertia ixx="2.1" iyy="0.9" izz="2.2" ixy="0.1" ixz="0.02" iyz="0.05"/></inertial></link>
<joint name="turn" type="revolute"><parent link="mast"/><child link="arm"/>
<origin xyz="0.3 -0.7 0.1" rpy="0.4 0.2 0"/><axis xyz="0 0.6 0.8"/>
<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
<link name="arm"><inertial><origin xyz="0.3 0.1 0"/><mass value="0.7"/>
<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0.002"/></inertial></link>
<joint name="wag" type="revolute"><parent link="arm"/><child link="tail"/>
<origin xyz="0.5 0 0.1"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/>
<mimic joint="turn" multiplier="-0.5" offset="0.2"/></joint>
<link name="tail"><inertial><origin xyz="0 0 0.2"/><mass value="0.2"/>
<inertia ixx="0.002" iyy="0.003" izz="0.002" ixy="0" ixz="0" iyz="0.0003"/></inertial></link>
<joint name="slide" type="screw"><parent link="mast"/><child link="carriage"/>
<origin xyz="0.05 -1.6 0.2" rpy="0 0 0.5"/><axis xyz="0 0.8 0.6"/>
<screw_thread_pitch value="3"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<link name="carriage"><inertial><origin xyz="0 0 0"/><mass value="0.5"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="clamp" type="fixed"><parent link="carriage"/><child link="blade"/>
<origin xyz="0 0 0.1" rpy="0 0.3 0"/></joint>
<link name="blade"><inertial><origin xyz="0.2 0 0"/><mass value="0.3"/>
<inertia ixx="0.0001" iyy="0.005" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="end" type="fixed"><parent link="blade"/><child link="tool"/>
<origin xyz="0.42 0 0.01"/></joint>
<link name="tool"><inertial><origin xyz="0.02 0.01 0"/><mass value="0.1"/>
<inertia ixx="0.0002" iyy="0.0003" izz="0.0002" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""
SKEW_LINKS = {
    'flexible_links': {
        'mast': {
            'axis': [0, -1, 0],
            'lateral': [0.6, 0, 0.8],
            'origin': [0.05, 0.1, 0.2],
            'length': 1.7,
            'stations': [0, 0.6, 1.7],
            'mass_per_length': [1.4, 1.1, 0.6],
            'bending_stiffness': {'v': [90.0, 70.0, 30.0], 'w': 110.0},
            'modes': {'v': 1, 'w': 1},
            'damping_ratio': {'v': 0.01, 'w': 0.03},
        },
        'blade': {
            'length': 0.4,
            'mass_per_length': 0.6,
            'bending_stiffness': {'w': 0.8},
            'modes': {'w': 1},
            'mode_shapes': 'clamped_free',
        },
    }
}


@pytest.fixture(scope='session')
def skew() -> kd.Robot:
    """A robot with about everything that a tree with flexible links can have."""
    return kd.loads(SKEW, flexible=SKEW_LINKS)


@pytest.fixture(scope='session')
def stacker() -> kd.Robot:
    """The stacker-reclaimer with its boom."""
    return kd.load(
        PROJECT / 'urdf' / 'stacker_reclaimer.urdf',
        flexible=PROJECT / 'config' / 'stacker_reclaimer_flexible.yaml',
    )


@pytest.fixture(scope='session')
def skew_on_floats(skew: kd.Robot) -> kd.Robot:
    """The same without kernels, which take long to compile for it."""
    return OnFloats(skew.model)


@pytest.fixture(scope='session')
def stacker_on_floats(stacker: kd.Robot) -> kd.Robot:
    """The same without kernels."""
    return OnFloats(stacker.model)


@pytest.fixture(
    params=some_of(
        ['skew_on_floats', 'stacker_on_floats', 'skew', 'stacker'],
        ['skew_on_floats', 'stacker_on_floats'],
    ),
    ids=['skew', 'stacker', 'compiled skew', 'compiled stacker'],
)
def flexible_robot(request: pytest.FixtureRequest) -> kd.Robot:
    """Each of them in turn."""
    robot: kd.Robot = request.getfixturevalue(request.param)
    return robot
