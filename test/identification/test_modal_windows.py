# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Spectra of known modes leave nothing, and those with noise as much as freedoms tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kron_dynamics.identification.modal_windows import ModalResiduals, ModalWindows, _bases

WINDOWS, LINES, JOINTS, CHANNELS = 5, 120, 2, 3
OMEGA, RATIO = np.array([18.0, 41.0]), np.array([0.01, 0.03])
LINE = np.linspace(6.0, 70.0, LINES)
S = 1j * LINE[:, None]


def noise(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """White, of a mean squared magnitude of 1."""
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) / np.sqrt(2.0)


@pytest.fixture
def windows(rng: np.random.Generator) -> ModalWindows:
    """Windows whose modes differ a little, as of other poses, with what ends of windows add."""
    omega = OMEGA * rng.uniform(0.9, 1.1, (WINDOWS, 2))
    drive = rng.standard_normal((WINDOWS, 2, JOINTS))
    shapes = rng.standard_normal((WINDOWS, 2, CHANNELS))
    joints = noise(rng, WINDOWS, LINES, JOINTS)
    channels = np.zeros((WINDOWS, LINES, CHANNELS), dtype=complex)
    for k in range(WINDOWS):
        below = S**2 + 2.0 * RATIO * omega[k] * S + omega[k] ** 2
        pushed = joints[k] @ drive[k].T
        begin, end = rng.standard_normal((2, 2))
        swing = (-(S**2) * pushed + 10.0 * begin * S + 100.0 * end) / below
        channels[k] = swing @ shapes[k]
        scaled = S / LINE.mean()
        for power in (-2, -1, 0, 1):
            channels[k] += scaled**power * rng.standard_normal(CHANNELS)
    return ModalWindows(
        LINE,
        np.einsum('smj,slj->slm', drive, joints),
        np.zeros((LINES, JOINTS)),
        channels,
        np.array([0.1, 0.5, 0.2]),
        rng.standard_normal((WINDOWS, CHANNELS, JOINTS)),
        np.ones((WINDOWS, CHANNELS), dtype=bool),
        np.zeros((WINDOWS, LINES, CHANNELS, 0), dtype=complex),
        drive,
        shapes,
        omega,
    )


ONE = np.ones(2)


def test_known_modes_with_their_ends_and_drifts_leave_nothing(windows: ModalWindows) -> None:
    residuals = ModalResiduals(windows)
    left = residuals(ONE, RATIO)
    assert left.shape == (WINDOWS, 2, LINES, CHANNELS)
    assert np.abs(left).max() < 1e-6
    assert windows.count == WINDOWS and windows.modes == 2
    assert windows.spacing == pytest.approx(64.0 / (LINES - 1))
    for scale, ratio, without in (
        (ONE * [1.01, 1.0], RATIO, -1),
        (ONE, RATIO * [1.0, 1.3], -1),
        (ONE, RATIO, 0),
        (ONE, RATIO, 1),
    ):
        assert np.sqrt(np.mean(residuals(scale, ratio, without) ** 2)) > 0.05


def test_a_mode_that_is_left_out_is_as_if_it_were_not(windows: ModalWindows) -> None:
    alone = replace(
        windows,
        pushes=windows.pushes[..., 1:],
        drive=windows.drive[:, 1:],
        shapes=windows.shapes[:, 1:],
        omega=windows.omega[:, 1:],
    )
    np.testing.assert_allclose(
        np.abs(ModalResiduals(windows)(ONE, RATIO, 0)),
        np.abs(ModalResiduals(alone)(ONE[1:], RATIO[1:])),
        rtol=1e-6,
        atol=1e-6,
    )


@pytest.mark.parametrize('mode', [0, 1])
def test_an_undriven_mode_swings_without_the_joints(windows: ModalWindows, mode: int) -> None:
    pushes = windows.pushes.copy()
    pushes[..., mode] = 0.0
    alone = replace(windows, pushes=pushes)
    np.testing.assert_allclose(
        ModalResiduals(windows)(ONE, RATIO, undriven=mode),
        ModalResiduals(alone)(ONE, RATIO),
        atol=1e-9,
    )


@pytest.mark.parametrize('without', [{'left_out': 0}, {'undriven': 0}])
def test_what_is_left_without_a_mode_is_weighed_as_with_it(
    windows: ModalWindows, without: dict[str, int]
) -> None:
    noisy = replace(windows, joint_noise=np.full((LINES, JOINTS), 0.3))
    # Only this mode takes noise of the joints to the channels, near its resonance.
    shapes, rigid = noisy.shapes.copy(), 0.0 * noisy.rigid
    shapes[:, 1] = 0.0
    quiet = replace(noisy, shapes=shapes, rigid=rigid)
    loud = replace(quiet, joint_noise=30.0 * quiet.joint_noise)
    fewer, more = (
        np.sum(ModalResiduals(each)(ONE, RATIO, **without) ** 2) for each in (loud, quiet)
    )
    assert fewer < 0.9 * more


@pytest.mark.parametrize('joint_noise', [0.0, 0.3])
def test_residuals_of_noise_have_a_variance_of_one(
    joint_noise: float, windows: ModalWindows, rng: np.random.Generator
) -> None:
    level = joint_noise * np.linspace(0.5, 2.0, LINES)[:, None] * np.array([1.0, 0.4])
    measured = level * noise(rng, WINDOWS, LINES, JOINTS)
    own = windows.channel_noise * noise(rng, WINDOWS, LINES, CHANNELS)
    # What stiff links explain was taken off by the measured accelerations.
    taken = np.einsum('scj,slj->slc', windows.rigid, measured)
    noisy = replace(
        windows,
        pushes=windows.pushes + np.einsum('smj,slj->slm', windows.drive, measured),
        joint_noise=level,
        channels=windows.channels + own - taken,
    )
    residuals = ModalResiduals(noisy)
    left = residuals(ONE, RATIO)
    np.testing.assert_allclose(
        (left**2).sum(axis=(0, 1, 2)).sum() / residuals.freedoms().sum(), 1.0, atol=0.06
    )
    if not joint_noise:
        shares = (left**2).sum(axis=(0, 1, 2)) / residuals.freedoms()
        np.testing.assert_allclose(shares, 1.0, atol=0.12)


def test_channels_that_are_not_known_are_no_evidence(
    windows: ModalWindows, rng: np.random.Generator
) -> None:
    known = windows.known.copy()
    known[:3, 1] = known[:, 2] = False
    channels = np.where(known[:, None], windows.channels, 0.0)
    partly = replace(
        windows, known=known, channels=channels, joint_noise=np.full((LINES, JOINTS), 0.1)
    )
    residuals = ModalResiduals(partly)
    left = residuals(ONE, RATIO)
    assert np.abs(left).max() < 1e-6
    free, whole = residuals.freedoms(), ModalResiduals(windows).freedoms()
    assert free[2] == 0.0 and 0.0 < free[1] < free[0] < whole[0]
    # Swings are two for each mode and window, shared by the channels that are seen.
    assert whole.sum() == CHANNELS * WINDOWS * (2 * LINES - 4) - 2 * 2 * WINDOWS
    alone = ModalResiduals(replace(partly, known=known & [True, False, False])).freedoms()
    assert alone.sum() == WINDOWS * (2 * LINES - 4) - 2 * 2 * WINDOWS


def test_errors_that_all_windows_share_are_taken_off_once(
    windows: ModalWindows, rng: np.random.Generator
) -> None:
    nuisances = noise(rng, WINDOWS, LINES, CHANNELS, 2)
    # Of a size that is not known at all.
    off = replace(
        windows, nuisances=1e9 * nuisances, channels=windows.channels + nuisances @ [0.7, -2.0]
    )
    assert np.abs(ModalResiduals(off)(ONE, RATIO)).max() < 1e-6
    # Each window with an amplitude of its own is not the same error.
    amounts = rng.standard_normal((WINDOWS, 1, 1))
    own = replace(off, channels=windows.channels + nuisances[..., 0] * amounts)
    assert np.abs(ModalResiduals(own)(ONE, RATIO)).max() > 1.0


@pytest.mark.parametrize('size', [1e-3, 0.02, 0.3])
def test_errors_of_a_known_size_cost_what_their_amounts_do(
    size: float, windows: ModalWindows, rng: np.random.Generator
) -> None:
    nuisances = size * noise(rng, WINDOWS, LINES, CHANNELS, 1)
    known = replace(windows, nuisances=nuisances, channels=windows.channels + nuisances[..., 0])
    cost = np.sum(ModalResiduals(known)(ONE, RATIO) ** 2)
    whole = replace(known, nuisances=nuisances[..., :0])
    before = np.sum(ModalResiduals(whole)(ONE, RATIO) ** 2)
    # The least of the misfit and of the square of the amount, which is 1 here.
    assert cost == pytest.approx(before / (1.0 + before), rel=1e-6)


def test_windows_count_by_their_weights(windows: ModalWindows, rng: np.random.Generator) -> None:
    noisy = replace(windows, channels=windows.channels + noise(rng, WINDOWS, LINES, CHANNELS))
    residuals = ModalResiduals(noisy)
    before = residuals(ONE, RATIO)
    residuals.weights = np.array([0.0, 1.0, 4.0, 1.0, 0.25])
    np.testing.assert_allclose(
        residuals(ONE, RATIO), np.sqrt(residuals.weights)[:, None, None, None] * before, atol=1e-9
    )
    residuals.weights = np.ones(WINDOWS)
    residuals.channel_noise = 2.0 * windows.channel_noise
    np.testing.assert_allclose(residuals(ONE, RATIO), 0.5 * before, rtol=1e-6, atol=1e-9)


def test_bases_span_the_columns_of_each_window_whether_these_depend_or_not(
    rng: np.random.Generator,
) -> None:
    """Most do not; the channels of one window are unknown, or its columns differ by rounding."""
    columns = rng.standard_normal((4, 12, 5)) * np.geomspace(1e-6, 1e6, 5)
    columns[1, :, 1] = 0.0
    columns[2, :, 3] = columns[2, :, 0] * (1.0 + 1e-9 * rng.standard_normal(12))
    for one, basis in zip(columns, _bases(columns), strict=True):
        unit = one / np.maximum(np.linalg.norm(one, axis=0), 1e-300)
        span = unit @ np.linalg.pinv(unit, rcond=1e-7)
        np.testing.assert_allclose(basis @ basis.T, span, rtol=0.0, atol=1e-8)
