# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Facts about a bag and its runs as labelled sentences: data used, data lost, and hints."""

from __future__ import annotations

from collections.abc import Sequence

from kron_dynamics.bag.analysis import BagAnalysis, RunAnalysis
from kron_dynamics.bag.outputs.text_tables import percent
from kron_dynamics.bag.phases import KINDS
from kron_dynamics.bag.replaying.effort_delay import told_delay
from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.bag.results import contradicting_efforts
from kron_dynamics.bag.samples import DroppedSamples

# Where noise dominates, a window is advised that reduces it to this share of the effort.
ADVISED_NOISE = 0.1
NOISE = (
    'standard deviation of a recomputed value due to noise of the samples. It does not include '
    'errors of the model, of smoothing and of effort sensors: it is no interval of a residual'
)
# Share of the time of motion above which digging is reported as doubtful.
MOSTLY = 0.5
# Label and sentence; the label is empty if the sentence continues the one before.
Fact = tuple[str, str]


def bag_facts(analysis: BagAnalysis) -> list[Fact]:
    """Return facts about the bag."""
    contents = analysis.contents
    total = sum(contents.message_counts.values())
    topics = len(contents.message_counts)
    return [
        ('bag', f'{contents.path}: {total} messages on {topics} topics'),
        *(('note', note) for note in contents.notes),
    ]


def robot_fact(run: RunAnalysis) -> Fact:
    """Return the robot of a run."""
    model = run.replay.robot.model
    return (
        'robot',
        f'{model.name}, {model.n} coordinates, from {run.description}, '
        f'model {model.fingerprint[:12]}',
    )


def description_warnings(run: RunAnalysis) -> list[str]:
    """Return the warnings about the description of a run's robot, without hints."""
    found = run.replay.robot.model.warnings
    return [str(warning) for warning in found if warning.severity == 'warning']


def run_facts(replay: Replay) -> list[Fact]:
    """Return what was recorded, how it was recomputed and what was lost."""
    run, log = replay.run, replay.run.log
    rate = 1.0 / replay.filters[0].step
    compared = sum(part.compared for part in replay.stretches)
    total = sum(part.rows for part in replay.stretches)
    duration = sum(part.end - part.start for part in replay.stretches)
    clock = 'header stamps' if log.stamped else 'time of recording, as no header has a stamp'
    lines = [
        (
            'samples',
            f'{log.message_count} messages, {rate:.4g} Hz, '
            f'{_count(replay.stretches, "segment")}, {duration:.4g} s, times from {clock}',
        ),
        ('', f'{compared} of {total} compared, {total - compared} too close to ends or gaps'),
        ('window', f'{replay.window:.3g} s; acceleration from {_acceleration_sources(replay)}'),
        ('efforts', _effort_sources(replay)),
        ('+/-', NOISE),
    ]
    if replay.modal_names:
        names = ', '.join(replay.modal_names)
        lines.append(
            (
                'links',
                f"{names} are simulated from the joints' motion, without vibration at the start "
                'of each segment',
            )
        )
    lines += _timing_lines(replay)
    topics: list[tuple[str, DroppedSamples]] = [(run.topic, log.dropped)]
    topics += [(item.topic, item.dropped) for item in (run.commands, run.acceleration) if item]
    for topic, dropped in topics:
        lines += [('lost', f'{topic}: {text}') for text in dropped.described()]
    if replay.skipped:
        seconds = sum(end - start for start, end in replay.skipped)
        lines.append(
            (
                'lost',
                f'{_count(replay.skipped, "segment")} ({seconds:.3g} s) too short for the window, '
                'or without a signal that it needs',
            )
        )
    if log.dropped.unused_joints:
        names = ', '.join(log.dropped.unused_joints)
        lines.append(('unused', f'joints not in the model: {names}'))
    lines += [('note', note) for note in run.notes]
    return lines


def _timing_lines(replay: Replay) -> list[Fact]:
    text, found = told_delay(replay.effort_delay, replay.found_delay), replay.found_delay
    if found and not replay.effort_delay:
        text += f' without confirmation: --effort-delay {found:.3g}'
    return [('timing', text)] if text else []


def doubts(run: RunAnalysis) -> list[str]:
    """Return sentences about results of a run that contradict its model."""
    contradiction = contradicting_efforts(run.joints)
    if contradiction:
        return [contradiction]
    lengths = dict.fromkeys(KINDS, 0.0)
    for phase in run.phases:
        lengths[phase.kind] += phase.end - phase.start
    if lengths['digging'] > MOSTLY * (lengths['digging'] + lengths['moving']) > 0.0:
        return [
            'digging most of the time that it moves: errors of the model that vary with the '
            'motion look the same; identify the model or its friction first'
        ]
    return []


def result_hints(run: RunAnalysis) -> list[Fact]:
    """Return contradictions with the model, and remedies where noise dominates."""
    lines = [('doubt', each) for each in doubts(run)]
    for joint, item in zip(run.joints, run.replay.filters, strict=True):
        if not joint.noise_dominates:
            continue
        scale = joint.effort_rms if joint.source != 'none' else joint.recomputed_rms
        if not scale > 0.0:  # a note says that the effort is always zero
            continue
        excess = joint.noise / scale
        text = (
            f'{joint.name}: noise of the samples makes its effort uncertain by '
            f'{percent(excess)}; use a longer window'
        )
        # The noise of a fitted slope falls with the power 3/2 of the window, of a curvature 5/2.
        power = 2.5 if item.signals == 'position' else 1.5
        advised = run.replay.window * (excess / ADVISED_NOISE) ** (1.0 / power)
        text += f' (--window {advised:.2g})'
        text += ' or record its velocity' if item.signals == 'position' else ''
        lines.append(('noise', text))
    return lines


def _acceleration_sources(replay: Replay) -> str:
    titles = {
        'both': 'position and velocity',
        'velocity': 'the velocity',
        'position': 'the position',
    }
    parts = []
    for signals, title in titles.items():
        pairs = zip(replay.robot.joint_names, replay.filters, strict=True)
        joints = [name for name, item in pairs if item.signals == signals]
        if joints:
            parts.append(f'{title} of {", ".join(joints)}')
    return '; '.join(parts)


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


def _count(items: Sequence[object], noun: str) -> str:
    return f'{len(items)} {noun}' + ('' if len(items) == 1 else 's')
