# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Map from the coordinates of the drives to all coordinates of a mechanism, in any number type.

It is evaluated in every call, by a series and Newton steps with the residuals and Jacobians of
`constraints/loops.py`. The first closed position of all is found by `constraints/projection.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from kron_dynamics.closed_loops.closing_path import ClosingPath
from kron_dynamics.closed_loops.series import (
    Fourier,
    Series,
    chebyshev_series,
    fourier_series,
)
from kron_dynamics.constraints.reduction import Choice, open_by, solve_dependent
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.dual import without_derivatives
from kron_dynamics.exceptions import ConstraintError
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.messages import listed
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray, ScalarArray

if TYPE_CHECKING:
    from kron_dynamics.flexible import FlexibleModel

# Tolerance of the series, rad or lengths over the robot's, and the number of Newton steps from
# them: each step squares the error, so that two leave rounding.
_TOLERANCE = 1e-6
_STEPS = 2
# The series are for rigid links. At the largest deflection, 30 % of the length, attached bodies
# are rotated by some tenths of a rad: two more steps leave rounding there too.
_STEPS_OF_BENT = 4
# Modal coordinates over the length of their beam at which closing is checked.
_BENT = (0.0, 0.03, -0.03)
# Tolerance of the dimensionless residual in the check of a map, and numbers of checked states for
# rigid and flexible links, chosen to lie between the sample points of the series.
_CLOSED = 1e-11
_CHECKS = 37
_CHECKS_OF_BENT = 6
# Displacements of a drive to detect which coordinates depend on it, rad or lengths over the
# robot's; the threshold of a rate that counts as dependence; and factors of the displacement to
# try if a loop does not close there.
_PROBES = (0.0, 0.031, -0.023)
_MOVES = 1e-9
_DISPLACEMENTS = (1.0, -1.0, 0.1, -0.1, 0.01, -0.01)
# Required distances to a singularity as shares of the greatest one, tried in this order until the
# series converge.
_SHARES = (0.0, 0.1, 0.2, 0.4, 0.6)
# Number of times that the range about the start is halved if no series converges over all of it.
_HALVINGS = 4
# Distance over which a drive is first followed, rad or lengths over the robot's, and the number of
# positions after which the range of an unlimited drive is not widened further.
_LENGTHS = 4.0
_PLACES = 1000


@dataclass(frozen=True)
class ClosingMap:
    """Map from the coordinates of drives and modes to all coordinates of the tree.

    Attributes:
        choice: its independent coordinates are the drives, then the modal coordinates.
        targets: required values of the constraints' functions f(q), shape (k,).
        start: closed coordinates, shape (n,); dependent ones that no drive moves keep these.
        series: initial guesses of the dependent coordinates that move, for rigid links:
            coordinate, number of the drive, function of the drive's position.
        steps: number of Newton steps from the series.
    """

    choice: Choice
    targets: FloatArray
    start: FloatArray
    series: tuple[tuple[int, int, Series], ...]
    steps: int = _STEPS

    def __call__(self, tree: RobotModel, q: ArrayLike) -> ScalarArray:
        """Return the coordinates of the tree that close the loops, shape (n,), rad or m.

        By Newton steps from the series, first on plain values, then with one step more for each
        order of differentiation of dual numbers; these steps yield the derivatives of the implicit
        function theorem.

        Args:
            tree: the tree.
            q: coordinates of the drives and modes, shape (m,), of any number type.
        """
        drives = as_scalars(q)
        plain, times = without_derivatives(drives)
        x = zeros_like(plain, (len(self.start),)) + self.start
        for k, drive, series in self.series:
            x[k] = series(plain[drive])
        x = self._with_drives(x, plain)
        for _ in range(self.steps):
            x = self._corrected(tree, x)
        if times:
            x = self._with_drives(x.astype(object), drives)
            for _ in range(times):
                x = self._corrected(tree, x)
        return x

    def _with_drives(self, x: ScalarArray, drives: ScalarArray) -> ScalarArray:
        for number, k in enumerate(self.choice.independent):
            x[k] = drives[number]
        return x

    def _corrected(self, tree: RobotModel, x: ScalarArray) -> ScalarArray:
        if not self.choice.dependent:
            return x
        bound = list(self.choice.dependent)
        phi, A = open_by(self.choice, tree, self.targets, x)
        better = x.copy()
        better[bound] = x[bound] - solve_dependent(A[:, bound], phi)
        return better


def closing_map(
    system: ConstraintSystem, choice: Choice, start: FloatArray
) -> tuple[ClosingMap, FloatArray, FloatArray]:
    """Return the map of a mechanism, and the range of its drives, shape (m,) each, rad or m.

    Each drive is followed through its range with all joints that it moves; the range ends where a
    joint is at its limit, or the mechanism near a singularity.

    Args:
        system: the constraints.
        choice: its independent coordinates are the drives.
        start: closed coordinates, shape (n,), rad or m.

    Raises:
        ConstraintError: a joint depends on several drives, or a drive cannot move.
    """
    model, drives, targets = system.model, list(choice.independent), system.targets
    lower, upper = model.position_lower[drives].copy(), model.position_upper[drives].copy()
    moved = _moved_by_drives(system, choice, targets, start)
    several = [k for k in choice.dependent if len(moved[k]) > 1]
    if several:
        names = model.joint_names
        raise ConstraintError(
            f"position of joint '{names[several[0]]}' depends on "
            f'{listed(repr(names[drives[d]]) for d in sorted(moved[several[0]]))} together, '
            'expected loops with one drive each; ConstrainedRobot and ReducedRobot take any'
        )
    series = list[tuple[int, int, Series]]()
    for number, drive in enumerate(drives):
        followed = [k for k in choice.dependent if number in moved[k]]
        if not followed:
            continue
        path = ClosingPath(system, choice, targets, start, drive, followed)
        found, (lower[number], upper[number]) = _series(system, path, drive, followed, start)
        series += [(k, number, each) for k, each in zip(followed, found, strict=True)]
    made = ClosingMap(choice, targets, start, tuple(series))
    _check(system, made, lower, upper, np.zeros(0))
    return made, lower, upper


def bending_map(
    system: ConstraintSystem,
    choice: Choice,
    stiff: ClosingMap,
    lower: FloatArray,
    upper: FloatArray,
) -> ClosingMap:
    """Return the map of a mechanism with flexible links.

    Its initial guesses are the series of the mechanism with rigid links.

    Args:
        system: the constraints.
        choice: its independent coordinates are the drives, then the modal coordinates.
        stiff: the map of the mechanism with rigid links.
        lower: lower ends of the coordinates' ranges, shape (m,), rad or m.
        upper: upper ends, likewise.

    Raises:
        ConstraintError: loops cannot be closed while a link is bent.
    """
    start = np.concatenate([stiff.start, np.zeros(system.model.n - len(stiff.start))])
    made = ClosingMap(choice, system.targets, start, stiff.series, _STEPS_OF_BENT)
    links = cast('FlexibleModel', system.model).flexible_links
    beams = np.repeat([link.length for link in links], [sum(link.mode_counts) for link in links])
    _check(system, made, lower, upper, beams)
    return made


def _moved_by_drives(
    system: ConstraintSystem, choice: Choice, targets: FloatArray, start: FloatArray
) -> list[set[int]]:
    """Return the numbers of the drives that move each coordinate."""
    moved: list[set[int]] = [set() for _ in start]
    bound = list(choice.dependent)
    for probe in _PROBES:
        q = start.copy()
        for drive in choice.independent:
            path = ClosingPath(system, choice, targets, q, drive, bound)
            q = _displaced(path, float(q[drive]), float(probe * system.column_scale[drive]))
        scaled = np.asarray(open_by(choice, system.model, targets, q)[1] * system.column_scale)
        B, *_ = np.linalg.lstsq(
            scaled[:, bound], -scaled[:, list(choice.independent)], rcond=1e-12
        )
        for row, number in np.argwhere(np.abs(B) > _MOVES):
            moved[bound[row]].add(int(number))
    return moved


def _displaced(path: ClosingPath, place: float, change: float) -> FloatArray:
    """Return all coordinates with a drive displaced, by less or backwards if that is needed."""
    for share in _DISPLACEMENTS:
        with contextlib.suppress(ConstraintError):
            return path.closed(place + share * change)
    return path.closed(place)


def _series(
    system: ConstraintSystem,
    path: ClosingPath,
    drive: int,
    followed: Sequence[int],
    start: FloatArray,
) -> tuple[Sequence[Series], tuple[float, float]]:
    """Return the series of the coordinates that move with a drive, and the range of the drive."""
    model = system.model
    name, kind = model.joint_names[drive], model.joint_types[drive]
    bounds = model.position_lower, model.position_upper
    tolerance = _TOLERANCE * system.column_scale[list(followed)]
    lower, upper = float(bounds[0][drive]), float(bounds[1][drive])
    far = _LENGTHS * system.column_scale[drive]
    if joint_kind(kind).unit('position') == 'rad' and (lower == -np.inf or upper == np.inf):
        far = 2.0 * np.pi
        begin, end = min(start[drive], 0.0), max(start[drive], far)
        path.reach(begin, end, bounds)
        if np.allclose(path.reached(), (begin, end), rtol=0.0, atol=1e-9):
            found = fourier_series(path.follow, tolerance)
            if found is not None and not _exceeds_limits(found, followed, bounds):
                return found, (lower, upper)
    # Widest range first. A drive with gears or a screw makes many turns; a joint that oscillates
    # in each turn has a short series only over a narrower range.
    ranges = _ranges(path, float(start[drive]), (lower, upper), far, bounds)[::-1]
    ends = np.clip(path.reached(), lower, upper)
    halves = 0.5 ** np.arange(1, _HALVINGS + 1)[:, None] * (ends - start[drive]) + start[drive]
    for around in (*ranges, *halves.tolist()):
        for reached in dict.fromkeys(path.reached(share) for share in _SHARES):
            first, last = max(reached[0], around[0]), min(reached[1], around[1])
            if last - first > _TOLERANCE * system.column_scale[drive]:
                series = chebyshev_series(path.follow, first, last, tolerance)
                if series is not None:
                    return series, (first, last)
    why = 'between limits and singularities'
    if ends[1] - ends[0] > _TOLERANCE * system.column_scale[drive]:
        why = 'and even there the positions of the other joints vary too much for a series'
    raise ConstraintError(
        f"joint '{name}' cannot drive its loops about {start[drive]:.6g}: it moves from "
        f'{ends[0]:.6g} to {ends[1]:.6g} only, {why}'
    )


def _exceeds_limits(
    series: Sequence[Fourier], followed: Sequence[int], bounds: tuple[FloatArray, FloatArray]
) -> bool:
    """Return whether a coordinate that advances with every turn of the drive has a limit."""
    limited = np.isfinite(bounds[0]) | np.isfinite(bounds[1])
    return any(each.turns != 0.0 and limited[k] for k, each in zip(followed, series, strict=True))


def _ranges(
    path: ClosingPath,
    start: float,
    limits: tuple[float, float],
    far: float,
    bounds: tuple[FloatArray, FloatArray],
) -> list[tuple[float, float]]:
    """Follow a drive over repeatedly doubled ranges while it can move; return these, rad or m."""
    ranges = list[tuple[float, float]]()
    while True:
        asked = max(limits[0], start - far), min(limits[1], start + far)
        path.reach(*asked, bounds)
        ranges.append(asked)
        reached = path.reached()
        goes_on = (
            reached[0] <= asked[0] and limits[0] < asked[0],
            reached[1] >= asked[1] and asked[1] < limits[1],
        )
        if not any(goes_on) or path.length > _PLACES:
            return ranges
        far *= 2.0


def _check(
    system: ConstraintSystem,
    made: ClosingMap,
    lower: FloatArray,
    upper: FloatArray,
    beams: FloatArray,
) -> None:
    """Check that a map closes the loops throughout the range.

    Args:
        system: the constraints.
        made: the map.
        lower: lower ends of the range, shape (m,), rad or m.
        upper: upper ends, likewise.
        beams: length of the beam of each modal coordinate, m.
    """
    at = made.start[list(made.choice.independent)]
    low = np.where(np.isfinite(lower), lower, at - 3.0 * np.pi)
    high = np.where(np.isfinite(upper), upper, at + 3.0 * np.pi)
    modal = np.array(made.choice.independent) >= system.model.joint_count
    # Undeformed states were checked with rigid links; a state with flexible links takes long.
    count = _CHECKS_OF_BENT if modal.any() else _CHECKS
    for number, share in enumerate(np.linspace(0.0, 1.0, count)):
        place = low + share * (high - low)
        place[modal] = beams * _BENT[number % len(_BENT)]
        q = made(system.model, place)
        off = np.abs(open_by(made.choice, system.model, made.targets, q)[0]).max(initial=0.0)
        if not off < _CLOSED:
            raise ConstraintError(
                f'loops of the mechanism do not close (residual {off:.3g}) at '
                f'coordinates {place.tolist()}'
            )
