# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compilers that would compute something else: told not to, or found out in time."""

from __future__ import annotations

import ctypes
import logging
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kron_dynamics
from kron_dynamics import KernelBuildError, dynamics
from kron_dynamics.kernels import check, compiler_options, specification
from kron_dynamics.kernels.check import check_kernel
from kron_dynamics.kernels.compiler import find_compiler
from kron_dynamics.kernels.compiler_options import without_harm
from kron_dynamics.kernels.kernel_factory import make_kernels
from kron_dynamics.kernels.library import address_of
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.model import RobotModel, load_model

HARMFUL = (
    *('-ffast-math', '-Ofast', '-funsafe-math-optimizations', '-fassociative-math'),
    *('-freciprocal-math', '-ffinite-math-only', '-fno-signed-zeros', '-fno-trapping-math'),
    *('-fsingle-precision-constant', '-fshort-double', '-mdaz-ftz', '-m32', '-mfpmath=387'),
    *('-mfpmath=both', '-mno-sse2', '-fp-model=fast', '-ffp-model=fast', '-mlong-double-64'),
    *('-Dsin=cos', '-Ddouble=float', '-D sin=cos', '-Usin', '-include stdio.h', '-imacros a.h'),
    *('-Wp,-Dsin=cos', '-Xpreprocessor -Dsin=cos', '--include=a.h', '-fexcess-precision=fast'),
    '-fsanitize=address',
)
HARMLESS = (
    *('-frounding-math', '-ffloat-store', '-fno-math-errno', '-fsignaling-nans', '-O1', '-g'),
    *('-m64', '-mfma', '-march=native', '-std=gnu11', '-fwrapv', '-I/nowhere', '-pipe'),
    *('-fstack-protector-strong', '--sysroot=/', '-Wl,-z,now', '-fno-strict-aliasing'),
)


@pytest.fixture(autouse=True)
def new_process() -> None:
    compiler_options._warn.cache_clear()


@pytest.fixture
def model(robot_text: Any) -> RobotModel:
    return load_model(robot_text('spatial_3r'))


def recipe_of(function: Any, *arguments: str) -> KernelSpecification:
    return KernelSpecification(function.__name__, arguments, function)


GRAVITY = recipe_of(dynamics.gravity_vector, 'q')


@pytest.mark.parametrize('option', HARMFUL)
def test_options_that_change_arithmetic_are_left_out_and_said_once(
    option: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv('CC', f'cc -pipe {option} -O1')
    for _ in range(2):
        command = find_compiler()
        assert command is not None
        assert command[1:] == ('-pipe', '-O1')
    (record,) = caplog.records
    assert (record.levelname, record.args) == ('WARNING', (option,))


@pytest.mark.parametrize('option', HARMLESS)
def test_other_options_are_kept(option: str, caplog: pytest.LogCaptureFixture) -> None:
    assert without_harm(('cc', option)) == ('cc', option)
    assert caplog.records == []


def test_options_in_a_file_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('CC', 'cc @options')
    with pytest.raises(KernelBuildError, match=r'CC .*@options'):
        find_compiler()


@pytest.mark.parametrize('options', ['-ffast-math', '-Ofast', '-Ddouble=float -m32 -mfpmath=387'])
def test_kernels_are_right_whatever_cc_asks_for(
    options: str, own_cache: Path, model: RobotModel, monkeypatch: Any, assert_close: Any
) -> None:
    monkeypatch.setenv('CC', f'cc {options}')
    (kernel,) = make_kernels([GRAVITY], model, 'options')
    q = np.array([0.3, -0.4, 0.9])
    assert_close(kernel(q), dynamics.gravity_vector(model, q))


@pytest.mark.parametrize('option', ['-ffast-math', '-Ofast', '-funsafe-math-optimizations'])
def test_a_script_that_puts_options_before_ours_does_no_harm(
    option: str, own_cache: Path, model: RobotModel, fake_compiler: Any, assert_close: Any
) -> None:
    fake_compiler(f'exec cc {option} "$@"')
    (kernel,) = make_kernels([GRAVITY], model, 'script')
    q = np.array([0.3, -0.4, 0.9])
    assert_close(kernel(q), dynamics.gravity_vector(model, q))
    assert sys.float_info.min / float('2') != 0


CHEATS = {
    '-ffast-math': 'IEEE arithmetic',
    '-ffinite-math-only': 'IEEE arithmetic',
    '-Ddouble=float': 'ieee_double',
    '-fsingle-precision-constant': 'ieee_double',
    '-Dsin=cos': 'equations give',
    '-Dcos=sin': 'equations give',
    '-DNEAR=-1 -Dsin=tan': 'equations give',
}


@pytest.mark.parametrize('options', CHEATS)
def test_a_script_that_puts_options_behind_ours_is_found_out(
    options: str, own_cache: Path, model: RobotModel, fake_compiler: Any
) -> None:
    path = fake_compiler(f'exec cc "$@" {options}')
    with pytest.raises(KernelBuildError, match=CHEATS[options]) as caught:
        make_kernels([GRAVITY], model, 'cheat')
    assert str(path) in str(caught.value)
    assert {file.suffix for file in own_cache.iterdir()} == {'.lock'}
    assert sys.float_info.min / float('2') != 0


@pytest.mark.parametrize('option', ['-Ofast', '-funsafe-math-optimizations'])
def test_what_some_compilers_take_to_heart_is_refused_or_right(
    option: str, own_cache: Path, model: RobotModel, fake_compiler: Any, assert_close: Any
) -> None:
    path = fake_compiler(f'exec cc "$@" {option}')
    q = np.array([0.3, -0.4, 0.9])
    try:
        (kernel,) = make_kernels([GRAVITY], model, 'heart')
    except KernelBuildError as error:
        assert str(path) in str(error)
        assert re.search(r'compiled by .*: check \$CC|IEEE arithmetic', str(error))
    else:
        assert_close(kernel(q), dynamics.gravity_vector(model, q))
    assert sys.float_info.min / float('2') != 0


def test_error_names_kernel_compiler_and_what_to_check(
    own_cache: Path, model: RobotModel, fake_compiler: Any, monkeypatch: Any
) -> None:
    path = fake_compiler('exec cc "$@" -Dsin=cos')
    with pytest.raises(KernelBuildError) as caught:
        make_kernels([GRAVITY], model, 'cheat')
    assert re.fullmatch(
        r"the compiled kernel 'gravity_vector' gives \S+ where the equations give \S+, compiled "
        rf'by {path}: check \$CC and what it runs',
        str(caught.value),
    )
    monkeypatch.delenv('CC')
    make_kernels([GRAVITY], model, 'cheat')


def test_smallest_numbers_stay_what_they_are(own_cache: Path, tmp_path: Path) -> None:
    """Linked with -Ofast, a library changes the processor's way of computing when it is loaded."""
    source, library = tmp_path / 'a.c', tmp_path / 'a.so'
    source.write_text('void f(void) {}\nconst char f_is[] = "f";\n', encoding='ascii')
    subprocess.run(['cc', '-shared', '-fPIC', '-Ofast', str(source), '-o', str(library)])
    half = sys.float_info.min / float('2')
    try:
        address_of(library, 'f', 'f')
    except KernelBuildError as error:
        assert '-Ofast' in str(error)
    assert half + half == sys.float_info.min
    # Of this very compiler: loaded without care it does, or it is no such compiler.
    code = f'import ctypes, sys; ctypes.CDLL({str(library)!r}); print(sys.float_info.min * 0.5)'
    bare = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout
    if bare.strip() == '0.0':
        with pytest.raises(KernelBuildError, match='subnormal numbers'):
            address_of_copy(library)


def address_of_copy(library: Path) -> None:
    copy = library.with_name('b.so')
    copy.write_bytes(library.read_bytes())
    address_of(copy, 'f', 'f')


KERNEL = ctypes.CFUNCTYPE(
    None,
    ctypes.c_ssize_t,
    ctypes.POINTER(ctypes.POINTER(ctypes.c_double)),
    ctypes.POINTER(ctypes.POINTER(ctypes.c_double)),
)


def machine_code(function: Callable[[list[float], int, int], list[float]], size: int) -> Any:
    """A kernel of one argument written in Python; it is told the state and their number."""

    @KERNEL
    def kernel(count: int, rows: Any, outs: Any) -> None:
        for k in range(count):
            result = function([rows[0][k * size + j] for j in range(size)], k, count)
            for j, value in enumerate(result):
                outs[0][k * len(result) + j] = value

    return kernel


def check_python(kernel: Any, function: Any, trace: Any, model: Any = None) -> None:
    address = ctypes.cast(kernel, ctypes.c_void_p).value
    assert address is not None
    check_kernel(address, 'a', [('q', 2)], function, model or SimpleNamespace(), trace)


def product(model: Any, q: Any) -> Any:
    return [q[0] * q[1], q[0] + q[1], 3.0]


WRONG: dict[str, Callable[[list[float], int, int], list[float]]] = {
    'one part in 10^8': lambda q, k, count: [q[0] * q[1] * (1 + 1e-8), q[0] + q[1], 3.0],
    'one part in 10^5': lambda q, k, count: [q[0] * q[1], (q[0] + q[1]) * (1 + 1e-5), 3.0],
    'last of a batch': lambda q, k, count: [q[0] * q[1], q[0] + q[1], 3.0 + (k == 18)],
    'in a vector': lambda q, k, count: [q[0] * q[1], q[0] + q[1] + (k == 5), 3.0],
    'single states': lambda q, k, count: [q[0] * q[1], q[0] + q[1], 3.0 + (count == 1)],
    'far away': lambda q, k, count: [q[0] * q[1], q[0] + q[1] + (abs(q[0]) > 9e5) * 1e5, 3.0],
    'NaN is a number': lambda q, k, count: [q[0] * q[1] if q[0] == q[0] else 0.0, sum(q), 3.0],
    'a number is NaN': lambda q, k, count: [q[0] * q[1], sum(q), float('nan')],
}


def test_a_right_kernel_passes() -> None:
    trace = Trace(lambda q: product(None, q), [2])
    check_python(machine_code(lambda q, k, count: product(None, q), 2), product, trace)


@pytest.mark.parametrize('kind', WRONG)
def test_a_wrong_kernel_is_found_out(kind: str) -> None:
    trace = Trace(lambda q: product(None, q), [2])
    with pytest.raises(KernelBuildError, match="kernel 'a' gives .* where the equations give"):
        check_python(machine_code(WRONG[kind], 2), product, trace)


def wrong_far_away(place: int) -> Any:
    """A kernel that is wrong where a coordinate is."""

    def function(q: list[float], k: int, count: int) -> list[float]:
        return [q[0] * q[1], sum(q) if abs(q[place]) < 1e5 else math.nan, 3.0]

    return machine_code(function, 2)


@pytest.mark.parametrize(
    'model',
    [
        SimpleNamespace(is_flexible=True, joint_count=1),
        SimpleNamespace(
            has_closed_loops=True,
            position_lower=np.array([-np.inf, -1.0]),
            position_upper=np.array([1.0, 1.0]),
        ),
    ],
    ids=['links bent out of all proportion', 'drives beyond what loops allow'],
)
def test_what_cannot_be_decides_nothing(model: Any) -> None:
    trace = Trace(lambda q: product(None, q), [2])
    check_python(wrong_far_away(1), product, trace, model)
    with pytest.raises(KernelBuildError):
        check_python(wrong_far_away(0), product, trace, model)


def test_rounding_is_forgiven_where_it_counts_for_much() -> None:
    """A difference of nearly equal numbers, computed in another order."""

    def function(model: Any, q: Any) -> Any:
        return [((q[0] + 1e9) - q[0]) - 1e9 + q[1] * 1e-9]

    trace = Trace(lambda q: function(None, q), [2])
    check_python(machine_code(lambda q, k, count: [q[1] * 1e-9 + 0.0 * q[0]], 2), function, trace)
    with pytest.raises(KernelBuildError):
        check_python(machine_code(lambda q, k, count: [1.0 + 0.0 * q[0]], 2), function, trace)


def test_loops_are_compared_with_the_equations(
    own_cache: Path, monkeypatch: Any, robot_text: Any, fake_compiler: Any
) -> None:
    monkeypatch.setattr(specification, '_JOINTS_OF_LOOPS', 1)
    monkeypatch.setattr(specification, '_LONG', 0)
    model = load_model(robot_text('spatial_3r'))
    checked = []

    def watch(*arguments: Any) -> None:
        checked.append(type(arguments[-1]))
        check_kernel(*arguments)

    monkeypatch.setattr(check, 'check_kernel', watch)
    make_kernels([GRAVITY], model, 'loops')
    assert checked == [LoopTrace]
    fake_compiler('exec cc "$@" -Dsin=tan -DNEAR=-1.0')
    with pytest.raises(KernelBuildError, match='equations give'):
        make_kernels([GRAVITY], model, 'loops')


@pytest.mark.parametrize('kind', ['one part in 10^5', 'last of a batch', 'single states'])
def test_wrong_loops_are_found_out(kind: str) -> None:
    trace: Any = SimpleNamespace(shapes=((3,),))
    right = machine_code(lambda q, k, count: product(None, q), 2)
    check_python(right, product, trace)
    with pytest.raises(KernelBuildError):
        check_python(machine_code(WRONG[kind], 2), product, trace)


def test_states_are_within_limits_and_fill_vectors() -> None:
    limits = SimpleNamespace(
        position_lower=np.array([2.0, -np.inf]), position_upper=np.array([3.0, 1.0])
    )
    model: Any = limits
    q, force = check._states([('q', 2), ('force', 3)], model)
    usual = np.delete(q, [check._FAR, check._UNKNOWN], axis=0)
    assert (usual[:, 0] >= 2).all() and (usual[:, 0] <= 3).all()
    assert np.ptp(usual[:, 0]) > 0.5
    assert (np.abs(q[check._FAR]) > 823549).all()
    assert np.isnan(q[check._UNKNOWN]).all() and np.isnan(force[check._UNKNOWN]).all()
    for lanes in (2, 4, 8):
        assert len(q) > 2 * lanes and len(q) % lanes
    assert os.environ['KRON_DYNAMICS_CACHE']


def test_warning_is_of_the_package(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, 'kron_dynamics'):
        without_harm(('cc', '-Ofast', '-ffast-math'))
    assert 'without these options of $CC' in caplog.text
    assert '-Ofast -ffast-math' in caplog.text


# An inertia that no body has, in a joint frame that is turned: with one joint the Coriolis vector
# is 0, but what is left of its terms when they are rounded depends on the compiler.
CANCELLING = """<robot name="r"><link name="base"/><link name="a"><inertial>
<origin xyz="0.1 0.02 -0.03" rpy="0.1 0.2 0.3"/><mass value="1"/>
<inertia ixx="0.02" ixy="0.5" ixz="-0.002" iyy="0.03" iyz="0.0015" izz="0.04"/></inertial></link>
<joint name="j" type="revolute"><origin xyz="0.3 0.1 0.2" rpy="0.3 -0.2 0.5"/>
<parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="10" velocity="2"/></joint></robot>"""


@pytest.mark.filterwarnings('ignore::kron_dynamics.ModelWarning')
def test_terms_that_cancel_are_no_compilers_fault(own_cache: Path) -> None:
    robot = kron_dynamics.loads(CANCELLING)
    robot.prepare('a')
    assert abs(robot.coriolis_vector([0.1], [0.2])[0]) < 1e-12
    assert robot.inverse_dynamics([0.1], [0.2], [0.3])[0] == pytest.approx(
        dynamics.inverse_dynamics(robot.model, [0.1], [0.2], [0.3])[0], rel=1e-12
    )
