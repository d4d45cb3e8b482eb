# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimated gains of recorded efforts as text, and as options of other commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

import numpy as np

from kron_dynamics.bag.outputs.text_tables import table
from kron_dynamics.bag.reading.joint_mapping import QUANTITIES, JointMapping
from kron_dynamics.identification.results import Gain


def gain_lines(
    joints: Sequence[str], gains: Sequence[Gain], scale: Mapping[str, float | str]
) -> list[str]:
    """Return a table of gains and the options that apply them; empty without gains.

    Args:
        joints: names of the robot's joints.
        gains: estimated gains.
        scale: factors or units by joint and quantity with which the recordings were read.
    """
    if not gains:
        return []
    rows = [['joint', 'unit', 'gain', 'from', 'to', '']]
    for gain in gains:
        shown = [f'{value:.5g}' for value in (gain.value, gain.low, gain.high)]
        mark = '' if gain.is_identifiable else 'not identifiable: the loads hardly act on it'
        rows.append([gain.joint, f'{gain.unit} per unit', *shown, mark])
    lines = ['gains of the recorded efforts (95 % interval)', *table(rows)]
    if any(gain.is_identifiable for gain in gains):
        lines += [
            'for analyze and payload, instead of all --scale options of the robot:',
            scale_options(joints, gains, scale),
        ]
    return [*lines, '']


def scale_options(
    joints: Sequence[str], gains: Sequence[Gain], scale: Mapping[str, float | str]
) -> str:
    """Return options ``--scale JOINT:QUANTITY=VALUE``, for a shell, that apply identifiable gains.

    They replace all rules: one that is a pattern of several joints, or that scales positions and
    velocities, too, can neither be kept beside a gain nor be left out.

    Args:
        joints: names of the robot's joints.
        gains: estimated gains.
        scale: factors or units by joint and quantity with which the recordings were read.
    """
    as_read = JointMapping(scale=scale).scaled(joints, [np.ones((1, len(joints)))] * 3)
    factors = {name: table[0].copy() for name, table in zip(QUANTITIES, as_read, strict=True)}
    for gain in gains:
        if gain.is_identifiable:
            factors['effort'][list(joints).index(gain.joint)] *= gain.value
    return ' '.join(
        '--scale ' + shlex.quote(f'{joint}:{quantity}={factors[quantity][k]:.9g}')
        for k, joint in enumerate(joints)
        for quantity in QUANTITIES
        if factors[quantity][k] != 1.0
    )
