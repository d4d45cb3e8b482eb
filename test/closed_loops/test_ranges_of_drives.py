# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of drives: their own limits, places where others are at rest, other mechanisms."""

from __future__ import annotations

import numpy as np
import pytest
from closed_loops import SLIDER_CONSTRAINTS, slider_crank

import kron_dynamics as kd
from kron_dynamics.closed_loops import closing_path


@pytest.mark.parametrize(('lower', 'upper'), [(-np.inf, 1.2), (-0.5, np.inf), (-np.inf, np.inf)])
def test_each_limit_of_a_crank_that_could_turn_without_end_holds(lower, upper):
    robot = kd.loads(slider_crank(lower, upper, 'revolute'), constraints=SLIDER_CONSTRAINTS)
    np.testing.assert_array_equal(robot.model.position_lower, [lower])
    np.testing.assert_array_equal(robot.model.position_upper, [upper])


def cam(turn):
    """A knee that moves with the square of the turn: at rest at 0, where it turns back."""
    square = {'type': 'polynomial', 'joint': 'knee', 'driver': 'turn', 'coefficients': [0, 0, 0.5]}
    return {
        'constraints': {'cam': square},
        'start': {'turn': turn},
        'actuated': ['turn', 'slide'],
    }


@pytest.mark.parametrize('start', [0.0, 0.5])
def test_a_drive_passes_places_where_what_it_moves_is_at_rest(start, monkeypatch):
    made = []
    step = closing_path.ClosingPath._step

    def counted(self, *args):
        made.append(1)
        return step(self, *args)

    monkeypatch.setattr(closing_path.ClosingPath, '_step', counted)
    robot = kd.loads(slider_crank(-1.0, 1.5, 'revolute'), constraints=cam(start))
    assert (robot.model.position_lower[0], robot.model.position_upper[0]) == (-1.0, 1.5)
    assert len(made) < 200  # of 48 steps
    for turn in (-0.9, 0.0, 1.3):
        knee = robot.tree_coordinates([turn, 0.0])[robot.model.tree.joint_names.index('knee')]
        assert knee == pytest.approx(turn**2 / 2, abs=1e-12)


def four_bar(scale):
    """Joints of a four-bar linkage of its own on the base of the slider-crank, and its pin."""
    joints = ''
    for name, parent, child, at, bar in (
        *(('crank2', 'base', 'c', 0.0, 0.35), ('coupler2', 'c', 'k', 0.35, 0.9)),
        ('rocker2', 'base', 'r', 1.0, 0.7),
    ):
        joints += (
            f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{at * scale} 0 0"/><axis xyz="0 -1 0"/></joint>'
            f'<link name="{child}"><inertial><origin xyz="{bar * scale / 2} 0 0"/>'
            '<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
            '</inertial></link>'
        )
    ends = ('k', 0.9), ('r', 0.7)
    pin = {
        side: {'link': link, 'point': [bar * scale, 0, 0], 'axis': [0, -1, 0]}
        for side, (link, bar) in zip('ab', ends, strict=True)
    }
    return joints, {'type': 'hinge', **pin}


def test_a_small_mechanism_beside_it_leaves_the_range_of_a_drive():
    slide = {**SLIDER_CONSTRAINTS, 'actuated': ['slide']}
    alone = kd.loads(slider_crank(), constraints=slide).model
    joints, pin = four_bar(0.1)
    both = {
        'constraints': {**slide['constraints'], 'small': pin},
        'actuated': ['slide', 'crank2'],
        'start': {**slide['start'], 'crank2': 0.9, 'coupler2': -0.4, 'rocker2': 1.5},
    }
    text = slider_crank().replace('</robot>', joints + '</robot>')
    beside = kd.loads(text, constraints=both).model
    # The start moves a little: nothing is held.
    np.testing.assert_allclose(beside.position_lower[0], alone.position_lower[0], atol=0.01)
    np.testing.assert_allclose(beside.position_upper[0], alone.position_upper[0], atol=0.01)
