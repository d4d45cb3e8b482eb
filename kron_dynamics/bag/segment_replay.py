# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recomputes one stretch of a run.

The acceleration a filter returns is the true one averaged over its window by a known kernel. The
other terms of the effort, the recorded efforts and the recorded accelerations are averaged by the
same kernel before anything is compared, so a residual is not the smoothing's doing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.filters import JointFilter
from kron_dynamics.bag.joint_log import GAP_PERIODS, JointSegment
from kron_dynamics.bag.samples import BoolArray, Samples, sample_period
from kron_dynamics.bag.smoothing import LocalFit, average, fit_local_quadratics
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# A local fit this much noisier than usual stands at an end or beside missing samples.
THIN_FIT_GAIN = 2.0
NOISE_SAMPLES = 1000
TERMS = ('inertia', 'coriolis', 'gravity', 'friction')


@dataclass(frozen=True)
class SegmentReplay:
    """A stretch of a run, recomputed. Columns are joints, in coordinate order.

    Attributes:
        epoch: how often the clock had been restarted before.
        time: evenly spaced times in s, shape (N,).
        position: smoothed, shape (N, n), in rad or m.
        velocity: smoothed, shape (N, n), in rad/s or m/s.
        acceleration: averaged, shape (N, n), in rad/s^2 or m/s^2.
        terms: the averaged terms of the effort by name (see TERMS), shape (N, n), in N m or N.
        recorded: recorded efforts, averaged, shape (N, n); NaN where there is none.
        valid: where the whole window lies inside the segment, shape (N,).
        effort_noise: standard deviation the noise of the joints' samples gives each recomputed
            effort, RMS over the segment, shape (n,), in N m or N.
        tip_recorded: recorded acceleration of the tip, averaged, linear then angular, base axes,
            shape (N, 6), in m/s^2 and rad/s^2; NaN where there is none.
        tip_recomputed: the same from the joints' motion, shape (N, 6).
        tip_noise: its standard deviation by the samples' noise, shape (6,).
    """

    epoch: int
    time: FloatArray
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    terms: dict[str, FloatArray]
    recorded: FloatArray
    valid: BoolArray
    effort_noise: FloatArray
    tip_recorded: FloatArray
    tip_recomputed: FloatArray
    tip_noise: FloatArray

    @property
    def recomputed(self) -> FloatArray:
        """Recomputed efforts, shape (N, n), in N m or N."""
        return np.asarray(sum(self.terms[name] for name in TERMS))

    @property
    def residual(self) -> FloatArray:
        """Recorded minus recomputed efforts, shape (N, n), in N m or N."""
        return self.recorded - self.recomputed


def replay_segment(
    robot: Robot,
    frame: str,
    segment: JointSegment,
    tip: Samples | None,
    filters: Sequence[JointFilter],
) -> SegmentReplay:
    """Return a segment recomputed, its recorded efforts still unknown (NaN).

    Args:
        robot: the robot.
        frame: link whose acceleration is recomputed.
        segment: the recorded motion.
        tip: recorded accelerations of that link, or None.
        filters: how each joint's acceleration is obtained.
    """
    step = min(item.period for item in filters)
    count = int((segment.end - segment.start) / step + 1e-6) + 1
    time: FloatArray = segment.start + step * np.arange(count, dtype=float)
    states = [_joint_state(segment, k, item, time) for k, item in enumerate(filters)]
    q, qd, qdd = (np.column_stack([state[k] for state in states]) for k in range(3))
    gains = [np.column_stack([state[k] for state in states]) for k in (3, 4)]
    edge = 2.0 * max(item.half_width for item in filters)
    valid = (time >= segment.start + edge) & (time <= segment.end - edge)
    for gain in gains:
        valid &= np.all(gain <= THIN_FIT_GAIN * np.nanmedian(gain, axis=0), axis=1)
    qd_noise, qdd_noise = (gain * [item.noise for item in filters] for gain in gains)
    weights = [item.weights(step) for item in filters]
    gravity = robot.gravity_vector(q)
    terms = {
        'inertia': robot.inverse_dynamics(q, np.zeros_like(q), qdd) - gravity,
        'coriolis': _average_columns(robot.coriolis_vector(q, qd), weights),
        'gravity': _average_columns(gravity, weights),
        'friction': _average_columns(robot.joint_friction(qd), weights),
    }
    # The tip's components mix all joints: averaged as the joint that is averaged most.
    widest = max(weights, key=len)
    link = robot.frame(frame)
    coasting = link.acceleration(q, qd, np.zeros_like(q))
    tip_recomputed = link.acceleration(q, qd, qdd) - coasting + average(coasting, widest)
    tip_recorded = np.full((len(time), 6), np.nan)
    if tip is not None and len(tip.time):
        tip_recorded = average(_interpolate(tip.between(segment.start, segment.end), time), widest)
    effort_noise, tip_noise = _propagate(robot, frame, q, qd, qd_noise, qdd_noise, valid)
    return SegmentReplay(
        segment.epoch,
        time,
        q,
        qd,
        qdd,
        terms,
        np.full(q.shape, np.nan),
        valid,
        effort_noise,
        tip_recorded,
        tip_recomputed,
        tip_noise,
    )


def _joint_state(
    segment: JointSegment, joint: int, item: JointFilter, time: FloatArray
) -> tuple[FloatArray, ...]:
    """Return position, velocity, acceleration and the noise gain of the last two, each (N,)."""
    place = _fit(segment.position[joint], time, item)
    if not item.from_velocity:
        return place.value, place.slope, place.curvature, place.gain[:, 1], place.gain[:, 2]
    rate = _fit(segment.velocity[joint], time, item)
    return place.value, rate.value, rate.slope, rate.gain[:, 0], rate.gain[:, 1]


def _fit(samples: Samples, time: FloatArray, item: JointFilter) -> LocalFit:
    return fit_local_quadratics(samples.time, samples.value, time, item.half_width)


def _average_columns(signal: FloatArray, weights: Sequence[FloatArray]) -> FloatArray:
    return np.column_stack([average(signal[:, k], item) for k, item in enumerate(weights)])


def _interpolate(samples: Samples, time: FloatArray) -> FloatArray:
    """Return values at times in s, NaN where the samples are too far apart, (N,) or (N, k)."""
    if len(samples.time) < 2:
        return np.full((len(time), *samples.value.shape[1:]), np.nan)
    columns = samples.value.reshape(len(samples.time), -1)
    found = np.column_stack([np.interp(time, samples.time, column) for column in columns.T])
    after = np.searchsorted(samples.time, time, side='left').clip(1, len(samples.time) - 1)
    distance = samples.time[after] - samples.time[after - 1]
    period = sample_period(samples.time)
    outside = (time < samples.time[0] - period) | (time > samples.time[-1] + period)
    found[outside | (distance > GAP_PERIODS * period)] = np.nan
    return found.reshape(len(time), *samples.value.shape[1:])


def _propagate(
    robot: Robot,
    frame: str,
    q: FloatArray,
    qd: FloatArray,
    qd_noise: FloatArray,
    qdd_noise: FloatArray,
    valid: BoolArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the RMS noise of the efforts, shape (n,), and of the tip's acceleration, (6,)."""
    where = np.flatnonzero(valid)
    if not len(where):
        return np.full(robot.n, np.nan), np.full(6, np.nan)
    where = where[:: max(1, len(where) // NOISE_SAMPLES)]
    q, qd, qd_noise, qdd_noise = q[where], qd[where], qd_noise[where], qdd_noise[where]
    mass = robot.mass_matrix(q)
    inertia = np.einsum('kij,kj->ki', mass * mass, qdd_noise**2)
    friction = 0.5 * (robot.joint_friction(qd + qd_noise) - robot.joint_friction(qd - qd_noise))
    jacobian = robot.frame(frame).jacobian(q)
    tip = np.einsum('kij,kj->ki', jacobian * jacobian, qdd_noise**2)
    return (
        np.sqrt(np.mean(inertia + friction * friction, axis=0)),
        np.sqrt(np.mean(tip, axis=0)),
    )


def recorded_efforts_at(
    time: FloatArray, efforts: Sequence[Samples], weights: Sequence[FloatArray]
) -> FloatArray:
    """Return recorded efforts at evenly spaced times, averaged, shape (N, n), in N m or N.

    Args:
        time: times in s, shape (N,).
        efforts: recorded efforts of each joint.
        weights: the average to take for each joint.
    """
    return _average_columns(
        np.column_stack([_interpolate(samples, time) for samples in efforts]), weights
    )
