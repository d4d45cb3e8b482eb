# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the comment of an updated description says is what the description predicts."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest
import yaml

import kron_dynamics as kd
from benchmarks.vibrating_machines import STACKER
from kron_dynamics.bag.vibration.flexible_update import write_update
from kron_dynamics.bag.vibration.modal_results import ModalContent, ModeContent
from kron_dynamics.bag.vibration.predicted_modes import predicted_modes

pytestmark = pytest.mark.interpreted

TIP, POSE = 'bucket_wheel', STACKER.pose


def bending(flexible):
    return kd.loads(STACKER.urdf, flexible=flexible)


def predicted(flexible):
    robot = bending(flexible)
    modes = predicted_modes(robot, np.array(POSE), TIP)
    values = zip((modes.omega / (2.0 * np.pi)).tolist(), modes.ratios.tolist(), strict=True)
    return dict(zip(robot.joint_names[3:], values, strict=True))


def test_the_comment_has_the_numbers_of_the_file_and_names_what_is_not_matched(tmp_path):
    """One factor of a plane's stiffness, and one of its damping, cannot match two modes."""
    links = STACKER.description()
    links['flexible_links']['boom'] |= {
        'modes': {'v': 2, 'w': 1},
        'damping': 'stiffness_proportional',
    }
    # The name of the description is not UTF-8, and has a line of its own: both are escaped.
    source = tmp_path / os.fsdecode(b'\xc3\xb6ld\xe4\nflexible_links: 1 #.yaml')
    path = tmp_path / 'new.yaml'
    source.write_text(yaml.safe_dump(links))
    seen = {'boom/v1': (1.1, 0.01), 'boom/v2': (1.2, 0.1), 'boom/w1': (0.9, 0.03)}
    before, modes = predicted(links), []
    for name, (scale, ratio) in seen.items():
        identified = (scale * before[name][0], 0.01, ratio, (ratio, ratio))
        modes.append(ModeContent(name, *before[name], *identified, 9.0, (), 'seen'))
    lines = write_update(path, source, ModalContent(tuple(modes), 1, 1.0, 0, POSE, TIP), bending)
    first, *comments = path.read_text().splitlines()[: 1 + len(lines)]
    assert first.startswith(r'# öld\udce4\nflexible_links: 1 #.yaml, updated ')
    assert comments == [f'#   {line}' for line in lines]
    after = predicted(path)
    for mode in modes:
        (told,) = (line for line in lines if line.startswith(mode.name) and ' Hz' in line)
        numbers = re.findall(r'[\d.]+ Hz', told)
        shown = (mode.predicted_frequency, mode.frequency, after[mode.name][0])
        assert float(told.split('identified ')[1].split()[0]) == pytest.approx(shown[1], rel=1e-3)
        assert float(numbers[0][:-3]) == pytest.approx(shown[0], rel=1e-3)
        assert float(numbers[-1][:-3]) == pytest.approx(shown[2], rel=1e-3)
        assert ('not matched' in told) == (mode.name == 'boom/v2')
    (line,) = (line for line in lines if 'damping ratio ' in line)
    assert re.fullmatch(r'boom/v2: damping ratio .*, identified 0.1, now .*, not matched', line)
    now = float(line.split('now ')[1].split(',')[0])
    assert now == pytest.approx(after['boom/v2'][1], rel=1e-3)
