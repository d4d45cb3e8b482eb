# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals of what windows tell hold the truth, however few or different the windows are."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.identification.modal_fit import fit_modes, half_intervals
from kron_dynamics.identification.modal_windows import ModalWindows

RUNS, LINES, CHANNELS = 1500, 6, 1


def held(
    rng: np.random.Generator, sizes: np.ndarray, disagreement: float, noise: float = 1.0
) -> float:
    """How often an interval holds a number that windows see with slopes of some sizes."""
    slopes = sizes[:, None, None, None] * rng.standard_normal((len(sizes), 2, LINES, CHANNELS))
    jacobian = slopes.reshape(-1, 1)
    count = 0
    for _ in range(RUNS):
        # Each window has a number of its own about the true one, which is 0.
        own = disagreement * rng.standard_normal((len(sizes), 1, 1, 1))
        values = slopes * own + noise * rng.standard_normal(slopes.shape)
        found = float(values.ravel() @ jacobian[:, 0]) / float(jacobian[:, 0] @ jacobian[:, 0])
        rest = found * slopes - values
        half = half_intervals(rest, jacobian, noise**2)
        count += abs(found) <= half[0]
    return count / RUNS


@pytest.mark.parametrize('windows', [3, 5, 12])
def test_few_windows_that_disagree_make_intervals_that_hold(
    windows: int, rng: np.random.Generator
) -> None:
    assert held(rng, np.ones(windows), 3.0) > 0.93


def test_one_window_that_sees_most_is_not_many(rng: np.random.Generator) -> None:
    assert held(rng, np.array([4.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]), 3.0) > 0.92


def test_windows_that_agree_are_believed(rng: np.random.Generator) -> None:
    assert 0.93 < held(rng, np.ones(40), 0.0) < 0.98


@pytest.mark.parametrize('count', [1, 2, 40])
def test_noise_alone_is_the_least(count: int) -> None:
    slopes = np.ones((count, 2, LINES, CHANNELS))
    half = half_intervals(0.0 * slopes, slopes.reshape(-1, 1), 0.5)
    assert half == pytest.approx([1.96 / np.sqrt(slopes.size)])
    wider = half_intervals(0.0 * slopes, slopes.reshape(-1, 1), 4.0)
    assert wider == pytest.approx(2.0 * half)


def ringing(rng: np.random.Generator, *, driven: float) -> ModalWindows:
    """Twelve windows in which a mode of 20 rad/s and 2 % rings, predicted at 18 rad/s.

    Args:
        rng: of motion and noise.
        driven: share of the joints' motion that drives the mode.
    """
    count, line = 12, np.linspace(9.0, 36.0, 30)
    s = 1j * line[:, None]

    def noise(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) / np.sqrt(2.0)

    pushes = noise(count, len(line), 1)
    begin, end = 100.0 * rng.standard_normal((2, count, 1, 1))
    below = s**2 + 2.0 * 0.02 * 20.0 * s + 400.0
    swing = (-(s**2) * driven * pushes + begin * s + 20.0 * end) / below
    return ModalWindows(
        line,
        pushes,
        np.full((len(line), 1), 1e-3),
        swing * [1.0, 0.5] + 0.3 * noise(count, len(line), 2),
        np.array([0.3, 0.3]),
        np.ones((count, 2, 1)),
        np.ones((count, 2), dtype=bool),
        np.zeros((count, len(line), 2, 0), dtype=complex),
        np.ones((count, 1, 1)),
        np.tile([1.0, 0.5], (count, 1, 1)),
        np.full((count, 1), 18.0),
    )


def test_a_mode_that_joints_drive_is_seen_with_its_numbers(rng: np.random.Generator) -> None:
    mode = fit_modes(ringing(rng, driven=1.0)).modes[0]
    assert mode.seen
    assert abs(mode.scale - 20.0 / 18.0) < 1.5 * mode.scale_interval < 0.01
    assert abs(np.log(mode.ratio / 0.02)) < 1.5 * mode.ratio_interval < 0.4


def test_what_rings_but_not_by_the_joints_motion_is_not_seen(rng: np.random.Generator) -> None:
    # A joint's motion that would push the other way makes it worse than none.
    mode = fit_modes(ringing(rng, driven=-0.1)).modes[0]
    assert mode.evidence > 6.0
    assert not mode.seen
