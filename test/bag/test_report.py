# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The report in its three forms: text, files for programs, picture."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from matplotlib.image import imread

from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.export import run_slug, write_series, write_summary
from kron_dynamics.bag.plot import plot_run, time_axis
from kron_dynamics.bag.report import describe_losses, format_report
from kron_dynamics.bag.samples import DroppedSamples
from kron_dynamics.bag.text_tables import scale_of


@pytest.fixture
def analysis(make_bag, arm, arm_urdf, arm_motion):
    """Return a bag with dropped of every usual kind, a restart, commands and accelerations."""
    first, second = arm_motion(start=50.0), arm_motion(start=3.0, duration=5.0)
    first.q[100, 0] = np.nan
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        for motion in (first, second):
            acceleration = arm.frame('tool').acceleration(motion.q, motion.qd, motion.qdd)
            for k, time in enumerate(motion.time):
                bag.joint_state(
                    '/joint_states',
                    time,
                    arm.joint_names,
                    motion.q[k],
                    motion.qd[k],
                    motion.effort[k],
                )
                if not np.isnan(acceleration[k]).any():
                    bag.acceleration('/tip_acceleration', time, acceleration[k])
        bag.joint_state('/joint_states', second.time[-1], arm.joint_names, second.q[-1])
        bag.joint_state('/joint_states', second.time[-2], ('turn', 'lift'), (0.0,))
    return analyze_bag(bag.path)


def row_of(report, name):
    (line,) = [line for line in report.splitlines() if line.split()[:1] == [name]][:1]
    return line.split()


def test_text_says_what_was_compared_and_what_was_lost(analysis):
    report = format_report(analysis)
    assert 'robot    arm, 3 coordinates, from /robot_description' in report
    assert 'run      /joint_states' in report
    assert '100 Hz, 2 segments' in report
    assert 'acceleration from the velocity of turn, lift, reach' in report
    assert 'efforts  recorded in /joint_states (turn, lift, reach)' in report
    assert '1 NaN or infinite samples of turn position dropped' in report
    assert '1 messages whose arrays do not fit their names dropped' in report
    assert '3 repeated samples dropped' in report
    assert 'clock jumped back 1 times' in report


def test_text_rows_hold_the_results(analysis):
    report = format_report(analysis)
    turn = analysis.runs[0].joints[0]
    name, unit_start, _, effort, peak = row_of(report, 'turn')[:5]
    assert (name, unit_start) == ('turn', 'N')
    assert float(effort) == pytest.approx(turn.effort_rms, rel=0.01)
    assert float(peak) == pytest.approx(turn.effort_peak, rel=0.01)
    assert row_of(report, 'reach')[1] == 'N'
    assert 'linear' in report and 'angular' in report
    segments = [
        line.split()[:2] for line in report.splitlines() if line.split()[:1] in (['1'], ['2'])
    ]
    assert segments == [['1', '1'], ['2', '2']]


def test_summary_is_strict_json_with_all_results(analysis, tmp_path):
    write_summary(analysis, tmp_path / 'summary.json')

    def refuse(constant):
        raise AssertionError(f'{constant} is no JSON')

    summary = json.loads((tmp_path / 'summary.json').read_text(), parse_constant=refuse)
    (run,) = summary['runs']
    assert run['robot']['joints'] == ['turn', 'lift', 'reach']
    fingerprint = analysis.runs[0].replay.robot.model.fingerprint
    assert run['robot']['fingerprint'] == fingerprint
    for found, expected in zip(run['joints'], analysis.runs[0].joints, strict=True):
        assert found['residual_rms'] == expected.residual_rms
        assert found['ratio'] == expected.ratio < 1e-3
        assert set(found['term_rms']) == {'inertia', 'coriolis', 'gravity', 'friction'}
    assert [segment['epoch'] for segment in run['segments']] == [0, 1]
    assert run['dropped']['/joint_states']['non_finite'] == {'turn position': 1}
    assert [tip['kind'] for tip in run['tip']] == ['linear', 'angular']


def test_summary_of_unknown_effort_is_null(make_bag, arm_urdf, arm_motion, tmp_path):
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/joint_states', arm_motion(), 'pv')
    analysis = analyze_bag(bag.path)
    write_summary(analysis, tmp_path / 'summary.json')
    (run,) = json.loads((tmp_path / 'summary.json').read_text())['runs']
    assert run['joints'][0]['effort_rms'] is None
    assert run['joints'][0]['recomputed_rms'] > 0
    report = format_report(analysis)
    assert 'efforts  not recorded (turn, lift, reach)' in report
    assert 'no effort recorded' in ' '.join(row_of(report, 'turn'))
    plot_run(analysis.runs[0], 'no efforts', tmp_path / 'plot.png')


def test_series_hold_what_was_compared(analysis, tmp_path):
    replay = analysis.runs[0].replay
    write_series(replay, tmp_path / 'series.csv')
    with (tmp_path / 'series.csv').open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(part.time) for part in replay.segments)
    compared = [row for row in rows if row['compared'] == '1']
    assert len(compared) == analysis.runs[0].joints[0].sample_count
    for row in compared[::50]:
        terms = ('inertia', 'coriolis', 'gravity', 'friction')
        recomputed = sum(float(row[f'lift.{term}']) for term in terms)
        assert float(row['lift.recomputed']) == pytest.approx(recomputed, abs=1e-6)
        residual = float(row['lift.recorded']) - recomputed
        assert float(row['lift.residual']) == pytest.approx(residual, abs=1e-6)
    assert {row['segment'] for row in rows} == {'1', '2'}
    assert rows[0]['lift.recorded'] == ''


def test_plot_is_a_picture_of_every_panel(analysis, tmp_path):
    path = tmp_path / 'plot.png'
    plot_run(analysis.runs[0], 'title', path)
    picture = imread(path)
    height, width = picture.shape[:2]
    assert width > 1200 and height > 1000
    # Three joints and two tip panels in two columns: ink in five of six cells.
    ink = [
        np.mean(
            picture[
                row * height // 3 + 60 : (row + 1) * height // 3,
                column * width // 2 : (column + 1) * width // 2,
                :3,
            ].min(axis=2)
            < 0.6
        )
        for row in range(3)
        for column in range(2)
    ]
    assert all(share > 0.005 for share in ink[:5]) and ink[5] < 1e-4


def test_clock_restart_is_drawn_after_what_came_before(analysis):
    segments = analysis.runs[0].replay.segments
    assert segments[1].time[0] < segments[0].time[-1]
    time = time_axis(segments)
    assert len(time) == sum(len(part.time) + 1 for part in segments)
    assert np.all(np.diff(time) >= 0.0)


def test_losses_read_as_sentences():
    dropped = DroppedSamples(undecodable=2, out_of_order=3, restarts=1, conflicts=4)
    assert describe_losses(dropped) == [
        '2 messages that cannot be decoded dropped',
        '4 samples with the time of another but a different value dropped',
        '3 messages out of order (sorted in, not dropped)',
        'clock jumped back 1 times (analysed separately)',
    ]
    assert describe_losses(DroppedSamples()) == []


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        (2.5e6, (1e6, 'M')),
        (-3e3, (1e3, 'k')),
        (1.0, (1.0, '')),
        (0.02, (1e-3, 'm')),
        (0.0, (1.0, '')),
    ],
)
def test_prefix_suits_the_size(value, expected):
    assert scale_of(value) == expected


def test_topics_become_file_names():
    assert run_slug('/pd/joint_states') == 'pd.joint_states'
    assert '/' not in run_slug('/a/b/c')
