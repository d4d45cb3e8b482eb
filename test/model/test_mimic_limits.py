# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mimic joints whose limits their master leads them beyond: told, and not silently applied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kron_dynamics import ModelError
from kron_dynamics.model import load_model

KIND = 'limit_of_mimic'


def hand(parts: Any, mimic: str, limit: str, kind: str = 'revolute', **master: Any) -> str:
    """A hinge from -1 to 1 with 2 rad/s unless given, and a grip that mimics it."""
    master.setdefault('limit', '<limit lower="-1" upper="1" effort="10" velocity="2"/>')
    grip = parts.joint('grip', kind, 'arm', 'hand', limit=limit, more=f'<mimic {mimic}/>')
    return parts.robot(parts.link('hand') + grip, hinge=parts.joint(**master))


def limit(lower: float, upper: float, velocity: float) -> str:
    return f'<limit lower="{lower}" upper="{upper}" effort="10" velocity="{velocity}"/>'


@pytest.mark.parametrize(
    ('mimic', 'own', 'words'),
    [
        ('joint="hinge" multiplier="-2"', limit(-2, 1.9, 4), ('-2 to 2 rad', '-2 to 1.9')),
        ('joint="hinge" multiplier="-2"', limit(-1.9, 2, 4), ('-2 to 2', '-1.9 to 2')),
        ('joint="hinge" offset="0.5"', limit(-1, 1, 2), ('-0.5 to 1.5 rad', '-1 to 1')),
        ('joint="hinge" multiplier="0" offset="3"', limit(-1, 1, 2), ('3 to 3', '-1 to 1')),
        ('joint="hinge" multiplier="-2"', limit(-2, 2, 3), ('4 rad/s', 'limit is 3')),
    ],
)
def test_narrower_limits_are_told(
    mimic: str, own: str, words: Any, parts: Any, assert_warned: Any
) -> None:
    model = assert_warned(hand(parts, mimic, own), KIND, ModelError, "'grip'", "'hinge'", *words)
    assert (model.position_lower, model.position_upper) == ([-1], [1])
    assert model.velocity_limit == [2]


def test_a_master_without_limits_is_told(parts: Any, assert_warned: Any) -> None:
    text = hand(parts, 'joint="hinge"', limit(-1, 1, 2), kind='revolute')
    text = text.replace('name="hinge" type="revolute"', 'name="hinge" type="continuous"')
    model = assert_warned(text, KIND, ModelError, "'grip'", '-inf to inf')
    assert model.position_upper == [np.inf]


@pytest.mark.parametrize(
    ('mimic', 'own', 'kind'),
    [
        ('joint="hinge" multiplier="-2" offset="1"', limit(-1, 3, 4), 'revolute'),
        ('joint="hinge" multiplier="-2.0001"', limit(-2, 2, 4), 'revolute'),
        ('joint="hinge"', '', 'revolute'),
        ('joint="hinge" multiplier="9"', limit(-1, 1, 18), 'continuous'),
        ('joint="hinge" multiplier="0"', limit(0, 1, 2), 'prismatic'),
    ],
)
def test_limits_that_hold_anyway_are_not(mimic: str, own: str, kind: str, parts: Any) -> None:
    model = load_model(hand(parts, mimic, own, kind))
    assert KIND not in {found.kind for found in model.warnings}


def test_chains_are_followed_to_the_joint_that_moves_them(parts: Any, assert_warned: Any) -> None:
    last = parts.link('tip') + parts.joint(
        'last', 'prismatic', 'hand', 'tip', limit=limit(-5, 5.9, 12),
        more='<mimic joint="grip" multiplier="3"/>',
    )  # fmt: skip
    text = hand(parts, 'joint="hinge" multiplier="2"', limit(-2, 2, 4))
    text = text.replace('</robot>', f'{last}</robot>')
    assert_warned(text, KIND, ModelError, "'last'", "'hinge'", '-6 to 6', '-5 to 5.9')
