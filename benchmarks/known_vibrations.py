# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of vibrations identified from simulated recordings of machines with a flexible link."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml

import kron_dynamics as kd
from benchmarks.known_payloads import Lines, Row
from benchmarks.vibrating_machines import ELASTIC, moved, recorded
from kron_dynamics.bag.vibration.flexible_update import write_update
from kron_dynamics.bag.vibration.modal_content import modal_content
from kron_dynamics.bag.vibration.modal_results import ModalContent
from kron_dynamics.bag.vibration.predicted_modes import predicted_modes

# Errors of the description: 85 % of the true stiffness; damping ratio, half of the true one.
STIFFNESS, DAMPING = 0.85, 0.01


class Elastic:
    """A machine with a flexible link, its description, and its twin with rigid links."""

    def __init__(self, name: str) -> None:
        """Load them."""
        self.machine = ELASTIC[name]
        self.real = self.machine.robot()
        self.described = self.machine.robot(STIFFNESS, DAMPING)
        self.twin = self.machine.robot(bends=False)
        self.sources = ('measured',) * self.real.model.joint_count

    def content(self, robot: kd.Robot, seed: int, *, tip: bool = True) -> ModalContent:
        """Return the modal content that is identified in a recording of a robot.

        Args:
            robot: the robot that moves.
            seed: seed of its motion and noise.
            tip: whether there is an accelerometer at the tip.
        """
        truth = moved(self.machine, robot, self.machine.duration, seed)
        run = recorded(self.machine, truth, seed, tip=tip)
        return modal_content(self.described, run, self.machine.tip, self.sources)


def vibrations(elastic: Elastic, seed: int) -> Row:
    """Return the modes identified in a run, the true ones, and those found in its twin, in Hz.

    The twin is recorded alternately with and without an accelerometer.
    """
    content = elastic.content(elastic.real, seed)
    true, described = (
        predicted_modes(robot, np.array(content.pose), elastic.machine.tip)
        for robot in (elastic.real, elastic.described)
    )
    modes = []
    for k, mode in enumerate(content.modes):
        modes.append(
            {
                'name': mode.name,
                'verdict': mode.verdict,
                'channels': list(mode.channels),
                'predicted': mode.predicted_frequency,
                # Predictions are means over the poses of the windows, so scale them.
                'true': float(mode.predicted_frequency * true.omega[k] / described.omega[k]),
                'frequency': mode.frequency,
                'half': mode.frequency_interval,
                'true_damping': float(
                    mode.predicted_damping * true.ratios[k] / described.ratios[k]
                ),
                'damping': mode.damping,
                'damping_interval': list(mode.damping_interval),
            }
        )
    twin = elastic.content(elastic.twin, seed, tip=seed % 2 == 0)
    return {
        'modes': modes,
        'updated': _updated(elastic, content),
        'twin': [mode.verdict for mode in twin.modes],
    }


def _updated(elastic: Elastic, content: ModalContent) -> list[float]:
    """Return frequencies of the updated description over identified ones, of detected modes."""
    if not any(mode.seen for mode in content.modes):
        return []
    with tempfile.TemporaryDirectory() as folder:
        source, path = Path(folder) / 'described.yaml', Path(folder) / 'updated.yaml'
        description = elastic.machine.description(STIFFNESS, DAMPING)
        source.write_text(yaml.safe_dump(description), encoding='utf-8')

        def bending(flexible: object) -> kd.Robot:
            return kd.loads(elastic.machine.urdf, flexible=flexible)

        write_update(path, source, content, bending)
        pose = np.array(content.pose)
        after = predicted_modes(bending(path), pose, elastic.machine.tip).omega
        before = predicted_modes(elastic.described, pose, elastic.machine.tip).omega
    return [
        float(after[k] / before[k] * mode.predicted_frequency / mode.frequency)
        for k, mode in enumerate(content.modes)
        if mode.seen
    ]


def vibration_lines(rows: Sequence[Row]) -> Lines:
    """Return lines that summarize the runs of a machine."""
    modes = [mode for row in rows for mode in row['modes']]
    seen = [mode for mode in modes if mode['verdict'] == 'seen']
    twins = [verdict for row in rows for verdict in row['twin']]
    lines = [
        ('modes seen', f'{len(seen)} of {len(modes)}'),
        (
            'modes not seen on the twin that does not bend',
            f'{sum(v.startswith("not seen") for v in twins)} of {len(twins)}',
        ),
    ]
    if not seen:
        return lines
    true, found, half, ratio = (
        np.array([mode[key] for mode in seen])
        for key in ('true', 'frequency', 'half', 'true_damping')
    )
    low, high = np.array([mode['damping_interval'] for mode in seen]).T
    errors = np.abs(found / true - 1.0)
    updated = np.array([value for row in rows for value in row['updated']])
    damping = np.abs(np.array([mode['damping'] for mode in seen]) / ratio - 1.0)
    names = dict.fromkeys(mode['name'] for mode in seen)
    mean = ', '.join(
        f'{np.mean([mode["true"] for mode in seen if mode["name"] == name]):.3g}' for name in names
    )
    return [
        ('frequencies, Hz', mean),
        *lines,
        ('frequency within 1 %', f'{(errors < 0.01).sum()} of {len(seen)}'),
        (
            'error of a frequency, median and largest',
            f'{100.0 * np.median(errors):.2g} %, {100.0 * errors.max():.2g} %',
        ),
        (
            'frequencies that the 95 % interval holds',
            f'{(np.abs(found - true) <= half).sum()} of {len(seen)}',
        ),
        (
            'damping ratios likewise',
            f'{((low <= ratio) & (ratio <= high)).sum()} of {len(seen)}',
        ),
        ('error of a damping ratio, median', f'{100.0 * np.median(damping):.2g} %'),
        (
            'updated description against identified frequency, largest difference',
            f'{100.0 * np.abs(updated - 1.0).max():.1g} %',
        ),
    ]
