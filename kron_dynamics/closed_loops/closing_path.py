# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Continuation of the closed positions of a mechanism while one drive moves through its range."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.constraints.reduction import Choice, open_by
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.exceptions import ConstraintError
from kron_dynamics.typing import FloatArray

# Dimensionless residual of closed loops.
_CLOSED = 1e-12
# Least singular value relative to that of the start: the path ends nearer to a singularity.
_NEAREST = 0.05
# Dimensionless singular value below which the start is at a singularity; positions are determined
# only to the root of rounding there.
_SINGULAR = 1e-5
# Steps of a drive: the number of initial steps over its range or a turn, the largest dimensionless
# change of another coordinate in a step, the shortest step relative to the initial one, and the
# largest dimensionless correction of a step in which the other coordinates hardly move.
_STEPS = 48
_LONGEST = 0.3
_SHORTEST = 1e-5
_AT_REST = 0.01
_ITERATIONS = 20
# Dimensionless violation of a position limit that counts as rounding.
_AT_LIMIT = 1e-9


class ClosingPath:
    """Closed positions as a function of one drive, with the others at their start positions."""

    def __init__(
        self,
        system: ConstraintSystem,
        choice: Choice,
        targets: FloatArray,
        start: FloatArray,
        drive: int,
        followed: Sequence[int],
    ) -> None:
        """Begin the path at the start.

        Args:
            system: the constraints.
            choice: its independent coordinates are the drives.
            targets: required values of the constraints' functions f(q), shape (k,).
            start: closed coordinates, shape (n,).
            drive: index of the drive's coordinate.
            followed: indices of the coordinates that move with it.

        Raises:
            ConstraintError: the start is at a singularity.
        """
        self._system, self._choice, self._targets = system, choice, targets
        self._drive, self._followed = drive, list(followed)
        self._last: tuple[FloatArray, tuple[FloatArray, FloatArray]] | None = None
        self._mechanism = self._connected(start)
        self._regular = self._singular_value(start)
        if self._regular < _SINGULAR:
            raise ConstraintError(
                f"start is at a singularity with joint '{system.model.joint_names[drive]}' at "
                f'{start[drive]:.6g}, or constraints hold a drive: the drives do not determine '
                'which way other joints move; start farther from it, on the wanted side'
            )
        # Positions of the drive in increasing order; all coordinates and the singular value
        # relative to the start there.
        self._start = float(start[drive])
        self._places = [self._start]
        self._known = [start.copy()]
        self._regularity = [1.0]

    def reach(self, lower: float, upper: float, bounds: tuple[FloatArray, FloatArray]) -> None:
        """Extend the path over a range of the drive, or as far as the loops can be closed.

        Args:
            lower: least position of the drive, rad or m.
            upper: greatest position of the drive, rad or m.
            bounds: position limits of all coordinates, shape (n,) each, observed for those that
                are followed.
        """
        step = (upper - lower) / _STEPS
        for end, direction in ((upper, 1.0), (lower, -1.0)):
            self._march(end, direction, step, bounds)

    @property
    def length(self) -> int:
        """Number of known positions."""
        return len(self._places)

    def reached(self, share: float = 0.0) -> tuple[float, float]:
        """Return the least and greatest position of the drive that were reached, rad or m.

        Args:
            share: required distance to a singularity as a share of the greatest on the path, at
                most that of the start.
        """
        start = self._places.index(self._start)
        least = min(share * max(self._regularity), 1.0)
        ends = []
        for way in (range(start, -1, -1), range(start, len(self._places))):
            near = (k for k in way if self._regularity[k] < least)
            ends.append(self._places[next(near, way[-1])])
        return ends[0], ends[1]

    def follow(self, places: FloatArray) -> FloatArray:
        """Return the followed coordinates, shape (r, d), for drive positions, shape (r,).

        Raises:
            ConstraintError: the loops do not close there.
        """
        return np.array([self.closed(place)[self._followed] for place in places])

    def closed(self, place: float) -> FloatArray:
        """Return all coordinates, shape (n,), for a position in the reached range of the drive.

        Raises:
            ConstraintError: the loops do not close there.
        """
        near = int(np.abs(np.subtract(self._places, place)).argmin())
        q = self._corrected(self._predicted(self._known[near], place))
        if q is None:
            name = self._system.model.joint_names[self._drive]
            raise ConstraintError(f"loops do not close with joint '{name}' at {place:.6g}")
        return q

    def _march(
        self, end: float, direction: float, step: float, bounds: tuple[FloatArray, FloatArray]
    ) -> None:
        forward, longest, refused = direction > 0, step, False
        shortest, q = _SHORTEST * step, self._known[-1 if forward else 0]
        while (way := direction * (end - q[self._drive])) > 0.0 and step > shortest:
            place = float(q[self._drive] + direction * min(step, way))
            next_ = self._step(q, place, bounds)
            if next_ is None:
                step, refused = step / 2.0, True
                continue
            # Twice the step was refused just now, or may do again.
            step, refused = (step if refused else min(2.0 * step, longest)), False
            q = next_
            at = len(self._places) if forward else 0
            self._places.insert(at, float(q[self._drive]))
            self._known.insert(at, q)
            self._regularity.insert(at, self._singular_value(q) / self._regular)

    def _step(
        self, q: FloatArray, place: float, bounds: tuple[FloatArray, FloatArray]
    ) -> FloatArray | None:
        """Return the closed coordinates at the drive's next position, None if there are none."""
        predicted = self._predicted(q, place)
        found = self._corrected(predicted)
        if found is None:
            return None
        scale = self._system.column_scale
        far = np.abs((found - q) / scale)[self._followed].max(initial=0.0)
        off = np.abs((found - predicted) / scale)[self._followed].max(initial=0.0)
        # Tolerate rounding: a drive's limit is often where another joint reaches its own.
        slack = _AT_LIMIT * scale
        inside = (found >= bounds[0] - slack) & (found <= bounds[1] + slack)
        # On a path without bifurcation the correction is small, of second order in the step. Where
        # the drive moves the others back and forth, their change is of second order too.
        most = max(0.3 * far, _AT_REST)
        if far > _LONGEST or off > most or not inside[self._followed].all():
            return None
        return found if self._singular_value(found) > _NEAREST * self._regular else None

    def _predicted(self, q: FloatArray, place: float) -> FloatArray:
        A = self._open_by(q)[1]
        dependent = list(self._choice.dependent)
        change = place - q[self._drive]
        slope, *_ = np.linalg.lstsq(A[:, dependent], -A[:, self._drive], rcond=1e-12)
        predicted = q.copy()
        predicted[self._drive] = place
        predicted[dependent] += slope * change
        return predicted

    def _corrected(self, q: FloatArray) -> FloatArray | None:
        dependent = list(self._choice.dependent)
        for _ in range(_ITERATIONS):
            phi, A = self._open_by(q)
            if not np.isfinite(phi).all():
                return None
            if np.abs(phi).max(initial=0.0) < _CLOSED:
                return q
            change, *_ = np.linalg.lstsq(A[:, dependent], -phi, rcond=1e-12)
            q = q.copy()
            q[dependent] += change
        return None

    def _open_by(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        # Cached: the end of a step is evaluated again by this step and the next one.
        if self._last is None or not np.array_equal(self._last[0], q):
            found = open_by(self._choice, self._system.model, self._targets, q)
            self._last = q.copy(), found
        return self._last[1]

    def _connected(self, q: FloatArray) -> list[int]:
        """Return the dependent coordinates that share loops, also by others, with the followed."""
        A = self._open_by(q)[1]
        conditions = [np.any(A[rows] != 0.0, axis=0) for _, rows in self._system.rows()]
        inside = np.zeros(len(q), dtype=bool)
        inside[self._followed] = True
        bound = np.zeros(len(q), dtype=bool)
        bound[list(self._choice.dependent)] = True
        for _ in conditions:  # each pass reaches at least one constraint more
            for moved in conditions:
                if (moved & inside).any():
                    inside |= moved & bound
        return [int(k) for k in np.flatnonzero(inside)]

    def _singular_value(self, q: FloatArray) -> float:
        """Return the dimensionless distance to a singularity where drives lose the mechanism."""
        if not self._mechanism:  # nothing to lose: all conditions hold anyway
            return 1.0
        A = self._open_by(q)[1][:, self._mechanism] * self._system.column_scale[self._mechanism]
        return float(np.linalg.svd(A, compute_uv=False)[-1])
