# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mesh nodes at the switching points of the time-optimal motion, found iteratively."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.reference.arc_meetings import corners, kinks, stepping_nodes
from kron_dynamics.control.reference.extremal_arcs import Arcs
from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.place_sets import away, beside, with_others
from kron_dynamics.typing import BoolArray, FloatArray, IndexArray

# Positions of additional nodes beside rests, as shares of the intervals there.
_FIRST = (0.25, 0.5)
# Half width of a transition, s; its least share of the motion and largest share of a neighbouring
# arc.
_HALF, _LEAST_SHARE, _MOST_SHARE = 5e-4, 3e-6, 0.03
# Factor by which transitions are narrowed, and narrowest half width as a share of the motion.
_NARROWER, _NARROWEST = 0.15, 1e-5
# Relative limit violation above which a step of u at a node is not regarded as a corner.
_BROKEN = 1e-5
# Distance around a corner without other nodes, in half widths of its transition.
_CLEAR = 3.0
# In half widths: corners nearer to a break are moved onto it; a transition that ends this near to
# a break is narrowed by the second factor.
_NEAR_BREAK, _OFF_BREAK = 0.25, 0.6
# Distance of additional nodes on both sides of a corner, as a share of its interval.
_BRACKET = 0.0625
# Corners that move by less than this share of the half width have converged.
_SETTLED_SHARE = 0.1
# Intervals shorter than this share of both neighbours are removed.
_SHORT = 0.02
# Intervals shorter than this share of the motion are not divided.
_SHORTEST = 4e-5
# As shares of the motion: distance within which corners or kinks are identical, and distance of
# other nodes from kinks.
_SAME, _APART, _BESIDE = 1e-7, 2.5e-5, 1e-4


class ArcNodes:
    """Nodes of the mesh, including switching points, refined iteratively.

    Attributes:
        corners: points r where arcs meet, shape (c,).
        halves: half widths of the transitions there, (c,).
    """

    def __init__(self, mesh: Mesh, breaks: FloatArray) -> None:
        """Start with the nodes of a mesh, and breaks r that are always nodes."""
        first, last = mesh.sizes[[0, -1]]
        begin, end = np.array(_FIRST) * first, mesh.nodes[-1] - np.array(_FIRST) * last
        self._inner = np.sort(np.concatenate((begin, mesh.nodes[1:-1], end)))
        self._breaks = breaks
        self._duration = float(mesh.nodes[-1])
        self.corners = self.halves = self._kinks = np.zeros(0)
        self._narrowed: list[float] = []
        # Corners dropped once: if they reappear, they are kept, to prevent endless cycles.
        self._dropped = np.zeros(0)

    def narrow(self, mesh: Mesh, where: BoolArray) -> None:
        """Narrow the transitions that overlap any of the masked intervals, (N,)."""
        begins, ends = self.corners - self.halves, self.corners + self.halves
        wide = [
            ((mesh.nodes[1:] > begin) & (mesh.nodes[:-1] < end) & where).any()
            for begin, end in zip(begins, ends, strict=True)
        ]
        self._narrowed += self.corners[np.array(wide, dtype=bool)].tolist()

    def refined(
        self, arcs: Arcs, u: FloatArray, parts: IndexArray, beyond: FloatArray
    ) -> FloatArray | None:
        """Update the switching points from arcs and return the refined nodes.

        Args:
            arcs: arcs on the present nodes.
            u: u at both ends of each interval, (N, 2).
            parts: number of parts into which to divide each interval, (N,).
            beyond: relative limit violation of u at the inner nodes, (N - 1,).

        Returns:
            the nodes of the next round; None if they have not changed.
        """
        mesh, most = arcs.mesh, self._duration
        detected = corners(arcs)
        self._take_corners(arcs, detected, stepping_nodes(u), u, beyond)
        bends = away(np.sort(kinks(arcs)), self._breaks, _APART * most)
        self._kinks = with_others(bends, self._kinks, _APART * most)
        parts = np.where(mesh.sizes > _SHORTEST * most, parts, 1)
        begun = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        divided = np.repeat(mesh.nodes[:-1], parts) + begun * np.repeat(mesh.sizes / parts, parts)
        # Intersections of curves in long intervals are inaccurate: bracket them by nodes.
        aside = _BRACKET * mesh.sizes[np.searchsorted(mesh.nodes[1:-1], detected)]
        inner = np.sort(np.concatenate((self._inner, divided[begun > 0])))
        for more in (detected - aside, detected + aside):
            new = (more > 0.0) & (more < most) & ~beside(more, 0.25 * aside, inner, 0.0)
            inner = np.sort(np.concatenate((inner, more[new])))
        inner = np.unique(inner)
        sizes = np.diff(inner, prepend=0.0, append=most)
        far = sizes[1:-1] > _SHORT * np.minimum(sizes[:-2], sizes[2:])
        self._inner = inner[np.append(far, True)]
        places = self._places()
        if places.size == mesh.nodes.size:
            at = self.corners
            near = np.interp(places, at, self.halves) if at.size else _SAME * most
            if (np.abs(places - mesh.nodes) <= _SETTLED_SHARE * near).all():
                return None
        return places

    def _take_corners(
        self,
        arcs: Arcs,
        detected: FloatArray,
        steps: BoolArray,
        u: FloatArray,
        beyond: FloatArray,
    ) -> None:
        """Update the corners: detected ones, known ones where u still steps, and new steps."""
        most, at, inner = self._duration, self.corners, arcs.mesh.nodes[1:-1]
        known = at[~beside(at, self.halves, detected, _SAME * most)]
        gone = known[~beside(known, np.zeros(known.size), self._dropped, _APART * most)]
        gone = np.setdiff1d(gone, inner[steps])
        self._dropped = np.sort(np.concatenate((self._dropped, gone)))
        found = np.sort(np.concatenate((detected, np.setdiff1d(known, gone))))
        steps = steps & ~np.isnan(u[1:, 0] + u[:-1, 1]) & (beyond <= _BROKEN)
        more = away(inner[steps], at, 2.0 * self.halves)
        found = with_others(found, more, _SAME * most)
        kept = np.diff(found, prepend=-np.inf) > _SAME * most
        found = found[kept & (found > _SAME * most) & (found < (1.0 - _SAME) * most)]
        ways = np.diff(np.concatenate(([0.0], found, [most])))
        rate = np.sqrt(np.interp(found, arcs.mesh.nodes, arcs.x))
        halves = np.minimum(
            np.maximum(_HALF * rate, _LEAST_SHARE * most),
            _MOST_SHARE * np.minimum(ways[:-1], ways[1:]),
        )
        for place in self._narrowed:
            wide = np.abs(found - place) < 2.0 * halves
            least = np.minimum(halves[wide], _NARROWEST * most)
            halves[wide] = np.maximum(_NARROWER * halves[wide], least)
        # Breaks are nodes: move corners onto close breaks, to avoid very short intervals.
        off = np.abs(found[:, np.newaxis] - self._breaks)
        corner, by = np.nonzero(off < _NEAR_BREAK * halves[:, np.newaxis])
        found[corner] = self._breaks[by]
        self.corners, kept_at = np.unique(found, return_index=True)
        off, halves = off[kept_at], halves[kept_at]
        near = np.abs(off / halves[:, np.newaxis] - 1.0) < _NEAR_BREAK
        self.halves = np.where(near.any(axis=1), _OFF_BREAK, 1.0) * halves

    def _places(self) -> FloatArray:
        """Return all nodes, shape (N + 1,)."""
        inner = away(self._inner, self.corners, _CLEAR * self.halves)
        inner = away(inner, self._kinks, _BESIDE * self._duration)
        bends = away(self._kinks, self.corners, 0.5 * _CLEAR * self.halves)
        at, half = self.corners, self.halves
        near = 1e-2 * _SAME * self._duration
        fixed = np.concatenate(([0.0], self._breaks, [self._duration]))
        for more in (np.concatenate((at - half, at, at + half)), bends, inner):
            fixed = with_others(fixed, more, near)
        return fixed
