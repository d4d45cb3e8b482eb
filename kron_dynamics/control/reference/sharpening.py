# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time-optimal motion without effort rate limits, refined by extremal arcs.

The motion follows arcs along active limits exactly; smooth transitions of about a millisecond
join the arcs. Where no feasible arcs are found, a given motion (the guide) is kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kron_dynamics.control.reference.arc_checks import beyond_limits, parts_to_follow
from kron_dynamics.control.reference.arc_nodes import ArcNodes
from kron_dynamics.control.reference.extremal_arcs import Arcs, arcs_of
from kron_dynamics.control.reference.mesh_motion import MeshMotion, hermite
from kron_dynamics.control.reference.motion_peaks import MotionSamples
from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.path_sections import PathSection
from kron_dynamics.control.reference.path_terms import ACCELERATION, EFFORT, VELOCITY, Limits
from kron_dynamics.control.reference.rest_map import RestMap
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Most rounds, and the round from which on the mesh is not refined any more.
_ROUNDS, _SETTLED = 14, 9
# Most nodes relative to those of the initial mesh; with more, only rounding is divided further.
_MOST_NODES = 4
# Accepted relative slow-down, and slow-down factor below which no other search is worthwhile.
_ENOUGH, _EXACT = 3e-8, 1.0 + 1e-6
# Relative violation of a limit above which intervals are divided, or the guide is kept.
_LONG, _FAR = 1e-5, 1e-3
# Margin to a limit in the next round as a multiple of its violation; beside the violation the
# margin decays by a factor e over this share of the motion.
_MARGIN, _SPREAD = 1.3, 0.004
# Initial margins beside rests, at nodes and midpoints of the first intervals.
_AT_REST = np.array([2.0, 2.0, 1.6, 0.8, 0.8, 0.4, 0.4, 0.2, 0.2]) * 1e-6
# Relative violation of a limit above which a transition is made shorter.
_BROAD = 1e-5
# Pieces shorter than this share of the motion are evaluated again with rounded times, at most this
# often, until the ratios to the limits are at most _ROUNDED.
_BRIEF, _MOST_ROUNDINGS, _ROUNDED = 3e-5, 4, 1.0 - 3e-9


class Sharpened(NamedTuple):
    """The fastest motion found, the mesh of its states, and its slow-down.

    Attributes:
        mesh: mesh with the states at its nodes.
        samples: the motion, within limits.
        slower: factor by which the motion along the arcs had to be slowed to keep the limits.
    """

    mesh: Mesh
    samples: MotionSamples
    slower: float

    @property
    def exact(self) -> bool:
        """Whether the slow-down is so small that no other search is worthwhile."""
        return self.slower < _EXACT


def sharpened(
    robot: Robot,
    section: PathSection,
    rest_map: RestMap,
    limits: Limits,
    guess: tuple[Mesh, FloatArray],
    guide: MeshMotion | None = None,
) -> Sharpened | None:
    """Return the fastest motion along extremal arcs; None if none is found.

    Args:
        robot: the machine.
        section: section of the path.
        rest_map: rest map of the section.
        limits: limits; those of effort rates are ignored.
        guess: initial mesh, and approximate x at its nodes, shape (N + 1,).
        guide: a motion within limits, used where arcs violate limits.
    """
    mesh, best = guess[0], None
    nodes = ArcNodes(mesh, rest_map.inverse(section.breaks[1:-1]))
    roof, about = _Roof(guide), (mesh.nodes, guess[1])
    margins, settled = _rest_margins(mesh), _SETTLED
    for k in range(_ROUNDS):
        arcs = arcs_of(mesh, limits, roof, np.interp(mesh.nodes, *about), margins)
        if arcs is None:
            break
        about = (mesh.nodes, arcs.x)
        u = arcs.slopes()
        beyond = beyond_limits(arcs, u)
        parts = parts_to_follow(arcs, u, limits, beyond)
        if mesh.nodes.size > _MOST_NODES * guess[0].nodes.size:
            settled = 0
        places = nodes.refined(arcs, u, parts, beyond) if k < settled else None
        if places is None:
            if roof.lowered(mesh.nodes[1:-1][beyond > _FAR]):
                continue
            motion = _joined(arcs, nodes.corners, nodes.halves)
            if motion is None:
                break
            found, over = _evaluated(robot, section, limits, motion)
            if best is None or found.samples.duration < best.samples.duration:
                best = found
            if found.slower < 1.0 + _ENOUGH or (best.exact and found.slower > best.slower):
                break
            if k < settled:
                nodes.narrow(mesh, over.max(axis=0) > _BROAD)
                places = nodes.refined(arcs, u, 1 + (over.max(axis=0) > _LONG), beyond)
        if places is None:
            settled = 0
            roof.lowered(mesh.places[1::2][over.max(axis=0) > _FAR])
            margins += _margins(mesh, np.where(over < _FAR, over, 0.0))
        else:
            mesh = Mesh.of(robot, section, rest_map, places)
            margins = _rest_margins(mesh)
    return best if best is None else best._replace(samples=_rounded(robot, limits, best.samples))


def _evaluated(
    robot: Robot, section: PathSection, limits: Limits, motion: MeshMotion
) -> tuple[Sharpened, FloatArray]:
    """A motion slowed to its limits, and its relative limit violations per piece, (4, N)."""
    samples = motion.samples(robot, section.ends, smooth=False, friction=False)
    peaks = samples.peaks(limits)
    slower = samples.slowing(limits, peaks)
    found = Sharpened(motion.mesh, samples.slowed(slower), slower)
    return found, np.maximum(peaks - 1.0, 0.0).max(axis=2)


def _rounded(robot: Robot, limits: Limits, samples: MotionSamples) -> MotionSamples:
    """A motion that keeps its limits despite the rounding of its times.

    Rounding matters where pieces are far shorter than the motion.
    """
    for _ in range(_MOST_ROUNDINGS):
        if np.diff(samples.times).min() > _BRIEF * samples.duration:
            break
        again = MotionSamples.of(robot, samples.times, samples.states, friction=False)
        peaks = again.peaks(limits)
        if peaks.max() <= _ROUNDED:
            break
        samples = again.slowed(max(again.slowing(limits, peaks), float(peaks.max())))
    return samples


def _rest_margins(mesh: Mesh) -> FloatArray:
    """Margins to limits beside rests, where arcs are strongly curved, shape (2, 2 N + 1)."""
    found = np.zeros((2, mesh.places.size))
    found[1, : _AT_REST.size], found[1, -_AT_REST.size :] = _AT_REST, _AT_REST[::-1]
    return found


def _margins(mesh: Mesh, over: FloatArray) -> FloatArray:
    """Margins to limits at nodes and midpoints, from the violations of pieces, (4, N).

    The margins are smooth along the path, because arcs follow them.

    Returns:
        relative margins of velocities, and of accelerations and efforts, shape (2, 2 N + 1).
    """
    parts = np.stack((over[VELOCITY], np.maximum(over[ACCELERATION], over[EFFORT])))
    found = np.zeros((2, mesh.places.size))
    found[:, 1::2] = parts
    found[:, :-1:2] = parts
    found[:, 2::2] = np.maximum(found[:, 2::2], parts)
    r = np.empty(mesh.places.size)
    r[::2], r[1::2] = mesh.nodes, 0.5 * (mesh.nodes[1:] + mesh.nodes[:-1])
    r /= _SPREAD * mesh.nodes[-1]
    with np.errstate(divide='ignore'):
        powers = np.log(found)
    before = np.maximum.accumulate(powers + r, axis=1) - r
    after = np.maximum.accumulate((powers - r)[:, ::-1], axis=1)[:, ::-1] + r
    spread: FloatArray = _MARGIN * np.exp(np.maximum(before, after))
    return spread


class _Roof:
    """An additional ceiling of x: the guide, where arcs would violate limits."""

    def __init__(self, guide: MeshMotion | None) -> None:
        self._guide = guide
        self._kept = np.zeros(0 if guide is None else guide.x.size, dtype=bool)

    def __call__(self, r: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return x, inf for no ceiling, and u at positions r."""
        if self._guide is None:
            return np.full(r.size, np.inf), np.zeros(r.size)
        nodes, kept = self._guide.mesh.nodes, self._kept
        k = np.clip(np.searchsorted(nodes, r, side='right') - 1, 0, nodes.size - 2)
        x, u = self._guide.at(r)
        return np.where(kept[k] & (kept[k + 1] | (r <= nodes[k])), x, np.inf), u

    def lowered(self, places: FloatArray) -> bool:
        """Use the guide as ceiling around positions r; return whether that is a change."""
        if self._guide is None:
            return False
        at = np.searchsorted(self._guide.mesh.nodes, places, side='right')
        at = np.concatenate((at - 1, np.minimum(at, self._kept.size - 1)))
        fresh = not self._kept[at].all()
        self._kept[at] = True
        return fresh


def _joined(arcs: Arcs, at: FloatArray, halves: FloatArray) -> MeshMotion | None:
    """Motion along arcs with transitions of half widths `halves` around corners `at`, in r."""
    nodes, x, slopes = arcs.mesh.nodes, arcs.x.copy(), arcs.slopes()
    before, after = np.append(slopes[:1, 0], slopes[:, 1]), np.append(slopes[:, 0], slopes[-1:, 1])
    u = np.where(
        np.isnan(before), after, np.where(np.isnan(after), before, 0.5 * (before + after))
    )
    middles = 0.5 * (nodes[1:] + nodes[:-1])
    begins, ends = (np.searchsorted(middles, place) for place in (at - halves, at + halves))
    u = np.where(np.isnan(u), np.gradient(0.5 * x, nodes), u)
    for here, slope in ((begins, before[begins]), (ends, after[ends])):
        u[here] = np.where(np.isnan(slope), u[here], slope)
    # A ceiling may be too steep beside the point where an arc leaves it between nodes.
    most, least = arcs.bounds(arcs.x)
    steep = 1 + np.flatnonzero(beyond_limits(arcs, slopes) > _ENOUGH)
    steep = steep[least[steep] <= most[steep]]
    u[steep] = np.clip(u[steep], least[steep], most[steep])
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        inside = slice(begin + 1, end)
        h = nodes[end] - nodes[begin]
        x[inside], u[inside] = hermite(
            (x[begin], x[end]), (u[begin], u[end]), h, (nodes[inside] - nodes[begin]) / h
        )
    motion = MeshMotion(arcs.mesh, x, u)
    return motion if motion.goes_on else None
