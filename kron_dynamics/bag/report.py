# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a bag as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kron_dynamics.bag.analysis import BagAnalysis, RunAnalysis
from kron_dynamics.bag.replay import Replay
from kron_dynamics.bag.results import JointResult, joint_results
from kron_dynamics.bag.samples import DroppedSamples
from kron_dynamics.bag.segment_replay import TERMS
from kron_dynamics.bag.smoothness import RateResult
from kron_dynamics.bag.text_tables import number, percent, scale_of, table

TERM_TITLES = {
    'inertia': 'inertia',
    'coriolis': 'Coriolis',
    'gravity': 'gravity',
    'friction': 'friction',
}
# The window advised when noise dominates would bring it down to this share of the effort.
ADVISED_NOISE = 0.1


def format_report(analysis: BagAnalysis) -> str:
    """Return the whole report, lines joined by newlines."""
    contents = analysis.contents
    total = sum(contents.message_counts.values())
    lines = [
        f'bag      {contents.path}: {total} messages on {len(contents.message_counts)} topics'
    ]
    lines += [f'note     {note}' for note in contents.notes]
    told = None
    for run in analysis.runs:
        model = run.replay.robot.model
        robot = (
            f'robot    {model.name}, {model.n} coordinates, from {run.description}, '
            f'model {model.fingerprint[:12]}'
        )
        lines += [] if robot == told else ([robot] if told is None else ['', robot])
        told = robot
        lines += ['', *_run_lines(run, analysis.max_noise)]
    return '\n'.join(lines)


def _run_lines(run: RunAnalysis, max_noise: float) -> list[str]:
    replay = run.replay
    lines = [f'run      {replay.run.topic}', *_facts(replay)]
    lines += ['', *_effort_table(run.joints), '', *_term_table(run.joints)]
    if run.tip:
        lines += ['', *_tip_table(run)]
    lines += ['', *_effort_rate_table(run), '', *_jerk_table(run)]
    hints = _noise_hints(run)
    if hints:
        lines += ['', *hints]
    if len(replay.segments) > 1:
        lines += ['', *_segment_lines(replay, max_noise)]
    return lines


def _facts(replay: Replay) -> list[str]:
    run, log = replay.run, replay.run.log
    rate = 1.0 / min(item.period for item in replay.filters)
    compared = sum(int(part.valid.sum()) for part in replay.segments)
    total = sum(len(part.valid) for part in replay.segments)
    duration = sum(float(part.time[-1] - part.time[0]) for part in replay.segments)
    clock = 'header stamps' if log.stamped else 'time of recording, as no header has a stamp'
    lines = [
        f'samples  {log.message_count} messages, {rate:.4g} Hz, '
        f'{_count(replay.segments, "segment")}, {duration:.4g} s, times from {clock}',
        f'         {compared} of {total} compared, {total - compared} too near to ends or gaps',
        f'window   {replay.window:.3g} s; acceleration from {_acceleration_sources(replay)}',
        f'efforts  {_effort_sources(replay)}',
    ]
    lines += _timing_lines(replay)
    topics: list[tuple[str, DroppedSamples]] = [(run.topic, log.dropped)]
    topics += [(item.topic, item.dropped) for item in (run.commands, run.acceleration) if item]
    for topic, dropped in topics:
        lines += [f'lost     {topic}: {text}' for text in describe_losses(dropped)]
    if replay.skipped:
        seconds = sum(end - start for start, end in replay.skipped)
        lines.append(
            f'lost     {_count(replay.skipped, "segment")} ({seconds:.3g} s) too short for the '
            'window'
        )
    if log.dropped.unused_joints:
        lines.append(f'unused   joints not in the model: {", ".join(log.dropped.unused_joints)}')
    lines += [f'note     {note}' for note in run.notes]
    return lines


def _timing_lines(replay: Replay) -> list[str]:
    applied, found = replay.effort_delay, replay.found_delay
    origin = 'as given' if found is None else 'as the data shows'
    if applied:
        side = 'late' if applied > 0.0 else 'early'
        return [
            f'timing   efforts taken as stamped {1e3 * abs(applied):.3g} ms too {side}, {origin}'
        ]
    if found:
        side = 'late' if found > 0.0 else 'early'
        return [
            f'timing   efforts seem to be stamped {1e3 * abs(found):.3g} ms too {side}, too much '
            f'to take for granted: --effort-delay {found:.3g} if it is so'
        ]
    return []


def describe_losses(dropped: DroppedSamples) -> list[str]:
    """Return a phrase for each kind of loss that occurred."""
    phrases = [
        (dropped.undecodable, 'messages that cannot be decoded'),
        (dropped.malformed, 'messages whose arrays do not fit their names'),
        (dropped.conflicts, 'samples with the time of another but a different value'),
        (dropped.duplicates, 'repeated samples'),
        (dropped.outside_segments, 'positions where other joints are missing'),
    ]
    found = [f'{count} {phrase} dropped' for count, phrase in phrases if count]
    found += [
        f'{n} NaN or infinite samples of {key} dropped' for key, n in dropped.non_finite.items()
    ]
    if dropped.out_of_order:
        found.append(f'{dropped.out_of_order} messages out of order (sorted in, not dropped)')
    if dropped.restarts:
        found.append(f'clock jumped back {dropped.restarts} times (analysed separately)')
    return found


def _acceleration_sources(replay: Replay) -> str:
    names = replay.robot.joint_names
    measured = [n for n, f in zip(names, replay.filters, strict=True) if f.from_velocity]
    derived = [n for n, f in zip(names, replay.filters, strict=True) if not f.from_velocity]
    parts = [f'the velocity of {", ".join(measured)}'] if measured else []
    parts += [f'the position of {", ".join(derived)}'] if derived else []
    return ' and '.join(parts)


def _effort_sources(replay: Replay) -> str:
    run = replay.run
    origins = {
        'measured': f'recorded in {run.topic}',
        'commanded': f'commanded in {run.commands.topic}' if run.commands else '',
        'none': 'not recorded',
    }
    parts = []
    for source, origin in origins.items():
        pairs = zip(replay.robot.joint_names, replay.effort_sources, strict=True)
        joints = [name for name, used in pairs if used == source]
        if joints:
            parts.append(f'{origin} ({", ".join(joints)})')
    return '; '.join(parts)


def _effort_table(joints: Sequence[JointResult]) -> list[str]:
    rows = [['joint', 'unit', 'effort RMS', 'peak', 'residual RMS', '', 'share', 'peak', 'mean']]
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
    return table(rows)


def _term_table(joints: Sequence[JointResult]) -> list[str]:
    rows = [['joint', 'unit', 'recomputed RMS', *(TERM_TITLES[term] for term in TERMS)]]
    for joint in joints:
        factor, letter = scale_of(_size(joint))
        efforts = [joint.recomputed_rms, *(joint.term_rms[term] for term in TERMS)]
        rows.append(
            [joint.name, letter + joint.unit, *(number(effort / factor) for effort in efforts)]
        )
    return table(rows)


def _tip_table(run: RunAnalysis) -> list[str]:
    rows = [
        [run.replay.frame, 'unit', 'recorded RMS', 'recomputed RMS', 'difference RMS', '', 'share']
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
    return table(rows)


def _effort_rate_table(run: RunAnalysis) -> list[str]:
    rows = [['joint', 'unit', 'effort rate RMS', 'peak', 'recomputed RMS', '', 'largest step']]
    for joint in run.smoothness.joints:
        recorded, recomputed = joint.effort_rate, joint.recomputed_effort_rate
        sizes = (recorded.rms, recomputed.rms)
        factor, letter = scale_of(next((size for size in sizes if size == size), 0.0))
        step = '-' if math.isnan(joint.largest_step) else number(joint.largest_step / factor)
        rows.append(
            [
                joint.name,
                f'{letter}{joint.effort_unit}/s',
                number(recorded.rms / factor),
                number(recorded.peak / factor),
                *_with_noise(recomputed, factor)[::2],
                step if step == '-' else f'{step} {letter}{joint.effort_unit}',
            ]
        )
    return table(rows)


def _jerk_table(run: RunAnalysis) -> list[str]:
    tip, rates = run.replay.frame, run.smoothness
    all_of_them = [(joint.name, joint.jerk_unit, joint.jerk) for joint in rates.joints]
    all_of_them += [(tip, 'm/s^3', rates.tip_linear), (tip, 'rad/s^3', rates.tip_angular)]
    rows = [['jerk', 'unit', 'RMS', 'peak', '']]
    for name, unit, jerk in all_of_them:
        factor, letter = scale_of(jerk.rms)
        rows.append([name, letter + unit, *_with_noise(jerk, factor)])
    return table(rows)


def _with_noise(rate: RateResult, factor: float) -> list[str]:
    """RMS, peak and noise of a rate."""
    noise = f'+/- {number(rate.noise / factor)}'
    if rate.noise_dominates:
        return ['noise dominates', '', noise]
    return [number(rate.rms / factor), number(rate.peak / factor), noise]


def _noise_hints(run: RunAnalysis) -> list[str]:
    lines = []
    for joint, item in zip(run.joints, run.replay.filters, strict=True):
        if not joint.noise_dominates:
            continue
        scale = joint.effort_rms if joint.source != 'none' else joint.recomputed_rms
        excess = joint.noise / scale if scale > 0.0 else math.inf
        text = (
            f'noise    {joint.name}: noise of the samples makes its effort uncertain by '
            f'{percent(excess)}; use a longer window'
        )
        if math.isfinite(excess):
            # The noise of a fitted slope falls with the 3/2 power of the window, a curvature 5/2.
            advised = run.replay.window * (excess / ADVISED_NOISE) ** (
                2.0 / (1 + 2 * item.derivative)
            )
            text += f' (--window {advised:.2g})'
        lines.append(text + ('' if item.from_velocity else ' or record its velocity'))
    return lines


def _segment_lines(replay: Replay, max_noise: float) -> list[str]:
    rows = [['segment', 'clock', 'from s', 'to s', *replay.robot.joint_names]]
    for place, part in enumerate(replay.segments, start=1):
        results = joint_results(replay, max_noise, [part])
        rows.append(
            [
                str(place),
                str(part.epoch + 1),
                f'{part.time[0]:.2f}',
                f'{part.time[-1]:.2f}',
                *('noise' if r.noise_dominates else percent(r.ratio) for r in results),
            ]
        )
    return table(rows)


def _size(joint: JointResult) -> float:
    return joint.recomputed_rms if math.isnan(joint.effort_rms) else joint.effort_rms


def _count(items: Sequence[object], noun: str) -> str:
    return f'{len(items)} {noun}' + ('' if len(items) == 1 else 's')
