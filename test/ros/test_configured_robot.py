# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a node says of the robot that it has been configured for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.ros.configured_robot import ConfiguredRobot

PROJECT = Path(__file__).parents[2]
STACKER = PROJECT / 'urdf' / 'stacker_reclaimer.urdf'
FLEXIBLE = PROJECT / 'config' / 'stacker_reclaimer_flexible.yaml'


def test_summary_counts_only_what_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(tmp_path))
    summaries = []
    for _ in range(2):
        robot = kd.CarryingRobot(kd.load(STACKER), 'bucket_wheel')
        configured = ConfiguredRobot(robot, 'bucket_wheel')
        configured.prepare(linearized=False)
        summaries.append(configured.summary())
    first, again = summaries
    count = len(configured.robot.kernel_report())
    assert f' {count} kernels, {count} of them built in ' in first
    assert f' {count} kernels, all from the cache; ' in again


@pytest.mark.parametrize('flexible', [FLEXIBLE, None], ids=['flexible', 'rigid'])
def test_a_configured_robot_waits_for_no_compiler_any_more(flexible: Path | None) -> None:
    robot = kd.CarryingRobot(kd.load(STACKER, flexible=flexible), 'bucket_wheel')
    configured = ConfiguredRobot(robot, 'bucket_wheel')
    # Flexible links need linear models in any case.
    configured.prepare(linearized=flexible is None)
    moving = configured.flexible
    count = len(moving.kernel_report())
    rest = np.zeros(moving.n)
    moving.frame('bucket_wheel').pose(rest)
    moving.joint_friction(rest)
    moving.linearization(rest, rest, rest)
    assert len(moving.kernel_report()) == count
