# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Payload estimation with friction that grows with the effort that a joint transmits.

Gears have such friction, and it can be mistaken for a part of the load. The friction term is
included if it explains the recorded efforts better. Its coefficient is identified from motion in
both directions, with load or without.
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
# Least relative decrease of the noise variance that justifies the term.
LEAST_GAIN = 0.03


def payload_rows(robot: Robot, motion: Motion, width: float) -> Rows:
    """Return the regressor rows of a motion with the friction terms of payload estimation.

    Args:
        robot: the robot as described.
        motion: a stretch with recorded efforts.
        width: standard deviation of the average of regressor and efforts, s.

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
    """Return the payload of a link, with load-dependent friction if that explains efforts better.

    Args:
        robot: the robot as described, without load.
        link: name of the link that carries the load.
        loaded: rows with load, from `payload_rows`.
        empty: rows without load, from `payload_rows`; None trusts the description.
        center: known centre of mass of the load, see `fit_payload`.

    Raises:
        ModelError: the link does not move, or the robot has no mass.
        NonFiniteError: the centre of mass is NaN or infinite.
        ParameterError: there are too few rows, links are flexible, or there are loops.
        ShapeError: the centre of mass has another shape.
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
    """Return the rows without the columns of load-dependent friction."""
    bodies = rows.matrix.shape[2] - robot.n * len(TERMS)
    friction = bodies + len(TERMS) * np.arange(robot.n)[:, None] + np.arange(len(BASIC_TERMS))
    return replace(rows, matrix=rows.matrix[..., [*range(bodies), *friction.ravel()]])
