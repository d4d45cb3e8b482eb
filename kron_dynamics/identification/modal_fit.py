# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimation of modal frequencies and damping from windows of a record, with uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.identification.modal_windows import ModalResiduals, ModalWindows
from kron_dynamics.typing import FloatArray

# Bounds of the frequencies, as multiples of the predicted ones, and number of grid points between.
SEARCHED = (0.65, 1.5)
_TRIALS = 48
# Damping ratios: initial guess and bounds.
_USUAL_RATIO, _RATIOS = 0.03, (5e-4, 0.4)
# Number of least-squares solutions, with windows and channels reweighted between them.
_ROUNDS = 4
# A window whose mean squared residual exceeds this multiple of the median counts as disturbed and
# is down-weighted.
_DISTURBED = 2.0
# A mode is detected above this evidence (improvement over amplitudes fitted to noise, in standard
# deviations) and below this half interval of its frequency, as a share.
_LEAST_EVIDENCE, _WIDEST = 6.0, 0.05
# Half of a 95 % interval in normal standard deviations, and the corresponding quantile.
_NORMAL, _BELOW = 1.96, 0.975
# Lower bound of the degrees of freedom of the scatter, with a single effective window.
_LEAST_FREEDOM = 0.1


@dataclass(frozen=True)
class FittedMode:
    """A mode estimated from a record.

    Attributes:
        scale: frequency relative to the predicted one.
        scale_interval: half of the 95 % interval of the scale.
        ratio: damping ratio.
        ratio_interval: half of the 95 % interval of the logarithm of the damping ratio.
        evidence: decrease of the squared residuals by this mode beyond the decrease expected from
            noise, in standard deviations of the latter.
        channel_evidence: the decrease by channel in the same unit, shape (C,).
        seen: whether the mode is detected, so that its estimates are valid.
    """

    scale: float
    scale_interval: float
    ratio: float
    ratio_interval: float
    evidence: float
    channel_evidence: FloatArray
    seen: bool


@dataclass(frozen=True)
class ModalFit:
    """Modes estimated from windows.

    Attributes:
        modes: in the order of the windows' modes.
        misfit: mean square of the residuals in variances of the sensors' noise; 1 if only noise
            is left.
        disturbed: number of windows with a weight below 0.5, because of other excitation.
    """

    modes: tuple[FittedMode, ...]
    misfit: float
    disturbed: int


def fit_modes(windows: ModalWindows) -> ModalFit:
    """Return the maximum-likelihood modes, with noise in joint accelerations and channels.

    Args:
        windows: at least one, with at least one known channel.
    """
    from scipy.optimize import least_squares  # takes long to import

    m = windows.modes
    residuals = ModalResiduals(windows)
    scale, ratio = np.ones(m), np.full(m, _USUAL_RATIO)
    trials = np.geomspace(*SEARCHED, _TRIALS)
    for _ in range(2):
        for k in range(m):
            costs = []
            for trial in trials:
                scale[k] = trial
                costs.append(float(np.sum(residuals(scale, ratio) ** 2)))
            scale[k] = trials[int(np.argmin(costs))]
        _weigh(residuals, residuals(scale, ratio))
    lower, upper = (
        np.log(np.concatenate([np.full(m, ends[0]), np.full(m, ends[1])]))
        for ends in zip(SEARCHED, _RATIOS, strict=True)
    )

    def rows(x: FloatArray) -> FloatArray:
        return residuals(np.exp(x[:m]), np.exp(x[m:])).ravel()

    x = np.log(np.concatenate([scale, ratio]))
    for turn in range(_ROUNDS):
        x = np.clip(x, lower + 1e-4, upper - 1e-4)
        found = least_squares(
            rows,
            x,
            bounds=(lower, upper),
            x_scale=np.repeat([0.01, 0.2], m),
            diff_step=[1e-4],
            max_nfev=60,
        )
        x = found.x
        if turn < _ROUNDS - 1:
            _weigh(residuals, residuals(np.exp(x[:m]), np.exp(x[m:])))
    return _result(residuals, x, np.asarray(found.jac))


def _weigh(residuals: ModalResiduals, rows: FloatArray) -> None:
    """Update the noise of channels and the weights of windows by their residuals."""
    windows = residuals.windows
    plain = rows / np.sqrt(residuals.weights)[:, None, None, None]
    each = np.einsum('spli->si', plain**2) / (2.0 * rows.shape[2])
    known = np.maximum(windows.known.sum(axis=1), 1)
    of_window = each.sum(axis=1) / known
    usual = float(np.median(of_window))
    if usual > 0.0:
        residuals.weights = np.minimum(1.0, _DISTURBED * usual / np.maximum(of_window, 1e-300))
    weighted = np.einsum('spli->i', rows**2)
    share = residuals.weights.mean()
    excess = weighted / np.maximum(residuals.freedoms() * share, 1.0)
    residuals.channel_noise = np.maximum(
        windows.channel_noise, residuals.channel_noise * np.sqrt(excess)
    )


def _result(residuals: ModalResiduals, x: FloatArray, jacobian: FloatArray) -> ModalFit:
    """Return the modes at the logarithms of scales and ratios `x`, shape (2 m,)."""
    windows, m = residuals.windows, residuals.windows.modes
    scale, ratio = np.exp(x[:m]), np.exp(x[m:])
    rest = residuals(scale, ratio)
    free = max(float(residuals.freedoms().sum() * residuals.weights.mean()), 1.0)
    misfit = float(np.sum(rest**2)) / free
    half = half_intervals(rest, jacobian, misfit)
    modes = []
    for k in range(m):
        gained = np.einsum('spli->i', residuals(scale, ratio, left_out=k) ** 2 - rest**2)
        extra = 2.0 * windows.count + 2.0
        gained = gained / max(misfit, 1.0)
        evidence = float((gained.sum() - extra) / np.sqrt(2.0 * extra))
        inside = SEARCHED[0] * 1.01 < scale[k] < SEARCHED[1] / 1.01
        # Undamped oscillations have another cause, and so have those that are not explained better
        # with the joints' motion as excitation.
        inside &= _RATIOS[0] * 1.5 < ratio[k] < _RATIOS[1] / 1.5
        driven = np.sum(residuals(scale, ratio, undriven=k) ** 2 - rest**2) > 0.0
        narrow = half[k] < _WIDEST
        modes.append(
            FittedMode(
                float(scale[k]),
                float(half[k] * scale[k]),
                float(ratio[k]),
                float(half[m + k]),
                evidence,
                gained / np.sqrt(2.0 * extra),
                bool(inside and driven and narrow and evidence > _LEAST_EVIDENCE),
            )
        )
    return ModalFit(tuple(modes), misfit, int((residuals.weights < 0.5).sum()))


def half_intervals(rest: FloatArray, jacobian: FloatArray, misfit: float) -> FloatArray:
    """Return half of the 95 % intervals of the logarithms of scales and ratios, shape (2 m,).

    The wider one of two intervals: from the noise, and from the scatter between windows by the
    jackknife, which leaves out one window at a time. The scatter of few windows is uncertain, and
    windows with little information on a mode hardly count. Its quantiles are therefore Student's,
    with the effective number of equally informative windows minus 1 as degrees of freedom.

    Args:
        rest: residuals, shape (S, 2, L, C).
        jacobian: derivatives of the residuals, shape (S 2 L C, 2 m).
        misfit: mean square of the residuals.
    """
    from scipy.special import stdtrit  # takes long to import

    count = len(rest)
    slopes = jacobian.reshape(count, -1, jacobian.shape[1])
    information = slopes.swapaxes(1, 2) @ slopes
    whole = information.sum(axis=0)
    inverse = np.linalg.pinv(whole, hermitian=True)
    noise = np.sqrt(np.maximum(inverse.diagonal() * max(misfit, 1.0), 0.0))
    pulls = np.einsum('sr,srk->sk', rest.reshape(count, -1), slopes)
    others = np.linalg.pinv(whole - information, hermitian=True)
    moved = np.einsum('sij,sj->si', others, pulls)
    scatter = np.sqrt((count - 1.0) / count * np.sum(moved**2, axis=0))
    shares = np.einsum('sii->si', information) / np.maximum(whole.diagonal(), 1e-300)
    alike = 1.0 / np.maximum(np.sum(shares**2, axis=0), 1e-300)
    student = stdtrit(np.maximum(alike - 1.0, _LEAST_FREEDOM), _BELOW)
    return np.asarray(np.maximum(_NORMAL * noise, student * scatter))
