# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Frequencies and damping of modes that windows of a record show, with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.identification.modal_windows import ModalResiduals, ModalWindows
from kron_dynamics.typing import FloatArray

# Frequencies are sought within these shares of the predicted ones.
SEARCHED = (0.65, 1.5)
_TRIALS = 48
# Damping ratios: where the search begins, and within what it stays.
_USUAL_RATIO, _RATIOS = 0.03, (5e-4, 0.4)
_ROUNDS = 4
# A window that is worse than the usual one by this factor was disturbed: it counts less.
_DISTURBED = 2.0
# Evidence: what a mode explains beyond what as many amplitudes explain of noise, in standard
# deviations of that; and how narrow its frequency must be.
_LEAST_EVIDENCE, _WIDEST = 6.0, 0.05
# Standard deviations of a 95 % interval of normal errors, and the share below its upper end.
_NORMAL, _BELOW = 1.96, 0.975
# Freedoms that one window leaves, or several of which but one tells anything: next to none.
_LEAST_FREEDOM = 0.1


@dataclass(frozen=True)
class FittedMode:
    """A mode as a record shows it.

    Attributes:
        scale: of its frequency to the predicted one.
        scale_interval: half of its 95 % interval.
        ratio: damping ratio.
        ratio_interval: half of the 95 % interval of its logarithm.
        evidence: how much better the record is explained with this mode than without, in standard
            deviations of what noise would do.
        channel_evidence: the same by channel, shape (C,).
        seen: whether that is enough to believe the numbers.
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
    """Modes of some windows.

    Attributes:
        modes: in the order of the windows'.
        misfit: mean square of the residuals in variances of the sensors' noise; 1 where nothing
            but noise is left.
        disturbed: windows that count less than half, as something else moved the machine.
    """

    modes: tuple[FittedMode, ...]
    misfit: float
    disturbed: int


def fit_modes(windows: ModalWindows) -> ModalFit:
    """Return the modes that windows show: maximum likelihood with noise in joints and channels.

    Args:
        windows: at least one, with a channel that is known.
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
    """Let channels and windows count by what is left of them."""
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
    """The modes at the logarithms of scales and ratios, shape (2 m,)."""
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
        # What never dies out is an oscillation of something else, and so is what the joints'
        # motion explains no better than chance.
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
    """Return halves of the 95 % intervals of logarithms of scales and ratios, shape (2 m,).

    By the noise, and by how much windows disagree: the wider one. How much they do is told by
    leaving out each of them in turn (the jackknife). Few windows tell of their own scatter with
    little certainty, and those that hardly see a mode do not count as windows, so that quantiles
    are Student's, with the freedoms of as many equal windows as would tell as much.

    Args:
        rest: residuals, shape (S, 2, L, C).
        jacobian: their derivatives, shape (S 2 L C, 2 m).
        misfit: mean square of the residuals.
    """
    from scipy.special import stdtrit  # takes long to import

    count = len(rest)
    slopes = jacobian.reshape(count, -1, jacobian.shape[1])
    told = slopes.swapaxes(1, 2) @ slopes
    whole = told.sum(axis=0)
    inverse = np.linalg.pinv(whole, hermitian=True)
    noise = np.sqrt(np.maximum(inverse.diagonal() * max(misfit, 1.0), 0.0))
    pulls = np.einsum('sr,srk->sk', rest.reshape(count, -1), slopes)
    others = np.linalg.pinv(whole - told, hermitian=True)
    moved = np.einsum('sij,sj->si', others, pulls)
    scatter = np.sqrt((count - 1.0) / count * np.sum(moved**2, axis=0))
    shares = np.einsum('sii->si', told) / np.maximum(whole.diagonal(), 1e-300)
    alike = 1.0 / np.maximum(np.sum(shares**2, axis=0), 1e-300)
    student = stdtrit(np.maximum(alike - 1.0, _LEAST_FREEDOM), _BELOW)
    return np.asarray(np.maximum(_NORMAL * noise, student * scatter))
