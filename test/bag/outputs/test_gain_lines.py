# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Options that apply estimated gains: alone they scale as the given rules and the gains did."""

from __future__ import annotations

import shlex
import subprocess

import numpy as np
import pytest

from kron_dynamics.bag.outputs.gain_lines import gain_lines
from kron_dynamics.bag.reading.joint_mapping import JointMapping
from kron_dynamics.cli.options import scale_pair
from kron_dynamics.identification.results import Gain

JOINTS = ('turn', 'lift', 'reach')


@pytest.mark.parametrize(
    'given',
    [
        {},
        {'lift:effort': -2.0},
        {'*:effort': -1.0},
        {'lift': -1.0},
        {'lift': 'kN', 'reach:position': 'mm'},
        {'lift:effort': -2.0, '*:effort': 3.0, 'l*': 'deg'},
    ],
)
def test_printed_options_alone_apply_rules_and_gains(given: dict) -> None:
    gains = (Gain('lift', 'N m', 12.0, 11.9, 12.1, True), Gain('reach', 'N', 7.0, 1.0, 9.0, False))
    (line,) = [each for each in gain_lines(JOINTS, gains, given) if each.startswith('--scale')]
    printed = dict(scale_pair(text) for text in shlex.split(line) if text != '--scale')
    recorded = [np.ones((1, 3))] * 3
    wanted = [*JointMapping(scale=given).scaled(JOINTS, recorded)]
    wanted[2] = wanted[2] * [1.0, 12.0, 1.0]
    found = JointMapping(scale=printed).scaled(JOINTS, recorded)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_printed_options_are_those_that_a_shell_passes_on() -> None:
    joint = 'left $arm;*'
    lines = gain_lines([joint], [Gain(joint, 'N m', 12.0, 11.9, 12.1, True)], {})
    (line,) = [each for each in lines if each.startswith('--scale')]
    said = subprocess.run(['sh', '-c', f'printf "%s\\n" {line}'], capture_output=True, check=True)
    assert said.stdout.decode().splitlines() == ['--scale', f'{joint}:effort=12']


def test_without_an_identifiable_gain_there_are_no_options() -> None:
    gains = (Gain('reach', 'N', 7.0, 1.0, 9.0, False),)
    lines = gain_lines(JOINTS, gains, {'*:effort': -1.0})
    assert any('not identifiable' in line for line in lines)
    assert not any('--scale' in line for line in lines)
