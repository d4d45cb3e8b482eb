# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of a mesh at places where arcs of the quickest motion meet, found in rounds."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.reference.arc_meetings import corners, kinks, stepping_nodes
from kron_dynamics.control.reference.extremal_arcs import Arcs
from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.place_sets import away, beside, with_others
from kron_dynamics.typing import BoolArray, FloatArray, IndexArray

# More nodes beside rests, shares of the intervals there.
_FIRST = (0.25, 0.5)
# Half of a transition: s, at least this share of the motion, at most this one of an arc beside.
_HALF, _LEAST_SHARE, _MOST_SHARE = 5e-4, 3e-6, 0.03
# Transitions that are to be shorter are, by this factor, but not than this share of the motion.
_NARROWER, _NARROWEST = 0.15, 1e-5
# Of a limit: where u is farther beyond it, steps of u are no corners yet.
_BROKEN = 1e-5
# Half transitions without other nodes on both sides of a corner.
_CLEAR = 3.0
# Half transitions: corners are as near to breaks, or at them; otherwise transitions get shorter.
_NEAR_BREAK, _OFF_BREAK = 0.25, 0.6
# Nodes on both sides of a corner, a share of the interval in which it was found.
_BRACKET = 0.0625
# Of half a transition: corners that move by less have been found.
_SETTLED_SHARE = 0.1
# Of intervals on both sides: a shorter one is none.
_SHORT = 0.02
# Share of the motion: intervals that are shorter are not divided.
_SHORTEST = 4e-5
# Shares of the motion: corners that are the same, kinks that are, and how near nodes are to them.
_SAME, _APART, _BESIDE = 1e-7, 2.5e-5, 1e-4


class ArcNodes:
    """Places that intervals have to end at, found in rounds.

    Attributes:
        corners: where arcs meet, r, shape (c,).
        halves: of the transitions there, (c,).
    """

    def __init__(self, mesh: Mesh, breaks: FloatArray) -> None:
        """Begin with the nodes of a mesh, and places, r, that are nodes always."""
        first, last = mesh.sizes[[0, -1]]
        begin, end = np.array(_FIRST) * first, mesh.nodes[-1] - np.array(_FIRST) * last
        self._inner = np.sort(np.concatenate((begin, mesh.nodes[1:-1], end)))
        self._breaks = breaks
        self._duration = float(mesh.nodes[-1])
        self.corners = self.halves = self._kinks = np.zeros(0)
        self._narrowed: list[float] = []
        # Where corners went once: those that come back stay, or rounds would go on for ever.
        self._stays = np.zeros(0)

    def narrow(self, mesh: Mesh, where: BoolArray) -> None:
        """Make transitions shorter that touch any of these intervals, (N,)."""
        begins, ends = self.corners - self.halves, self.corners + self.halves
        wide = [
            ((mesh.nodes[1:] > begin) & (mesh.nodes[:-1] < end) & where).any()
            for begin, end in zip(begins, ends, strict=True)
        ]
        self._narrowed += self.corners[np.array(wide, dtype=bool)].tolist()

    def refined(
        self, arcs: Arcs, u: FloatArray, parts: IndexArray, beyond: FloatArray
    ) -> FloatArray | None:
        """Take over what arcs show.

        Args:
            arcs: of the nodes until now.
            u: at both ends of each interval, (N, 2).
            parts: into how many intervals are to be divided, (N,).
            beyond: how far u is beyond a limit at the inner nodes, (N - 1,).

        Returns:
            the nodes of the next round; None where they are those of this one.
        """
        mesh, most = arcs.mesh, self._duration
        seen = corners(arcs)
        self._take_corners(arcs, seen, stepping_nodes(u), u, beyond)
        bends = away(np.sort(kinks(arcs)), self._breaks, _APART * most)
        self._kinks = with_others(bends, self._kinks, _APART * most)
        parts = np.where(mesh.sizes > _SHORTEST * most, parts, 1)
        begun = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        divided = np.repeat(mesh.nodes[:-1], parts) + begun * np.repeat(mesh.sizes / parts, parts)
        # Curves from the ends of a long interval miss where they meet by little.
        aside = _BRACKET * mesh.sizes[np.searchsorted(mesh.nodes[1:-1], seen)]
        inner = np.sort(np.concatenate((self._inner, divided[begun > 0])))
        for more in (seen - aside, seen + aside):
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
        self, arcs: Arcs, seen: FloatArray, steps: BoolArray, u: FloatArray, beyond: FloatArray
    ) -> None:
        """Corners: those seen, those known where u steps still, and new steps."""
        most, at, inner = self._duration, self.corners, arcs.mesh.nodes[1:-1]
        known = at[~beside(at, self.halves, seen, _SAME * most)]
        gone = known[~beside(known, np.zeros(known.size), self._stays, _APART * most)]
        gone = np.setdiff1d(gone, inner[steps])
        self._stays = np.sort(np.concatenate((self._stays, gone)))
        found = np.sort(np.concatenate((seen, np.setdiff1d(known, gone))))
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
        # Breaks are nodes, which are not to be beside others.
        off = np.abs(found[:, np.newaxis] - self._breaks)
        corner, by = np.nonzero(off < _NEAR_BREAK * halves[:, np.newaxis])
        found[corner] = self._breaks[by]
        self.corners, kept_at = np.unique(found, return_index=True)
        off, halves = off[kept_at], halves[kept_at]
        near = np.abs(off / halves[:, np.newaxis] - 1.0) < _NEAR_BREAK
        self.halves = np.where(near.any(axis=1), _OFF_BREAK, 1.0) * halves

    def _places(self) -> FloatArray:
        """Return all nodes."""
        inner = away(self._inner, self.corners, _CLEAR * self.halves)
        inner = away(inner, self._kinks, _BESIDE * self._duration)
        bends = away(self._kinks, self.corners, 0.5 * _CLEAR * self.halves)
        at, half = self.corners, self.halves
        near = 1e-2 * _SAME * self._duration
        fixed = np.concatenate(([0.0], self._breaks, [self._duration]))
        for more in (np.concatenate((at - half, at, at + half)), bends, inner):
            fixed = with_others(fixed, more, near)
        return fixed
