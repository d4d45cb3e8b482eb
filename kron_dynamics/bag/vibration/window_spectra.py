# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Spectra of a window of recorded motion, reduced to one pose of the machine.

Within a window the pose changes, and with it the equations of the modes and channels,

.. math:: M_{\eta\eta}(q)\ddot\eta + D\dot\eta + K\eta = -M_{\eta q}(q)\ddot q - h(q, \dot q),
          \quad y = B(q)\ddot\eta,

but a spectral model of the modes needs constant M and B. If an arm turns by 0.15 rad in a window,
B changes by 10 %, which looks like other modes. Therefore inertia and gravity are evaluated sample
by sample, and the modal accelerations eta'' estimated from the channels serve to correct M and B
to the pose of the window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kron_dynamics.bag.vibration.predicted_modes import PredictedModes
from kron_dynamics.bag.vibration.smoothing_kernels import interpolation_gain, kernel_gain
from kron_dynamics.bag.vibration.vibration_records import VibrationRecord, VibrationRows
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, ComplexArray, FloatArray

# Modal accelerations with singular values in the channels below this share are not estimated.
_LEAST_SINGULAR = 0.05
# Attenuation at angular frequency w by sampling with period T, as factors of (w T)^2: of signals
# with steps, such as commands held over a period, that are sampled in its middle; and of signals
# that a sensor averages over a period.
_JUMPS, _MEANS = 1.0 / 12.0, 1.0 / 24.0


class WindowSpectra(NamedTuple):
    """Spectra of a window of N samples at L lines: n_j joints, C channels, m modes.

    Attributes:
        pushes: excitation of each mode by the joints' motion, without the minus sign, (L, m).
        channels: channels minus the rigid-body prediction, shape (L, C); NaN where unknown.
        rigid: derivatives of the rigid-body prediction by the joints' accelerations at the pose of
            the window, shape (C, n_j).
        nuisances: systematic errors of sensors, scaled to their usual size, shape (L, C, k).
    """

    pushes: ComplexArray
    channels: ComplexArray
    rigid: FloatArray
    nuisances: ComplexArray


class _Tables(NamedTuple):
    """Terms of the equations at each sample, with the links at their static deflection.

    Attributes:
        rigid: derivatives of the channels by the joints' accelerations, shape (N, C, n_j).
        shapes: derivatives of the channels by the modal accelerations, shape (N, C, m).
        drive: derivatives of the modal forces by the joints' accelerations, shape (N, m, n_j).
        bias: modal forces of gravity and velocities, shape (N, m).
        mass: modal mass matrix, shape (N, m, m); the identity at the pose of the window.
    """

    rigid: FloatArray
    shapes: FloatArray
    drive: FloatArray
    bias: FloatArray
    mass: FloatArray


def window_spectra(
    robot: Robot,
    frame: str,
    record: VibrationRecord,
    rows: VibrationRows,
    kept: BoolArray,
    modes: PredictedModes,
    used: slice,
) -> WindowSpectra:
    """Return the spectra of a window.

    Args:
        robot: robot with flexible links.
        frame: link whose acceleration is used.
        record: the record of the window.
        rows: samples of the window.
        kept: mask of the lines of `numpy.fft.rfftfreq` to return.
        modes: modes at the pose of the window.
        used: channels to use, out of the joints' efforts and the tip's three accelerations.
    """
    length, count = rows.position.shape
    lines = np.asarray(2.0 * np.pi * np.fft.rfftfreq(length, record.period)[kept])

    def spectrum(values: FloatArray) -> ComplexArray:
        return np.asarray(np.fft.rfft(values, axis=0)[kept])

    gain = kernel_gain(record.kernel, lines, record.period)[:, None]
    gains = acceleration_gain(record, lines)

    def by_joint(table: FloatArray) -> ComplexArray:
        """Return each joint's contribution with the joint's filter divided out, (L, k, n_j)."""
        return np.stack(
            [
                spectrum(table[:, :, j] * rows.acceleration[:, j, None]) / gains[:, j, None]
                for j in range(count)
            ],
            axis=2,
        )

    tables = _tables(robot, frame, rows, modes, used)
    shown = np.hstack([rows.efforts, rows.tip])[:, used]
    noise = np.concatenate([record.effort_noise, record.tip_noise])[used]
    rest = shown - np.einsum('tcj,tj->tc', tables.rigid, rows.acceleration)
    swings = _swings(rest, tables.shapes, noise)
    mean = np.concatenate([modes.drive, modes.tip], axis=1).T[used]
    turned = np.einsum('tcm,tm->tc', mean - tables.shapes, swings)
    heavier = np.einsum('tkm,tm->tk', tables.mass - np.eye(len(modes.omega)), swings)
    rigid = by_joint(tables.rigid)
    free = by_joint(tables.shapes @ np.linalg.solve(tables.mass, tables.drive))
    raw = spectrum(shown) / gain / interpolation_gain(lines, record.period, record.recorded[used])
    pose = modes.rest
    whole = np.vstack(
        [robot.mass_matrix(pose)[:count, :count], robot.frame(frame).jacobian(pose)[:3, :count]]
    )
    return WindowSpectra(
        by_joint(tables.drive).sum(axis=2) + spectrum(tables.bias + heavier) / gain,
        raw + spectrum(turned) / gain - rigid.sum(axis=2),
        whole[used],
        _sensors(raw, rigid - free, record.period * lines, max(0, count - (used.start or 0))),
    )


def _sensors(
    raw: ComplexArray, jumping: ComplexArray, turned: FloatArray, efforts: int
) -> ComplexArray:
    """Return spectra of possible systematic errors of the sensors, shape (L, C, k).

    Sampling of signals with steps, such as held commands of drives, attenuates with the square of
    the frequency, and so do sensors that average over a period. Efforts may be stamped late.

    Args:
        raw: recorded channels, shape (L, C).
        jumping: immediate contribution of the joints' accelerations, shape (L, C, n_j): that of
            joints and links as if the modes had no stiffness.
        turned: angular frequencies of the lines in rad per sample, shape (L,).
        efforts: how many of the channels, the first ones, are efforts.
    """
    own = raw[..., None] * np.eye(raw.shape[1])
    angle = turned[:, None, None]
    late = 1j * angle * own[..., :efforts]
    lost = _MEANS * angle**2 * own, _JUMPS * angle**2 * jumping
    return np.concatenate([late, *lost], axis=2)


def _tables(
    robot: Robot, frame: str, rows: VibrationRows, modes: PredictedModes, used: slice
) -> _Tables:
    count = rows.position.shape[1]
    q, qd = (np.tile(x, (len(rows.position), 1)) for x in (modes.rest, 0.0 * modes.rest))
    q[:, :count], qd[:, :count] = rows.position, rows.velocity
    mass, turn = robot.mass_matrix(q), robot.frame(frame).jacobian(q)[:, :3]
    seen = np.concatenate([mass[:, :count], turn], axis=1)[:, used]
    bent = mass[:, count:]
    return _Tables(
        seen[:, :, :count],
        seen[:, :, count:] @ modes.shapes,
        modes.shapes.T @ bent[:, :, :count],
        robot.inverse_dynamics(q, qd, 0.0 * q)[:, count:] @ modes.shapes,
        modes.shapes.T @ bent[:, :, count:] @ modes.shapes,
    )


def _swings(rest: FloatArray, shapes: FloatArray, noise: FloatArray) -> FloatArray:
    """Return least-squares modal accelerations from the channels, shape (N, m); 0 if unobserved.

    Args:
        rest: channels minus the rigid-body prediction, shape (N, C); NaN where unknown.
        shapes: derivatives of the channels by the modal accelerations, shape (N, C, m).
        noise: standard deviations of the channels' noise, shape (C,).
    """
    known = np.isfinite(rest).all(axis=0)
    back = np.linalg.pinv(shapes[:, known] / noise[known, None], rcond=_LEAST_SINGULAR)
    return np.asarray(np.einsum('tmc,tc->tm', back, rest[:, known] / noise[known]))


def acceleration_gain(record: VibrationRecord, lines: FloatArray) -> ComplexArray:
    """Return the gain from true to estimated accelerations of the joints, shape (L, n_j).

    Args:
        record: the record, whose kernels differentiate the signals.
        lines: angular frequencies, shape (L,), rad/s.
    """
    slope, curvature = (
        kernel_gain(kernel, lines, record.period) / (1j * lines) ** power
        for power, kernel in ((1, record.slope), (2, record.curvature))
    )
    share = record.from_rates
    return np.asarray(share * slope[:, None] + (1.0 - share) * curvature[:, None])
