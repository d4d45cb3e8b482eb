# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Regressor rows of recorded motion: filtered like the efforts, and decimated.

Efforts and regressor pass through the same zero-phase Gaussian average, and one row per 1.5 widths
of the average is kept (parallel decimation). The *momentum* form needs no acceleration: with
p = M qd, ``tau = dp/dt - C^T qd + g``, and the average of dp/dt is p filtered with the derivative
of the average's weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.friction import (
    BASIC_TERMS,
    friction_regressor,
    presliding_state,
)
from kron_dynamics.identification.gravity_direction import tilt_regressor
from kron_dynamics.identification.known_load import carried_parameters
from kron_dynamics.identification.motion import Motion
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

FORMS = ('acceleration', 'momentum')
# Half length of the average's window, in its standard deviations.
REACH = 4.0
# Spacing of the kept rows, in standard deviations of the average.
ROW_DISTANCE = 1.5
# Number of samples whose regressors are held in memory at a time.
BLOCK = 2000
# Step, s, of the central differences of momentum along the motion, q +- STEP qd.
STEP = 1e-5


@dataclass(frozen=True, eq=False)
class Rows:
    """Linear equations ``matrix @ parameters = effort`` at R times.

    Attributes:
        time: s, shape (R,).
        matrix: regressor, shape (R, n, p): columns of inertial parameters, then of friction
            coefficients, then of the two components of gravity across the described one, if they
            are estimated.
        effort: averaged efforts minus those of known loads, shape (R, n), N m or N; NaN where
            unknown.
        group: index of the stretch of motion of each row, shape (R,).
    """

    time: FloatArray
    matrix: FloatArray
    effort: FloatArray
    group: FloatArray

    def __len__(self) -> int:
        """Return the number of times."""
        return len(self.time)

    @property
    def keys(self) -> IntArray:
        """Keys of the rows, from their times in microseconds and stretches, shape (R,)."""
        micros = np.round(self.time * 1e6).astype(np.int64)
        return micros + self.group.astype(np.int64) * 10**14

    def taken(self, wanted: IntArray | BoolArray) -> Rows:
        """Return some of the rows; `wanted` is an index or a mask, shape (R,)."""
        return Rows(
            self.time[wanted], self.matrix[wanted], self.effort[wanted], self.group[wanted]
        )


def joined(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several stretches; their groups are numbered in this order."""
    return Rows(
        np.concatenate([part.time for part in parts]),
        np.concatenate([part.matrix for part in parts]),
        np.concatenate([part.effort for part in parts]),
        np.concatenate([np.full(len(part), k, dtype=float) for k, part in enumerate(parts)]),
    )


def regressor_rows(
    robot: Robot,
    motion: Motion,
    width: float,
    *,
    terms: Sequence[str] = BASIC_TERMS,
    form: str = 'momentum',
    parameters: FloatArray | None = None,
    effort_width: float = 0.0,
    presliding: float = 0.0,
    transmitted: bool = False,
    tilt: bool = False,
    passage: float = 1.0,
    inertial: FloatArray | None = None,
) -> Rows:
    """Return averaged rows: the regressor with friction, and the efforts minus known loads.

    Args:
        robot: the robot; p = 10 b + n + n k with k friction terms, and 2 more with `tilt`.
        motion: a stretch; there are no rows where the average would reach beyond its ends.
        width: standard deviation of the average, s; 0, in the form 'acceleration', for none.
        terms: friction terms, names of `friction.TERMS`.
        form: 'momentum' needs no acceleration, 'acceleration' differentiates velocities.
        parameters: inertial parameters whose gravity efforts are the load of the term 'load',
            shape (10 b + n,); None for those of the description.
        effort_width: standard deviation of an average that the recorder has already applied to
            the efforts, s; it is applied to the regressor in addition.
        presliding: time of `friction.presliding_state`, s; 0 for friction by velocity alone.
        transmitted: whether the load of the term 'load' is the recorded effort instead.
        tilt: whether the last columns are those of `tilt_regressor`.
        passage: see `friction_regressor`.
        inertial: columns of inertial parameters of rows of the same averages, form, positions and
            velocities, shape (R, n, 10 b + n), which take most of the time; None computes them.

    Raises:
        ParameterError: there is no such form, or the average is shorter than a sample.
    """
    step = motion.step
    _check(form, width, step)
    model_width = float(np.hypot(width, effort_width))
    reach = int(np.ceil(REACH * model_width / step))
    centers = _centers(len(motion.time), reach, max(1, round(ROW_DISTANCE * width / step)))
    weights, _ = _gaussian(model_width, step, reach)
    state = presliding_state(robot.model, motion.q, presliding) if presliding else None
    carried = carried_parameters(robot, motion.loads)
    weighing = carried + (robot.inertial_parameters() if parameters is None else parameters)
    blocks = [np.zeros((0, robot.n, robot.n * len(terms) + 2 * tilt))]
    for cut, at in _blocks(centers, reach):
        load = _load(robot, motion, cut, weighing, transmitted) if 'load' in terms else None
        friction = _friction_columns(robot, motion, cut, terms, load, state, tilt, passage)
        blocks.append(_averages(friction, at, weights))
    if inertial is None:
        inertial = _inertial_columns(robot, motion, form, model_width, centers, reach)
    matrix = np.concatenate([inertial, np.concatenate(blocks)], axis=2)
    effort = _averages(motion.effort, centers, _gaussian(width, step, reach)[0])
    effort -= matrix[:, :, : len(carried)] @ carried
    return Rows(motion.time[centers], matrix, effort, np.zeros(len(centers)))


def _inertial_columns(
    robot: Robot, motion: Motion, form: str, width: float, centers: IntArray, reach: int
) -> FloatArray:
    """Return the averaged columns of inertial parameters, shape (R, n, 10 b + n)."""
    weights, slopes = _gaussian(width, motion.step, reach)
    qdd = motion.qdd if form == 'acceleration' else None
    blocks = [np.zeros((0, robot.n, len(robot.inertial_parameters())))]
    for cut, at in _blocks(centers, reach):
        q, qd = motion.q[cut], motion.qd[cut]
        if qdd is not None:
            blocks.append(_averages(robot.regressor(q, qd, qdd[cut]), at, weights))
        else:
            momentum, rest = _momentum_form(robot, q, qd)
            blocks.append(_averages(momentum, at, slopes) + _averages(rest, at, weights))
    return np.concatenate(blocks)


def _friction_columns(
    robot: Robot,
    motion: Motion,
    cut: slice,
    terms: Sequence[str],
    load: FloatArray | None,
    state: FloatArray | None,
    tilt: bool,
    passage: float,
) -> FloatArray:
    """Return the columns of friction, then of gravity across the described one if wanted."""
    acting = state[cut] if state is not None else None
    friction = friction_regressor(robot.model, motion.qd[cut], terms, load, acting, passage)
    if not tilt:
        return friction
    return np.concatenate([friction, tilt_regressor(robot, motion.q[cut])], axis=2)


def _centers(count: int, reach: int, spacing: int) -> IntArray:
    """Return the indices of the samples at the centres of the windows of rows."""
    # One grid for any reach, so that rows of different averages have common times.
    first = -(-reach // spacing) * spacing
    return np.arange(first, count - reach, spacing)


def _check(form: str, width: float, step: float) -> None:
    if form not in FORMS:
        raise ParameterError(f"there is no form '{form}', expected one of {', '.join(FORMS)}")
    if width < step and (form == 'momentum' or width != 0.0):
        raise ParameterError(
            f'an average of {width:g} s is too short: samples are {step:.3g} s apart'
        )


def _load(
    robot: Robot, motion: Motion, cut: slice, parameters: FloatArray, transmitted: bool
) -> FloatArray:
    """Return the joints' loads, recorded or gravity efforts, shape (N, n), N m or N."""
    if transmitted:
        # A row with an unknown effort has no weight, so that its load does not matter.
        return np.nan_to_num(motion.effort[cut])
    q = motion.q[cut]
    still = np.zeros_like(q)
    return robot.regressor(q, still, still) @ parameters


def _blocks(centers: IntArray, reach: int) -> Iterator[tuple[slice, IntArray]]:
    """Yield parts of bounded length of the samples, and where they have centres of windows."""
    first = 0
    while first < len(centers):
        last = np.searchsorted(centers, centers[first] + BLOCK + 2 * reach, side='right')
        part = centers[first:last]
        yield slice(part[0] - reach, part[-1] + reach + 1), part - part[0] + reach
        first = int(last)


def _gaussian(width: float, step: float, reach: int) -> tuple[FloatArray, FloatArray]:
    """Return the weights of an average and of its derivative, each shape (2 reach + 1,).

    The first sum to one; the second give exactly the slope of a straight line.
    """
    x = np.arange(-reach, reach + 1) * step
    if width == 0.0:
        return (x == 0.0).astype(float), np.zeros(len(x))
    weights = np.exp(-0.5 * np.square(x / width))
    slopes = x * weights
    return weights / weights.sum(), slopes / (slopes @ x)


def _averages(values: FloatArray, centers: IntArray, weights: FloatArray) -> FloatArray:
    """Return weighted sums in windows about `centers`, shape (R, ...); NaN if a value is NaN."""
    from scipy.sparse import csr_matrix  # takes long to import

    reach = len(weights) // 2
    shape = values.shape[1:]
    places = centers[:, None] + np.arange(-reach, reach + 1)
    starts = len(weights) * np.arange(len(centers) + 1)
    sums = csr_matrix(
        (np.tile(weights, len(centers)), places.ravel(), starts), (len(centers), len(values))
    )
    return np.asarray(sums @ values.reshape(len(values), -1)).reshape(len(centers), *shape)


def _momentum_form(robot: Robot, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the regressors of M qd, and of -C^T qd + g = c + g - dM/dt qd."""

    def momentum(positions: FloatArray) -> FloatArray:
        still = np.zeros_like(qd)
        return robot.regressor(positions, still, qd) - robot.regressor(positions, still, still)

    change = (momentum(q + STEP * qd) - momentum(q - STEP * qd)) / (2.0 * STEP)
    return momentum(q), robot.regressor(q, qd, np.zeros_like(qd)) - change
