# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rotor inertias of a URDF's transmissions, reflected to the joints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from lxml import etree
from urdf_parser_py import urdf

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import listed, named
from kron_dynamics.model.findings import Findings


def armatures(root: etree._Element, findings: Findings) -> dict[str, float]:
    """Return the armature of each joint with a rotor, by joint name, kg m^2 or kg.

    Plain URDF has no element for rotors; `rotor_inertia` and `gear_ratio` of an actuator are those
    that Drake introduced. Several motors on one joint add up. The rotors of a transmission with
    several joints couple these, which no armature expresses: they are left out with a warning.
    """
    found: dict[str, float] = {}
    for transmission in root.iter('transmission'):
        where = named('transmission', transmission.get('name'))
        rotors = list(transmission.iterfind('actuator/{*}rotor_inertia'))
        joints = [joint.get('name') for joint in transmission.iterfind('joint')]
        if rotors and len(joints) > 1:
            findings.warn(
                'coupled_rotors',
                where,
                f'its rotors turn with several joints ({listed(map(str, joints))}): left out',
                'give `armature=` what counts at each joint',
            )
            continue
        for rotor in rotors:
            try:
                ratio = _gear_ratio(rotor, where, findings)
                inertia = float(rotor.get('value')) * ratio * ratio
                name = str(joints[0] or '') or None
            except (TypeError, ValueError, IndexError):
                name = None
            if name is None:
                findings.refuse(
                    ModelError(
                        f'{where} has a rotor_inertia or gear_ratio that is not a number, or '
                        f'names no joint'
                    )
                )
            elif not math.isfinite(inertia):
                findings.refuse(
                    ModelError(
                        f'{where}: rotor_inertia times the square of gear_ratio is {inertia}, '
                        f'expected a finite number for {named("joint", name)}'
                    )
                )
            else:
                found[name] = found.get(name, 0.0) + inertia
    return found


def moving_rotors(
    found: Mapping[str, float], joints: Iterable[urdf.Joint], findings: Findings
) -> dict[str, float]:
    """Return the armatures of joints that move; the others are left out with a warning.

    Args:
        found: from `armatures`.
        joints: the joints of the robot, those that are held as fixed ones.
        findings: collects warnings.
    """
    kinds = {joint.name: joint.type for joint in joints}
    moving = dict[str, float]()
    for name, inertia in found.items():
        if kinds.get(name, 'fixed') != 'fixed':
            moving[name] = inertia
            continue
        why = 'is fixed' if name in kinds else 'does not exist'
        findings.warn(
            'rotor_of_fixed',
            named('joint', name),
            f'its transmission has a rotor of {inertia:g} kg m^2 or kg, but the joint {why}: the '
            f'rotor is left out',
            'name the joint that it drives, or remove the transmission',
        )
    return moving


def _gear_ratio(rotor: etree._Element, where: str, findings: Findings) -> float:
    """Return the gear ratio beside a rotor; 1 if there is none.

    Raises:
        TypeError: gear_ratio has no value.
        ValueError: its value is not a number.
    """
    actuator = rotor.getparent()
    ratio = actuator.find('{*}gear_ratio')
    if ratio is not None:
        return float(ratio.get('value'))
    # The first spelling is of ROS 1, the second of ros2_control.
    found = actuator.getparent().iter('{*}mechanicalReduction', '{*}mechanical_reduction')
    if (reduction := next(found, None)) is not None:
        text, spelling = (reduction.text or '').strip(), etree.QName(reduction).localname
        findings.warn(
            'missing_gear_ratio',
            where,
            f'it has a rotor_inertia and {spelling} {text[:20]}, but no gear_ratio: the '
            'rotor counts as if it turned with the joint',
            f'write <gear_ratio value="{text[:20]}"/> beside the rotor_inertia',
        )
    return 1.0
