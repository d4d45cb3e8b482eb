# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Spectra of short windows of recorded vibrations, and their residuals for given modes.

With the joints' motion as a known input, the links vibrate as those of a machine with held joints,

.. math:: \ddot\eta_k + 2 \zeta_k \omega_k \dot\eta_k + \omega_k^2 \eta_k = -p_k^T \ddot q

independently of drives, friction and control, whose effects are contained in q. A channel, such as
the effort of a drive, then has ``y_c = sum_k B_kc eta_k''`` in addition to the rigid-body
prediction. The spectra of a finite window obey the same equations up to the transients of each
mode, ``(a s + b) / (s^2 + 2 zeta omega s + omega^2)``, and low powers of s in each channel
(Pintelon and Schoukens, System Identification, 2nd ed., section 6.3). The measured joint
accelerations are noisy, too, and the modes amplify that noise. Each spectral line is therefore
weighted by the noise of both (section 9.11, errors in variables); without that, frequencies are
wrong by several percent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.typing import BoolArray, ComplexArray, FloatArray

# Powers of s that represent the drift of a channel and the transients at the ends of a window.
_POWERS = (-2, -1, 0, 1)
# Singular values of normalised columns below this share of the largest count as zero.
_DEPENDENT = 1e-7
# Normalised columns at least this far from the span of those before them are clearly independent.
_INDEPENDENT = 1e-2


@dataclass(frozen=True, eq=False)
class ModalWindows:
    """Spectra of S windows of one length at L lines: n_j joints, C channels, m modes.

    Attributes:
        lines: angular frequencies of the spectral lines, shape (L,), rad/s.
        pushes: spectra of the excitation p^T qdd of each mode, without the minus sign, with p
            along the window, shape (S, L, m).
        joint_noise: standard deviations of the noise of the joints' accelerations, shape
            (L, n_j), rad/s^2 or m/s^2.
        channels: spectra of the channels minus the rigid-body prediction, shape (S, L, C); 0
            where unknown.
        channel_noise: standard deviations of the channels' own noise, shape (C,).
        rigid: derivatives of the rigid-body prediction, already subtracted from the channels, by
            the joints' accelerations, shape (S, C, n_j).
        known: whether a channel is known in a window, shape (S, C).
        nuisances: spectra of systematic errors that all windows share, scaled so that their
            amplitudes have a prior standard deviation of 1, shape (S, L, C, k).
        drive: p in the middle of each window, shape (S, m, n_j).
        shapes: B, shape (S, m, C).
        omega: predicted angular frequencies, shape (S, m), rad/s.
    """

    lines: FloatArray
    pushes: ComplexArray
    joint_noise: FloatArray
    channels: ComplexArray
    channel_noise: FloatArray
    rigid: FloatArray
    known: BoolArray
    nuisances: ComplexArray
    drive: FloatArray
    shapes: FloatArray
    omega: FloatArray

    @property
    def count(self) -> int:
        """Number of windows."""
        return len(self.channels)

    @property
    def spacing(self) -> float:
        """Spacing of the spectral lines, rad/s."""
        return float(self.lines[1] - self.lines[0])

    @property
    def modes(self) -> int:
        """Number of modes."""
        return int(self.omega.shape[1])


class ModalResiduals:
    """Residuals of windows for given frequencies and damping (variable projection).

    Transients, drifts and shared errors enter linearly and are at their optimum.

    Attributes:
        windows: the windows.
        channel_noise: standard deviations of the channels in the weighting, shape (C,).
        weights: weights of the windows, shape (S,).
    """

    def __init__(self, windows: ModalWindows) -> None:
        """Start with equal weights of the windows and the noise of their sensors."""
        self.windows = windows
        self.channel_noise = windows.channel_noise.copy()
        self.weights = np.ones(windows.count)
        s = 1j * windows.lines / windows.lines.mean()
        powers = np.array([s**power for power in _POWERS])
        own = np.eye(len(windows.channel_noise))
        self._drifts = np.einsum('pl,cd->lcpd', powers, own).reshape(len(s), len(own), -1)

    def __call__(
        self, scale: FloatArray, ratio: FloatArray, left_out: int = -1, undriven: int = -1
    ) -> FloatArray:
        """Return whitened residuals, shape (S, 2, L, C): real parts, then imaginary ones.

        The whitening includes all modes, also one that is left out, so that sums of squares are
        comparable.

        Args:
            scale: frequencies of the modes relative to the predicted ones, shape (m,).
            ratio: damping ratios, shape (m,).
            left_out: index of a mode that is removed from the model; -1 for none.
            undriven: index of a mode that keeps its transients but is not excited by the joints'
                motion; -1 for none.
        """
        w = self.windows
        s = 1j * w.lines[:, None]
        omega = (w.omega * scale)[:, None]
        below = s**2 + 2 * ratio * omega * s + omega**2  # (S, L, m)
        shapes = (w.shapes * w.known[:, None]).swapaxes(1, 2)  # (S, C, m)
        answer = s**2 / below
        forced = -answer * w.pushes
        forced[:, :, [k for k in (left_out, undriven) if k >= 0]] = 0.0
        there = [k for k in range(w.modes) if k != left_out]
        swings = [
            (top / below)[:, :, None, there] * shapes[:, None][..., there]
            for top in (s * omega, omega**2)
        ]
        drifts = np.broadcast_to(self._drifts, (w.count, *self._drifts.shape))
        whiten = self._whitening(np.einsum('scm,slm,smj->slcj', shapes, answer, w.drive))
        value = w.channels - np.einsum('slm,scm->slc', forced, shapes)
        rest = _rows(whiten, value[..., None])
        shared = _rows(whiten, w.nuisances)
        # Project out the amplitudes of each window, then estimate those shared by all windows.
        basis = _bases(_rows(whiten, np.concatenate([drifts, *swings], axis=-1)))
        rest, shared = (
            np.sqrt(self.weights)[:, None, None] * (x - basis @ (basis.swapaxes(1, 2) @ x))
            for x in (rest, shared)
        )
        rows = rest.ravel()
        if shared.shape[-1]:
            # Whitened rows with the shared errors have the covariance 1 + E E^T: whiten again.
            errors, sizes, _ = np.linalg.svd(
                shared.reshape(len(rows), shared.shape[-1]), full_matrices=False
            )
            rows = rows - errors @ ((1.0 - 1.0 / np.hypot(1.0, sizes)) * (errors.T @ rows))
        return np.asarray(rows.reshape(w.count, 2, len(w.lines), -1))

    def freedoms(self) -> FloatArray:
        """Return the approximate degrees of freedom of each channel's residuals, shape (C,)."""
        w = self.windows
        seen = w.known.sum(axis=0)
        swings = 2.0 * w.modes * w.count / max(1, int((seen > 0).sum()))
        free = seen * (2.0 * len(w.lines) - len(_POWERS)) - np.where(seen > 0, swings, 0.0)
        return np.asarray(np.maximum(free, 0.0))

    def _whitening(self, modal: ComplexArray) -> ComplexArray:
        """Return inverse Cholesky factors of the channels' covariances, shape (S, L, C, C).

        Args:
            modal: response of the channels to joint accelerations by the modes, (S, L, C, n_j).
        """
        w = self.windows
        paths = modal - (w.rigid * w.known[..., None])[:, None]
        paths = paths * w.joint_noise[:, None]
        covariance = paths @ paths.conj().swapaxes(-1, -2) + np.diag(self.channel_noise**2)
        return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)))


def _rows(whiten: ComplexArray, values: ComplexArray) -> FloatArray:
    """Return whitened spectra, shape (S, L, C, k), as real rows, shape (S, 2 L C, k)."""
    count, lines, channels, columns = values.shape
    white = (whiten @ values).reshape(count, lines * channels, columns)
    # Real and imaginary part have half of the variance each.
    return np.asarray(np.sqrt(2.0) * np.concatenate([white.real, white.imag], axis=1))


def _bases(columns: FloatArray) -> FloatArray:
    """Return orthonormal bases of columns, shape (S, N, k), padded with zeros."""
    norms = np.linalg.norm(columns, axis=1, keepdims=True)
    norms[norms == 0.0] = 1.0
    columns = columns / norms
    # Mostly the columns are clearly independent, and singular values take several times as long.
    left, right = np.linalg.qr(columns)
    apart = np.abs(np.diagonal(right, axis1=1, axis2=2)).min(axis=1)
    if len(near := np.flatnonzero(apart < _INDEPENDENT)):
        directions, sizes, _ = np.linalg.svd(columns[near], full_matrices=False)
        left[near] = directions * (sizes > _DEPENDENT * sizes[:, :1])[:, None]
    return np.asarray(left)
