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

PROJECT = """\
cmake_minimum_required(VERSION 3.16)
project(machine C)
set(CMAKE_C_VISIBILITY_PRESET hidden)
include(CTest)
add_subdirectory(arm)
add_executable(program main.c)
target_link_libraries(program arm_dynamics::arm_dynamics)
"""
USER = """\
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(arm_dynamics REQUIRED)
add_executable(program ../main.c)
target_link_libraries(program arm_dynamics::arm_dynamics)
"""
PLAIN = ('-DCMAKE_DISABLE_FIND_PACKAGE_ament_cmake=ON', '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON')


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


@pytest.fixture
def project(exported, tmp_path):
    """A project around an export, without a build type, with hidden names and tests."""
    (tmp_path / 'CMakeLists.txt').write_text(PROJECT)
    (tmp_path / 'main.c').write_text(DENORMAL)
    return tmp_path


@pytest.mark.long
@pytest.mark.skipif(shutil.which('cmake') is None, reason='there is no cmake')
def test_a_project_around_it_is_built_and_installed(project):
    build, installed = project / 'build', project / 'installed'
    run('cmake', '-S', project, '-B', build, *PLAIN, '-DBUILD_SHARED_LIBS=ON')
    run('cmake', '--build', build)
    assert float(run(build / 'program')) == 1e-310
    assert not list(build.rglob('*_test'))
    assert re.search('-O2.*arm.c', (build / 'compile_commands.json').read_text())
    run('cmake', '--install', build, '--prefix', installed)
    user = project / 'user'
    user.mkdir()
    (user / 'CMakeLists.txt').write_text(USER)
    run('cmake', '-S', user, '-B', user / 'build', f'-DCMAKE_PREFIX_PATH={installed}')
    run('cmake', '--build', user / 'build')
    assert float(run(user / 'build' / 'program')) == 1e-310


@pytest.mark.long
@pytest.mark.skipif(shutil.which('cmake') is None, reason='there is no cmake')
def test_bare_metal_gets_the_library_of_mathematics(project):
    generic = ('-DCMAKE_SYSTEM_NAME=Generic', '-DCMAKE_C_COMPILER=gcc', '-GUnix Makefiles')
    run('cmake', '-S', project, '-B', project / 'build', *PLAIN, *generic)
    (link,) = (project / 'build').rglob('program.dir/link.txt')
    assert ' -lm' in link.read_text()
    run('cmake', '-S', project / 'arm', '-B', project / 'alone', *PLAIN, *generic)
    assert not list((project / 'alone').rglob('*_test.dir'))


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
