# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The quickest motion along one section of a path, from rest to rest."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.reference.interior_point import Rows, minimize
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
)
from kron_dynamics.control.reference.sharpening import Sharpened, sharpened
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

_COARSE_STEPS, _FINE_STEPS = 7, 200
_COARSE_GAP, _FINE_GAP, _FINE_GAP_RATES = 0.1, 1e-4, 2.5e-3
# What is asked of a motion between its states is seen afterwards. If it has to be slower by more
# than this, rows are made stricter where it is too much, and the motion is searched again.
_SLOWER, _SLOWER_RATES, _ATTEMPTS = 1.0003, 1.012, 4
# Times that a guess is made slower: below that rounding is left.
_MOST_SHRINKING = 2000
# A motion that has to be slower by more than this even then: the mesh does not describe it.
_SLOWEST = 2.0
# Of guesses, each nearer to what is possible.
_MOST_TRIALS = 100


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
        c = 0.98 * _shrunk(chosen, c, 0.9)
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
    while friction and slowing > 1.0:  # it has changed with the speed
        best = MotionSamples.of(robot, best.times, best.states, friction)
        slowing = best.slowing(limits, best.peaks(limits))
        best = best.slowed(slowing)
    return best, best.times[np.searchsorted(finer.nodes, breaks)]


def _with_breaks(found: Sharpened, breaks: FloatArray) -> tuple[MotionSamples, FloatArray]:
    """A motion, and when it is at the breaks, r."""
    return found.samples, found.samples.times[np.searchsorted(found.mesh.nodes, breaks)]


def _searched_mesh(
    robot: Robot,
    section: PathSection,
    rest_map: RestMap,
    limits: Limits,
    friction: bool,
    smooth: bool,
) -> tuple[Mesh, FloatArray, FloatArray]:
    """A mesh that is fine where a coarse one shows need, what to begin with, and its breaks."""
    inner = section.breaks[1:-1]
    breaks = np.concatenate(
        ([0.0], rest_map.inverse(inner) if inner.size else inner, [rest_map.duration])
    )
    few = coarse_nodes(rest_map, breaks)
    nodes = divided_by_turns(robot, section, rest_map, few, COARSE_TURN)
    turns = nodes is not few
    mesh = Mesh.of(robot, section, rest_map, nodes)
    c = np.ones(mesh.nodes.size + 2)
    if friction:  # r is about the time
        mesh = mesh.with_friction(robot, c)
    refuse_standing(robot, section, mesh.places, mesh.terms.weight, limits.effort)
    rows, _ = rows_of(mesh, limits)
    c = minimize(mesh.objective, rows, _begun(rows, c), gap=_COARSE_GAP, most=_COARSE_STEPS)[0]
    nodes = fine_nodes(mesh, c, rest_map, breaks, smooth)
    if turns:
        nodes = divided_by_turns(robot, section, rest_map, nodes, FINE_TURN)
    finer = Mesh.of(robot, section, rest_map, nodes)
    c = np.append(np.interp(finer.centers, mesh.centers, c[:-1]), 1.0)
    if friction:
        finer = finer.with_friction(robot, c)
    refuse_standing(robot, section, finer.places, finer.terms.weight, limits.effort)
    return finer, c, breaks


def _begun(rows: Rows, c: FloatArray) -> FloatArray:
    """Unknowns in proportion to c that all rows leave some slack, but no more than necessary."""
    for _ in range(_MOST_TRIALS):
        if not rows.allow(2.0 * c):
            break
        c = 2.0 * c
    return 0.5 * _shrunk(rows, c, 0.5)


def _shrunk(rows: Rows, c: FloatArray, factor: float) -> FloatArray:
    """Slower, until all rows have slack."""
    for _ in range(_MOST_SHRINKING):
        if rows.allow(c):
            return c
        c = factor * c
    raise TrajectoryError(
        'no speed along the path was found, however low: are limits in SI units?'
    )
