# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joints at rest: static friction neither trains a model, nor is compared, nor is a payload."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from identified_arms import identified_arm

import kron_dynamics as kd
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification import Motion, identify
from kron_dynamics.identification.payload_friction import payload_beside_friction, payload_rows
from kron_dynamics.identification.standstill import (
    standing_joints,
    transition_notes,
    without_rest,
)
from kron_dynamics.identification.structure import average_width
from kron_dynamics.model.payload import RigidPayload

pytestmark = pytest.mark.interpreted

STEP = 0.01
COULOMB = np.array([3.0, 4.0, 1.5])
# What static friction holds before and after, as shares of the Coulomb friction.
HELD = (np.array([0.9, -0.8, 0.7]), np.array([-0.9, 0.95, -0.8]))
LOAD = RigidPayload(2.0, [0.05, -0.03, 0.08], 0.003 * np.eye(3))


def recorded(
    seed: int, payload: RigidPayload | None = None, seconds: float = 20.0, rest: float = 6.0
) -> Motion:
    """Sines that begin and end at rest, with rest before and after, and friction that sticks."""
    real = kd.loads(identified_arm('7'), payload={} if payload is None else {'tool': payload})
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds + 2.0 * rest, STEP)
    moving = np.clip((t - rest) / seconds, 0.0, 1.0)
    w = 2.0 * np.pi * rng.integers(2, 9, (3, 3))
    share = 0.15 * np.sqrt(4.0 / (w / np.pi))
    angle = moving[:, None, None] * w
    # 1 - cos begins and ends without speed.
    q = np.array([0.1, 0.4, 0.2]) + np.sum(share * (1.0 - np.cos(angle)), axis=1)
    inside = ((t > rest) & (t < rest + seconds))[:, None]
    qd = inside * np.sum(share * w * np.sin(angle), axis=1) / seconds
    qdd = inside * np.sum(share * w**2 * np.cos(angle), axis=1) / seconds**2
    effort = real.inverse_dynamics(q, qd, qdd)
    effort += COULOMB * np.tanh(qd / 0.02) + 0.8 * qd
    for held, when in zip(HELD, (t <= rest, t >= rest + seconds), strict=True):
        effort[when] += held * COULOMB
    return Motion(t, q, qd, effort + 0.02 * rng.standard_normal(q.shape))


def test_rest_neither_trains_a_model_nor_is_compared_with_it() -> None:
    found = identify(
        kd.loads(identified_arm('6')),
        [recorded(1)],
        [recorded(2)],
        terms=('coulomb', 'viscous', 'offset'),
    )
    assert found.friction[:, 0] == pytest.approx(COULOMB, rel=0.05)
    assert np.abs(found.friction[:, 2]).max() < 0.1
    assert found.residuals['identified'].total < 0.02
    assert found.unfiltered['identified'].total < 0.03


def test_only_what_lasts_is_rest() -> None:
    robot, motion = kd.loads(identified_arm('6')), recorded(3)
    (left,) = without_rest(robot, [motion])
    known = np.isfinite(left.effort)
    before, after = motion.time < 5.9, motion.time > 26.1
    assert not known[before | after].any()
    # Reversals are none, however slow.
    assert known[~before & ~after].mean() > 0.95
    assert not standing_joints(robot, [motion]).any()
    still = replace(motion, qd=motion.qd * [1.0, 0.0, 1.0])
    assert standing_joints(robot, [still]).tolist() == [False, True, False]


@pytest.mark.parametrize('limit', ['2', '1000', '1e9'])
def test_a_velocity_limit_that_stands_for_none_is_no_scale(limit: str) -> None:
    text = identified_arm('6').replace('velocity="2"', f'velocity="{limit}"')
    robot, motion = kd.loads(text), recorded(3)
    assert not standing_joints(robot, [motion]).any()
    (left,) = without_rest(robot, [motion])
    moving = (motion.time > 6.5) & (motion.time < 25.5)
    assert np.isfinite(left.effort[moving]).mean() > 0.9
    # Its friction is then another law than that of the motion, which is told.
    told = transition_notes(robot, [left])
    assert len(told) == (0 if limit == '2' else 3)
    assert all(f'velocity limit of {float(limit):g} is' in note for note in told)


@pytest.mark.parametrize('seconds', [600.0, 0.0])
def test_seconds_of_motion_count_however_long_the_rest(seconds: float) -> None:
    robot, motion = kd.loads(identified_arm('6')), recorded(3, seconds=4.0, rest=seconds + 1.0)
    noise = 1e-4 * np.random.default_rng(0).standard_normal(motion.q.shape)
    assert not standing_joints(robot, [replace(motion, qd=motion.qd + noise)]).any()
    still = replace(motion, qd=motion.qd * [1.0, 0.0, 1.0] + noise)
    assert standing_joints(robot, [still]).tolist() == [False, True, False]


def test_unknown_efforts_ask_for_no_longer_average() -> None:
    robot, motion = kd.loads(identified_arm('6')), recorded(4)
    assert average_width(without_rest(robot, [motion])) == average_width([motion])


def test_motion_that_ends_before_the_held_out_part_is_told() -> None:
    robot = kd.loads(identified_arm('6'))
    with pytest.raises(ParameterError, match='no held-out stretch .*: cut off rest at the end'):
        identify(robot, [recorded(5)], [recorded(6).part(0, 500)])


@pytest.mark.parametrize('seed', range(3))
def test_rest_is_no_change_of_a_payload(seed: int) -> None:
    robot = kd.loads(identified_arm('6'))
    loaded, empty = (payload_rows(robot, recorded(seed, load), 0.05) for load in (LOAD, None))
    fit = payload_beside_friction(robot, 'tool', loaded, empty)
    assert len(fit.pieces) == 1
    low, high = fit.whole.mass_interval
    assert low < LOAD.mass < high < low + 0.5
