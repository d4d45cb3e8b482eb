# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Spectra of a window of recorded motion, as of a machine that stays in one pose.

Within a window the machine moves on, and what its links do changes with its pose,

.. math:: M_{\eta\eta}(q)\ddot\eta + D\dot\eta + K\eta = -M_{\eta q}(q)\ddot q - h(q, \dot q),
          \quad y = B(q)\ddot\eta,

while spectra of modes want the masses and the directions B of one pose. An arm that turns by 0.15
rad in a window has another B by a tenth, which looks like other modes. So inertia and gravity act
as they do sample by sample, and what channels tell of eta'' is brought to the pose of the window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kron_dynamics.bag.vibration.predicted_modes import PredictedModes
from kron_dynamics.bag.vibration.smoothing_kernels import kernel_gain
from kron_dynamics.bag.vibration.vibration_records import VibrationRecord, VibrationRows
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, ComplexArray, FloatArray

# Motions that channels show with less than this of what they show of others are not told by them.
_TOLD = 0.05
# Shares of (w T)^2 that samples of period T lose of a motion of angular frequency w: of jumps, as
# of commands that are held so long, where sensors tell the middle of them; and of all that sensors
# tell as means over their samples.
_JUMPS, _MEANS = 1.0 / 12.0, 1.0 / 24.0


class WindowSpectra(NamedTuple):
    """What a window of N samples has at L lines: n_j joints, C channels, m modes.

    Attributes:
        pushes: on each mode but for their sign, by the joints' motion, shape (L, m).
        channels: what stiff links do not explain, shape (L, C); NaN where not known.
        rigid: what joints' accelerations do in a channel at the pose of the window, (C, n_j).
        nuisances: what sensors may have wrong, of the size that is usual, shape (L, C, k).
    """

    pushes: ComplexArray
    channels: ComplexArray
    rigid: FloatArray
    nuisances: ComplexArray


class _Tables(NamedTuple):
    """The machine sample by sample, with links bent as at rest.

    Attributes:
        rigid: what joints' accelerations do in channels, shape (N, C, n_j).
        shapes: what modes' accelerations do in channels, shape (N, C, m).
        drive: what joints' accelerations do in modes, shape (N, m, n_j).
        bias: gravity and velocities in modes, shape (N, m).
        mass: of the modes, shape (N, m, m); the identity at the pose of the window.
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
        robot: with flexible links.
        frame: link whose acceleration is looked at.
        record: that the window is of.
        rows: samples of the window.
        kept: lines of `numpy.fft.rfftfreq` that are wanted.
        modes: at the pose of the window.
        used: channels, of the joints' efforts and the tip's three accelerations.
    """
    length, count = rows.position.shape
    lines = np.asarray(2.0 * np.pi * np.fft.rfftfreq(length, record.period)[kept])

    def spectrum(values: FloatArray) -> ComplexArray:
        return np.asarray(np.fft.rfft(values, axis=0)[kept])

    gain = kernel_gain(record.kernel, lines, record.period)[:, None]
    gains = acceleration_gain(record, lines)

    def by_joint(table: FloatArray) -> ComplexArray:
        """What each joint's acceleration does, without the filter of that joint, (L, k, n_j)."""
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
    raw = spectrum(shown) / gain
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
    """What sensors may have wrong, shape (L, C, k).

    Samples of what jumps between them, as the commands of drives do, lose a share of the square of
    frequency, and so do sensors that take a mean over their sample. Efforts may be stamped late.

    Args:
        raw: recorded channels, shape (L, C).
        jumping: what joints' accelerations do in them at once, shape (L, C, n_j). Modes do not
            answer to a jump at once: joints and links move as if nothing held the modes.
        turned: angles of the lines in a period of the samples, shape (L,), rad.
        efforts: how many of the channels are efforts, the first ones.
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
    """Accelerations of modes that channels tell of, shape (N, m): least squares, none else.

    Args:
        rest: what stiff links do not explain, shape (N, C); NaN where not known.
        shapes: shape (N, C, m).
        noise: of the channels, shape (C,).
    """
    known = np.isfinite(rest).all(axis=0)
    back = np.linalg.pinv(shapes[:, known] / noise[known, None], rcond=_TOLD)
    return np.asarray(np.einsum('tmc,tc->tm', back, rest[:, known] / noise[known]))


def acceleration_gain(record: VibrationRecord, lines: FloatArray) -> ComplexArray:
    """Return what the differentiated signals are of true accelerations, shape (L, n_j).

    Args:
        record: that the signals are of.
        lines: angular frequencies, shape (L,), rad/s.
    """
    slope, curvature = (
        kernel_gain(kernel, lines, record.period) / (1j * lines) ** power
        for power, kernel in ((1, record.slope), (2, record.curvature))
    )
    share = record.from_rates
    return np.asarray(share * slope[:, None] + (1.0 - share) * curvature[:, None])
