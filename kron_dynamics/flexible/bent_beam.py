# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Constants of the bending of a link's beam, computed once for equal beams with equal loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kron_dynamics.flexible.beam_part import BeamPart
from kron_dynamics.flexible.beams.tapered import CarriedBody
from kron_dynamics.flexible.flexible_body import beam_shape_integrals
from kron_dynamics.flexible.link_modes import (
    CrossSection,
    PlaneModes,
    outline,
    plane_modes,
    section_points,
    stations,
)
from kron_dynamics.flexible.pair_stiffness import pair_stiffness
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.typing import FloatArray


class BentBeam(NamedTuple):
    """What the equations of a `FlexibleBody` need of its beam, read-only; see there."""

    planes: tuple[PlaneModes, PlaneModes]
    shape_integrals: FloatArray
    pair_stiffness: FloatArray
    sections: tuple[CrossSection, ...]
    outline: FloatArray


@dataclass(frozen=True)
class _LoadedBeam:
    """A beam and the bodies on it for bending in v and in w; equal if their numbers are."""

    numbers: str
    beam: BeamPart = field(compare=False)
    carried: tuple[Sequence[CarriedBody], Sequence[CarriedBody]] = field(compare=False)


def bent_beam(
    beam: BeamPart, carried: tuple[Sequence[CarriedBody], Sequence[CarriedBody]]
) -> BentBeam:
    """Return the constants of a beam, with its sections in the order of `beam.sections`.

    A process often loads a robot again, with other options.

    Args:
        beam: the beam.
        carried: bodies attached to its sections, for bending in the planes of v and w.

    Raises:
        ModelError: the bodies are so heavy that modes are lost in rounding.
    """
    its = beam.description
    tables = (
        *(its.bending_stiffness.items(), its.damping_ratio.items()),
        (('stations', its.stations), ('mass', beam.mass_per_length)),
    )
    # As text, in which zeros of either sign differ.
    numbers = repr(
        (
            [[(name, table.tobytes()) for name, table in each] for each in tables],
            (its.length, dict(its.modes), its.damping, its.mode_shapes, its.geometric_stiffness),
            (beam.missing, list(beam.sections.values()), carried),
        )
    )
    return _computed(_LoadedBeam(numbers, beam, carried))


@lru_cache(maxsize=16)
def _computed(loaded: _LoadedBeam) -> BentBeam:
    beam, its = loaded.beam, loaded.beam.description
    v, w = (
        plane_modes(its, plane, beam.mass_per_length, bodies)
        for plane, bodies in zip(('v', 'w'), loaded.carried, strict=True)
    )
    planes = v, w
    points, weights = section_points(its, planes)
    along = stations(planes, points, its.geometric_stiffness)
    at = stations(planes, list(beam.sections.values()), its.geometric_stiffness)
    arrays = [a for one in planes for a in (one.knots, one.scale, one.stiffness, one.damping)]
    for section in at:
        arrays += [*section.shapes, *section.slopes, *section.shortening, section.twist]
    for array in arrays:
        array.setflags(write=False)
    return BentBeam(
        planes,
        read_only(_shape_integrals(beam, along, weights)),
        read_only(pair_stiffness(its, planes, along, weights)),
        tuple(at),
        read_only(outline(planes, its.length)),
    )


def _shape_integrals(
    beam: BeamPart, along: Sequence[CrossSection], weights: FloatArray
) -> FloatArray:
    """Return the inertia shape integrals of the beam from its sections at quadrature points."""
    x = np.array([at.x for at in along])
    dm = weights * np.interp(x, beam.description.stations, beam.mass_per_length)
    integrals = beam_shape_integrals(along, dm)
    integrals[1, 1] -= beam.missing
    return integrals
