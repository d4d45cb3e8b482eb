# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""External efforts on the joints over time, by a momentum observer without accelerations.

With p = M qd the equations of motion are ``dp/dt = tau + external + C^T qd - g - friction``. The
weighted average of dp/dt is the convolution of p with the derivative of the weights: two
convolutions make an offline momentum observer without delay. With flexible links these are the
joints' rows, over all coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.replaying.filters import JointFilter
from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.bag.replaying.resampling import convolve, noise_level
from kron_dynamics.bag.replaying.survey import survey
from kron_dynamics.bag.replaying.thinned_rows import ThinnedSegment
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Gaussian average over rows: its standard deviation and half its length, in rows.
WIDTH = 2.0
REACH = 8


@dataclass(frozen=True)
class ExternalEfforts:
    """External efforts on the joints in a segment.

    Attributes:
        rows: the motion they are estimated from.
        effort: averaged, same sign as the drives' efforts, shape (N, n), N m or N; NaN where
            unknown. Includes the errors of the model.
    """

    rows: ThinnedSegment
    effort: FloatArray


@dataclass(frozen=True)
class ExternalResult:
    """External effort of one joint.

    Attributes:
        name: the joint.
        rms: N m or N; NaN where no effort is recorded.
        mean: its mean.
        peak: largest magnitude.
        noise: its standard deviation due to the noise of velocities and efforts.
    """

    name: str
    rms: float
    mean: float
    peak: float
    noise: float


def external_efforts(replay: Replay) -> list[ExternalEfforts]:
    """Return the external efforts of each segment of a run.

    Args:
        replay: the recomputed run.
    """
    rows = replay.sums.thinned.segments()
    pairs = zip(replay.plans, rows, strict=True)
    return [ExternalEfforts(part, _observed(plan.robot, part)) for plan, part in pairs]


def _observed(robot: Robot, rows: ThinnedSegment) -> FloatArray:
    if len(rows.time) <= 2 * REACH:
        return np.full(rows.effort.shape, np.nan)
    n, known = rows.position.shape[1], rows.valid[:, None]
    q = np.where(known, np.hstack((rows.position, rows.deflection)), 0.0)
    qd = np.where(known, np.hstack((rows.velocity, rows.deflection_rate)), 0.0)
    momentum = np.einsum('kij,kj->ki', robot.mass_matrix(q)[:, :n], qd)
    rest = (robot.gravity_vector(q) + robot.joint_friction(qd))[:, :n] - rows.effort
    rest -= np.einsum('kji,kj->ki', robot.coriolis_matrix(q, qd)[:, :, :n], qd)
    unknown = ~rows.valid
    momentum[unknown], rest[unknown] = np.nan, np.nan
    weights, slopes = _weights(float(np.median(np.diff(rows.time))))
    return convolve(momentum, slopes) + convolve(rest, weights)


def _weights(distance: float) -> tuple[FloatArray, FloatArray]:
    """Return the weights of the average, and those of its derivative, per s.

    Args:
        distance: time between two rows, s.
    """
    x = np.arange(-REACH, REACH + 1.0)
    weights = np.exp(-0.5 * np.square(x / WIDTH))
    slopes = x * weights
    return weights / weights.sum(), slopes / (slopes @ x) / distance


def external_results(
    replay: Replay, found: list[ExternalEfforts], efforts: FloatArray
) -> tuple[ExternalResult, ...]:
    """Return the external effort of each joint, summed up over the run.

    Args:
        replay: the recomputed run.
        found: its external efforts.
        efforts: standard deviation of the averaged recorded efforts, from
            `recorded_effort_noise`, shape (n,).
    """
    n = replay.robot.n
    values = np.concatenate([item.effort for item in found])
    where = np.flatnonzero(np.isfinite(values).any(axis=1))
    noise = np.full(n, np.nan)
    if len(where):
        q = np.concatenate([item.rows.position for item in found])[where]
        mass = _mass_squares(replay.robot, q[:: max(1, len(q) // 200)])
        distance = replay.sums.thinned.stride * replay.plans[0].step
        weights, slopes = _weights(distance)
        # The smoothing before keeps the low-frequency noise density: variance times period.
        rates = np.array([_rate_density(item, slopes, distance) for item in replay.filters])
        drives = np.array([item.step / (item.weights @ item.weights) for item in replay.filters])
        drives = drives * efforts**2 * (weights @ weights) / distance
        noise = np.sqrt(mass @ rates + drives)
    results = []
    for k, name in enumerate(replay.robot.joint_names):
        known = values[np.isfinite(values[:, k]), k]
        figures = (np.nan, np.nan, np.nan)
        if len(known):
            figures = np.sqrt(np.mean(known**2)), known.mean(), np.abs(known).max()
        size, mean, largest = map(float, figures)
        results.append(ExternalResult(name, size, mean, largest, float(noise[k])))
    return tuple(results)


def _rate_density(item: JointFilter, slopes: FloatArray, distance: float) -> float:
    """Return the variance of a joint's averaged acceleration due to the noise of its signals."""
    second = np.diff(slopes, prepend=0.0, append=0.0) / distance
    place = item.position_noise**2 * item.period * float(second @ second)
    if item.signals == 'position':
        return place / distance
    rate = item.velocity_noise**2 * item.velocity_period * float(slopes @ slopes)
    return min(place, rate) / distance


def _mass_squares(robot: Robot, q: FloatArray) -> FloatArray:
    """Return the mean of M[i, j]^2 over positions (N, n), shape (n, n)."""
    mass = robot.mass_matrix(q)
    return np.asarray(np.mean(mass * mass, axis=0))


def recorded_effort_noise(replay: Replay) -> FloatArray:
    """Return the standard deviation of the averaged recorded efforts, shape (n,); NaN if none.

    Args:
        replay: the recomputed run.
    """
    found = []
    segments = survey(replay.run.log.segments)
    for k, item in enumerate(replay.filters):
        pieces = [segment.effort[k] for segment in segments if len(segment.effort[k].time) > 20]
        if not pieces:
            found.append(np.nan)
            continue
        squares = [noise_level(samples, samples.period) ** 2 for samples in pieces]
        level = np.sqrt(np.average(squares, weights=[len(samples.time) for samples in pieces]))
        share = np.sqrt(pieces[0].period / item.step)
        found.append(float(level * share * np.linalg.norm(item.weights)))
    return np.array(found)
