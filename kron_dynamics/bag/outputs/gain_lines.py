# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Estimated gains of recorded efforts as text, and as options of other commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kron_dynamics.bag.outputs.text_tables import table
from kron_dynamics.bag.reading.joint_mapping import UNITS
from kron_dynamics.identification.results import Gain


def gain_lines(gains: Sequence[Gain], scale: Mapping[str, float | str]) -> list[str]:
    """Return a table of gains and the options that apply them; empty without gains.

    Args:
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
    options = scale_options(gains, scale)
    if options:
        lines += ['for analyze and payload, instead of other factors of these efforts:', options]
    return [*lines, '']


def scale_options(gains: Sequence[Gain], scale: Mapping[str, float | str]) -> str:
    """Return the options ``--scale JOINT:effort=VALUE`` that apply the identifiable gains.

    They include the given factors of the same joints' efforts; other rules have to be given in
    addition.

    Args:
        gains: estimated gains.
        scale: factors or units by joint and quantity with which the recordings were read.
    """
    options = []
    for gain in gains:
        if gain.is_identifiable:
            before = scale.get(f'{gain.joint}:effort', 1.0)
            factor = UNITS[before][0] if isinstance(before, str) else before
            options.append(f'--scale {gain.joint}:effort={factor * gain.value:.6g}')
    return ' '.join(options)
