# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Exported libraries: what they compute, what they are made of, what they take."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from exported import COMPILERS, SANITIZED, call, loaded, self_test, stack_use
from long_runs import some_of
from pinocchio_oracle import example_robots
from same_bits import assert_same_bits

import kron_dynamics as kd
from benchmarks.chain import chain_urdf
from kron_dynamics.exceptions import InvalidInertiaError, ParameterError, UnknownFrameError
from kron_dynamics.export import export_library, write_export
from kron_dynamics.export.quantities import OF_FRAME, OF_ROBOT
from kron_dynamics.export.self_test import expected, states
from kron_dynamics.kernels import compiler as kernel_compiler

# Kernels without optimization have the same bits, as kernels/test_levels.py shows.
pytestmark = pytest.mark.hurried

PROJECT = Path(__file__).parents[2]
ROBOTS = PROJECT / 'test' / 'robots'
STACKER = PROJECT / 'urdf' / 'stacker_reclaimer.urdf'
CYLINDER = PROJECT / 'urdf' / 'stacker_reclaimer_cylinder.urdf'
PANDA = example_robots()['panda_description/urdf/panda.urdf']
UR5 = example_robots()['ur_description/urdf/ur5_robot.urdf']
BRANCHED, PLANAR = ROBOTS / 'branched.urdf', ROBOTS / 'planar_2r.urdf'
# Text that would be code, the end of a comment or the end of a string, where names are not names.
HOSTILE = '*/ #error &quot;; ??/ // \\ %s ä'
# Options that allow other products to be fused than those that the source names.
FUSING = ('-O3', '-ffp-contract=fast')
OF_ALL = {**OF_ROBOT, **OF_FRAME}
MACHINES = {
    'small': lambda: kd.load(ROBOTS / 'rrp.urdf'),
    'branched': lambda: kd.load(BRANCHED),
    'stacker': lambda: kd.load(STACKER),
    'ur5': lambda: kd.load(UR5),
    'panda': lambda: kd.load(PANDA),
    'chain30': lambda: kd.loads(chain_urdf(30)),
    'boom': lambda: kd.load(
        STACKER, flexible=PROJECT / 'config' / 'stacker_reclaimer_flexible.yaml'
    ),
    'cylinder': lambda: kd.load(
        CYLINDER, constraints=PROJECT / 'config' / 'stacker_reclaimer_cylinder.yaml'
    ),
}


@lru_cache
def machine(name):
    return MACHINES[name]()


@lru_cache
def whole_library(name):
    """All quantities of a machine and its tip."""
    robot = machine(name)
    return export_library(robot, prefix='arm', frames=[robot.model.tip_link])


def exported(robot, folder, **options):
    library = export_library(robot, prefix='arm', **options)
    write_export(library, folder)
    return library


def rows_and_results(robot, library, count, seed):
    """For each function: it, one state's arguments, and the results of the robot's kernel.

    The first states are at rest and at zero, where results are zeros of either sign.
    """
    owners = [robot if f.link is None else robot.frame(f.link) for f in library.functions]
    methods = [OF_ALL[function.quantity] for function in library.functions]
    both = zip(methods, owners, strict=True)
    robot._kernels.prepare([method.specification(owner) for method, owner in both], True)
    for function, owner in zip(library.functions, owners, strict=True):
        kernel = getattr(owner, function.quantity)
        tables = states(library, function, count, seed=seed)
        for table in tables[1:] if robot.model.has_closed_loops else tables:
            table[:2] = 0.0
            table[1, ::2] = -0.0
        batches = kernel(*tables)
        batches = batches if isinstance(batches, tuple) else (batches,)
        for k, row in enumerate(zip(*tables, strict=True)):
            results = kernel(*row)
            results = results if isinstance(results, tuple) else (results,)
            for result, batch in zip(results, batches, strict=True):
                assert_same_bits(batch[k], result)
            yield function, row, results


@pytest.mark.parametrize(
    ('name', 'count'),
    some_of([('branched', 100), *((name, 1000) for name in MACHINES)], [('branched', 100)]),
)
def test_functions_have_the_bits_of_the_kernels(name, count, tmp_path, pytestconfig):
    robot, library = machine(name), whole_library(name)
    write_export(library, tmp_path)
    # Otherwise the lowest level: the highest is that of the next test.
    level = '-O2' if pytestconfig.getoption('--long') else '-O0'
    dll = loaded(library, tmp_path, level=level)
    for function, row, results in rows_and_results(robot, library, count, seed=3):
        for got, right in zip(call(dll, library, function, row), results, strict=True):
            assert_same_bits(got, right)


@pytest.mark.parametrize(
    ('compiler', 'options'),
    some_of(
        [
            ('gcc', ('-O0',)),
            ('gcc', FUSING),
            ('clang', ('-O0',)),
            ('clang', FUSING),
            ('g++', ('-O1',)),
        ],
        [('gcc', FUSING), ('clang', FUSING)],
    ),
    ids=str,
)
@pytest.mark.parametrize('name', some_of(MACHINES, ['branched']))
def test_every_compiler_gives_these_bits(name, compiler, options, tmp_path):
    """On a processor that fuses products and sums, for which alone kernels are compiled here."""
    robot, library = machine(name), whole_library(name)
    write_export(library, tmp_path)
    processor = [flag for flag in kernel_compiler.flags() if flag.startswith('-m')]
    dll = loaded(library, tmp_path, compiler, (*options, *processor))
    for function, row, results in rows_and_results(robot, library, 20, seed=4):
        for got, right in zip(call(dll, library, function, row), results, strict=True):
            assert_same_bits(got, right)


@pytest.mark.parametrize(
    ('compiler', 'options'),
    some_of(
        [(compiler, way) for compiler in COMPILERS for way in (('-O2',), SANITIZED)],
        [('gcc', SANITIZED), ('g++', ('-O2',))],
    ),
    ids=str,
)
@pytest.mark.parametrize('name', some_of(MACHINES, ['small']))
def test_self_test_passes_without_a_warning(name, compiler, options, tmp_path):
    library = whole_library(name)
    write_export(library, tmp_path)
    assert 'passed' in self_test(library, tmp_path, compiler, options)


@pytest.mark.parametrize('compiler', some_of(['gcc', 'clang'], ['gcc']))
@pytest.mark.parametrize('name', some_of(MACHINES, ['small']))
def test_single_precision_is_as_good_as_single_numbers_are(name, compiler, tmp_path):
    library = exported(MACHINES[name](), tmp_path, real='float')
    options = ('-O2', '-Wdouble-promotion')
    assert 'passed' in self_test(library, tmp_path, compiler, options)


def test_self_test_sees_one_changed_number(tmp_path):
    library = exported(kd.load(BRANCHED), tmp_path, quantities=['inverse_dynamics'])
    path = tmp_path / 'src' / 'arm.c'
    text = path.read_text()
    (sign, *_) = re.findall(r'const double t\d+ = t\d+ (-) t\d+;', text)
    changed = re.sub(rf'(const double t\d+ = t\d+) {sign} (t\d+;)', r'\1 + \2', text, count=1)
    path.write_text(changed)
    with pytest.raises(AssertionError, match='is off by'):
        self_test(library, tmp_path, 'gcc', ())


def test_names_of_a_description_are_no_code(tmp_path):
    text = PLANAR.read_text()
    joint = re.search(r'<joint name="(\w+)" type="(?!fixed)', text)[1]
    link = kd.load(PLANAR).model.tip_link
    robot = re.search(r'<robot name="(\w+)"', text)[1]
    for name in (joint, link, robot):
        text = re.sub(rf'"{name}"', f'"{HOSTILE}{name}"', text)
    hostile = kd.loads(text)
    library = export_library(hostile, frames=[hostile.model.tip_link])
    write_export(library, tmp_path)
    assert 'passed' in self_test(library, tmp_path, 'gcc', ())
    names = (ctypes.c_char_p * hostile.n).in_dll(
        loaded(library, tmp_path, level='-O0'), f'{library.prefix}_joint_names'
    )
    assert [name.decode() for name in names] == list(hostile.joint_names)


def test_the_same_robot_gives_the_same_bytes(tmp_path):
    program = (
        'import sys, kron_dynamics as kd; from kron_dynamics.export import *; '
        'library = export_library(kd.load(sys.argv[1]), prefix="arm", frames=[sys.argv[2]]); '
        'write_export(library, sys.argv[3])'
    )
    link = kd.load(BRANCHED).model.tip_link
    # Another order of sets than here.
    seed = '2' if os.environ.get('PYTHONHASHSEED') == '1' else '1'
    subprocess.run(
        [sys.executable, '-c', program, str(BRANCHED), link, str(tmp_path)],
        env={**os.environ, 'PYTHONHASHSEED': seed, 'PYTHONPATH': str(PROJECT)},
        check=True,
    )
    written = {name: (tmp_path / name).read_bytes() for name in _names(tmp_path)}
    here = whole_library('branched').files()
    assert {name: text.encode() for name, text in here.items()} == written


def _names(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob('*') if path.is_file()]


@pytest.mark.parametrize('level', ['-O0', '-O2'])
@pytest.mark.parametrize('name', some_of(MACHINES, ['small']))
def test_the_stack_is_no_larger_than_told(name, level, tmp_path):
    library = whole_library(name)
    write_export(library, tmp_path)
    used = stack_use(library, tmp_path, level)
    below = sum(size for place, size in used.items() if place.startswith('sincos'))
    for function in library.functions:
        own = [used.get(f'arm_{function.name}{part}', 0) for part in ('', '_in')]
        # What is left is for the functions of the C library.
        assert sum(own) + below <= function.code.stack - 512
        assert own[0] > 0


def test_what_links_carry_is_an_argument(tmp_path):
    robot = kd.load(BRANCHED)
    tip = robot.model.tip_link
    quantities = ['inverse_dynamics', 'control_step']
    library = exported(robot, tmp_path, frames=[tip], quantities=quantities, payload_links=[tip])
    dll = loaded(library, tmp_path, options=['-O0'])
    payload = (3.0, np.array([0.1, 0.0, 0.2]))
    parameters = np.array([3.0, 0.3, 0.0, 0.6, 0.12, 0.0, -0.06, 0.15, 0.0, 0.03])
    carrying = kd.load(BRANCHED, payload={tip: payload})
    for function in library.functions:
        given = [table[0] for table in states(library, function, 1, seed=2)]
        given[-1] = parameters
        owner = carrying if function.link is None else carrying.frame(tip)
        right = OF_ALL[function.quantity].specification(owner).function(owner.model, *given[:-1])
        right = right if isinstance(right, tuple) else (right,)
        for got, theirs in zip(call(dll, library, function, given), right, strict=True):
            np.testing.assert_allclose(got, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_what_a_robot_carries_is_not_left_out():
    """Its load is an argument of the functions, or the export is refused."""
    robot = kd.CarryingRobot(kd.load(BRANCHED))
    tip = robot.model.tip_link
    quantities = ['gravity_vector']
    assert export_library(robot, quantities=quantities).digest
    robot.set_payload(tip, 5.0)
    for links in ([], ['trunk']):
        with pytest.raises(kd.ModelError, match=f"'{tip}' carries a payload.*payload_links"):
            export_library(robot, quantities=quantities, payload_links=links)
    library = export_library(robot, quantities=quantities, payload_links=[tip])
    (function,) = library.functions
    q = np.linspace(0.3, 0.4, robot.n)
    (found,) = expected(library, function, [q, np.array([5.0, *np.zeros(9)])])
    right = kd.dynamics.gravity_vector(kd.load(BRANCHED, payload={tip: 5.0}).model, q)
    np.testing.assert_allclose(found, right, rtol=1e-12)
    robot.set_payload(tip, 0.0)
    assert export_library(robot, quantities=quantities).digest


def test_functions_call_each_other(tmp_path):
    """C is C* and little more."""
    quantities = ['velocity_free_coriolis_matrix', 'coriolis_matrix']
    library = exported(kd.load(BRANCHED), tmp_path, quantities=quantities)
    called, calling = library.functions
    assert f'arm_{called.name}(x0, given);' in calling.code.text
    assert calling.code.stack > called.code.stack
    dll = loaded(library, tmp_path, options=['-O0'])
    for row in zip(*states(library, calling, 5, seed=2), strict=True):
        (right,) = expected(library, calling, row)
        (got,) = call(dll, library, calling, row)
        np.testing.assert_allclose(got.ravel(), right, rtol=0, atol=1e-12 * np.abs(right).max())


def test_long_chains_get_their_memory_from_the_caller(tmp_path):
    library = exported(kd.loads(chain_urdf(16)), tmp_path, quantities=['mass_matrix'])
    (function,) = library.functions
    assert function.code.workspace == library.workspace > 0
    text = (tmp_path / 'src' / 'arm.c').read_text()
    assert 'malloc' not in text and 'stdlib' not in text
    assert 'passed' in self_test(library, tmp_path, 'gcc', SANITIZED)


def test_header_and_model_are_told_from_others(tmp_path, monkeypatch):
    library = exported(kd.load(BRANCHED), tmp_path, quantities=['gravity_vector'])
    check = loaded(library, tmp_path).arm_check
    fingerprint, digest = library.model.fingerprint.encode(), library.digest.encode()
    assert [check(fingerprint, digest), check(b'other', digest), check(fingerprint, b'')] == [
        0,
        1,
        2,
    ]
    heavier = kd.load(BRANCHED, payload={library.model.tip_link: 1.0})
    other = export_library(heavier, prefix='arm', quantities=['gravity_vector'])
    assert other.model.fingerprint != library.model.fingerprint
    more = export_library(kd.load(BRANCHED), prefix='arm')
    assert more.digest != library.digest
    # Not in the fingerprint, as no equation reads it, but in the header.
    weaker = kd.loads(BRANCHED.read_text().replace('effort="200"', 'effort="150"'))
    assert weaker.model.fingerprint == library.model.fingerprint
    limited = export_library(weaker, prefix='arm', quantities=['gravity_vector'])
    assert limited.digest != library.digest
    monkeypatch.setattr('kron_dynamics.export.library.__version__', '0.0.0')
    older = export_library(kd.load(BRANCHED), prefix='arm', quantities=['gravity_vector'])
    assert older.digest != library.digest


def test_what_is_not_there_is_refused_by_name():
    robot = kd.load(BRANCHED)
    tip = robot.model.tip_link
    for options, error, match in (
        ({'frames': ['nowhere']}, UnknownFrameError, f'nowhere.*{tip}'),
        ({'quantities': ['speed']}, ParameterError, "'speed'.*mass_matrix.*jacobian"),
        ({'quantities': ['jacobian']}, ParameterError, 'jacobian.*no frame is named'),
        ({'payload_links': ['nowhere']}, UnknownFrameError, 'nowhere'),
        ({'real': 'half'}, ParameterError, "'half'"),
        ({'prefix': 'Arm'}, ParameterError, "'Arm'"),
        # Of another type; a string would be as many names as it has letters.
        ({'prefix': 5}, kd.ArgumentTypeError, 'prefix is 5'),
        ({'frames': None}, kd.ArgumentTypeError, 'frames is None'),
        ({'frames': tip}, kd.ArgumentTypeError, f"frames is '{tip}'"),
        ({'frames': [5]}, kd.ArgumentTypeError, 'frames is 5'),
        ({'quantities': 5}, kd.ArgumentTypeError, 'quantities is 5'),
        ({'payload_links': tip}, kd.ArgumentTypeError, f"payload_links is '{tip}'"),
        ({'real': 5}, kd.ArgumentTypeError, 'real is 5'),
    ):
        with pytest.raises(error, match=match):
            export_library(robot, **options)


def test_a_joint_that_moves_no_mass_has_no_forward_dynamics():
    text = re.sub(r'<inertial>.*?</inertial>', '', BRANCHED.read_text(), flags=re.DOTALL)
    with pytest.warns(kd.ModelWarning):
        robot = kd.loads(text)
    assert 'forward_dynamics' not in [f.name for f in export_library(robot).functions]
    with pytest.raises(InvalidInertiaError):
        export_library(robot, quantities=['forward_dynamics'])


def test_every_quantity_can_be_exported():
    robot = kd.load(PLANAR)
    library = export_library(
        robot, quantities=[*OF_ROBOT, *OF_FRAME], frames=[robot.model.tip_link]
    )
    assert len(library.functions) == len(OF_ROBOT) + len(OF_FRAME)
    header = library.files()['include/planar_2r_dynamics/planar_2r.h']
    for function in library.functions:
        assert f'planar_2r_{function.name}(' in header
