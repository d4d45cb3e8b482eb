# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of accelerations and payloads estimated from simulated recordings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import kron_dynamics as kd
from benchmarks.known_recordings import Recording, Simulated
from kron_dynamics.bag.replaying.filters import JointFilter, choose_filters
from kron_dynamics.bag.replaying.row_signals import JointSmoothing
from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.payload_estimate import PayloadEstimate
from kron_dynamics.identification.payload_friction import payload_beside_friction, payload_rows
from kron_dynamics.identification.rows import Rows
from kron_dynamics.model.payload import RigidPayload
from kron_dynamics.typing import FloatArray

Row = dict[str, Any]
Lines = list[tuple[str, str]]


def payloads_beside_friction(simulated: Simulated, seed: int) -> Row:
    """Return `payloads` for a machine with load-dependent friction, 3 % of each joint's effort."""
    return payloads(simulated, seed, 0.03)


def payloads(simulated: Simulated, seed: int, friction: float = 0.0) -> Row:
    """Return the payloads identified in a run, with the true ones.

    Args:
        simulated: the machine.
        seed: seed of the run.
        friction: load-dependent friction as a share of the effort, which descriptions lack.
    """
    robot, machine = simulated.described, simulated.machine
    empty = simulated.empty(seed)
    loaded, loads = simulated.loaded(seed)
    if friction:
        passage = friction_coefficients(robot.model)[:, 2]
        empty, loaded = (item.rubbed(friction, passage) for item in (empty, loaded))
    filters = choose_filters(robot, [empty.segment(True)], _usual(empty))
    rows = [rows_of(robot, item, filters, machine.width) for item in (loaded, empty)]
    center = None if machine.place else np.zeros(3)
    fit = payload_beside_friction(robot, simulated.link, *rows, center=center)
    # Midpoints of the two stretches with constant payload, s.
    middles = [share * machine.duration for share in (0.25, 0.75)]
    estimates = [
        _compared(next((p for p in fit.pieces if middle < p.end), fit.pieces[-1]), load)
        for middle, load in zip(middles, loads, strict=True)
    ]
    return {'pieces': len(fit.pieces), 'estimates': estimates}


def _compared(found: PayloadEstimate, true: RigidPayload) -> Row:
    """Return an identified and the true payload, in kg and m."""
    row: Row = {'mass': true.mass, 'found': found.mass, 'interval': list(found.mass_interval)}
    if any(true.center_of_mass):
        row['center'] = [float(x) for x in found.center_of_mass - true.center_of_mass]
        row['center_half'] = [float(x) for x in 0.5 * np.ptp(found.center_interval, axis=1)]
    return row


def payload_lines(rows: Sequence[Row]) -> Lines:
    """Return lines that summarize the runs of a machine."""
    pairs = [estimate for row in rows for estimate in row['estimates']]
    true = np.array([pair['mass'] for pair in pairs])
    errors = np.abs(np.array([pair['found'] for pair in pairs]) / true - 1.0)
    low, high = np.array([pair['interval'] for pair in pairs]).T
    holds = (low <= true) & (true <= high)
    once = sum(row['pieces'] == 2 for row in rows)
    lines = [
        ('payload within 2 %', _share(errors < 0.02)),
        ('error of a mass, median and largest', f'{_percents(np.median(errors), errors.max())}'),
        ('masses that the 95 % interval holds', _share(holds)),
        ('half an interval, median', _percents(np.median((high - low) / (2.0 * true)))),
        ('runs with one change found', f'{once} of {len(rows)}'),
    ]
    centers = [pair for pair in pairs if 'center' in pair]
    if centers:
        off = np.abs([pair['center'] for pair in centers])
        half = np.array([pair['center_half'] for pair in centers])
        lines += [
            ('coordinates of the centre of mass likewise', _percents(np.mean(off < half))),
            ('their error, median', f'{1e3 * np.median(off):.2g} mm'),
        ]
    return lines


def rows_of(
    robot: kd.Robot, recording: Recording, filters: Sequence[JointFilter], width: float
) -> Rows:
    """Return regressor and efforts of a recording, with the motion smoothed."""
    segment = recording.segment(True)
    q, qd, _, _ = JointSmoothing(filters).motion(segment, recording.time)
    inner = slice(filters[0].half_count, -filters[0].half_count)
    motion = Motion(recording.time[inner], q[inner], qd[inner], recording.effort[inner])
    return payload_rows(robot, motion, width)


def accelerations(simulated: Simulated, seed: int) -> Row:
    """Return ratios of the errors of joint accelerations in a run, shape (n,) each.

    `both`: error of central differences of velocities over our error from positions and
    velocities; `positions`: error of second differences over our error from positions alone;
    `stated`: our stated error over our true error.
    """
    robot, recording = simulated.described, simulated.empty(seed)
    period, effort = float(recording.time[1]), _usual(recording)
    plain = np.gradient(recording.qd, period, axis=0)[1:-1]
    twice = np.diff(recording.q, 2, axis=0) / period**2
    row: Row = {}
    for name, velocities, other in (('both', True, plain), ('positions', False, twice)):
        segment = recording.segment(velocities)
        filters = choose_filters(robot, [segment], effort)
        found = JointSmoothing(filters).motion(segment, recording.time)[2]
        reach = filters[0].half_count
        found[:reach] = found[len(found) - reach :] = np.nan
        error = (found - recording.acceleration)[1:-1]
        inner = np.isfinite(error).all(axis=1)
        rms = np.sqrt(np.mean(error[inner] ** 2, axis=0))
        theirs = np.sqrt(np.mean((other - recording.acceleration[1:-1])[inner] ** 2, axis=0))
        row[name] = (theirs / rms).tolist()
        if velocities:
            stated = np.array([item.acceleration_error() for item in filters])
            row['stated'] = (stated / rms).tolist()
    return row


def acceleration_lines(rows: Sequence[Row]) -> Lines:
    """Return lines that summarize the runs of a machine."""
    both, positions, stated = (
        np.array([row[name] for row in rows]) for name in ('both', 'positions', 'stated')
    )
    return [
        (
            'error of central differences of velocities over that of here, least and median',
            f'{both.min():.3g}, {np.median(both):.3g}',
        ),
        (
            'of second differences of positions, least and median',
            f'{positions.min():.3g}, {np.median(positions):.3g}',
        ),
        (
            'stated over true error of accelerations',
            f'{stated.min():.2f} to {stated.max():.2f}, median {np.median(stated):.2f}',
        ),
    ]


def _usual(recording: Recording) -> FloatArray:
    return np.asarray(np.sqrt(np.mean(recording.effort**2, axis=0)))


def _share(held: FloatArray) -> str:
    return f'{int(np.sum(held))} of {len(held)}'


def _percents(*shares: float) -> str:
    return ', '.join(f'{100.0 * share:.3g} %' for share in shares)
