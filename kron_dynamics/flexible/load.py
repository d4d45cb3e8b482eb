# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Loading a `FlexibleModel` from a URDF and a description of its flexible links."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.dynamics.composite import Inertia, body_inertias, composite_inertias
from kron_dynamics.exceptions import KronDynamicsError, ModelError
from kron_dynamics.flexible.beam_part import BeamPart, take_beam
from kron_dynamics.flexible.beams.tapered import CarriedBody
from kron_dynamics.flexible.bent_beam import bent_beam
from kron_dynamics.flexible.flexible_body import FlexibleBody
from kron_dynamics.flexible.flexible_model import FlexibleModel
from kron_dynamics.kinematics.forward import joint_placements
from kron_dynamics.messages import clipped, named
from kron_dynamics.model.entries import file_of
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.flexible_description import FlexibleLinkDescription, read_flexible
from kron_dynamics.model.load import build_model, described_model
from kron_dynamics.model.options import ModelOptions
from kron_dynamics.model.payload import refuse_still_payloads
from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.model.urdf import ParsedUrdf
from kron_dynamics.reproducible import product, with_python_numbers
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from typing import Unpack


def load_flexible_model(
    text: str,
    flexible: str | Path | Mapping[str, object],
    *,
    findings: Findings | None = None,
    **options: Unpack[ModelOptions],
) -> FlexibleModel:
    """Return the model of a URDF text with some links flexible.

    A link keeps its mass of the URDF, divided into the beam's mass, distributed along the beam,
    and a rigid body at the root with the remainder. Children of the link, fixed or jointed, are
    attached to the section of the beam at the position of their joint: beyond the tip to the tip,
    before the root to the rigid part.

    Args:
        text: URDF.
        flexible: description of the flexible links: a file or its contents as a mapping.
        findings: collects warnings, and errors until all are found; as in `load_model`.
        **options: options of `load_model`; modal coordinates follow the joints.

    Raises:
        ModelError: one of the two descriptions is invalid, or they do not fit together; the
            message names link or joint, and the file of the flexible links if there is one.
    """
    descriptions = read_flexible(flexible)
    parsed, rigid = described_model(
        text, findings=findings, bending={link.link for link in descriptions}, **options
    )
    try:
        return _flexible_model(parsed, rigid, descriptions, options)
    except ModelError as error:
        file = file_of(flexible)
        if file is None:
            raise
        raise type(error)(f'{clipped(file)}: {error}') from error.__cause__


def _flexible_model(
    parsed: ParsedUrdf,
    rigid: RigidModel,
    descriptions: Sequence[FlexibleLinkDescription],
    options: ModelOptions,
) -> FlexibleModel:
    """Return the model of a rigid robot with the described links made flexible."""
    parsed = copy.deepcopy(parsed)
    beams = []
    for description in descriptions:
        with _numerical_errors_of(description.link):
            beams.append(take_beam(parsed.robot, description))
    sections = frozenset(name for beam in beams for name in beam.sections)
    parsed = parsed._replace(sections=sections)
    refuse_still_payloads(parsed)
    skeleton = build_model(parsed, options)
    carried = _subtree_inertias(skeleton, beams)
    links: list[FlexibleBody] = []
    for beam in beams:
        first = links[-1].coordinates[-1] + 1 if links else rigid.n
        with _numerical_errors_of(beam.description.link):
            links.append(_flexible_body(skeleton, beam, carried, first))
    return FlexibleModel.assembled(rigid, skeleton, tuple(links))


@contextmanager
def _numerical_errors_of(link: str) -> Iterator[None]:
    """Turn numerical failures in computing a link's modes into a ModelError that names it."""
    try:
        with np.errstate(all='ignore'):
            yield
    except KronDynamicsError:
        raise
    except (np.linalg.LinAlgError, ValueError, ArithmeticError) as error:
        raise ModelError(
            f'flexible {named("link", link)}: its modes cannot be computed, as mass, stiffness or '
            f'origin are too large, too small or too far apart ({error})'
        ) from None


def _flexible_body(
    skeleton: RigidModel, beam: BeamPart, carried: Sequence[Inertia], first: int
) -> FlexibleBody:
    """Return the flexible link whose modal coordinates begin at index `first`.

    Args:
        skeleton: tree of rigid bodies.
        beam: the link's beam.
        carried: inertia of the subtree of each body of the skeleton.
        first: index of its first coordinate.
    """
    description = beam.description
    numbers = {joint.name: k for k, joint in enumerate(skeleton.joints)}
    places = {numbers[name]: x for name, x in beam.sections.items()}
    frame = skeleton.frame(description.link)
    axes = _beam_axes(description)
    loads = [(x, carried[k].turned(axes.T.astype(object))) for k, x in places.items()]
    bent = bent_beam(beam, (_carried_bodies(loads, 1), _carried_bodies(loads, 2)))
    count = sum(len(plane.scale) for plane in bent.planes)
    return FlexibleBody(
        link=description.link,
        body=frame.body,
        rotation=read_only(product(frame.rotation, axes)),
        translation=read_only(frame.translation + product(frame.rotation, description.origin)),
        axes=axes,
        length=description.length,
        coordinates=tuple(range(first, first + count)),
        planes=bent.planes,
        shape_integrals=bent.shape_integrals,
        pair_stiffness=bent.pair_stiffness,
        sections=dict(zip(places, bent.sections, strict=True)),
        outline=bent.outline,
    )


def _beam_axes(description: FlexibleLinkDescription) -> FloatArray:
    """Return the axes of the beam in the link's axes, shape (3, 3)."""
    third = np.cross(description.axis, description.lateral)
    return read_only(np.column_stack([description.axis, description.lateral, third]))


def _subtree_inertias(skeleton: RigidModel, beams: Sequence[BeamPart]) -> list[Inertia]:
    """Return the inertia of each body's subtree at the undeformed zero pose, body axes."""
    skeleton = with_python_numbers(skeleton)
    inertias = body_inertias(skeleton)
    for beam in beams:
        frame = skeleton.frame(beam.description.link)
        if frame.body >= 0:
            inertias[frame.body] += beam.inertia.turned(frame.rotation).about(frame.translation)
    placements = joint_placements(skeleton, np.zeros(skeleton.n, dtype=object))
    return composite_inertias(skeleton, placements, inertias)


def _carried_bodies(carried: Sequence[tuple[float, Inertia]], across: int) -> list[CarriedBody]:
    """Return the bodies on sections with their inertias for bending along one beam axis."""
    return [
        CarriedBody(
            x,
            float(inertia.mass),
            float(inertia.first[0]),
            float(inertia.second[0, 0] + inertia.second[across, across]),
        )
        for x, inertia in carried
    ]
