# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of recorded efforts: always zero, beyond plausible limits, or recorded only partly."""

from __future__ import annotations

import numpy as np

from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointLog
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import FloatArray

# Efforts above this multiple of the limit in the description are reported as implausible.
MOST_EFFORT = 10.0
# Efforts are reported as incomplete if there are fewer than this share of the positions.
MOST_OF_THE_TIME = 0.9


def effort_notes(log: JointLog, model: RobotModel) -> list[str]:
    """Return notes about implausible efforts of a log.

    Args:
        log: log of the model's joints.
        model: the robot.
    """
    return [*_zero(log, model), *_beyond_limits(log, model), *_of_a_part(log, model)]


def _zero(log: JointLog, model: RobotModel) -> list[str]:
    """Return notes about efforts that are always 0."""
    found = []
    for k, joint in enumerate(model.joint_names):
        efforts = [part.effort[k].value for part in log.segments if len(part.effort[k].value)]
        if efforts and not any(map(changes_from_zero, efforts)):
            found.append(f"effort of joint '{joint}' is 0 in every message: is it measured?")
    return found


def changes_from_zero(values: FloatArray) -> bool:
    """Return whether any value is not 0; the first values, which mostly decide, are tried first.

    Args:
        values: shape (N,).
    """
    return bool(np.any(values[:1000]) or np.any(values))


def _beyond_limits(log: JointLog, model: RobotModel) -> list[str]:
    """Return a note about efforts far above the limits of the description."""
    found = []
    for k, limit in enumerate(model.effort_limit.tolist()):
        values = [part.effort[k] for part in log.segments if len(part.effort[k].value)]
        if not values or not 0.0 < limit < np.inf:
            continue
        largest = max(values, key=_magnitude)
        if _magnitude(largest) > MOST_EFFORT * limit:
            place = int(np.argmax(np.abs(largest.value)))
            found.append(
                f'{model.joint_names[k]} {largest.value[place]:.3g} at {largest.time[place]:.2f} '
                f's, limit {limit:.4g}'
            )
    if not found:
        return []
    return [
        f'efforts far beyond the limits of the description: {"; ".join(found)}. Another unit '
        '(--scale JOINT:effort=FACTOR), or wrong samples?'
    ]


def _magnitude(samples: Samples) -> float:
    return max(map(abs, samples.extremes))


def _of_a_part(log: JointLog, model: RobotModel) -> list[str]:
    """Return a note about efforts that are recorded only in a part of the recording."""
    found = []
    for k, name in enumerate(model.joint_names):
        efforts = sum(len(part.effort[k].time) for part in log.segments)
        places = sum(len(part.position[k].time) for part in log.segments)
        if 0 < efforts < MOST_OF_THE_TIME * places:
            found.append(f'{name} with {100.0 * efforts / places:.0f} %')
    if not found:
        return []
    return [f'efforts are recorded with a part of the positions only: {", ".join(found)}']
