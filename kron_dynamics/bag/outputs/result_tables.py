# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The results of a run as tables of text, for the terminal and the HTML page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kron_dynamics.bag.analysis import RunAnalysis
from kron_dynamics.bag.outputs.text_tables import number, percent, scale_of
from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.bag.replaying.segment_replay import TERMS
from kron_dynamics.bag.results import JointResult, joint_results
from kron_dynamics.bag.smoothness import RateResult
from kron_dynamics.bag.vibration.modal_results import ModalContent

TERM_TITLES = {
    'inertia': 'inertia',
    'coriolis': 'Coriolis',
    'gravity': 'gravity',
    'friction': 'friction',
}


# Most phases shown in a table; all are in the summary.
PHASES_SHOWN = 30


@dataclass(frozen=True)
class ResultTable:
    """A table of results.

    Attributes:
        title: its title.
        rows: its rows, the first with the names of the columns; short rows are padded.
    """

    title: str
    rows: list[list[str]]


def result_tables(run: RunAnalysis) -> list[ResultTable]:
    """Return the tables of a whole run, in the order of the report."""
    tables = [
        ResultTable('Efforts', _effort_rows(run.joints)),
        ResultTable('Terms of the recomputed efforts', _term_rows(run.joints)),
    ]
    if run.tip:
        tables.append(ResultTable('Acceleration of the tip', _tip_rows(run)))
    if run.vibrations is not None:
        tables.append(ResultTable('Vibrations, joints held', _vibration_rows(run.vibrations)))
    return [
        *tables,
        ResultTable('Rates of the efforts', _effort_rate_rows(run)),
        ResultTable('Jerk', _jerk_rows(run)),
        ResultTable('External efforts, by momentum observer', _external_rows(run)),
        ResultTable('What the machine did', _phase_rows(run)),
    ]


def _vibration_rows(content: ModalContent) -> list[list[str]]:
    head = ['mode', 'seen in', 'predicted Hz', 'identified Hz', '', 'damping predicted']
    rows = [[*head, 'identified', '95 %']]
    for mode in content.modes:
        row = [mode.name, ', '.join(mode.channels), f'{mode.predicted_frequency:.4g}']
        if mode.seen:
            low, high = mode.damping_interval
            row += [
                f'{mode.frequency:.4g}',
                f'+/- {mode.frequency_interval:.2g}',
                f'{mode.predicted_damping:.3g}',
                f'{mode.damping:.3g}',
                f'{low:.2g} to {high:.2g}',
            ]
        else:
            row += [mode.verdict]
        rows.append(row)
    return rows


def segment_table(replay: Replay, max_noise: float) -> ResultTable:
    """Return the residual of each segment as a share of the efforts."""
    rows = [['segment', 'clock', 'from s', 'to s', *replay.robot.joint_names]]
    for place, part in enumerate(replay.stretches):
        results = joint_results(replay, max_noise, [place])
        rows.append(
            [
                str(place + 1),
                str(part.epoch + 1),
                f'{part.start:.2f}',
                f'{part.end:.2f}',
                *('noise' if r.noise_dominates else percent(r.ratio) for r in results),
            ]
        )
    return ResultTable('Residuals of the segments', rows)


def _effort_rows(joints: Sequence[JointResult]) -> list[list[str]]:
    residual = ['residual RMS', 'noise', 'share', 'peak', 'mean']
    rows = [['joint', 'unit', 'effort RMS', 'peak', *residual]]
    for joint in joints:
        factor, letter = scale_of(_size(joint))
        row = [joint.name, letter + joint.unit]
        if joint.source == 'none':
            row += ['-', '-', 'no effort recorded', '', '', '', '']
        else:
            row += [number(joint.effort_rms / factor), number(joint.effort_peak / factor)]
            noise = f'+/- {number(joint.noise / factor)}'
            if joint.noise_dominates:
                row += ['noise dominates', noise, '', '', '']
            else:
                row += [
                    number(joint.residual_rms / factor),
                    noise,
                    percent(joint.ratio),
                    number(joint.residual_peak / factor),
                    number(joint.residual_mean / factor),
                ]
        rows.append(row)
    return rows


def _term_rows(joints: Sequence[JointResult]) -> list[list[str]]:
    rows = [['joint', 'unit', 'recomputed RMS', *(TERM_TITLES[term] for term in TERMS)]]
    for joint in joints:
        factor, letter = scale_of(_size(joint))
        efforts = [joint.recomputed_rms, *(joint.term_rms[term] for term in TERMS)]
        rows.append(
            [joint.name, letter + joint.unit, *(number(effort / factor) for effort in efforts)]
        )
    return rows


def _tip_rows(run: RunAnalysis) -> list[list[str]]:
    rows = [
        [
            run.replay.frame,
            'unit',
            'recorded RMS',
            'recomputed RMS',
            'difference RMS',
            'noise',
            'share',
        ]
    ]
    for tip in run.tip:
        factor, letter = scale_of(tip.recorded_rms)
        difference = number(tip.difference_rms / factor)
        row = [
            tip.kind,
            letter + ('m/s^2' if tip.kind == 'linear' else 'rad/s^2'),
            number(tip.recorded_rms / factor),
            number(tip.recomputed_rms / factor),
            'noise dominates' if tip.noise_dominates else difference,
            f'+/- {number(tip.noise / factor)}',
        ]
        if not tip.noise_dominates and tip.recorded_rms > 0.0:
            row.append(percent(tip.difference_rms / tip.recorded_rms))
        rows.append(row)
    return rows


def _effort_rate_rows(run: RunAnalysis) -> list[list[str]]:
    rows = [
        [
            'joint',
            'unit',
            'effort rate RMS',
            'peak',
            'noise',
            'recomputed RMS',
            'noise',
            'largest step',
        ]
    ]
    for joint in run.smoothness.joints:
        recorded, recomputed = joint.effort_rate, joint.recomputed_effort_rate
        sizes = (recorded.rms, recomputed.rms)
        factor, letter = scale_of(next((size for size in sizes if size == size), 0.0))
        step = '-' if math.isnan(joint.largest_step) else number(joint.largest_step / factor)
        rows.append(
            [
                joint.name,
                f'{letter}{joint.effort_unit}/s',
                *_with_noise(recorded, factor),
                *_with_noise(recomputed, factor)[::2],
                step if step == '-' else f'{step} {letter}{joint.effort_unit}',
            ]
        )
    return rows


def _external_rows(run: RunAnalysis) -> list[list[str]]:
    rows = [['external', 'unit', 'effort RMS', 'noise', 'peak', 'mean']]
    for joint, item in zip(run.joints, run.external, strict=True):
        factor, letter = scale_of(_size(joint))
        rows.append(
            [
                joint.name,
                letter + joint.unit,
                number(item.rms / factor),
                f'+/- {number(item.noise / factor)}',
                number(item.peak / factor),
                number(item.mean / factor),
            ]
        )
    return rows


def _phase_rows(run: RunAnalysis) -> list[list[str]]:
    rows = [['phase', 'joints', 'from s', 'to s']]
    for phase in run.phases[:PHASES_SHOWN]:
        times = f'{phase.start:.2f}', f'{phase.end:.2f}'
        rows.append([phase.kind, ', '.join(phase.joints), *times])
    if len(run.phases) > PHASES_SHOWN:
        rows.append([f'{len(run.phases) - PHASES_SHOWN} more', 'in the summary'])
    return rows


def _jerk_rows(run: RunAnalysis) -> list[list[str]]:
    tip, rates = run.replay.frame, run.smoothness
    all_of_them = [(joint.name, joint.jerk_unit, joint.jerk) for joint in rates.joints]
    all_of_them += [(tip, 'm/s^3', rates.tip_linear), (tip, 'rad/s^3', rates.tip_angular)]
    rows = [['jerk', 'unit', 'RMS', 'peak', 'noise']]
    for name, unit, jerk in all_of_them:
        factor, letter = scale_of(jerk.rms)
        rows.append([name, letter + unit, *_with_noise(jerk, factor)])
    return rows


def _with_noise(rate: RateResult, factor: float) -> list[str]:
    """Return RMS, peak and noise of a rate as cells."""
    noise = f'+/- {number(rate.noise / factor)}'
    if rate.noise_dominates:
        return ['noise dominates', '', noise]
    return [number(rate.rms / factor), number(rate.peak / factor), noise]


def _size(joint: JointResult) -> float:
    return joint.recomputed_rms if math.isnan(joint.effort_rms) else joint.effort_rms
