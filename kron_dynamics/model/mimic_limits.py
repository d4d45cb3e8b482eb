# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Limits of mimic joints, which count only as far as those of their masters are narrow enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from urdf_parser_py import urdf

from kron_dynamics.messages import clipped, named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.model.joint_properties import joint_limits

if TYPE_CHECKING:
    from kron_dynamics.model.coordinates import Follower

# Relative excess that is rounding of the description.
_SLIGHT = 1e-3


def look_for_limits_of_mimic(
    joint: urdf.Joint,
    follower: Follower,
    master: tuple[float, float, float, float],
    findings: Findings,
) -> None:
    """Look for limits of a mimic joint beyond which it moves within those of its master.

    Args:
        joint: the mimic joint.
        follower: how it follows its master.
        master: lower, upper, velocity and effort limits of the master.
        findings: collects warnings.
    """
    lower, upper, velocity, _ = joint_limits(joint, Findings())
    least = most = follower.offset
    speed, ratio = 0.0, follower.multiplier
    if ratio:
        least, most = sorted(ratio * end + follower.offset for end in master[:2])
        speed = abs(ratio) * master[2]
    slack = _SLIGHT * (upper - lower) if math.isfinite(upper - lower) else 0.0
    length, rate = (joint_kind(joint.type).unit(each) for each in ('position', 'velocity'))
    found = []
    if least < lower - slack or most > upper + slack:
        found.append(f'from {least:g} to {most:g} {length}, its limits are {lower:g} to {upper:g}')
    if speed > velocity * (1.0 + _SLIGHT):
        found.append(f'at up to {speed:g} {rate}, its limit is {velocity:g}')
    if found:
        findings.warn(
            'limit_of_mimic',
            named('joint', joint.name),
            f"it mimics '{clipped(str(follower.mimics))}', within whose limits it moves "
            f'{", and ".join(found)}: limits of mimic joints are not used',
            'narrow the limits of the joint that it mimics',
        )
