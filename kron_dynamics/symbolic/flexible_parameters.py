# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A model with flexible links whose floats, including shape integrals, are SymPy symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kron_dynamics.flexible.flexible_body import FlexibleBody
from kron_dynamics.flexible.flexible_model import FlexibleModel
from kron_dynamics.flexible.link_modes import CrossSection, PlaneModes
from kron_dynamics.flexible.pair_stiffness import pairs
from kron_dynamics.symbolic.exact import exact_array, exact_number, exact_rotation, frozen
from kron_dynamics.symbolic.parameters import Parameters, exact_model, moved_link
from kron_dynamics.typing import FloatArray, ScalarArray


def exact_flexible_model(model: FlexibleModel, parameters: Parameters) -> FlexibleModel:
    """Return a model of SymPy numbers: those of `exact_model`, and those of the beams.

    Symbols named after the flexible link, with the functions 1, x, v1, w1, ... (the mode shapes)
    and Gv11, Gw11, ... (their axial shortening): b, the integral of the product of two of these
    over the beam's mass; k, the bending stiffness of two modes; r, the stiffness of large bending;
    o, the beam's root; d, the damping of a modal coordinate. Symbols named after the link that is
    mounted on a section: its position x along the beam, and there the shapes X, slopes dX,
    shortening G and twist T.

    Args:
        model: model of floats.
        parameters: makes numbers or symbols, and records the symbols' values.
    """
    # Joints that only represent sections in the tree keep their floats: the beam moves them.
    sections = {k for link in model.flexible_links for k in link.sections}
    skeleton = exact_model(model.skeleton, parameters, model.rigid.frames, sections)
    joints = model.joint_count
    modal = model.joint_names[joints:]
    none = frozen([0] * len(modal), (len(modal),))
    damping = parameters.each(model.damping[joints:], 'd', modal)
    links = tuple(_link(link, model, parameters) for link in model.flexible_links)
    return replace(
        model,
        skeleton=skeleton,
        flexible_links=links,
        gravity=skeleton.gravity,
        armature=np.concatenate([skeleton.armature, none]),
        damping=np.concatenate([skeleton.damping, damping]),
        friction=np.concatenate([skeleton.friction, none]),
    )


def _link(link: FlexibleBody, model: FlexibleModel, parameters: Parameters) -> FlexibleBody:
    shapes, products = [], []
    for plane, count in zip('vw', link.mode_counts, strict=True):
        shapes += [f'{plane}{i + 1}' for i in range(count)]
        products += [f'G{plane}{i + 1}{j + 1}' for i, j in pairs(count)]
    name, (v, w) = link.link, link.planes
    return replace(
        link,
        rotation=exact_rotation(link.rotation),
        translation=parameters.vector(exact_array(link.translation), 'o', name),
        axes=exact_rotation(link.axes),
        length=exact_number(link.length),
        planes=(_plane(v, 'v', name, parameters), _plane(w, 'w', name, parameters)),
        shape_integrals=_symmetric(
            link.shape_integrals, 'b', name, ['1', 'x', *shapes, *products], parameters
        ),
        pair_stiffness=_symmetric(
            link.pair_stiffness, 'r', name, [x.removeprefix('G') for x in products], parameters
        ),
        sections={
            k: _station(at, _mounted(model, k), parameters) for k, at in link.sections.items()
        },
    )


def _mounted(model: FlexibleModel, section: int) -> str:
    """Return the link that is mounted on a section, fixed or else by its first joint.

    A section that carries only a payload has none; its own name is returned.
    """
    skeleton, links = model.skeleton, model.rigid.frames
    bodies = [section, *(k for k, joint in skeleton.outward() if joint.parent == section)]
    owners = [moved_link(skeleton, k, links) for k in bodies]
    return next((owner for owner in owners if owner in links), owners[0])


def _plane(plane: PlaneModes, letter: str, link: str, parameters: Parameters) -> PlaneModes:
    modes = _numbered(letter, len(plane.scale))
    return replace(plane, stiffness=_symmetric(plane.stiffness, 'k', link, modes, parameters))


def _station(at: CrossSection, owner: str, parameters: Parameters) -> CrossSection:
    modes = [_numbered(letter, len(e)) for letter, e in zip('vw', at.shapes, strict=True)]

    def both(letter: str, values: tuple[FloatArray, FloatArray]) -> tuple[Any, Any]:
        v, w = (
            _each(x, letter, owner, names, parameters)
            for x, names in zip(values, modes, strict=True)
        )
        return v, w

    shortening = [
        _symmetric(G, 'G', owner, names, parameters)
        for G, names in zip(at.shortening, modes, strict=True)
    ]
    twisted = [f'{v}{w}' for v in modes[0] for w in modes[1]]
    return CrossSection(
        x=parameters.of(exact_number(at.x), 'x', owner),
        shapes=both('X', at.shapes),
        slopes=both('dX', at.slopes),
        shortening=(shortening[0], shortening[1]),
        twist=_each(at.twist, 'T', owner, twisted, parameters),
    )


def _numbered(letter: str, count: int) -> list[str]:
    return [f'{letter}{i + 1}' for i in range(count)]


def _each(
    values: FloatArray, letter: str, owner: str, names: Sequence[str], parameters: Parameters
) -> ScalarArray:
    """Return a number or symbol for each value, same shape."""
    entries = [
        parameters.of(number, letter, owner, name)
        for number, name in zip(exact_array(values).flat, names, strict=True)
    ]
    return frozen(entries, values.shape)


def _symmetric(
    values: FloatArray, letter: str, owner: str, names: Sequence[str], parameters: Parameters
) -> ScalarArray:
    """Return a number or symbol for each entry of a symmetric matrix, same shape."""
    numbers = exact_array(values)
    upper = {
        (i, j): parameters.of(numbers[i, j], letter, owner, f'{names[i]}{names[j]}')
        for i in range(len(names))
        for j in range(i, len(names))
    }
    entries = [upper[min(i, j), max(i, j)] for i, j in np.ndindex(numbers.shape)]
    return frozen(entries, numbers.shape)
