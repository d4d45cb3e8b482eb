# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The quickest motion along one section of a path, from rest to rest."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kron_dynamics.control.reference.interior_point import Rows, minimize
from kron_dynamics.control.reference.motion_peaks import MotionSamples
from kron_dynamics.control.reference.path_sections import IntArray, PathSection
from kron_dynamics.control.reference.rest_map import RestMap
from kron_dynamics.control.reference.retiming_problem import (
    QUANTITIES,
    VELOCITY,
    Limits,
    Mesh,
    path_terms,
    rows_of,
)
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

BoolArray = npt.NDArray[np.bool_]

# Intervals of the first, coarse mesh; of the second one, and for each piece of the path, without
# and with limits of effort rates.
_COARSE, _FINE, _FINE_RATES, _EACH, _EACH_RATES = 16, 88, 44, 20, 8
_COARSE_STEPS, _FINE_STEPS = 7, 200
_COARSE_GAP, _FINE_GAP, _FINE_GAP_RATES = 0.1, 1e-4, 2e-3
# Shares of the intervals: of a coarse mesh in each zone of a rest; of a fine one by the time that
# they take, by the change of u, and in each zone.
_ZONE_SHARE = 0.3
_TIME_SHARE, _TURN_SHARE, _REST_SHARE = 0.4, 0.4, 0.1
# Rows are left out where others of their kind are everywhere as much nearer to their bounds, or
# where all are far from them.
_NEAR, _FAR = 0.6, 0.05
# What is asked of a motion between its states is seen afterwards. If it has to be slower by more
# than this, rows are made stricter where it is too much, and the motion is searched again.
_SLOWER, _SLOWER_RATES, _ATTEMPTS = 1.0003, 1.012, 4
# A motion that has to be slower by more than this even then: the mesh does not describe it.
_SLOWEST = 2.0
# Of guesses, each nearer to what is possible.
_MOST_TRIALS = 100
# Share of an effort limit that standing still may take.
_STANDING = 0.9999
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


def quickest(
    robot: Robot, section: PathSection, limits: Limits, friction: bool
) -> tuple[MotionSamples, FloatArray]:
    """Return the quickest motion along a section within limits.

    Returns:
        The motion, and when it is at each break of the section, shape (p + 1,), s.

    Raises:
        TrajectoryError: a limit forbids any motion; names joint, limit and place.
    """
    smooth = bool(np.isfinite(limits.effort_rate).any())
    gap = _FINE_GAP_RATES if smooth else _FINE_GAP
    rest_map = _rest_map(robot, section, limits)
    inner = section.breaks[1:-1]
    breaks = np.concatenate(
        ([0.0], rest_map.inverse(inner) if inner.size else inner, [rest_map.duration])
    )
    mesh = Mesh.of(robot, section, rest_map, _coarse_nodes(rest_map, breaks))
    c = np.ones(mesh.nodes.size + 2)
    if friction:  # r is about the time
        mesh = mesh.with_friction(robot, c)
    _refuse_standing(robot, section, mesh.places, mesh.terms.weight, limits.effort)
    rows, _ = rows_of(mesh, limits)
    for _ in range(_MOST_TRIALS):
        if not rows.allow(2.0 * c):
            break
        c = 2.0 * c
    c = 0.5 * _shrunk(rows, c, 0.5)
    c = minimize(mesh.objective, rows, c, gap=_COARSE_GAP, most=_COARSE_STEPS)[0]
    once, each = (_FINE_RATES, _EACH_RATES) if smooth else (_FINE, _EACH)
    count = once + each * len(section.table)
    finer = Mesh.of(robot, section, rest_map, _fine_nodes(mesh, c, rest_map, breaks, count))
    _refuse_standing(robot, section, finer.places, finer.terms.weight, limits.effort)
    c = np.append(np.interp(finer.centers, mesh.centers, c[:-1]), 1.0)
    rows, about = rows_of(finer.with_friction(robot, c) if friction else finer, limits)
    kept = _near_bounds(rows, c, about)
    best, slowing, duals = None, np.inf, None
    for _ in range(_ATTEMPTS):
        chosen = _chosen(rows, kept)
        c = 0.98 * _shrunk(chosen, c, 0.9)
        c, duals = minimize(finer.objective, chosen, c, duals, gap=gap, most=_FINE_STEPS)
        samples = _samples(robot, finer, c, section.ends, smooth, friction)
        peaks = samples.peaks(limits)
        slower = samples.slowing(limits, peaks)
        if best is None or slower * samples.duration < slowing * best.duration:
            best, slowing = samples, slower
        if slower <= (_SLOWER_RATES if smooth else _SLOWER):
            break
        rows = _tightened(rows, about, peaks)
        missing = (peaks.max(axis=1) > 1.0)[about[0], about[1]] & ~kept
        if missing.any():
            kept, duals = kept | missing, None
    assert best is not None
    if not slowing <= _SLOWEST:
        raise _unmet(robot, section, finer, best.peaks(limits))
    best = best.slowed(slowing)
    while friction and slowing > 1.0:  # it has changed with the speed
        best = MotionSamples.of(robot, best.times, best.states, friction)
        slowing = best.slowing(limits, best.peaks(limits))
        best = best.slowed(slowing)
    return best, best.times[np.searchsorted(finer.nodes, breaks)]


def _refuse_standing(
    robot: Robot, section: PathSection, s: FloatArray, weight: FloatArray, limit: FloatArray
) -> None:
    """Refuse weight, (K, n), and friction at places that efforts hold with nothing left."""
    share = np.abs(weight) / limit
    at, joint = np.unravel_index(int(share.argmax()), share.shape)
    if share[at, joint] >= _STANDING:
        unit = joint_kind(robot.model.joint_types[joint]).unit('effort')
        raise TrajectoryError(
            f"joint '{robot.joint_names[joint]}': effort {weight[at, joint]:.6g} {unit} holds "
            f'against weight and friction {section.place(float(s[at]))}, expected less than '
            f'{100.0 * _STANDING:g} % of the limit {limit[joint]:.6g} {unit}'
        )


def _unmet(robot: Robot, section: PathSection, mesh: Mesh, used: FloatArray) -> TrajectoryError:
    quantity, piece, joint = np.unravel_index(int(used.argmax()), used.shape)
    return TrajectoryError(
        f"joint '{robot.joint_names[joint]}': no speed was found that keeps the limit of the "
        f'{QUANTITIES[quantity]} {section.place(mesh.places[2 * piece + 1])}: it needs '
        f'{used.max():.3g} of it'
    )


def _rest_map(robot: Robot, section: PathSection, limits: Limits) -> RestMap:
    """How long a section takes, roughly, and how long the machine accelerates at both rests."""
    s = np.linspace(section.breaks[0], section.breaks[-1], 33)
    s[[0, -1]] = s[[1, -2]]  # where q' is not 0
    terms = path_terms(robot, *section.derivatives(s, section.piece_at(s)))
    _refuse_standing(robot, section, s, terms.weight, limits.effort)
    left = limits.effort - np.abs(terms.weight)
    with np.errstate(all='ignore'):
        speed = np.minimum(
            (limits.velocity / np.abs(terms.first)).min(axis=1),
            np.sqrt((left / np.abs(terms.bend)).min(axis=1)),
        )
        acceleration = np.minimum(
            (left / np.abs(terms.inertia)).min(axis=1),
            (limits.acceleration / np.abs(terms.first)).min(axis=1),
        )
        jerk = (limits.effort_rate / np.abs(terms.inertia)).min(axis=1)
    ends = acceleration[[0, -1]]
    if not np.isfinite(ends).all():
        raise TrajectoryError(
            f'no limit is about the joints that move {section.place(float(s[0]))} or '
            f'{section.place(float(s[-1]))}, expected limits of their efforts'
        )
    speed = np.minimum(speed, 10.0 * np.median(speed))
    cruise = 1.0 / float(np.mean(1.0 / np.minimum(speed, np.sqrt(section.length * ends.max()))))
    for _ in range(_MOST_TRIALS):
        gained = np.minimum(ends, np.sqrt(cruise * jerk[[0, -1]]))
        zones = cruise / gained + gained / jerk[[0, -1]]
        way = 0.5 * cruise * float(zones.sum())
        if way <= 1.01 * section.length:
            break
        cruise *= (section.length / way) ** 0.5
    duration = float(zones.sum()) + max(section.length - way, 0.0) / cruise
    sizes, orders = np.diff(section.breaks), section.orders
    for k in (0, -1):
        if orders[k] > 1:  # s is a time already, in which the whole piece leaves the rest
            zones[k] = duration * sizes[k] / section.length
    first, last = np.minimum(zones, 0.5 * duration).tolist()
    power = 3.0 if np.isfinite(limits.effort_rate).any() else 2.0
    powers = (power / orders[0], power / orders[1])
    return RestMap(float(section.breaks[0]), section.length, duration, (first, last), powers)


def _coarse_nodes(rest_map: RestMap, breaks: FloatArray) -> FloatArray:
    (first, last), duration = rest_map.zones, rest_map.duration
    sizes = np.array([first, duration - first - last, last])
    shares = (1.0 - 2.0 * _ZONE_SHARE) * sizes / duration
    shares[[0, 2]] += _ZONE_SHARE
    return _nodes(breaks, np.array([0.0, first, duration - last, duration]), shares, _COARSE)


def _fine_nodes(
    mesh: Mesh, c: FloatArray, rest_map: RestMap, breaks: FloatArray, count: int
) -> FloatArray:
    x, u = mesh.motion(c)
    time = mesh.sizes / (np.sqrt(x[:-1]) + np.sqrt(x[1:]))
    turn = np.abs(np.diff(u))
    shares = _TIME_SHARE * time / time.sum() + _TURN_SHARE * turn / turn.sum()
    middle = mesh.centers[1:-1]
    first, last = rest_map.zones
    for zone in (middle < first, middle > rest_map.duration - last):
        shares[zone] += _REST_SHARE * mesh.sizes[zone] / mesh.sizes[zone].sum()
    return _nodes(breaks, mesh.nodes, shares, count)


def _nodes(breaks: FloatArray, r: FloatArray, shares: FloatArray, count: int) -> FloatArray:
    """About `count` intervals, by shares of them between the places r; breaks are nodes."""
    spent = np.concatenate(([0.0], np.cumsum(shares)))
    at = np.interp(breaks, r, spent)
    many = np.maximum(2, np.ceil(count * np.diff(at) / spent[-1])).astype(int).tolist()
    parts = []
    for k, divisions in enumerate(many):
        between = np.linspace(at[k], at[k + 1], divisions + 1)[1:-1]
        parts += [breaks[k : k + 1], np.interp(between, spent, r)]
    return np.concatenate((*parts, breaks[-1:]))


def _shrunk(rows: Rows, c: FloatArray, factor: float) -> FloatArray:
    """Slower, until all rows have slack."""
    while not rows.allow(c):
        c = factor * c
    return c


def _near_bounds(rows: Rows, c: FloatArray, about: IntArray) -> BoolArray:
    """Which rows may matter, (r,), by their values at a motion that is about the quickest."""
    values, steady = np.abs(rows.values(c)), rows.constant.shape[1] - rows.which.size
    kept: BoolArray = about[0] == VELOCITY
    for part in (slice(0, steady), slice(steady, None)):
        among = values[:, part]
        if among.shape[1]:
            top = among.max(axis=1, keepdims=True)
            kept[part] |= ((among > _NEAR * top) & (among > _FAR * top.max())).any(axis=0)
    return kept


def _chosen(rows: Rows, kept: BoolArray) -> Rows:
    which = rows.which[kept[kept.size - rows.which.size :]]
    coefficients = np.ascontiguousarray(rows.coefficients[..., kept])
    return Rows(coefficients, rows.constant[:, kept], rows.places, which)


def _tightened(rows: Rows, about: IntArray, used: FloatArray) -> Rows:
    """Rows stricter by what was used, (4, N, n), beyond limits."""
    over = np.maximum(used, 1.0)
    over[VELOCITY] = np.square(over[VELOCITY].max(axis=1, keepdims=True))
    windows = np.concatenate((over, over[:, -1:]), axis=1)
    windows[:, 1:] = np.maximum(windows[:, 1:], over)
    share = windows[about[0], :, about[1]].T  # (K, r)
    steady = rows.constant.shape[1] - rows.which.size
    # What does not depend on the speed stays: only the rest can be less.
    still, factor, constant = rows.constant[:, :steady], share.copy(), rows.constant * share
    factor[:, :steady] = (share[:, :steady] - still) / (1.0 - still)
    constant[:, :steady] = still
    return Rows(rows.coefficients * factor, constant, rows.places, rows.which)


def _samples(
    robot: Robot, mesh: Mesh, c: FloatArray, ends: FloatArray, smooth: bool, friction: bool
) -> MotionSamples:
    x, u = mesh.motion(c)
    z = 0.5 * (_PLACES + 1.0)
    # x within the intervals, from u at both ends
    rise = 2.0 * u[:-1, np.newaxis] + z * np.diff(u)[:, np.newaxis]
    inside = x[:-1, np.newaxis] + mesh.sizes[:, np.newaxis] * z * rise
    steps = 0.5 * mesh.sizes * (_WEIGHTS / np.sqrt(inside)).sum(axis=1)
    q, first, second = (values[::2] for values in mesh.terms[:3])
    q = q.copy()
    v = first * np.sqrt(x)[:, np.newaxis]
    v[[0, -1]] = 0.0
    q[[0, -1]] = ends
    a = second * x[:, np.newaxis] + first * u[:, np.newaxis]
    if smooth:
        a[[0, -1]] = 0.0
    return MotionSamples.of(robot, np.concatenate(([0.0], np.cumsum(steps))), (q, v, a), friction)
