# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rotations of URDF 1.1 that are given as quaternions: the attribute quat_xyzw of <origin>."""

from __future__ import annotations

import math

import numpy as np
from lxml import etree

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.tree import roll_pitch_yaw
from kron_dynamics.model.urdf_elements import parsed_numbers
from kron_dynamics.model.urdf_xml import element_name
from kron_dynamics.typing import FloatArray

QUATERNION = 'quat_xyzw'
# Version of URDF without quaternions.
_FIRST = '1.0'
# Deviation of the norm from 1 above which four numbers are taken for something else.
_NOT_UNIT = 0.01


def quaternions_to_angles(root: etree._Element, findings: Findings) -> None:
    """Replace the quaternions of all origins by roll, pitch and yaw.

    Args:
        root: the element <robot>, which is changed.
        findings: collects errors and warnings.
    """
    for origin in root.iter('origin'):
        text = origin.attrib.pop(QUATERNION, None)
        if text is None:
            continue
        subject = _owner(origin, root)
        if root.get('version', _FIRST) == _FIRST:
            findings.warn(
                'quaternion_not_read',
                subject,
                f'<origin> has {QUATERNION}, which is of URDF 1.1 and not read in {_FIRST}',
                'write <robot version="1.1"> if it is meant, otherwise remove it',
            )
        elif origin.get('rpy') is not None:
            findings.refuse(
                ModelError(f'{subject}: <origin> has rpy and {QUATERNION}, expected one of them')
            )
        else:
            _replace(origin, text, subject, findings)


def _replace(origin: etree._Element, text: str, subject: str, findings: Findings) -> None:
    values = parsed_numbers(text)
    length = math.hypot(*values) if values is not None and len(values) == 4 else math.nan
    if values is None or not abs(length - 1.0) <= _NOT_UNIT:
        findings.refuse(
            ModelError(
                f"{subject}: {QUATERNION} of <origin> is '{clipped(text)}', expected the four "
                f'numbers x y z w of a unit quaternion'
            )
        )
        return
    angles = roll_pitch_yaw(rotation_of([value / length for value in values]))
    origin.set('rpy', ' '.join(map(repr, angles)))


def rotation_of(quaternion: list[float]) -> FloatArray:
    """Return the rotation of a unit quaternion x y z w, shape (3, 3)."""
    x, y, z, w = quaternion
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def _owner(origin: etree._Element, root: etree._Element) -> str:
    """Return the link or joint that an origin belongs to, for messages."""
    owner = origin
    while owner.getparent() is not None and owner.getparent() is not root:
        owner = owner.getparent()
    return element_name(owner)
