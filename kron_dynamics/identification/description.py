# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes identified parameters into a URDF, and those without a URDF element into a side file."""

from __future__ import annotations

import numpy as np
from lxml import etree

from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY, parameters_of
from kron_dynamics.identification.described_elements import described_elements, read_children
from kron_dynamics.identification.pseudo_inertia import is_consistent, pseudo_inertia
from kron_dynamics.identification.results import Identification
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import FloatArray

# Least share of a body's mass that must remain for the moving link where the links fixed to it
# keep their inertias.
LEAST_SHARE = 0.01


def identified_urdf(
    text: str, model: RobotModel, found: Identification
) -> tuple[str, tuple[str, ...]]:
    """Return a URDF with identified masses, inertias and friction, and notes about it.

    Only <inertial> and <dynamics> change. A body of several links fixed to each other is written
    into the link that its joint moves. The other links keep their inertias if these and the
    remainder for the moving link are physically consistent; else theirs are merged into it.

    The friction of a coordinate includes that of its mimic joints, and is written into the
    independent joint alone.

    Args:
        text: the URDF that the model was loaded from, xacro expanded.
        model: the robot as described.
        found: result of the identification.

    Raises:
        ModelError: the text is not a URDF with the joints and links of the model.
    """
    root, joints, links = described_elements(text, model)
    notes = []
    ten = found.inertial[: PARAMETERS_PER_BODY * len(model.bodies)]
    for joint, body, own in zip(
        model.joints, model.bodies, ten.reshape(-1, PARAMETERS_PER_BODY), strict=True
    ):
        moving = next(read_children(joints[joint.name], 'child')).get('link')
        others = [part for part in body.parts if part.links != (moving,)]
        if not others and body.links and body.links != (moving,):
            others = [body]
        kept = [part for part in others if is_consistent(parameters_of([part]))]
        left = own - sum((parameters_of([part]) for part in kept), np.zeros(len(own)))
        if kept and not (is_consistent(left) and left[0] >= LEAST_SHARE * own[0]):
            kept, left = [], own
        merged = [part for part in others if part not in kept]
        for name in (name for part in merged for name in part.links):
            links[name].remove(next(read_children(links[name], 'inertial')))
        names = [name for part in merged if parameters_of([part]).any() for name in part.links]
        if names:
            notes.append(
                f"link '{moving}' includes the inertia of links fixed to it: {', '.join(names)}"
            )
        _set_inertial(links[moving], left)
    for link in links.values():
        _without_zeros(link)
    notes += _set_friction(joints, model, found)
    tree = root.getroottree()
    head = '<?xml version="1.0"?>\n' if text.lstrip().startswith('<?xml') else ''
    return head + etree.tostring(tree, encoding='unicode') + '\n', tuple(notes)


def beside_the_urdf(found: Identification) -> dict[str, object]:
    """Return the identified parameters without a URDF element, as a dictionary to write as YAML.

    Args:
        found: result of the identification.
    """
    structure = found.structure
    rotors = found.inertial[-len(found.joint_names) :]
    joints = {
        name: {
            'armature': float(rotors[k]),
            'friction': dict(zip(structure.terms, map(float, found.friction[k]), strict=True)),
        }
        for k, name in enumerate(found.joint_names)
    }
    return {
        'joints': joints,
        'gravity': dict(zip('xyz', map(float, found.gravity), strict=True)),
        'coulomb_passage': structure.passage,
        'presliding_time': structure.presliding,
        'effort_average': structure.effort_width,
        'effort_delay': structure.delay,
    }


def _set_inertial(link: etree._Element, ten: FloatArray) -> None:
    """Write ten parameters, about the link's origin, as mass, centre and central inertia."""
    P = pseudo_inertia(ten)
    mass = P[3, 3]
    center = P[:3, 3] / mass
    about = P[:3, :3] - mass * np.outer(center, center)
    inertia = np.trace(about) * np.eye(3) - about
    inertial = next(read_children(link, 'inertial'), None)
    if inertial is None:
        inertial = etree.Element('inertial')
        inertial.tail = link.text or '\n'
        link.insert(0, inertial)
    for origin in read_children(inertial, 'origin'):
        origin.attrib.pop('quat_xyzw', None)
    _child(inertial, 'origin', xyz=' '.join(map(_number, center)), rpy='0 0 0')
    _child(inertial, 'mass', value=_number(mass))
    names = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    tensor = {f'i{"xyz"[i]}{"xyz"[j]}': _number(inertia[i, j]) for i, j in names}
    _child(inertial, 'inertia', **tensor)


def _without_zeros(link: etree._Element) -> None:
    """Remove an inertial that says nothing but zeros: other programs take it for impossible."""
    for inertial in list(read_children(link, 'inertial')):
        said = [
            value
            for child in read_children(inertial, 'mass', 'inertia')
            for value in child.attrib.values()
        ]
        try:
            empty = not any(map(float, said))
        except ValueError:
            continue
        if empty:
            link.remove(inertial)


def _set_friction(
    joints: dict[str, etree._Element], model: RobotModel, found: Identification
) -> list[str]:
    """Write the friction of each coordinate into its joint, none into mimics; return notes."""
    notes = []
    for place, name in enumerate(model.joint_names):
        _set_dynamics(joints[name], *map(float, found.described_friction[place]))
    for joint in model.joints:
        element = joints[joint.name]
        if joint.mimics and joint.multiplier and list(read_children(element, 'dynamics')):
            _set_dynamics(element, 0.0, 0.0)
            notes.append(f"the friction of joint '{joint.name}' is in that of '{joint.mimics}'")
    return notes


def _set_dynamics(joint: etree._Element, coulomb: float, viscous: float) -> None:
    _child(joint, 'dynamics', damping=_number(viscous), friction=_number(coulomb))


def _child(parent: etree._Element, name: str, **values: str) -> None:
    """Set attributes of a child element, created if missing; its other attributes stay."""
    child = next(read_children(parent, name), None)
    if child is None:
        child = etree.SubElement(parent, name)
        before = child.getprevious()
        if before is not None:
            child.tail, before.tail = before.tail, parent.text
        else:
            child.tail = parent.tail
    for key, value in values.items():
        child.set(key, value)


def _number(value: float) -> str:
    return repr(float(value))
