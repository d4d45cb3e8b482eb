# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Mode shapes of a flexible link, and the integrals of them for its cross-sections.

The beam has separate modes in the plane of v (along y of the beam's axes) and of w (along z); the
point at x of the undeformed beam is deflected by v = Phi_v(x)^T e_v and w = Phi_w(x)^T e_w.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kron_dynamics.exceptions import ModelError
from kron_dynamics.flexible.beams.beam import Beam, BeamSection
from kron_dynamics.flexible.beams.integrals import beam_quadrature
from kron_dynamics.flexible.beams.tapered import CarriedBody, tapered_modes
from kron_dynamics.messages import named
from kron_dynamics.model.flexible_description import FlexibleLinkDescription
from kron_dynamics.reproducible import product
from kron_dynamics.typing import ArrayLike, FloatArray

# Number of trial functions with shorter waves than the modes; the quadrature resolves these too.
TRIAL_WAVES = 20


class ModeShapes(Protocol):
    """Modes of a beam in one plane."""

    @property
    def natural_frequencies(self) -> FloatArray:
        """Natural frequencies, shape (n,), rad/s."""

    def shapes(self, x: ArrayLike, order: int = 0) -> FloatArray:
        """Return the shapes at x, shape (k,), or their derivatives, shape (n, k)."""

    def derivatives(self, x: ArrayLike, orders: Sequence[int]) -> list[FloatArray]:
        """Return `shapes` for several orders, a list of arrays of that shape."""


@dataclass(frozen=True, slots=True, eq=False)
class PlaneModes:
    """Modes in one plane of a link, or none.

    Attributes:
        modes: the modes; None if the link does not bend in this plane.
        knots: distances from the root where derivatives of the shapes may jump, m.
        scale: factors of the shapes of `modes`, shape (n,).
        stiffness: int EI Phi'' Phi''^T, shape (n, n), N/m for dimensionless shapes.
        damping: damping of the modal coordinates, shape (n,), N s/m, for the given damping ratio
            of the clamped link vibrating in this mode alone.
    """

    modes: ModeShapes | None
    knots: FloatArray
    scale: FloatArray
    stiffness: FloatArray
    damping: FloatArray

    def shapes(self, x: ArrayLike, order: int = 0) -> FloatArray:
        """Return the shapes or their derivatives, shape (n, k), at distances x, shape (k,), m."""
        return self.derivatives(x, (order,))[0]

    def derivatives(self, x: ArrayLike, orders: Sequence[int]) -> list[FloatArray]:
        """Return `shapes` for several orders, a list of arrays of that shape."""
        if self.modes is None:
            return [np.zeros((0, np.size(x)))] * len(orders)
        return [self.scale[:, None] * shapes for shapes in self.modes.derivatives(x, orders)]


def plane_modes(
    description: FlexibleLinkDescription,
    plane: str,
    mass_per_length: FloatArray,
    carried: Sequence[CarriedBody],
) -> PlaneModes:
    """Return the modes of a link in one plane.

    Clamped-free modes of a uniform beam have Khang's normalisation, `BeamModes`; all others
    have a deflection of 1 at the tip, so that their coordinates are the tip's deflection in m.

    Args:
        description: description of the link.
        plane: 'v' or 'w'.
        mass_per_length: mass per length at the description's stations, shape (k,), kg/m.
        carried: bodies attached to sections of the beam; they affect the modes unless the
            description asks for the modes of the beam alone.

    Raises:
        ModelError: the carried bodies are so heavy that modes are lost in rounding.
    """
    if plane not in description.modes:
        return PlaneModes(None, np.zeros(0), np.zeros(0), np.zeros((0, 0)), np.zeros(0))
    count = description.modes[plane]
    EI, x = description.bending_stiffness[plane], description.stations
    section = BeamSection(x, EI, mass_per_length)
    loaded = description.mode_shapes == 'loaded'
    modes: ModeShapes
    if not loaded and np.ptp(EI) == 0 and np.ptp(mass_per_length) == 0:
        modes = Beam(description.length, float(EI[0]), float(mass_per_length[0])).modes(count)
        scale, knots = np.ones(count), np.zeros(0)
    else:
        try:
            modes = tapered_modes(section, count, carried=carried if loaded else ())
            knots = modes.trial.knots
        except ModelError as error:
            raise ModelError(
                f"{named('flexible link', description.link)}, plane '{plane}': {error}"
            ) from None
        scale = 1 / modes.shapes([description.length])[:, 0]
    points, weights = beam_quadrature(np.union1d(x, knots), count + TRIAL_WAVES)
    bending = scale[:, None] * modes.shapes(points, 2)
    stiffness = product(bending * (weights * section.bending_stiffness_at(points)), bending.T)
    ratios = description.damping_ratio[plane]
    omega = modes.natural_frequencies
    if description.damping == 'stiffness_proportional':
        ratios = ratios[0] * omega / omega[0]
    damping = 2 * ratios * stiffness.diagonal() / omega
    return PlaneModes(modes, knots, scale, np.asarray(stiffness), np.asarray(damping))


def section_points(
    description: FlexibleLinkDescription, planes: tuple[PlaneModes, PlaneModes]
) -> tuple[FloatArray, FloatArray]:
    """Return points and weights for integrals of four shapes over a link, shape (k,) each, m."""
    knots = np.union1d(description.stations, np.union1d(*(plane.knots for plane in planes)))
    count = 2 * max(len(plane.scale) for plane in planes)
    return beam_quadrature(knots, count + TRIAL_WAVES)


def outline(planes: tuple[PlaneModes, PlaneModes], length: float) -> FloatArray:
    """Return each mode's deflection over the length, and slope, at k equidistant points.

    Returns:
        deflections, then slopes, each in v and in w, shape (2, 2, k, m), 1/m for dimensionless
        shapes, for all m modes, those in the plane of v first; the tip is the last point.
    """
    counts = [len(plane.scale) for plane in planes]
    # Several points per wave of the highest mode.
    points = np.linspace(0.0, length, 4 * max(counts) + 1)[1:]
    found = np.zeros((2, 2, len(points), sum(counts)))
    for k, (plane, modes) in enumerate(
        zip(planes, (slice(counts[0]), slice(counts[0], None)), strict=True)
    ):
        found[0, k, :, modes] = plane.shapes(points).T / length
        found[1, k, :, modes] = plane.shapes(points, 1).T
    return found


@dataclass(frozen=True, slots=True, eq=False)
class CrossSection:
    """The constants of a section that determine its position and rotation.

    Pairs of arrays are for the planes v and w, with n_v and n_w modes.

    Attributes:
        x: distance from the root, m.
        shapes: Phi(x), shapes (n_v,) and (n_w,).
        slopes: Phi'(x), likewise, 1/m.
        shortening: G(x) = int_0^x Phi' Phi'^T, shapes (n_v, n_v) and (n_w, n_w), 1/m: bending
            moves the section towards the root by 1/2 e^T G e.
        twist: T(x), shape (n_v, n_w), 1/m^2: bending in both planes rotates the section about the
            beam's axis by e_v^T T e_w.
    """

    x: float
    shapes: tuple[FloatArray, FloatArray]
    slopes: tuple[FloatArray, FloatArray]
    shortening: tuple[FloatArray, FloatArray]
    twist: FloatArray


def stations(
    planes: tuple[PlaneModes, PlaneModes], places: ArrayLike, geometric_stiffness: bool = True
) -> list[CrossSection]:
    """Return the cross-sections of a link at given distances from the root.

    Args:
        planes: modes in the planes v and w.
        places: distances from the root, shape (k,), m.
        geometric_stiffness: False omits the shortening, so that points keep their x, as in [K].
    """
    v, w = planes
    at = np.asarray(places, dtype=np.float64)
    if not at.size:
        return []
    knots = np.union1d(v.knots, w.knots)
    knots = knots[knots > 0]
    # Integrals up to every fourth knot are common to all sections beyond it.
    common = np.concatenate([[0.0], knots[3::4]])
    before = np.searchsorted(common, at) - 1
    count = max(len(v.scale), len(w.scale)) + TRIAL_WAVES
    pieces = zip([*common[:-1], *common[before]], [*common[1:], *at], strict=True)
    quadratures = [
        beam_quadrature([begin, *knots[(knots > begin) & (knots < end)], end], count)
        for begin, end in pieces
    ]
    sums = []
    for parts in zip(*_bending_integrals(planes, quadratures, geometric_stiffness), strict=True):
        shared = np.cumsum([np.zeros_like(parts[0]), *parts[: len(common) - 1]], axis=0)
        sums.append(shared[before] + parts[len(common) - 1 :])
    shapes, slopes = zip(*(plane.derivatives(at, (0, 1)) for plane in planes), strict=True)
    return [
        CrossSection(
            x,
            (shapes[0][:, k].copy(), shapes[1][:, k].copy()),
            (slopes[0][:, k].copy(), slopes[1][:, k].copy()),
            (sums[0][k], sums[1][k]),
            sums[2][k],
        )
        for k, x in enumerate(at.tolist())
    ]


def _bending_integrals(
    planes: tuple[PlaneModes, PlaneModes],
    quadratures: Sequence[tuple[FloatArray, FloatArray]],
    geometric_stiffness: bool,
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Return the integrals for the shortening in v and in w and for the twist over pieces.

    Args:
        planes: modes in the planes v and w.
        quadratures: points and weights of each piece, m.
        geometric_stiffness: as in `stations`.
    """
    # Evaluate the shapes at all points at once.
    points = np.concatenate([points for points, _ in quadratures])
    first, second = zip(*(plane.derivatives(points, (1, 2)) for plane in planes), strict=True)
    found, begin = [], 0
    for _, weights in quadratures:
        own = slice(begin, begin + len(weights))
        begin = own.stop
        (v1, w1), (v2, w2) = ([table[:, own] for table in tables] for tables in (first, second))
        stretch = weights if geometric_stiffness else 0.0 * weights
        shortening = product(v1 * stretch, v1.T), product(w1 * stretch, w1.T)
        twist = (product(v1 * weights, w2.T) - product(v2 * weights, w1.T)) / 2
        found.append((*shortening, twist))
    return found
