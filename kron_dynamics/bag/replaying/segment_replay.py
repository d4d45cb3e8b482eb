# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recomputation of one segment of a run.

The acceleration that a filter returns is the true one averaged with known weights. The other terms
of the effort, the recorded efforts and the recorded accelerations are averaged with the same
weights before they are compared, so smoothing does not cause residuals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kron_dynamics.bag.reading.spool import Spool, release
from kron_dynamics.bag.replaying.elastic_motion import modal_blocks
from kron_dynamics.bag.replaying.filters import JointFilter
from kron_dynamics.bag.replaying.row_signals import JointSmoothing, interpolated_joints
from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, FloatArray

# Rows are not compared where more than this share of the window bridges missing samples.
MOST_BRIDGED = 0.1
# Number of rows at which the noise of a long segment is evaluated, and how many are consecutive.
NOISE_SAMPLES, TOGETHER = 1024, 16
# Rows per block for the motion of flexible links, and number of blocks after which the memory of
# file-backed tables is released.
_ROWS, _PARTS_HELD = 8192, 16
TERMS = ('inertia', 'coriolis', 'gravity', 'friction')


@dataclass(frozen=True)
class SegmentReplay:
    """A recomputed segment or a part of one. Columns are joints, in coordinate order.

    Attributes:
        segment: index of the run's segment, from 0.
        epoch: number of clock restarts before it.
        time: evenly spaced times in s, shape (N,).
        position: smoothed, shape (N, n), in rad or m.
        velocity: smoothed, shape (N, n), in rad/s or m/s.
        acceleration: averaged, shape (N, n), in rad/s^2 or m/s^2.
        terms: the averaged terms of the effort by name (see TERMS), shape (N, n), in N m or N.
        recorded: recorded efforts, averaged, shape (N, n); NaN where there is none.
        sliding: velocities and their signs, averaged likewise, shape (N, 2 n): what viscous and
            Coulomb friction are proportional to.
        valid: mask of the rows that are compared, shape (N,): a whole window from the segment's
            ends, and hardly any missing samples are bridged.
        effort_noise: standard deviation of each recomputed effort due to the noise of the joints'
            samples, RMS over the segment, shape (n,), in N m or N.
        deflection: modal coordinates of flexible links, smoothed, shape (N, m), in m.
        deflection_rate: their rates, smoothed, shape (N, m), in m/s.
        tip_velocity: linear and angular velocity of the tip, base axes, shape (N, 6).
        tip_recorded: recorded acceleration of the tip, averaged, linear then angular, base axes,
            shape (N, 6), in m/s^2 and rad/s^2; NaN where there is none.
        tip_recomputed: the same from the joints' motion, shape (N, 6).
        tip_noise: its standard deviation due to the noise of the joints' samples, shape (6,).
    """

    segment: int
    epoch: int
    time: FloatArray
    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    terms: dict[str, FloatArray]
    recorded: FloatArray
    sliding: FloatArray
    valid: BoolArray
    effort_noise: FloatArray
    deflection: FloatArray
    deflection_rate: FloatArray
    tip_velocity: FloatArray
    tip_recorded: FloatArray
    tip_recomputed: FloatArray
    tip_noise: FloatArray

    @cached_property
    def recomputed(self) -> FloatArray:
        """Recomputed efforts, shape (N, n), in N m or N."""
        return np.asarray(sum(self.terms[name] for name in TERMS))

    @cached_property
    def residual(self) -> FloatArray:
        """Recorded minus recomputed efforts, shape (N, n), in N m or N."""
        return self.recorded - self.recomputed


class SegmentPlan:
    """Recomputation of a segment: everything that is common to its rows.

    Attributes:
        number: index of the run's segment, from 0.
        segment: the segment as recorded.
        robot: the robot, with flexible links if it has any.
        count: number of rows.
        step: their time step in s.
    """

    def __init__(
        self,
        robot: Robot,
        frame: str,
        segment: JointSegment,
        efforts: Sequence[Samples],
        tip: Samples | None,
        filters: Sequence[JointFilter],
        smoothing: JointSmoothing,
        number: int,
    ) -> None:
        """Estimate the noise of a segment and the motion of flexible links in it.

        Args:
            robot: the robot. The motion of flexible links is computed by `modal_blocks` for the
                whole segment and stored, in a file if it is long.
            frame: link whose acceleration is recomputed.
            segment: the recorded motion.
            efforts: recorded efforts of each joint; may hold no samples.
            tip: recorded accelerations of that link, or None.
            filters: filter of each joint's acceleration.
            smoothing: the smoothing of these filters.
            number: index of the segment.
        """
        self.number, self.segment = number, segment
        self.step = filters[0].step
        self.count = int((segment.end - segment.start) / self.step + 1e-6) + 1
        self.robot, self._frame, self._filters = robot, frame, filters
        self._efforts, self._smoothing = efforts, smoothing
        self._tip = None if tip is None else tip.between(segment.start, segment.end)
        # All windows have the same length.
        self._rows = filters[0].half_count
        self._measure_noise()
        self._modal = self._modal_motion() if robot.model.is_flexible else None

    def _modal_motion(self) -> FloatArray:
        """Return modal coordinates, rates and accelerations in all rows, shape (N, 3 m)."""

        def parts() -> Iterator[tuple[FloatArray, BoolArray]]:
            for number, first in enumerate(range(0, self.count, _ROWS)):
                last = min(first + _ROWS, self.count)
                *joints, fitted = self._joint_motion(first, last)
                yield np.stack(joints), fitted
                if not number % _PARTS_HELD:
                    release()

        modes = self.robot.n - self.robot.model.joint_count
        spool = Spool(float, 3 * modes)
        for block in modal_blocks(self.robot, self.step, parts()):
            spool.append(np.hstack(list(block)))
        return np.asarray(spool.table())

    def _time(self, first: int, last: int) -> FloatArray:
        return np.asarray(self.segment.start + self.step * np.arange(first, last, dtype=float))

    def _joint_motion(
        self, first: int, last: int
    ) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """Return smoothed q, qd and qdd in some rows, (N, n) each, and where good, (N,)."""
        begin, end = max(0, first - self._rows), min(self.count, last + self._rows)
        rows = slice(first - begin, last - begin)
        *motion, bridged = self._smoothing.motion(self.segment, self._time(begin, end))
        fitted = self._within(first, last, 1) & (bridged[rows] <= MOST_BRIDGED)
        # In the order of kernels, which would copy them at every call.
        q, qd, qdd = (np.ascontiguousarray(each[rows]) for each in motion)
        return q, qd, qdd, fitted

    def _within(self, first: int, last: int, windows: int) -> BoolArray:
        """Return which rows are some half windows away from the segment's ends, shape (N,)."""
        time, edge = self._time(first, last), windows * self._filters[0].half_width
        return np.asarray((time >= self.segment.start + edge) & (time <= self.segment.end - edge))

    def _measure_noise(self) -> None:
        parts = []
        for first, last in _some_rows(self.count):
            q, qd, _, fitted = self._joint_motion(first, last)
            parts.append((q, qd, fitted & self._within(first, last, 2)))
        q, qd, valid = (np.concatenate([part[k] for part in parts]) for k in range(3))
        self.effort_noise, self.tip_noise = _propagate(
            self.robot.rigid, self._frame, q[valid], qd[valid], self._filters
        )

    def rows(self, first: int, last: int, effort_delay: float) -> SegmentReplay:
        """Return the recomputed rows [first, last).

        Args:
            first: index of the first row.
            last: index after the last row, at most `count`.
            effort_delay: delay of the stamps of recorded efforts, in s.
        """
        robot = self.robot
        begin, end = max(0, first - self._rows), min(self.count, last + self._rows)
        time = self._time(begin, end)
        q, qd, qdd, fitted = self._joint_motion(begin, end)
        x, xd, xdd = q, qd, qdd  # of all coordinates
        if self._modal is not None:
            modal = np.hsplit(self._modal[begin:end], 3)
            x, xd, xdd = (np.hstack(pair) for pair in zip((q, qd, qdd), modal, strict=True))
        n, still = q.shape[1], np.zeros_like(x)
        gravity = robot.gravity_vector(x)
        # Contiguous along the rows, as averages are: sums over the rows are then faster.
        inertia = np.asfortranarray((robot.inverse_dynamics(x, still, xdd) - gravity)[:, :n])
        coriolis, friction = robot.coriolis_vector(x, xd), robot.joint_friction(xd)
        recorded = interpolated_joints(self._efforts, time + effort_delay)
        *others, recorded, speed, sign = self._smoothing.averaged(
            [coriolis[:, :n], gravity[:, :n], friction[:, :n], recorded, qd, np.sign(qd)]
        )
        tip_velocity, tip_recorded, tip_recomputed = self._tip_motion(time, x, xd, xdd)
        rows = slice(first - begin, last - begin)
        return SegmentReplay(
            self.number,
            self.segment.epoch,
            time[rows],
            q[rows],
            qd[rows],
            qdd[rows],
            {name: term[rows] for name, term in zip(TERMS, (inertia, *others), strict=True)},
            recorded[rows],
            np.hstack((speed[rows], sign[rows])),
            # Averages of smoothed values reach another half window.
            fitted[rows] & self._within(first, last, 2),
            self.effort_noise,
            x[rows, n:],
            xd[rows, n:],
            tip_velocity[rows],
            tip_recorded[rows],
            tip_recomputed[rows],
            self.tip_noise,
        )

    def _tip_motion(
        self, time: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return velocity, recorded and recomputed acceleration of the tip, shape (N, 6) each."""
        link = self.robot.frame(self._frame)
        coasting = link.acceleration(q, qd, np.zeros_like(q))
        averaged = self._smoothing.tip_averaged
        recomputed = link.acceleration(q, qd, qdd) - coasting + averaged(coasting)
        recorded = np.full((len(time), 6), np.nan)
        if self._tip is not None and len(self._tip.time):
            recorded = averaged(interpolated_joints([self._tip], time))
        return link.velocity(q, qd), recorded, recomputed


def _some_rows(count: int) -> list[tuple[int, int]]:
    """Return half-open row ranges that represent a segment: all rows of a short one."""
    if count <= NOISE_SAMPLES:
        return [(0, count)]
    places = np.linspace(0, count - TOGETHER, NOISE_SAMPLES // TOGETHER).astype(int).tolist()
    return [(first, first + TOGETHER) for first in places]


def _propagate(
    robot: Robot, frame: str, q: FloatArray, qd: FloatArray, filters: Sequence[JointFilter]
) -> tuple[FloatArray, FloatArray]:
    """Return the RMS noise of the efforts, shape (n,), and of the tip's acceleration, (6,)."""
    if not len(q):
        return np.full(robot.n, np.nan), np.full(6, np.nan)
    qd_noise = np.array([item.velocity_deviation() for item in filters])
    qdd_squares = np.array([item.acceleration_noise() for item in filters]) ** 2
    mass = robot.mass_matrix(q)
    inertia = (mass * mass) @ qdd_squares
    friction = 0.5 * (robot.joint_friction(qd + qd_noise) - robot.joint_friction(qd - qd_noise))
    jacobian = robot.frame(frame).jacobian(q)
    tip = (jacobian * jacobian) @ qdd_squares
    return (
        np.sqrt(np.mean(inertia + friction * friction, axis=0)),
        np.sqrt(np.mean(tip, axis=0)),
    )
