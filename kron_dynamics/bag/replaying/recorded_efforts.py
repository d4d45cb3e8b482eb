# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded efforts of a run, measured or commanded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.bag.series.runs import Run
from kron_dynamics.typing import FloatArray


def effort_sources(run: Run, n: int) -> tuple[str, ...]:
    """Return the source of each joint's effort: 'measured', 'commanded' or 'none'.

    Args:
        run: the recorded run.
        n: number of joints.
    """
    sources = []
    for joint in range(n):
        if any(len(segment.effort[joint].time) for segment in run.log.segments):
            sources.append('measured')
        elif run.commands and any(len(epoch[joint].time) for epoch in run.commands.epochs):
            sources.append('commanded')
        else:
            sources.append('none')
    return tuple(sources)


def recorded_efforts(run: Run, segment: JointSegment, sources: Sequence[str]) -> list[Samples]:
    """Return the recorded efforts of each joint in a segment, without smoothing.

    Args:
        run: the recorded run.
        segment: a segment of the run.
        sources: source of each joint's effort, see `effort_sources`.
    """
    efforts = []
    for joint, source in enumerate(sources):
        if source == 'commanded' and run.commands is not None:
            command = run.commands.epochs[segment.epoch][joint]
            efforts.append(command.between(segment.start, segment.end))
        else:
            efforts.append(segment.effort[joint])
    return efforts


def effort_scale(efforts: Sequence[Sequence[Samples]]) -> FloatArray:
    """Return the RMS of each joint's recorded effort, NaN where there is none, shape (n,).

    Args:
        efforts: efforts of each joint in some segments.
    """
    scale = []
    for pieces in zip(*efforts, strict=True):
        values = np.concatenate([samples.value for samples in pieces])
        scale.append(float(np.sqrt(np.mean(values * values))) if len(values) else np.nan)
    return np.array(scale)
