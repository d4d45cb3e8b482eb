# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A replayed run as motions that models are identified from."""

from __future__ import annotations

import numpy as np

from kron_dynamics.bag.replaying.replay import Replay, recorded_efforts
from kron_dynamics.bag.replaying.row_signals import interpolated_joints
from kron_dynamics.identification.motion import Motion

# Rows that a motion has at least.
LEAST_ROWS = 20


def motions(replay: Replay) -> list[Motion]:
    """Return the stretches of a run that may be compared: smoothed motion, efforts as recorded.

    Args:
        replay: the recomputed run.
    """
    found = []
    for plan, series in zip(replay.plans, replay.segments, strict=True):
        efforts = recorded_efforts(replay.run, plan.segment, replay.effort_sources)
        effort = interpolated_joints(efforts, series.time + replay.effort_delay)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], series.valid, [False]])))
        for first, last in edges.reshape(-1, 2):
            if last - first >= LEAST_ROWS:
                rows = slice(int(first), int(last))
                found.append(
                    Motion(
                        series.time[rows],
                        series.position[rows],
                        series.velocity[rows],
                        effort[rows],
                        f"'{replay.run.topic}' from {series.time[first]:.2f} s",
                    )
                )
    return found
