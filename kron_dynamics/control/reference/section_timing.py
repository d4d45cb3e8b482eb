# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time-optimal motion along one path section from rest to rest, by convex optimization."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kron_dynamics.control.reference.compiled_minimization import minimize
from kron_dynamics.control.reference.interior_point import Rows
from kron_dynamics.control.reference.mesh_motion import MeshMotion
from kron_dynamics.control.reference.motion_peaks import MotionSamples
from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.path_sections import PathSection
from kron_dynamics.control.reference.path_terms import Limits
from kron_dynamics.control.reference.rest_map import RestMap
from kron_dynamics.control.reference.retiming_refusals import refuse_standing, unmet_limit
from kron_dynamics.control.reference.retiming_rows import (
    chosen_rows,
    near_bounds,
    rows_of,
    tightened,
)
from kron_dynamics.control.reference.section_meshes import (
    COARSE_TURN,
    FINE_TURN,
    coarse_nodes,
    divided_by_turns,
    fine_nodes,
    rest_map_of,
    shortest_interval,
)
from kron_dynamics.control.reference.sharpening import Sharpened, sharpened
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Step limits and relative gaps of the interior-point method, on the coarse and the fine mesh.
_COARSE_STEPS, _FINE_STEPS = 7, 200
_COARSE_GAP, _FINE_GAP, _FINE_GAP_RATES = 0.1, 1e-4, 2.5e-3
# Limits are enforced at the nodes and checked between them afterwards. If the motion has to be
# slowed by more than this factor, violated constraints are tightened and it is optimized again.
_SLOWER, _SLOWER_RATES, _ATTEMPTS = 1.0003, 1.012, 4
# Most scalings of an initial guess; beyond, it is smaller than rounding.
_MOST_SHRINKING = 2000
# A larger slow-down after all attempts means that the mesh does not resolve the motion.
_SLOWEST = 2.0
# Most doublings of the initial guess.
_MOST_TRIALS = 100


def quickest(
    robot: Robot, section: PathSection, limits: Limits, friction: bool
) -> tuple[MotionSamples, FloatArray]:
    """Return the fastest motion along a section within limits.

    The unknown is the squared path rate x(r), a quadratic spline with coefficients c. Limits are
    inequality constraints (rows) on c, solved by an interior-point method; without effort rate
    limits and friction, the result is refined by extremal arcs (`sharpened`).

    Returns:
        The motion, and its times at the breaks of the section, shape (p + 1,), s.

    Raises:
        TrajectoryError: a limit forbids any motion; names joint, limit and position on the path.
    """
    smooth = bool(np.isfinite(limits.effort_rate).any())
    gap = _FINE_GAP_RATES if smooth else _FINE_GAP
    rest_map = rest_map_of(robot, section, limits)
    finer, c, breaks = _searched_mesh(robot, section, rest_map, limits, friction, smooth)
    sharp = None
    if not smooth and not friction:
        sharp = sharpened(robot, section, rest_map, limits, (finer, finer.motion(c)[0]))
        if sharp is not None and sharp.exact:
            return _with_breaks(sharp, breaks)
    rows, about = rows_of(finer, limits)
    kept = near_bounds(rows, c, about)
    motion = MeshMotion(finer, *finer.motion(c))
    best, slowing, duals = None, np.inf, None
    for _ in range(_ATTEMPTS):
        chosen = chosen_rows(rows, kept)
        c = 0.98 * _greatest(chosen.allowed_shares(c), 1.0, 0.9) * c
        c, duals = minimize(finer.objective, chosen, c, duals, gap=gap, most=_FINE_STEPS)
        found = MeshMotion(finer, *finer.motion(c))
        samples = found.samples(robot, section.ends, smooth=smooth, friction=friction)
        peaks = samples.peaks(limits)
        slower = samples.slowing(limits, peaks)
        if best is None or slower * samples.duration < slowing * best.duration:
            motion, best, slowing = found, samples, slower
        if slower <= (_SLOWER_RATES if smooth else _SLOWER):
            break
        rows = tightened(rows, about, peaks)
        missing = (peaks.max(axis=1) > 1.0)[about[0], about[1]] & ~kept
        if missing.any():
            kept, duals = kept | missing, None
    assert best is not None
    if not slowing <= _SLOWEST:
        raise unmet_limit(robot, section, finer.places[1::2], best.peaks(limits))
    best = best.slowed(slowing)
    if not smooth and not friction:
        guide = MeshMotion(finer, motion.x / slowing**2, motion.u / slowing**2)
        guided = sharpened(robot, section, rest_map, limits, (finer, guide.x), guide)
        all_found = [each for each in (sharp, guided) if each is not None]
        all_found.append(Sharpened(finer, best, slowing))
        return _with_breaks(min(all_found, key=lambda each: each.samples.duration), breaks)
    while slowing > 1.0:  # highest points have moved between the samples, and friction has changed
        if friction:
            best = MotionSamples.of(robot, best.times, best.states, friction)
        slowing = best.slowing(limits, best.peaks(limits))
        best = best.slowed(slowing)
    return best, best.times[np.searchsorted(finer.nodes, breaks)]


def _with_breaks(found: Sharpened, breaks: FloatArray) -> tuple[MotionSamples, FloatArray]:
    """The motion, and its times at the breaks, given in r."""
    return found.samples, found.samples.times[np.searchsorted(found.mesh.nodes, breaks)]


def _searched_mesh(
    robot: Robot,
    section: PathSection,
    rest_map: RestMap,
    limits: Limits,
    friction: bool,
    smooth: bool,
) -> tuple[Mesh, FloatArray, FloatArray]:
    """The fine mesh, refined by a coarse solution, with initial coefficients and breaks in r."""
    inner = section.breaks[1:-1]
    breaks = np.concatenate(
        ([0.0], rest_map.inverse(inner) if inner.size else inner, [rest_map.duration])
    )
    few = Mesh.of(robot, section, rest_map, coarse_nodes(rest_map, breaks))
    mesh = divided_by_turns(robot, section, rest_map, few, COARSE_TURN)
    turns, c = mesh is not few, np.ones(mesh.nodes.size + 2)
    shortest = shortest_interval(robot, mesh, limits.effort_rate) if smooth else None
    if friction:  # with x = 1, because r is approximately the time
        mesh = mesh.with_friction(robot, c)
    refuse_standing(robot, section, mesh.places, mesh.standing, limits.effort)
    rows, _ = rows_of(mesh, limits)
    c = minimize(
        mesh.objective, rows, _feasible_start(rows, c), gap=_COARSE_GAP, most=_COARSE_STEPS
    )[0]
    finer = Mesh.of(robot, section, rest_map, fine_nodes(mesh, c, rest_map, breaks, shortest))
    if turns:
        finer = divided_by_turns(robot, section, rest_map, finer, FINE_TURN)
    c = np.append(np.interp(finer.centers, mesh.centers, c[:-1]), 1.0)
    if friction:
        finer = finer.with_friction(robot, c)
    refuse_standing(robot, section, finer.places, finer.standing, limits.effort)
    return finer, c, breaks


def _feasible_start(rows: Rows, c: FloatArray) -> FloatArray:
    """Multiple of c that is strictly feasible, but not slower than necessary."""
    allowed, share = rows.allowed_shares(c), 1.0
    for _ in range(_MOST_TRIALS):
        if not allowed(2.0 * share):
            break
        share *= 2.0
    return 0.5 * _greatest(allowed, share, 0.5) * c


def _greatest(allowed: Callable[[float], bool], share: float, factor: float) -> float:
    """Reduce a share by a factor until it is allowed."""
    for _ in range(_MOST_SHRINKING):
        if allowed(share):
            return share
        share *= factor
    raise TrajectoryError(
        'no speed along the path was found, however low: are limits in SI units?'
    )
