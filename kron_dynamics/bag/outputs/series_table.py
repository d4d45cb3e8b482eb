# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The series of a run as one table: a column for each quantity of joints, tip and links.

The first columns are time, segment, whether the row is compared, and its phase.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.bag.outputs.series import Quantity, SeriesBlock
from kron_dynamics.bag.phases import KINDS
from kron_dynamics.typing import FloatArray

FIRST_COLUMNS = ('time', 'segment', 'compared', 'phase')


def phase_names(block: SeriesBlock) -> list[str]:
    """Return the name of each row's phase; empty if it is in none."""
    names = [*KINDS, '']  # index -1, NO_PHASE, is the empty name
    return [names[kind] for kind in block.phase.tolist()]


def column_names(quantities: Sequence[Quantity], frame: str) -> list[str]:
    """Return the names of the numeric columns: of each joint, of the tip, of flexible links.

    Args:
        quantities: quantities of the run.
        frame: name of the tip.
    """
    joints, others = _parted(quantities)
    return [
        *(f'{name}.{each.key}' for name in joints[0].columns for each in joints),
        *(
            f'{frame}.{each.key.removeprefix("tip_")}.{column}'
            if each.owner == 'tip'
            else f'{column}.{each.key}'
            for each in others
            for column in each.columns
        ),
    ]


def column_units(quantities: Sequence[Quantity]) -> list[str]:
    """Return the units of the numeric columns."""
    joints, others = _parted(quantities)
    return [
        *(each.units[k] for k in range(len(joints[0].columns)) for each in joints),
        *(unit for each in others for unit in each.units),
    ]


def table_of(quantities: Sequence[Quantity], block: SeriesBlock) -> FloatArray:
    """Return the numeric columns of a block, shape (N, columns); NaN where unknown."""
    joints, others = _parted(quantities)
    by_joint = np.stack([block.values[each.key] for each in joints], axis=2)
    flat = by_joint.reshape(len(block.time), -1)
    return np.concatenate([flat, *(block.values[each.key] for each in others)], axis=1)


def _parted(quantities: Sequence[Quantity]) -> tuple[list[Quantity], list[Quantity]]:
    """Return the quantities of the joints, and the others."""
    joints = [each for each in quantities if each.owner == 'joints']
    return joints, [each for each in quantities if each.owner != 'joints']
