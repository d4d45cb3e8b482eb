# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/real_time, built as docs/real-time.md says, on an installed export."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from compilers import EIGEN_PREFIX
from exported import run

import kron_dynamics as kd
from kron_dynamics.export import export_library, write_export

ROOT = Path(__file__).parents[2]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
EXAMPLES = ROOT / 'examples' / 'real_time'
# ROS is not asked for, where it is there.
PLAIN = [
    f'-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON' for name in ('ament_cmake', 'controller_interface')
]

pytestmark = pytest.mark.skipif(shutil.which('cmake') is None, reason='there is no cmake')


def install(library, folder, *options):
    write_export(library, folder / 'exported')
    into = f'-DCMAKE_INSTALL_PREFIX={folder / "installed"}'
    build(folder / 'exported', folder / 'build', into, *options)
    run('cmake', '--install', folder / 'build')
    return folder / 'installed'


def build(source, folder, *options):
    run('cmake', '-S', source, '-B', folder, *PLAIN, *options)
    run('cmake', '--build', folder)


def test_the_loop_follows_and_refuses_another_model(tmp_path):
    exported = export_library(kd.load(STACKER), frames=['bucket_wheel'])
    installed = install(exported, tmp_path, f'-DCMAKE_PREFIX_PATH={EIGEN_PREFIX}')
    told = run('ctest', '--test-dir', tmp_path / 'build')
    for test in ('self_test', 'wrapper_test'):
        assert re.search(rf'{exported.package}_{test} \.* +Passed', told), told
    build(EXAMPLES, tmp_path / 'loop', f'-DCMAKE_PREFIX_PATH={installed}')
    program = tmp_path / 'loop' / 'computed_torque'
    told = run(program, '0.1')
    found = re.search(r'largest error of 1000 control cycles: (\S+) m or rad', told)
    # The plant is stepped by 1 ms; 1 s moves the machine by 20 mm.
    assert found and 0.0 < float(found[1]) < 1e-3, told
    other = subprocess.run([program, '0.1', 'other'], capture_output=True, text=True, check=False)
    assert other.returncode == 1 and 'not of the model other' in other.stderr


def test_the_law_of_the_controller(tmp_path):
    """On drives that carry the boom in two of the three poses, so a weight meets its limit."""
    robot = kd.loads(STACKER.read_text().replace('effort="20000000"', 'effort="2700000"'))
    # Its own tests are built and run by the other example.
    installed = install(export_library(robot), tmp_path, '-DBUILD_TESTING=OFF')
    paths = f'-DCMAKE_PREFIX_PATH={installed};{EIGEN_PREFIX}'
    build(EXAMPLES / 'ros2_control', tmp_path / 'law', paths)
    told = run(tmp_path / 'law' / 'law_test')
    assert 'law: passed' in told and told.count('a weight is beyond its limit') == 1
