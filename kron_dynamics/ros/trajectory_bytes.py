# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parses a serialized JointTrajectory into arrays without a Python object for every point.

rclpy makes five objects per point while it holds the GIL: 20,000 points block commands for a
tenth of a second. In the serialized message the points are read with strides from one buffer. The
format is trajectory_msgs in XCDR1, as every RMW writes it.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from kron_dynamics.typing import FloatArray

_FIELDS = 4  # positions, velocities, accelerations, effort
_HEADER = 4  # bytes of the encapsulation header: representation and options
_MOST_NAMES = 4096  # a larger count of joints is taken as a parse error


class IrregularPointsError(Exception):
    """The points have different lengths, or the format is unknown: rclpy must deserialize them."""


class RawTrajectory(NamedTuple):
    """The content of a JointTrajectory.

    Attributes:
        stamp: stamp of the header, s.
        joint_names: names of the columns' joints.
        times: times of the points after the start, shape (K,), s.
        rows: positions, velocities and accelerations, shape (K, m) each; None if empty.
    """

    stamp: float
    joint_names: tuple[str, ...]
    times: FloatArray
    rows: tuple[FloatArray | None, FloatArray | None, FloatArray | None]


def raw_trajectory(data: bytes) -> RawTrajectory:
    """Return the content of a serialized trajectory_msgs/JointTrajectory.

    Raises:
        IrregularPointsError: the points have different lengths, or the format is unknown.
    """
    try:
        return _parsed(data)
    except (struct.error, ValueError, IndexError) as error:
        raise IrregularPointsError(str(error)) from error


def _parsed(data: bytes) -> RawTrajectory:
    if data[0] != 0 or data[1] not in (0, 1):
        raise IrregularPointsError(f'representation {data[:2].hex()}')
    order = '<' if data[1] else '>'
    body = memoryview(data)[_HEADER:]
    at = 0

    def number(format_: str = 'I') -> int:
        nonlocal at
        at = (at + 3) & ~3
        (value,) = struct.unpack_from(order + format_, body, at)
        at += 4
        return int(value)

    def text() -> str:
        nonlocal at
        size = number()
        found = bytes(body[at : at + size])
        if len(found) < size:
            raise IrregularPointsError('a text ends early')
        at += size
        return found.rstrip(b'\0').decode()

    stamp = number('i') + 1e-9 * number()
    text()  # frame_id
    count = number()
    if count > _MOST_NAMES:
        raise IrregularPointsError(f'{count} joints')
    names = tuple(text() for _ in range(count))
    points = number()
    at = (at + 3) & ~3
    if not points:
        return RawTrajectory(stamp, names, np.empty(0), (None, None, None))
    return RawTrajectory(stamp, names, *_columns(body, at, points, order))


def _columns(
    body: memoryview, at: int, points: int, order: str
) -> tuple[FloatArray, tuple[FloatArray | None, FloatArray | None, FloatArray | None]]:
    """Return times and rows of points that begin at an offset and have equal lengths."""
    sizes = _lengths(body, at, order)
    # 8-byte numbers are aligned, so padding depends on whether a point starts at a multiple of 8.
    # From the second point on, point sizes therefore alternate or are equal: every other point
    # has the same layout and is equally far from the one before.
    second = at + _offsets(sizes, at)[1]
    third = second + _offsets(sizes, second)[1]
    stride = third - second + _offsets(sizes, third)[1]
    if at + points * (4 * _FIELDS + 8 + 8 * sum(sizes)) > len(body):
        raise IrregularPointsError('the points end early')
    times = np.empty((points, 1))
    rows = [np.empty((points, size)) if size else None for size in sizes[:-1]]
    begins = ((slice(0, 1), at), (slice(1, None, 2), second), (slice(2, None, 2), third))
    for chosen, begin in begins[:points]:
        count = len(times[chosen])
        (*places, end), _ = _offsets(sizes, begin)
        for size, place, row in zip(sizes, places, (*rows, None), strict=True):
            lengths = _every(body, begin + place, stride, (count, 1), order + 'u4')
            if (lengths != size).any():
                raise IrregularPointsError('points of different lengths')
            if row is not None:
                numbers = (begin + place + 4 + 7) // 8 * 8
                row[chosen] = _every(body, numbers, stride, (count, size), order + 'f8')
        seconds = _every(body, begin + end, stride, (count, 1), order + 'i4')
        nanoseconds = _every(body, begin + end + 4, stride, (count, 1), order + 'u4')
        times[chosen] = seconds + 1e-9 * nanoseconds
    return times[:, 0], (rows[0], rows[1], rows[2])


def _every(
    body: memoryview, at: int, stride: int, shape: tuple[int, int], dtype: str
) -> FloatArray:
    """Return equally spaced rows of numbers from an offset on, without a copy."""
    rows: FloatArray = np.ndarray(shape, dtype, body, at, (stride, np.dtype(dtype).itemsize))
    return rows


def _lengths(body: memoryview, at: int, order: str) -> list[int]:
    """Return the sequence lengths of the point at an offset."""
    sizes: list[int] = []
    for _ in range(_FIELDS):
        sizes += struct.unpack_from(order + 'I', body, at)
        at += 4
        if sizes[-1]:
            at = (at + 7) // 8 * 8 + 8 * sizes[-1]
    return sizes


def _offsets(sizes: list[int], at: int) -> tuple[list[int], int]:
    """Return a point's offsets of counts and duration relative to its start, and its size."""
    offsets, begin = [], at
    for size in sizes:
        offsets.append(at - begin)
        at += 4
        if size:
            at = (at + 7) // 8 * 8 + 8 * size
    offsets.append(at - begin)
    return offsets, at + 8 - begin
