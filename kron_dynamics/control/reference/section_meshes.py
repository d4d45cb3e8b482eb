# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Meshes of a path section: rough duration, and distribution of the intervals."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.path_sections import PathSection
from kron_dynamics.control.reference.path_terms import Limits, path_terms
from kron_dynamics.control.reference.rest_map import RestMap
from kron_dynamics.control.reference.retiming_refusals import refuse_standing
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray, IndexArray

# Number of intervals of the coarse mesh; of the fine mesh, without and with effort rate limits;
# and in addition per piece of the path, without and with effort rate limits.
_COARSE, _FINE, _FINE_RATES, _EACH, _EACH_RATES = 16, 160, 44, 40, 8
# Number of pieces after which each further piece adds only _EACH_RATES intervals.
_MANY = 10
# Share of the coarse intervals in each zone of a rest.
_ZONE_SHARE = 0.3
# Shares of the fine intervals distributed by time, by change of u, and to each zone of a rest.
_TIME_SHARE, _TURN_SHARE, _REST_SHARE = 0.4, 0.4, 0.1
# Smallest width of a zone relative to the duration: with less, the rounding of times near the end
# is too coarse.
_BRIEFEST = 1e-6
# Largest share of an effort rate limit that the rounding of positions may take. The quintic of a
# piece of the time h has a jerk that is wrong by 60 e / h^3 if its positions are wrong by e.
# Distance of the places, among those of the coarse mesh, at which the time is found, and least of
# it, s, if nothing is rounded.
_NOISE, _JERK_ERROR = 1e-5, 60.0 * float(np.finfo(float).epsneg)
_FEW, _LEAST = 8, 1e-12
# Largest ratio of neighbouring intervals: beside a far shorter interval, the spline coefficient of
# a long one would have to describe both.
_GROWTH = 8.0
# Largest rotation of a joint within an interval, rad, because gravity depends on the angle; for
# the coarse mesh, whose intervals are a few times longer, and for the fine one.
COARSE_TURN, FINE_TURN = 2.0, 1.0
# Most iterations for the cruising speed.
_MOST_TRIALS = 100


def rest_map_of(robot: Robot, section: PathSection, limits: Limits) -> RestMap:
    """Return the rest map of a section, whose parameter r is approximately the time.

    It follows from a rough duration of the section and of the acceleration at both rests.

    Raises:
        TrajectoryError: gravity leaves no effort, or no effort is limited; names the position.
    """
    s = np.linspace(section.breaks[0], section.breaks[-1], 33)
    s[[0, -1]] = s[[1, -2]]  # because q' may be 0 at the ends
    terms = path_terms(robot, *section.derivatives(s, section.piece_at(s)))
    refuse_standing(robot, section, s, terms.weight, limits.effort)
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
            f'no limit applies to the joints that move {section.place(float(s[0]))} or '
            f'{section.place(float(s[-1]))}, expected limits of their efforts'
        )
    speed = np.minimum(speed, 10.0 * np.sort(speed)[speed.size // 2])
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
        if orders[k] > 1:  # s is the time of a trajectory that accelerates in its first piece
            zones[k] = duration * sizes[k] / section.length
    first, last = np.clip(zones, _BRIEFEST * duration, 0.5 * duration).tolist()
    power = 3.0 if np.isfinite(limits.effort_rate).any() else 2.0
    powers = (power / orders[0], power / orders[1])
    return RestMap(float(section.breaks[0]), section.length, duration, (first, last), powers)


def coarse_nodes(rest_map: RestMap, breaks: FloatArray) -> FloatArray:
    """Return the nodes of the coarse mesh, shape (N + 1,), dense beside both rests."""
    (first, last), duration = rest_map.zones, rest_map.duration
    sizes = np.array([first, duration - first - last, last])
    shares = (1.0 - 2.0 * _ZONE_SHARE) * sizes / duration
    shares[[0, 2]] += _ZONE_SHARE
    return _nodes(breaks, np.array([0.0, first, duration - last, duration]), shares, _COARSE)


def shortest_interval(robot: Robot, mesh: Mesh, limit: FloatArray) -> float:
    """Return the time of an interval, s, in which the rounding of positions spoils no effort rate.

    Args:
        robot: the machine.
        mesh: coarse mesh, without friction.
        limit: limits of effort rates, shape (n,), inf for none.
    """
    q, _, _, _, _, weight = (values[::_FEW] for values in mesh.terms)
    moved = robot.inverse_dynamics(q, np.zeros_like(q), np.abs(q)) - weight
    found = float(np.cbrt((np.abs(moved) / limit).max() * (_JERK_ERROR / _NOISE)))
    return max(found, _LEAST)


def fine_nodes(
    mesh: Mesh, c: FloatArray, rest_map: RestMap, breaks: FloatArray, shortest: float | None
) -> FloatArray:
    """Return the nodes of the fine mesh, shape (N + 1,), dense where the coarse solution varies.

    Args:
        mesh: the coarse mesh.
        c: coefficients of the coarse solution.
        rest_map: rest map of the section.
        breaks: breaks between pieces of the path, and both ends, r.
        shortest: time of the shortest interval that is of use, s; None without effort rate limits.
    """
    x, u = mesh.motion(c)
    time = 2.0 * mesh.sizes / (np.sqrt(x[:-1]) + np.sqrt(x[1:]))
    turn = np.abs(np.diff(u))
    shares = _TIME_SHARE * time / time.sum() + _TURN_SHARE * turn / turn.sum()
    middle = mesh.centers[1:-1]
    first, last = rest_map.zones
    for zone in (middle < first, middle > rest_map.duration - last):
        shares[zone] += _REST_SHARE * mesh.sizes[zone] / mesh.sizes[zone].sum()
    pieces = breaks.size - 1
    count = _FINE_RATES + _EACH_RATES * pieces
    if shortest is None:
        count = _FINE + _EACH_RATES * pieces + (_EACH - _EACH_RATES) * min(pieces, _MANY)
        return _nodes(breaks, mesh.nodes, shares, count)
    return _nodes(breaks, mesh.nodes, shares, count, time / shortest)


def _nodes(
    breaks: FloatArray,
    r: FloatArray,
    shares: FloatArray,
    count: int,
    most: FloatArray | None = None,
) -> FloatArray:
    """Nodes of about `count` intervals with given shares between the points r, and at breaks.

    No more than `most` of them are between two points r, unless there are more breaks.
    """
    dense = shares * (count / shares.sum())
    fewest: IndexArray | int = 2
    if most is not None:
        dense = np.minimum(dense, most)
        room = np.diff(np.interp(breaks, r, np.concatenate(([0.0], np.cumsum(most)))))
        fewest = np.clip(room, 1.0, 2.0).astype(int)
    spent = np.concatenate(([0.0], np.cumsum(dense)))
    at = np.interp(breaks, r, spent)
    many = np.maximum(fewest, np.ceil((1.0 - 1e-9) * np.diff(at))).astype(int)
    piece, inside = _divisions(many)
    nodes = np.interp(at[piece] + inside * (np.diff(at) / many)[piece], spent, r)
    nodes[inside == 0] = breaks[:-1]
    return _graded(np.append(nodes, breaks[-1]))


def _divisions(many: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Intervals, and numbers in their interval, of parts into which intervals are divided."""
    interval = np.repeat(np.arange(many.size), many)
    return interval, np.arange(interval.size) - (np.cumsum(many) - many)[interval]


def divided_by_turns(
    robot: Robot, section: PathSection, rest_map: RestMap, mesh: Mesh, most: float
) -> Mesh:
    """Return a mesh with intervals divided where joints rotate too far.

    Args:
        robot: the machine.
        section: section of the path.
        rest_map: rest map of the section.
        mesh: mesh with N intervals.
        most: largest rotation of a joint in an interval, rad.

    Returns:
        mesh with N intervals or more; the same object if no interval is divided.
    """
    turning = [joint_kind(kind).unit('position') == 'rad' for kind in robot.model.joint_types]
    q, nodes = mesh.terms.position[::2, turning], mesh.nodes
    ways = np.abs(np.diff(q, axis=0)).max(axis=1, initial=0.0)
    if ways.max() <= most:
        return mesh
    many = np.maximum(np.ceil(ways / most), 1.0).astype(int)
    interval, inside = _divisions(many)
    divided = nodes[interval] + inside * (np.diff(nodes) / many)[interval]
    return Mesh.of(robot, section, rest_map, _graded(np.append(divided, nodes[-1])))


def _graded(nodes: FloatArray) -> FloatArray:
    """Divide intervals until none is more than _GROWTH times as long as a neighbour."""
    while True:
        padded = np.full(nodes.size + 1, np.inf)
        sizes: FloatArray = np.subtract(nodes[1:], nodes[:-1], out=padded[1:-1])
        shorter: FloatArray = np.minimum(padded[:-2], padded[2:])
        long = np.flatnonzero(sizes > 1.001 * _GROWTH * shorter)
        if not long.size:
            return nodes
        before, after, half = padded[long], padded[long + 2], 0.5 * sizes[long]
        cut = np.where(
            before <= after,
            nodes[long] + np.minimum(_GROWTH * before, half),
            nodes[long + 1] - np.minimum(_GROWTH * after, half),
        )
        nodes = np.sort(np.concatenate((nodes, cut)))
