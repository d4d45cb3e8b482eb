# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How long efforts are averaged: for their noise, but not beyond what the motion lets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification import rows
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.rows import REACH
from kron_dynamics.identification.structure import (
    LEAST_SAMPLES,
    MOTION_SHARE,
    NOISE_TARGET,
    WIDTH_GROWTH,
    Structure,
    average_width,
    fastest_motion,
)

STEP = 0.005


def swinging(
    rng: np.random.Generator, noise: float, frequency: float = 0.2, unknown: bool = False
) -> Motion:
    """Two joints, of which the second is slower, for 60 s, with efforts of a mean square of 1."""
    t = STEP * np.arange(12000)
    qd = np.column_stack([np.cos(2.0 * np.pi * f * t) for f in (frequency, 0.5 * frequency)])
    effort = np.sqrt(2.0) * qd + noise * rng.standard_normal(qd.shape)
    if unknown:
        effort[:, 1] = np.nan
    return Motion(t, np.zeros_like(qd), 3.0 + qd, effort)


def averaged_noise(width: float, rng: np.random.Generator) -> float:
    """Standard deviation of white noise of 1 after the average."""
    reach = int(np.ceil(REACH * width / STEP))
    weights = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) * STEP / width))
    return float(np.convolve(rng.standard_normal(200000), weights / weights.sum(), 'valid').std())


def test_the_average_is_the_shortest_that_leaves_so_little_noise(
    rng: np.random.Generator,
) -> None:
    noise = 0.05
    width = average_width([swinging(rng, noise)])
    assert noise * averaged_noise(width, rng) < 1.05 * NOISE_TARGET
    assert noise * averaged_noise(width / WIDTH_GROWTH, rng) > 0.95 * NOISE_TARGET
    several = [swinging(rng, noise), swinging(rng, noise)]
    assert average_width(several) == pytest.approx(width, rel=WIDTH_GROWTH - 1.0)


def test_joints_without_efforts_have_neither_noise_nor_power(rng: np.random.Generator) -> None:
    noise = 0.05
    width = average_width([swinging(rng, noise, unknown=True)])
    assert width == pytest.approx(average_width([swinging(rng, noise)]), rel=WIDTH_GROWTH - 0.99)


def test_a_level_of_efforts_is_not_fast_where_some_are_missing(rng: np.random.Generator) -> None:
    level = swinging(rng, 1e-4)
    level.effort[np.arange(12000) % 40 < 20] = np.nan  # at 5 Hz
    lifted = replace(level, effort=level.effort + 100.0)
    # Zeros in the gaps would make it jump by the level five times a second.
    shortest = LEAST_SAMPLES * STEP
    assert average_width([level]) == average_width([lifted]) == pytest.approx(shortest)


def test_a_motion_that_is_too_short_is_told_its_length(robot_text: Any) -> None:
    robot = kd.loads(robot_text('planar_2r'))
    t = STEP * np.arange(31)
    motions = [Motion(t[:n], *np.zeros((3, n, 2))) for n in (21, 31, 11)]
    with pytest.raises(ParameterError, match=r'average of 0\.4 s .* the longest is 0\.15 s'):
        Structure(0.03, effort_width=0.04).rows(robot, motions)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ('changes', 'is_anew'),
    [
        ({'terms': ('coulomb', 'load'), 'tilt': True, 'passage': 2.0}, False),
        ({'delay': 1.7 * STEP, 'presliding': 0.1}, False),
        ({'effort_width': 4.0 * STEP}, True),
        ({'width': 3.0 * STEP}, True),
        ({'form': 'acceleration'}, True),
    ],
)
def test_the_rows_of_another_structure_save_time_and_change_no_bit(
    changes: dict[str, Any],
    is_anew: bool,
    robot_text: Any,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robot = kd.loads(robot_text('planar_2r'))
    parts = np.split(rng.standard_normal((180, 3, 2)), [100, 105])  # one has no rows
    motions = [Motion(STEP * np.arange(len(part)), *part.swapaxes(0, 1)) for part in parts]
    one = Structure(2.0 * STEP)
    other, known = replace(one, **changes), (one, one.rows(robot, motions))
    anew = other.rows(robot, motions)
    computed: list[int] = []
    columns = rows._inertial_columns
    monkeypatch.setattr(rows, '_inertial_columns', lambda *of: computed.append(1) or columns(*of))
    again = other.rows(robot, motions, known=known)
    assert len(computed) == (len(motions) if is_anew else 0)
    for field in ('time', 'matrix', 'effort', 'group'):
        np.testing.assert_array_equal(getattr(again, field), getattr(anew, field), strict=True)


def test_what_shakes_faster_than_the_motion_is_averaged_away(rng: np.random.Generator) -> None:
    """From sample to sample a slow shaking is no noise."""
    still = swinging(rng, 1e-4)
    shaking = 0.1 * np.sin(2.0 * np.pi * 8.0 * still.time)[:, None]
    width = average_width([replace(still, effort=still.effort + shaking)])
    # A Gaussian's response at 8 Hz.
    left, before = (
        0.1 * np.exp(-0.5 * (2.0 * np.pi * 8.0 * length) ** 2)
        for length in (width, width / WIDTH_GROWTH)
    )
    assert left <= np.sqrt(2.0) * NOISE_TARGET < before
    # As fast as the motion could be, it is the motion's.
    slower = 0.1 * np.sin(2.0 * np.pi * 1.5 * still.time)[:, None]
    assert average_width([replace(still, effort=still.effort + slower)]) == average_width([still])


def test_short_stretches_do_not_tell_how_fast_a_motion_is(rng: np.random.Generator) -> None:
    motion = swinging(rng, 0.0, 0.5)
    parts = [motion.part(first, first + 40) for first in range(0, 12000, 40)]
    assert fastest_motion([motion, *parts]) == pytest.approx(0.5, abs=2.0 / 60.0)
    # Nor where a stretch ends far from where it began.
    assert fastest_motion([motion.part(0, 500)]) < 3 * 0.5


def test_without_noise_it_is_as_short_as_can_be(rng: np.random.Generator) -> None:
    assert average_width([swinging(rng, 0.0)]) == pytest.approx(LEAST_SAMPLES * STEP)


def test_it_suits_recordings_at_different_rates(rng: np.random.Generator) -> None:
    still, noisy = swinging(rng, 0.0), swinging(rng, 0.05)

    def slower(motion: Motion) -> Motion:
        rows = slice(None, None, 4)
        return Motion(motion.time[rows], motion.q[rows], motion.qd[rows], motion.effort[rows])

    for both in ([still, slower(still)], [slower(still), still]):
        assert average_width(both) == pytest.approx(LEAST_SAMPLES * 4 * STEP)
    # A quarter of the samples leaves twice the noise after an average: four times the width.
    width, wide = average_width([noisy]), average_width([slower(noisy)])
    assert wide == pytest.approx(4.0 * width, rel=2.0 * (WIDTH_GROWTH - 1.0))
    assert width < average_width([noisy, slower(noisy)]) <= wide


def test_however_noisy_it_does_not_wipe_out_the_motion(rng: np.random.Generator) -> None:
    motion = swinging(rng, 30.0, frequency=0.5)
    longest = MOTION_SHARE / 0.5
    assert longest / WIDTH_GROWTH < average_width([motion]) <= longest * (1.0 + 1e-9)


@pytest.mark.parametrize('frequency', [0.2, 1.5])
def test_the_fastest_motion_is_that_of_the_quickest_joint(
    frequency: float, rng: np.random.Generator
) -> None:
    slow = swinging(rng, 0.0, 0.1)
    quick = swinging(rng, 0.0, frequency)
    assert fastest_motion([slow, quick]) == pytest.approx(frequency, abs=1.0 / 60.0)
    assert fastest_motion([quick, slow]) == fastest_motion([slow, quick])


def test_a_twentieth_of_the_power_and_joints_that_tremble_do_not_count(
    rng: np.random.Generator,
) -> None:
    slow = swinging(rng, 0.0, 0.2)
    t = slow.time
    for share, expected in ((0.04, 0.2), (0.06, 5.0)):
        ripple = np.sqrt(share / (1.0 - share)) * np.cos(2.0 * np.pi * 5.0 * t)
        qd = slow.qd + np.column_stack([ripple, 0.0 * t])
        motion = Motion(t, slow.q, qd, slow.effort)
        assert fastest_motion([motion]) == pytest.approx(expected, abs=1.0 / 60.0)
    trembling = np.column_stack([slow.qd[:, 0], 5e-4 * np.cos(2.0 * np.pi * 30.0 * t)])
    motion = Motion(t, slow.q, trembling, slow.effort)
    assert fastest_motion([motion]) == pytest.approx(0.2, abs=1.0 / 60.0)
    assert fastest_motion([Motion(t, slow.q, 0.0 * slow.qd, slow.effort)]) > 0.0
