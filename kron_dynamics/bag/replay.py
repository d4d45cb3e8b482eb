# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recomputes a recorded run: efforts and the tip's acceleration, from the joints' motion alone.

The equation replayed is ``M qdd + c + g + friction = tau``. The acceleration a filter returns is
the true one averaged over its window by a known kernel; the other terms, the recorded efforts and
the recorded accelerations are averaged by the same kernel before anything is compared, so a
residual is not the smoothing's doing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.filters import JointFilter, choose_filters
from kron_dynamics.bag.joint_log import GAP_PERIODS, JointSegment
from kron_dynamics.bag.runs import Run
from kron_dynamics.bag.samples import BoolArray, Samples, sample_period
from kron_dynamics.bag.smoothing import LocalFit, average, fit_local_quadratics
from kron_dynamics.exceptions import BagError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Samples a segment must have left when those near its ends are taken away.
MIN_SAMPLES = 10
# A local fit this much noisier than usual stands at an end or beside missing samples.
THIN_FIT_GAIN = 2.0
NOISE_SAMPLES = 1000
TERMS = ('inertia', 'coriolis', 'gravity', 'friction')


@dataclass(frozen=True)
class SegmentReplay:
    """A stretch of a run, recomputed. Columns are joints, in coordinate order.

    Attributes:
        epoch: How often the clock had been restarted before.
        time: Evenly spaced times in s, shape (N,).
        position: Smoothed, shape (N, n), in rad or m.
        velocity: Smoothed, shape (N, n), in rad/s or m/s.
        acceleration: Averaged, shape (N, n), in rad/s^2 or m/s^2.
        terms: The averaged terms of the effort by name (see TERMS), shape (N, n), in N m or N.
        recorded: Recorded efforts, averaged, shape (N, n); NaN where there is none.
        valid: Where the whole window lies inside the segment, shape (N,).
        effort_noise: Standard deviation the noise of the joints' samples gives each recomputed
            effort, RMS over the segment, shape (n,), in N m or N.
        tip_recorded: Recorded acceleration of the tip, averaged, linear then angular, base axes,
            shape (N, 6), in m/s^2 and rad/s^2; NaN where there is none.
        tip_recomputed: The same from the joints' motion, shape (N, 6).
        tip_noise: Its standard deviation by the samples' noise, shape (6,).
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


@dataclass(frozen=True)
class Replay:
    """A run, recomputed.

    Attributes:
        run: What was recorded.
        robot: The robot it was recomputed with.
        frame: Link whose acceleration was recomputed.
        filters: How each joint's acceleration was obtained.
        effort_sources: Where each joint's recorded effort is from: 'measured' (the joint states),
            'commanded' (the topic of commands) or 'none'.
        segments: The stretches of the run, in the order of recording.
        skipped: (start, end) in s of the stretches too short for the window.
    """

    run: Run
    robot: Robot
    frame: str
    filters: tuple[JointFilter, ...]
    effort_sources: tuple[str, ...]
    segments: tuple[SegmentReplay, ...]
    skipped: tuple[tuple[float, float], ...]

    @property
    def window(self) -> float:
        """Length of the longest joint's window in s."""
        return max((2 * item.half_count + 1) * item.period for item in self.filters)


def replay_run(
    robot: Robot, run: Run, *, frame: str | None = None, window: float | None = None
) -> Replay:
    """Return a run's efforts and tip acceleration recomputed from its joints' motion.

    Args:
        robot: The robot.
        run: The recorded run.
        frame: Link whose acceleration is recomputed; None takes the model's tip.
        window: Length of the smoothing window in s; None chooses it from the data.

    Raises:
        BagError: If no stretch of the run is long enough.
        ParameterError: If the window is shorter than five samples.
        UnknownFrameError: If the model has no such link.
    """
    frame = robot.model.tip_link if frame is None else frame
    robot.frame(frame)
    if not run.log.segments:
        raise BagError(f"topic '{run.topic}' never has positions of all joints at the same time")
    sources = _effort_sources(run, robot.n)
    efforts = [_recorded_efforts(run, segment, sources) for segment in run.log.segments]
    filters = choose_filters(robot, run.log.segments, _effort_scale(efforts), window)
    edge = 2.0 * max(item.half_width for item in filters)
    step = min(item.period for item in filters)
    needed = 2.0 * edge + MIN_SAMPLES * step
    replays, skipped = [], []
    for segment, recorded in zip(run.log.segments, efforts, strict=True):
        if segment.end - segment.start < needed:
            skipped.append((segment.start, segment.end))
            continue
        tip = run.acceleration.epochs[segment.epoch][0] if run.acceleration else None
        replay = _replay_segment(robot, frame, segment, recorded, tip, filters)
        if replay.valid.any():
            replays.append(replay)
        else:
            skipped.append((segment.start, segment.end))
    if not replays:
        longest = max(end - start for start, end in skipped)
        raise BagError(
            f"topic '{run.topic}' has no stretch of {needed:.3g} s without gaps, which a window "
            f'of {0.5 * edge:.3g} s needs; the longest is {longest:.3g} s'
        )
    return Replay(run, robot, frame, filters, sources, tuple(replays), tuple(skipped))


def _effort_sources(run: Run, n: int) -> tuple[str, ...]:
    sources = []
    for joint in range(n):
        if any(len(segment.effort[joint].time) for segment in run.log.segments):
            sources.append('measured')
        elif run.commands and any(len(epoch[joint].time) for epoch in run.commands.epochs):
            sources.append('commanded')
        else:
            sources.append('none')
    return tuple(sources)


def _recorded_efforts(run: Run, segment: JointSegment, sources: Sequence[str]) -> list[Samples]:
    efforts = []
    for joint, source in enumerate(sources):
        if source == 'commanded' and run.commands is not None:
            command = run.commands.epochs[segment.epoch][joint]
            efforts.append(command.between(segment.start, segment.end))
        else:
            efforts.append(segment.effort[joint])
    return efforts


def _effort_scale(efforts: Sequence[Sequence[Samples]]) -> FloatArray:
    """Return the RMS of each joint's recorded effort, NaN where there is none, shape (n,)."""
    scale = []
    for pieces in zip(*efforts, strict=True):
        values = np.concatenate([samples.value for samples in pieces])
        scale.append(float(np.sqrt(np.mean(values * values))) if len(values) else np.nan)
    return np.array(scale)


def _replay_segment(
    robot: Robot,
    frame: str,
    segment: JointSegment,
    efforts: Sequence[Samples],
    tip: Samples | None,
    filters: Sequence[JointFilter],
) -> SegmentReplay:
    step = min(item.period for item in filters)
    count = int((segment.end - segment.start) / step + 1e-6) + 1
    time: FloatArray = segment.start + step * np.arange(count, dtype=float)
    states = [_joint_state(segment, k, item, time) for k, item in enumerate(filters)]
    q, qd, qdd = (np.column_stack([state[k] for state in states]) for k in range(3))
    qd_noise, qdd_noise = (np.column_stack([state[k] for state in states]) for k in (3, 4))
    edge = 2.0 * max(item.half_width for item in filters)
    valid = (time >= segment.start + edge) & (time <= segment.end - edge)
    for noise in (qd_noise, qdd_noise):
        usual = np.nanmedian(noise, axis=0)
        valid &= np.all(noise <= THIN_FIT_GAIN * usual, axis=1)
    weights = [item.weights(step) for item in filters]
    gravity = robot.gravity_vector(q)
    terms = {
        'inertia': robot.inverse_dynamics(q, np.zeros_like(q), qdd) - gravity,
        'coriolis': _average_columns(robot.coriolis_vector(q, qd), weights),
        'gravity': _average_columns(gravity, weights),
        'friction': _average_columns(robot.joint_friction(qd), weights),
    }
    recorded = np.column_stack([_interpolate(samples, time) for samples in efforts])
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
        _average_columns(recorded, weights),
        valid,
        effort_noise,
        tip_recorded,
        tip_recomputed,
        tip_noise,
    )


def _joint_state(
    segment: JointSegment, joint: int, item: JointFilter, time: FloatArray
) -> tuple[FloatArray, ...]:
    """Return position, velocity, acceleration and the noise of the last two, each (N,)."""
    place = _fit(segment.position[joint], time, item)
    if not item.from_velocity:
        noise = item.noise * place.gain
        return place.value, place.slope, place.curvature, noise[:, 1], noise[:, 2]
    rate = _fit(segment.velocity[joint], time, item)
    noise = item.noise * rate.gain
    return place.value, rate.value, rate.slope, noise[:, 0], noise[:, 1]


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
