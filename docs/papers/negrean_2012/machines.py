# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Machines of this repository by matrix exponentials and by recursion."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from shared.claims import Bound

from kron_dynamics import kinematics
from kron_dynamics.kinematics import (
    product_of_exponentials,
    screw_acceleration,
    screw_jacobian,
    screw_jerk,
    screw_velocity,
)
from kron_dynamics.model import load_model

ROOT = Path(__file__).resolve().parents[3]
FILES = (
    *('urdf/four_bar.urdf', 'urdf/paper_stacker.urdf', 'urdf/stacker_reclaimer.urdf'),
    *('urdf/stacker_reclaimer_cylinder.urdf', 'test/robots/gripper.urdf'),
    'test/robots/screws.urdf',
)


class Row(NamedTuple):
    """A machine; errors are the largest over all links, relative to the largest entry or 1.

    Attributes:
        file: path of the URDF.
        sizes: numbers of coordinates and of joints.
        errors: errors of pose, Jacobian, velocity, acceleration and jerk.
    """

    file: str
    sizes: tuple[int, int]
    errors: tuple[Bound, ...]


def rows() -> list[Row]:
    """Return the comparisons of all machines."""
    return [_row(file) for file in FILES]


def _row(file: str) -> Row:
    model = load_model((ROOT / file).read_text(encoding='utf-8'))
    q, *rates = (np.sin(1.0 + 2.7 * np.arange(model.n) + 1.9 * k) for k in range(4))
    k = kinematics
    pairs: list[tuple[Any, Any, int]] = [
        (product_of_exponentials, k.forward_kinematics, 0),
        (screw_jacobian, k.jacobian, 0),
        (screw_velocity, k.frame_velocity, 1),
        (screw_acceleration, k.frame_acceleration, 2),
        (screw_jerk, k.frame_jerk, 3),
    ]
    errors = [
        max(
            relative_to_recursion(ours, theirs, (model, q, *rates[:count], link))
            for link in model.link_names
        )
        for ours, theirs, count in pairs
    ]
    return Row(file, (model.n, len(model.joints)), tuple(map(Bound, errors)))


def relative_to_recursion(ours: Any, theirs: Any, arguments: Any) -> float:
    """Return the difference of two functions, relative to the largest entry or 1."""
    found, expected = ours(*arguments), theirs(*arguments)
    return float(abs(found - expected).max() / max(1.0, abs(expected).max()))
