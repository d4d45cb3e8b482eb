# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded signals at the rows of a replay: smoothed, interpolated, averaged.

Joints with the same stamps, mostly all of them, are processed together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from kron_dynamics.bag.replaying.filters import JointFilter
from kron_dynamics.bag.replaying.resampling import (
    BRIDGED_PERIODS,
    LEAST_DISTANCE,
    ON_GRID,
    MovingSums,
    around,
    cubic,
    on_grid,
)
from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import GAP_PERIODS, JointSegment
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

Item = TypeVar('Item')
_ORDERS = ('value', 'slope', 'curvature')


class JointSmoothing:
    """The filters of all joints, applied together."""

    def __init__(self, filters: Sequence[JointFilter]) -> None:
        """Collect the weights of the filters.

        Args:
            filters: filter of each joint, with windows of the same length.
        """
        self._filters = filters
        uses_velocity = any(item.signals != 'position' for item in filters)
        self._signals = ('position', 'velocity') if uses_velocity else ('position',)
        taps = [
            [
                np.column_stack([_taps(item, signal, order) for item in filters])
                for order in _ORDERS
            ]
            for signal in self._signals
        ]
        self._motion = MovingSums(np.array(taps))
        self._weights = np.column_stack([item.weights for item in filters])
        self._bridged = MovingSums(np.abs(self._weights)[None, None])
        # The tip's components mix all joints: they are averaged with the widest average.
        widest = min((item.weights for item in filters), key=np.linalg.norm)
        self._tip = MovingSums(np.broadcast_to(widest[:, None], (len(widest), 6))[None, None])
        self._average = MovingSums(self._weights[None, None])

    def motion(
        self, segment: JointSegment, time: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return q, qd and qdd, (N, n) each, and the bridged share of the window, (N,).

        The motion is NaN in half a window at each end. The share is the largest of all joints.

        Args:
            segment: the recorded motion.
            time: times in s, shape (N,), with the time step of the filters.
        """
        found = [_gridded(segment, self._filters, signal, time) for signal in self._signals]
        q, qd, qdd = self._motion([grid for grid, _ in found])
        bridged = np.logical_or.reduce([missing for _, missing in found])
        share = np.zeros(len(time))
        if bridged.any():
            share = self._bridged([bridged.astype(float)])[0].max(axis=1)
        return q, qd, qdd, share

    def averaged(self, tables: Sequence[FloatArray]) -> FloatArray:
        """Return k quantities of the joints, averaged with the weights of their accelerations.

        Args:
            tables: evenly spaced values of each quantity, shape (N, n).

        Returns:
            Averages, shape (k, N, n).
        """
        return self._average(tables)

    def tip_averaged(self, table: FloatArray) -> FloatArray:
        """Return the moving averages of a vector of the tip, shape (N, 6)."""
        return np.asarray(self._tip([table])[0])


def _taps(item: JointFilter, signal: str, order: str) -> FloatArray:
    """Return a signal's weights for the value, slope or curvature, shape (2 m + 1,)."""
    is_place = (signal, order) == ('position', 'value')
    kernels = item.place_kernels if is_place else item.kernels
    weights: FloatArray = getattr(getattr(kernels, signal), order)
    return weights


def _gridded(
    segment: JointSegment, filters: Sequence[JointFilter], signal: str, time: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return a signal at grid times and which are bridged, (N, n) each; 0 where not used."""
    grid = np.zeros((len(time), len(filters)))
    bridged = np.zeros(grid.shape, dtype=bool)
    of_velocity = signal == 'velocity'
    window = 2.0 * filters[0].half_width
    used = [
        (k, getattr(segment, signal)[k], item.velocity_period if of_velocity else item.period)
        for k, item in enumerate(filters)
        if not of_velocity or item.signals != 'position'
    ]
    for together in alike(used, [(*stamps_key(samples), period) for _, samples, period in used]):
        _, samples, period = together[0]
        first, last = around(samples.time, time)
        values = np.column_stack([each.value[first:last] for _, each, _ in together])
        joints = [k for k, _, _ in together]
        near = Samples(samples.time[first:last], values)
        grid[:, joints], missing = on_grid(near, time, period, window)
        bridged[:, joints] = missing[:, None]
    return grid, bridged


def interpolated_joints(signals: Sequence[Samples], time: FloatArray) -> FloatArray:
    """Return interpolated values in columns, shape (N, n), NaN where samples are too far apart.

    Values are on cubics through two samples on each side, because a line attenuates the motion, or
    on lines where these are no neighbours.

    Args:
        signals: each joint's samples, or one signal of n columns; may hold none.
        time: increasing times in s, shape (N,).
    """
    widths = [samples.value.shape[1] if samples.value.ndim > 1 else 1 for samples in signals]
    columns = np.cumsum([0, *widths])
    found = np.full((len(time), int(columns[-1])), np.nan)
    numbered = list(enumerate(signals))
    for together in alike(numbered, [stamps_key(samples) for _, samples in numbered]):
        if len(together[0][1].time) >= 2:
            chosen = np.concatenate([np.arange(columns[k], columns[k + 1]) for k, _ in together])
            found[:, chosen] = _interpolated([samples for _, samples in together], time)
    return found


def _interpolated(together: Sequence[Samples], time: FloatArray) -> FloatArray:
    """Return values of signals with the same stamps, at least two, shape (N, k)."""
    stamps = together[0].time
    first, last = _within(together[0], float(time[0]), float(time[-1]))
    first, last = max(0, first - 2), min(len(stamps), last + 2)
    first, last = min(first, len(stamps) - 2), max(last, 2, first + 2)
    near = stamps[first:last]
    values = np.column_stack([samples.value[first:last] for samples in together])
    begin = int(np.searchsorted(near, time[0] - ON_GRID))
    same = slice(begin, begin + len(time))
    if len(near[same]) == len(time) and np.abs(near[same] - time).max() <= ON_GRID:
        return np.asarray(values[same])
    after = np.searchsorted(near, time, side='left').clip(1, len(near) - 1)
    distance = near[after] - near[after - 1]
    share = ((time - near[after - 1]) / distance).clip(0.0, 1.0)
    found: FloatArray = values[after - 1]
    found += share[:, None] * (values[after] - found)
    period = together[0].period
    inner = _between_neighbours(near, after, period) & (time >= near[0]) & (time <= near[-1])
    if inner.any():
        base = found[inner]
        found[inner] = cubic(near, values, time[inner], after[inner] - 2, base)
    outside = (time < stamps[0] - period) | (time > stamps[-1] + period)
    found[outside | (distance > GAP_PERIODS * period)] = np.nan
    return found


def _between_neighbours(stamps: FloatArray, after: IntArray, period: float) -> BoolArray:
    """Return where the two samples on each side follow one another, shape (N,).

    Args:
        stamps: stamps of the samples in s, increasing, shape (M,).
        after: index of the first sample after each time, 1 to M - 1, shape (N,).
        period: usual period of the samples in s.
    """
    apart = np.diff(stamps)
    # Between two samples almost at the same time, a cubic would multiply their noise.
    is_usual = (apart >= LEAST_DISTANCE * period) & (apart <= BRIDGED_PERIODS * period)
    is_usual = np.concatenate(([False], is_usual, [False]))
    return np.asarray(is_usual[after - 1] & is_usual[after] & is_usual[after + 1])


def _within(samples: Samples, start: float, end: float) -> tuple[int, int]:
    """Return the half-open index range of the samples with start <= time <= end."""
    first = int(np.searchsorted(samples.time, start, side='left'))
    return first, int(np.searchsorted(samples.time, end, side='right'))


def stamps_key(samples: Samples) -> tuple[int, int, int]:
    """Return a key that is equal only for signals that share their array of times.

    Args:
        samples: the signal.
    """
    place = samples.time.__array_interface__['data'][0]
    return int(place), len(samples.time), samples.time.strides[0]


def alike(items: Sequence[Item], keys: Iterable[Hashable]) -> list[list[Item]]:
    """Return items grouped by equal keys, in the order of the first item of each group.

    Args:
        items: any objects.
        keys: key of each item.
    """
    groups: dict[Hashable, list[Item]] = {}
    for item, key in zip(items, keys, strict=True):
        groups.setdefault(key, []).append(item)
    return list(groups.values())
