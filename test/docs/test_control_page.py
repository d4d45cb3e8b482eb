# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/control.md are what the package computes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from external_motions import ordinary_motion
from known_pushes import PUSH, error
from long_runs import some_of
from sampled_runs import PERIOD, ROBOTS, machine

PAGE = (Path(__file__).parents[2] / 'docs' / 'control.md').read_text(encoding='utf-8')


def rows(heading):
    """Cells of the table under a heading, by robot."""
    table = PAGE.split(heading)[1].split('\n\n')[0]
    cells = [line.strip('| ').split(' | ') for line in table.splitlines() if '|' in line]
    return {row[0]: row[1:] for row in cells if row[0] in ROBOTS}


@pytest.mark.parametrize('name', some_of(ROBOTS, ['ur5']))
def test_errors_of_the_estimate_are_measured(kernel_cache, name):
    period, *shown = rows('| robot | states every | force, true model |')[name]
    assert period == f'{1e3 * PERIOD[name]:g} ms'
    model = machine(name)
    rough = machine(name, friction=1.3) if name == 'stacker' else machine(name, coulomb=0.02)
    known, limit = error(name, model, model)[0].max(), model.model.effort_limit
    others = [
        (error(name, model, robot, commanded=late, duration=PUSH + 0.5)[1] / limit).max()
        for robot, late in ((machine(name, mass=1.05), False), (rough, False), (model, True))
    ]
    for text, value in zip(shown, (known, *others), strict=True):
        assert float(text.removesuffix(' %')) == pytest.approx(100.0 * value, rel=0.03)


@pytest.mark.parametrize('name', some_of(ROBOTS, ['ur5']))
def test_thresholds_are_the_advised_ones(kernel_cache, name):
    (shown,) = rows('| robot | thresholds, N m or N |')[name]
    advised = ordinary_motion(name)[3]
    assert list(map(float, shown.split(', '))) == pytest.approx(advised, rel=0.02)


def test_every_parameter_of_the_page_is_one_of_the_node(kernel_cache):
    pytest.importorskip('rclpy', reason='rclpy is not installed')
    from kron_dynamics.ros.joint_parameters import dynamics_joint_parameters
    from kron_dynamics.ros.node_parameters import DYNAMICS

    known = {p.name for p in (*DYNAMICS, *dynamics_joint_parameters(['<joint>']))}
    table = PAGE.split('| parameter | laws | meaning |')[1].split('\n\n')[0]
    first = [line.split('|')[1] for line in table.splitlines()[2:]]
    named = [name for cell in first for name in re.findall(r'`([^`]+)`', cell)]
    assert len(named) > 8
    assert {n if n in known else f'gains.<joint>.{n}' for n in named} <= known
