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
# Efforts that it receives after its state is no number any more are told.
SPOILT_PLANT = """\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "stacker_reclaimer_dynamics/stacker_reclaimer.h"

static int received;

static void tell(void) { fprintf(stderr, "%d efforts received\\n", received); }

void plant(const double *q, const double *qd, const double *tau, double *qdd) {
  if (received == 0) atexit(tell);
  stacker_reclaimer_forward_dynamics(q, qd, tau, qdd);
  if (++received == 300) qdd[JOINT] = VALUE;
}
"""

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


@pytest.fixture(scope='module')
def stacker(tmp_path_factory):
    """The export of the stacker-reclaimer, its folder, and where it is installed."""
    folder = tmp_path_factory.mktemp('stacker')
    exported = export_library(kd.load(STACKER), frames=['bucket_wheel'])
    installed = install(exported, folder, f'-DCMAKE_PREFIX_PATH={EIGEN_PREFIX}')
    return exported, folder, installed


def test_the_loop_follows_and_refuses_another_model(stacker, tmp_path):
    exported, folder, installed = stacker
    told = run('ctest', '--test-dir', folder / 'build')
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
    for seconds in ('0', '-1', 'ten', '1s', '', 'nan', 'inf'):
        wrong = subprocess.run([program, seconds], capture_output=True, text=True, check=False)
        assert wrong.returncode == 1 and not wrong.stdout
        assert wrong.stderr == f"SECONDS is '{seconds}', expected a number above 0\n"


@pytest.mark.parametrize(('joint', 'value'), [('travel', 'NAN'), ('luff', '-INFINITY')])
def test_the_loop_sends_nothing_from_an_effort_that_is_not_finite_on(
    stacker, tmp_path, joint, value
):
    """A plant whose state becomes so takes the place of the library's."""
    exported, folder, _ = stacker
    (tmp_path / 'plant.c').write_text(SPOILT_PLANT)
    index = exported.model.joint_names.index(joint)
    program, include = tmp_path / 'loop', f'-I{folder / "exported" / "include"}'
    spoilt = tmp_path / 'plant.o'
    values = (f'-DJOINT={index}', f'-DVALUE={value}')
    run('gcc', '-c', include, *values, tmp_path / 'plant.c', '-o', spoilt)
    run(
        *('gcc', include, '-Dstacker_reclaimer_forward_dynamics=plant'),
        *(EXAMPLES / 'computed_torque.c', spoilt),
        *(next((folder / 'build').glob('*.a')), '-lm', '-o', program),
    )
    done = subprocess.run([program, '0.1'], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        'an effort was not finite: nothing was sent from then on',
        '300 efforts received',
    ]
    assert 'largest error' not in done.stdout


def test_the_law_of_the_controller(tmp_path):
    """On drives that carry the boom in two of the three poses, so a weight meets its limit."""
    robot = kd.loads(STACKER.read_text().replace('effort="20000000"', 'effort="2700000"'))
    # Its own tests are built and run by the other example.
    installed = install(export_library(robot), tmp_path, '-DBUILD_TESTING=OFF')
    paths = f'-DCMAKE_PREFIX_PATH={installed};{EIGEN_PREFIX}'
    build(EXAMPLES / 'ros2_control', tmp_path / 'law', paths)
    told = run(tmp_path / 'law' / 'law_test')
    assert 'law: passed' in told and told.count('a weight is beyond its limit') == 1
