# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A payload beside friction that grows with the effort that a joint transmits.

Gears have such friction, and a load on them looks like more or less of it. It is a term of the
model where recorded efforts are explained better with it: its coefficient is told by motion to
and fro, with load or without.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kron_dynamics.identification.friction import BASIC_TERMS
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.payload import PayloadFit, fit_payload
from kron_dynamics.identification.rows import Rows, regressor_rows
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

TERMS = (*BASIC_TERMS, 'load')
# The term has to explain this share of the squares that are left without it.
LEAST_GAIN = 0.03


def payload_rows(robot: Robot, motion: Motion, width: float) -> Rows:
    """Return the rows of a motion with the friction terms that a payload is estimated beside.

    Args:
        robot: the robot as described.
        motion: with recorded efforts.
        width: standard deviation of the average that all passes through, s.

    Raises:
        ParameterError: the average is shorter than a sample.
    """
    return regressor_rows(robot, motion, width, terms=TERMS, transmitted=True)


def payload_beside_friction(
    robot: Robot,
    link: str,
    loaded: Rows,
    empty: Rows | None = None,
    *,
    center: FloatArray | None = None,
) -> PayloadFit:
    """Return what a link carries, with friction that grows with the effort where that pays.

    Args:
        robot: the robot as described, without load.
        link: what carries the load.
        loaded: from `payload_rows`, with load.
        empty: the same without load; None trusts the description.
        center: where the load's centre of mass is, as for `fit_payload`.

    Raises:
        ModelError: as of `fit_payload`, and likewise the others.
        ParameterError: there are too few rows.
        UnknownFrameError: the robot has no such link.
    """
    plain = fit_payload(
        robot,
        link,
        _basic(robot, loaded),
        None if empty is None else _basic(robot, empty),
        center=center,
    )
    more = fit_payload(robot, link, loaded, empty, center=center, terms=TERMS)
    gain = 1.0 - float(np.mean((more.noise / plain.noise) ** 2))
    return more if gain > LEAST_GAIN else plain


def _basic(robot: Robot, rows: Rows) -> Rows:
    """Rows without the terms that `fit_payload` does not expect."""
    bodies = rows.matrix.shape[2] - robot.n * len(TERMS)
    friction = bodies + len(TERMS) * np.arange(robot.n)[:, None] + np.arange(len(BASIC_TERMS))
    return replace(rows, matrix=rows.matrix[..., [*range(bodies), *friction.ravel()]])
