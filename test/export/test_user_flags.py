# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""An export in a project whose flags allow other arithmetic: built without them, or refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from exported import COMPILERS, run

import kron_dynamics as kd
from kron_dynamics.export import export_library, write_export

PLANAR = Path(__file__).parents[1] / 'robots' / 'planar_2r.urdf'
DENORMAL = """\
#include <stdio.h>
#include "arm_dynamics/arm.h"
int main(void) {
  volatile double small = 1e-310;
  arm_check("", "");
  printf("%g", small * 1.0);
  return 0;
}
"""


@pytest.fixture
def exported(tmp_path):
    library = export_library(kd.load(PLANAR), prefix='arm')
    write_export(library, tmp_path / 'arm')
    return tmp_path / 'arm'


@pytest.mark.long
@pytest.mark.skipif(shutil.which('cmake') is None, reason='there is no cmake')
def test_cmake_builds_it_without_fast_math_and_says_so(exported, tmp_path, monkeypatch):
    monkeypatch.setenv('CFLAGS', '-ffast-math')
    build = tmp_path / 'build'
    configured = subprocess.run(
        ['cmake', '-S', exported, '-B', build, '-DBUILD_SHARED_LIBS=ON'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert 'without -ffast-math' in configured.stderr
    run('cmake', '--build', build)
    assert 'passed' in run(build / 'arm_dynamics_self_test')
    # Loaded, it leaves the arithmetic of the program alone.
    (tmp_path / 'main.c').write_text(DENORMAL)
    options = [f'-I{exported / "include"}', f'-L{build}', f'-Wl,-rpath,{build}', '-larm_dynamics']
    run('gcc', tmp_path / 'main.c', *options, '-o', tmp_path / 'main')
    assert float(run(tmp_path / 'main')) == 1e-310
    # The self-test sees a NaN.
    path = exported / 'src' / 'arm.c'
    path.write_text(
        re.sub(r'^y0\[0\] = .*;', 'y0[0] = NAN;', path.read_text(), count=1, flags=re.M)
    )
    run('cmake', '--build', build)
    assert subprocess.run([build / 'arm_dynamics_self_test'], check=False).returncode != 0


@pytest.mark.parametrize(
    'flag',
    ['-ffast-math', '-Ofast', '-freciprocal-math', '-fno-signed-zeros', '-mfpmath=387'],
)
def test_the_source_refuses_flags_that_it_can_see(exported, flag):
    command = [*COMPILERS['gcc'], '-O2', flag, f'-I{exported / "include"}', '-fsyntax-only']
    done = subprocess.run(
        [*command, exported / 'src' / 'arm.c'], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert re.search(r'#error ".*needed.*options|#error ".*options such as', done.stderr)


@pytest.mark.parametrize('real', ['double', 'float'])
def test_processors_with_arithmetic_of_half_precision_are_welcome(tmp_path, real):
    """There gcc's own dialect says that types down to 16 bits are evaluated as they are."""
    options = ['-O2', '-march=sapphirerapids']
    told = subprocess.run(
        ['gcc', *options, '-dM', '-E', '-xc', '/dev/null'],
        capture_output=True,
        text=True,
        check=False,
    )
    if '#define __FLT_EVAL_METHOD__ 16' not in told.stdout:
        pytest.skip('gcc does not know such a processor')
    library = export_library(kd.load(PLANAR), prefix='arm', real=real)
    write_export(library, tmp_path / 'arm')
    include, source = f'-I{tmp_path / "arm" / "include"}', tmp_path / 'arm' / 'src' / 'arm.c'
    run('gcc', *options, include, '-fsyntax-only', source)
