# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a bag as files for other programs: a JSON summary and CSV series."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kron_dynamics.bag.analysis import BagAnalysis, RunAnalysis
from kron_dynamics.bag.replay import Replay
from kron_dynamics.bag.results import joint_results
from kron_dynamics.bag.segment_replay import TERMS

TIP_COMPONENTS = ('x', 'y', 'z', 'angular_x', 'angular_y', 'angular_z')


def run_slug(topic: str) -> str:
    """Return a topic as the beginning of a file name."""
    return topic.strip('/').replace('/', '.') or 'joint_states'


def write_summary(analysis: BagAnalysis, path: Path) -> None:
    """Write all results as JSON; what is not known is null.

    Args:
        analysis: the analysed bag.
        path: file to write.
    """
    summary = {
        'bag': str(analysis.contents.path),
        'notes': analysis.contents.notes,
        'max_noise': analysis.max_noise,
        'runs': [_run_summary(run, analysis.max_noise) for run in analysis.runs],
    }
    path.write_text(json.dumps(_without_nan(summary), indent=2) + '\n', encoding='utf-8')


def _run_summary(run: RunAnalysis, max_noise: float) -> dict[str, Any]:
    replay = run.replay
    model = replay.robot.model
    log = replay.run.log
    auxiliary_series = [item for item in (replay.run.commands, replay.run.acceleration) if item]
    return {
        'topic': replay.run.topic,
        'robot': {
            'name': model.name,
            'joints': list(model.joint_names),
            'fingerprint': model.fingerprint,
            'description': run.description,
            'gravity': model.gravity.tolist(),
        },
        'messages': log.message_count,
        'times': 'stamps' if log.stamped else 'recording',
        'window': replay.window,
        'effort_delay': replay.effort_delay,
        'found_delay': replay.found_delay,
        'frame': replay.frame,
        'differentiated': {
            name: {
                'signal': 'velocity' if item.from_velocity else 'position',
                'noise': item.noise,
                'period': item.period,
            }
            for name, item in zip(replay.robot.joint_names, replay.filters, strict=True)
        },
        'joints': [asdict(joint) | {'ratio': joint.ratio} for joint in run.joints],
        'tip': [asdict(tip) for tip in run.tip],
        'smoothness': asdict(run.smoothness),
        'segments': [
            {
                'epoch': part.epoch,
                'start': float(part.time[0]),
                'end': float(part.time[-1]),
                'compared': int(part.valid.sum()),
                'ratio': {
                    result.name: None if result.noise_dominates else result.ratio
                    for result in joint_results(replay, max_noise, [part])
                },
            }
            for part in replay.segments
        ],
        'skipped_segments': [list(interval) for interval in replay.skipped],
        'dropped': {
            replay.run.topic: asdict(log.dropped),
            **{item.topic: asdict(item.dropped) for item in auxiliary_series},
        },
        'notes': list(replay.run.notes),
    }


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def write_series(replay: Replay, path: Path) -> None:
    """Write a run's series as CSV with one header line; empty means not known.

    Columns: time (s), segment, compared (1 or 0); for each joint its position, velocity,
    acceleration, recorded and recomputed effort, residual, and the terms of the effort (rad or m,
    N m or N); for the tip, its recorded and recomputed acceleration (m/s^2, rad/s^2, base axes).

    Args:
        replay: the recomputed run.
        path: file to write.
    """
    names = ['time', 'segment', 'compared']
    for joint in replay.robot.joint_names:
        quantities = ('position', 'velocity', 'acceleration', 'recorded', 'recomputed', 'residual')
        names += [f'{joint}.{quantity}' for quantity in (*quantities, *TERMS)]
    for kind in ('recorded', 'recomputed'):
        names += [f'{replay.frame}.{kind}.{component}' for component in TIP_COMPONENTS]
    with path.open('w', encoding='utf-8') as file:
        file.write(','.join(names) + '\n')
        for number, part in enumerate(replay.segments, start=1):
            columns = [part.time, np.full(len(part.time), number), part.valid]
            states = (part.position, part.velocity, part.acceleration)
            efforts = (part.recorded, part.recomputed, part.residual)
            tables = (*states, *efforts, *(part.terms[term] for term in TERMS))
            for k in range(replay.robot.n):
                columns += [table[:, k] for table in tables]
            columns += [*part.tip_recorded.T, *part.tip_recomputed.T]
            for row in np.column_stack(columns):
                file.write(','.join('' if math.isnan(v) else f'{v:.10g}' for v in row) + '\n')
