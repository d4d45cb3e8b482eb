# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The report for a terminal."""

from __future__ import annotations

import re

import pytest

from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.outputs.text_report import format_report
from kron_dynamics.bag.outputs.text_tables import scale_of
from kron_dynamics.bag.results import JointResult, contradicting_efforts
from kron_dynamics.bag.samples import DroppedSamples


def row_of(report, name):
    (line,) = [line for line in report.splitlines() if line.split()[:1] == [name]][:1]
    return line.split()


def test_text_says_what_was_compared_and_what_was_lost(analysis):
    report = format_report(analysis)
    assert 'robot    arm, 3 coordinates, from /robot_description' in report
    assert 'run      /joint_states' in report
    assert '100 Hz, 2 segments' in report
    assert 'acceleration from position and velocity of turn, lift, reach' in report
    assert 'efforts  recorded in /joint_states (turn, lift, reach)' in report
    assert '1 NaN, infinite or huge samples of turn position dropped' in report
    assert '1 messages whose arrays do not fit their names dropped' in report
    assert '3 repeated values dropped' in report
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


def test_losses_read_as_sentences():
    dropped = DroppedSamples(undecodable=2, out_of_order=3, restarts=1, conflicts=4)
    assert dropped.described() == [
        '2 messages that cannot be decoded dropped',
        '4 samples with the time of another but a different value dropped',
        '3 messages out of order (sorted in, not dropped)',
        'clock jumped back 1 times (analysed separately)',
    ]
    assert DroppedSamples().described() == []


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


def test_efforts_that_were_not_recorded_are_said_to_be_missing(make_bag, arm_urdf, arm_motion):
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/joint_states', arm_motion(), 'pv')
    report = format_report(analyze_bag(bag.path))
    assert 'efforts  not recorded (turn, lift, reach)' in report
    assert 'no effort recorded' in ' '.join(row_of(report, 'turn'))


@pytest.mark.parametrize(
    ('factors', 'told'),
    [
        ((1e-3, 0.95e-3), r'0.001 of the recomputed ones: .* kN m \(--scale \*:effort=kN\)'),
        ((1e3, 1.1e3), r'1000 of the recomputed ones: .* mN m \(--scale \*:effort=mN\)'),
        ((1e-3, 0.5), 'the residual is larger than the effort itself: b .999 times'),
        ((1.0, 0.9), None),
    ],
)
def test_units_of_efforts_that_are_off_by_a_thousand_are_named(factors, told):
    joints = [
        JointResult(
            name,
            'N m',
            'measured',
            100,
            share * 5.0,
            9.0,
            5.0,
            0.0,
            False,
            abs(share - 1.0) * 5.0,
            9.0,
            0.0,
            {},
        )
        for name, share in zip('ba', factors, strict=True)
    ]
    found = contradicting_efforts(joints)
    assert found is None if told is None else re.search(told, found)
