# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The results of an analysis as JSON, with everything needed to reproduce them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kron_dynamics.bag.analysis import BagAnalysis, RunAnalysis
from kron_dynamics.bag.outputs.facts import description_warnings, doubts
from kron_dynamics.bag.outputs.json_values import json_text
from kron_dynamics.bag.outputs.provenance import HashedFile, Provenance
from kron_dynamics.bag.results import joint_results

# Version of the file's layout: increased if a field is renamed, removed or changes its meaning.
SCHEMA = 1


def write_summary(
    analysis: BagAnalysis, provenance: Provenance, outputs: Sequence[HashedFile], path: Path
) -> None:
    """Write all results as JSON, with null for unknown values. The same bag gives the same bytes.

    Args:
        analysis: the analysed bag.
        provenance: provenance of the analysis.
        outputs: its other output files, in the same folder.
        path: file to write.
    """
    summary = {
        'schema': SCHEMA,
        **asdict(provenance),
        'outputs': [asdict(each) | {'name': Path(each.name).name} for each in outputs],
        'bag': str(analysis.contents.path),
        'notes': analysis.contents.notes,
        'max_noise': analysis.max_noise,
        'runs': [_run_summary(run, analysis.max_noise) for run in analysis.runs],
    }
    path.write_text(json_text(summary), encoding='utf-8')


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
            'warnings': description_warnings(run),
        },
        'messages': log.message_count,
        'times': 'stamps' if log.stamped else 'recording',
        'window': replay.window,
        'effort_delay': replay.effort_delay,
        'found_delay': replay.found_delay,
        'frame': replay.frame,
        'differentiated': {
            name: {
                'signals': item.signals,
                'period': item.period,
                'position_noise': item.position_noise,
                'velocity_noise': item.velocity_noise,
                'acceleration_noise': item.acceleration_noise(),
                'acceleration_error': item.acceleration_error(),
            }
            for name, item in zip(replay.robot.joint_names, replay.filters, strict=True)
        },
        'joints': [asdict(joint) | {'ratio': joint.ratio} for joint in run.joints],
        'tip': [asdict(tip) for tip in run.tip],
        'smoothness': asdict(run.smoothness),
        'vibrations': asdict(run.vibrations) if run.vibrations else None,
        'external_efforts': [asdict(item) for item in run.external],
        'phases': [asdict(phase) for phase in run.phases],
        'segments': [
            {
                'epoch': part.epoch,
                'start': part.start,
                'end': part.end,
                'compared': part.compared,
                'ratio': {
                    result.name: None if result.noise_dominates else result.ratio
                    for result in joint_results(replay, max_noise, [number])
                },
            }
            for number, part in enumerate(replay.stretches)
        ],
        'skipped_segments': [list(interval) for interval in replay.skipped],
        'dropped': {
            replay.run.topic: asdict(log.dropped),
            **{item.topic: asdict(item.dropped) for item in auxiliary_series},
        },
        'notes': list(replay.run.notes),
        'doubts': doubts(run),
    }
