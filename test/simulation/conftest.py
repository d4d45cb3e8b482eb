# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Machines with flexible links, compiled once for all tests of the simulation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from compiled_together import compile_together

import kron_dynamics as kd
from kron_dynamics.kernels import collection

ROOT = Path(__file__).parents[2]


def _inertial(mass, x, y, z, *moments):
    ixx, iyy, izz = moments
    return (
        f'<inertial><origin xyz="{x} {y} {z}"/><mass value="{mass}"/><inertia ixx="{ixx}" '
        f'iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def _with_beam(hub, density, length):
    """Inertia of a link: a hub at its origin, about which it is given, and a beam along x."""
    mass, ixx, iyy, izz = hub
    beam = density * length
    whole, x = mass + beam, beam * length / 2 / (mass + beam)
    swing = beam * length**2 / 3 - whole * x**2
    return _inertial(whole, x, 0, 0, ixx, iyy + swing, izz + swing)


# Two beams, one bending in two planes, with a skew joint between them and a load at the end.
CHAIN = f"""<robot name="chain"><link name="base"/>
  <joint name="first" type="continuous"><parent link="base"/><child link="near"/>
    <axis xyz="0 0 1"/></joint>
  <link name="near">{_with_beam((1.5, 0.02, 0.02, 0.03), 1.2, 1.1)}</link>
  <joint name="second" type="continuous"><parent link="near"/><child link="far"/>
    <origin xyz="1.1 0 0"/><axis xyz="0 0.6 0.8"/></joint>
  <link name="far">{_with_beam((0.8, 0.01, 0.01, 0.015), 0.7, 0.8)}</link>
  <joint name="held" type="fixed"><parent link="far"/><child link="load"/>
    <origin xyz="0.8 0 0"/></joint>
  <link name="load">{_inertial(0.5, 0.15, 0.1, -0.05, 0.01, 0.012, 0.02)}</link>
</robot>"""
OF_THE_PLANT = (
    *('mass_matrix', 'linearization', 'inverse_dynamics', 'forward_dynamics'),
    *('joint_friction', 'kinetic_energy', 'potential_energy'),
)
CHAIN_BEAMS = {
    'flexible_links': {
        'near': {
            'length': 1.1,
            'mass_per_length': 1.2,
            'bending_stiffness': {'v': 300.0, 'w': 220.0},
            'modes': {'v': 1, 'w': 2},
            'damping_ratio': 0.02,
        },
        'far': {
            'length': 0.8,
            'mass_per_length': 0.7,
            'bending_stiffness': {'v': 120.0},
            'modes': {'v': 1},
        },
    }
}


@pytest.fixture(scope='session')
def stacker():
    """The stacker-reclaimer with its flexible boom, without friction in the joints."""
    text = (ROOT / 'urdf' / 'stacker_reclaimer.urdf').read_text(encoding='utf-8')
    text, count = re.subn(r'<dynamics [^>]*/>', '<dynamics damping="0" friction="0"/>', text)
    assert count == 3
    return kd.loads(text, flexible=ROOT / 'config' / 'stacker_reclaimer_flexible.yaml')


@pytest.fixture(scope='session')
def chain(request):
    """Two flexible links, one bending in two planes, without friction in the joints.

    Its equations run uncompiled, as it moves a second or so; the compiled ones are `stacker`'s.
    """
    robot = kd.loads(CHAIN, gravity=(1.0, -9.0, -3.0), flexible=CHAIN_BEAMS)
    with pytest.MonkeyPatch.context() as patch:
        if not request.config.getoption('--long'):
            patch.setenv('CC', 'no-compiler')
        compile_together(robot, robot.model.tip_link, *OF_THE_PLANT)
    return robot


@pytest.fixture(scope='session')
def undamped():
    """The stacker-reclaimer as `stacker`, its boom without damping and its joints without ends."""
    text = (ROOT / 'urdf' / 'stacker_reclaimer.urdf').read_text(encoding='utf-8')
    text = re.sub(r'<dynamics [^>]*/>', '', text)
    text = re.sub(r'lower="[^"]*" upper="[^"]*"', 'lower="-900" upper="900"', text)
    boom = {
        'length': 60.0,
        'mass_per_length': 2750.0,
        'bending_stiffness': {'v': 3.2e11, 'w': 1.8e11},
        'modes': {'v': 1, 'w': 1},
    }
    return kd.loads(text, flexible={'flexible_links': {'boom': boom}})


@pytest.fixture
def made_together(monkeypatch):
    """Names of the kernels that are made from now on, those made together in one set."""
    made = []
    make = collection.make_kernels

    def make_kernels(specifications, *arguments):
        made.append({known.name.rpartition('.')[2] for known in specifications})
        return make(specifications, *arguments)

    monkeypatch.setattr(collection, 'make_kernels', make_kernels)
    return made
