# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of models and exports do not depend on which processor they are computed on."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import mpmath
import numpy as np
import pytest
from long_runs import some_of
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from pinocchio_oracle import example_robots

import kron_dynamics as kd
from kron_dynamics.reproducible import (
    cosine_and_sine,
    direction_angle,
    exponential,
    exponential_less_one,
    hyperbolic_tangent,
    inner,
    lower_factor,
    norm,
    power,
    product,
    rounded,
    solved_lower,
    symmetric_eigen,
    with_python_numbers,
)

PROJECT = Path(__file__).parents[1]
STACKER = PROJECT / 'urdf' / 'stacker_reclaimer.urdf'
MACHINES = {
    'branched': {'path': PROJECT / 'test' / 'robots' / 'branched.urdf'},
    'stacker': {'path': STACKER},
    'boom': {'path': STACKER, 'flexible': PROJECT / 'config' / 'stacker_reclaimer_flexible.yaml'},
    'cylinder': {
        'path': PROJECT / 'urdf' / 'stacker_reclaimer_cylinder.urdf',
        'constraints': PROJECT / 'config' / 'stacker_reclaimer_cylinder.yaml',
    },
    'bent loops': {
        'path': PROJECT / 'urdf' / 'stacker_reclaimer_cylinder.urdf',
        'constraints': PROJECT / 'config' / 'stacker_reclaimer_cylinder_flexible.yaml',
        'flexible': PROJECT / 'config' / 'stacker_reclaimer_flexible.yaml',
    },
    'ur5': {'path': example_robots()['ur_description/urdf/ur5_robot.urdf']},
    'panda': {'path': example_robots()['panda_description/urdf/panda.urdf']},
}
# Vector instructions that NumPy has loops of its own for and this processor has.
_VECTORS = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
_WIDEST = [name for name in _VECTORS if 'AVX512' in name or name == 'X86_V4']
_WITHOUT_FMA = 'glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F'
# Other processors, as far as this one can stand for them.
PROCESSORS = {
    'this': {},
    'Nehalem': {'OPENBLAS_CORETYPE': 'Nehalem', 'NPY_DISABLE_CPU_FEATURES': ' '.join(_VECTORS)},
    'old C library': {'OPENBLAS_CORETYPE': 'Sandybridge', 'GLIBC_TUNABLES': _WITHOUT_FMA},
    'Haswell': {'OPENBLAS_CORETYPE': 'Haswell', 'NPY_DISABLE_CPU_FEATURES': ' '.join(_WIDEST)},
    'Zen': {'OPENBLAS_CORETYPE': 'Zen'},
    **({'SkylakeX': {'OPENBLAS_CORETYPE': 'SkylakeX'}} if 'AVX512F' in _VECTORS else {}),
}
# Prints what is computed of each machine, and what the processor makes of products and sines.
_PROGRAM = """
import hashlib, json, sys, warnings
import numpy as np, kron_dynamics as kd
from kron_dynamics.export import export_library
warnings.simplefilter('ignore')
found = {}
for name, options in json.loads(sys.argv[1]).items():
    robot = kd.load(**options)
    library = export_library(robot, frames=[robot.model.tip_link], quantities=sys.argv[2:])
    found[name] = {file: hashlib.sha256(text.encode()).hexdigest()
                   for file, text in library.files().items()}
    found[name]['fingerprint'] = robot.model.fingerprint
x = np.random.default_rng(1).uniform(-3, 3, (40, 40))
found['processor'] = [hashlib.sha256(y.tobytes()).hexdigest() for y in (x @ x, np.exp(x))]
print(json.dumps(found))
"""


@functools.cache
def computed_on(processor: str, names: tuple[str, ...], quantities: tuple[str, ...]) -> dict:
    machines = {k: {a: str(b) for a, b in MACHINES[k].items()} for k in names}
    arguments = ['-c', json.dumps(machines), *quantities]
    if PROCESSORS[processor]:
        done = subprocess.run(
            [sys.executable, arguments[0], _PROGRAM, *arguments[1:]],
            env={**os.environ, 'PYTHONPATH': str(PROJECT), **PROCESSORS[processor]},
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        told = done.stdout
    else:  # by this process, as on this processor it is
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            patch.setattr(sys, 'argv', arguments)
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(_PROGRAM, {})
        told = output.getvalue()
    return json.loads(told.splitlines()[-1])


@pytest.mark.parametrize(
    ('names', 'processors', 'quantities'),
    some_of(
        [
            (('branched', 'boom'), ('Nehalem',), ('forward_dynamics', 'jacobian')),
            (('branched', 'boom'), ('Nehalem',), ()),
            # What loops take longest to record is left out.
            (tuple(MACHINES), tuple(PROCESSORS)[1:], ('inverse_dynamics', 'jacobian')),
        ],
        [(('branched', 'boom'), ('Nehalem',), ('forward_dynamics', 'jacobian'))],
    ),
    ids=str,
)
def test_models_and_exports_are_the_same_on_every_processor(names, processors, quantities):
    here = computed_on('this', names, quantities)
    there = [computed_on(processor, names, quantities) for processor in processors]
    for name in names:
        assert all(other[name] == here[name] for other in there), name
    if all(other['processor'] == here['processor'] for other in there):
        pytest.skip('here the other processors round products and exponentials alike')


def units_off(found, right, x):
    """The largest error in units of the last place of what was found."""
    with mpmath.workdps(40):
        pairs = zip(found.tolist(), x.tolist(), strict=True)
        errors = [abs(mpmath.mpf(y) - right(mpmath.mpf(x))) / np.spacing(abs(y)) for y, x in pairs]
    return float(max(errors))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_cosines_and_sines(rng):
    x = np.concatenate([rng.uniform(-4, 4, 500), rng.uniform(-9e5, 9e5, 500)])
    x = np.concatenate([x, np.arange(-8, 9) * np.pi / 4, [1e-9, 1e-300]])
    cosine, sine = cosine_and_sine(x)
    assert units_off(cosine, mpmath.cos, x) < 1 and units_off(sine, mpmath.sin, x) < 1
    assert [cosine_and_sine(y) for y in x.tolist()] == list(zip(cosine, sine, strict=True))
    assert np.isnan(cosine_and_sine(np.inf)).all()
    assert cosine_and_sine(3e7) == (np.cos(3e7), np.sin(3e7))


def test_exponentials(rng):
    x = -np.concatenate([rng.uniform(0, 5, 500), rng.uniform(0, 700, 500)])
    x = np.concatenate([x, -(10.0 ** rng.uniform(-9, 0, 500)), rng.uniform(0, 5, 100)])
    for function, right in ((exponential, mpmath.exp), (exponential_less_one, mpmath.expm1)):
        found = function(x)
        assert units_off(found, right, x) < 2
        assert [function(y) for y in x.tolist()] == found.tolist()
    assert exponential(-1e5) == 0.0 and exponential_less_one(-1e5) == -1.0
    y = rng.uniform(-20, 20, 300)
    found = np.array([hyperbolic_tangent(z) for z in y.tolist()])
    assert units_off(found, mpmath.tanh, y) < 3


def test_exponentials_have_limits():
    x = np.array([-np.inf, 709.7, 710.0, 711.0, np.inf, np.nan])
    with np.errstate(over='ignore'):
        expected = np.exp(x)
        for function, least in ((exponential, 0.0), (exponential_less_one, -1.0)):
            found = [function(y) for y in x[:1].tolist() + x[2:].tolist()]
            np.testing.assert_array_equal(found, [least, *expected[2:]])
            np.testing.assert_array_equal(function(x[2:5]), found[1:4])
    assert exponential(709.7) == pytest.approx(expected[1], rel=1e-15)
    found = [hyperbolic_tangent(y) for y in x.tolist()]
    np.testing.assert_array_equal(found, [-1.0, 1.0, 1.0, 1.0, 1.0, np.nan])


def test_angles_of_directions(rng):
    x, y = rng.normal(size=(2, 500))
    found = [direction_angle(b, a) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    np.testing.assert_allclose(found, np.arctan2(y, x), rtol=0, atol=1e-15)
    assert direction_angle(0.0, 0.0) == 0.0 and direction_angle(0.0, -1.0) == np.pi


def test_products_are_sums_in_order():
    # In another order 1e16 - 1e16 + 1 is 0.
    a, b = np.array([1e16, -1e16, 1.0]), np.array([1.0, 1.0, 1.0])
    assert inner(a, b) == product(a[None], b)[0] == product(a[None], b[:, None])[0, 0] == 1.0
    # A fused multiply-add leaves what the rounding of the product has lost.
    c = 1.0 + 2.0**-30
    assert inner(np.array([-(1.0 + 2.0**-29), c]), np.array([1.0, c])) == 0.0
    assert norm([3.0, 4.0]) == 5.0
    assert power(3.0, 0) == 1.0 and power(3.0, 4) == 81.0


def test_products_of_matrices(rng):
    for left, right in (((3, 3), (3, 3)), ((2, 4), (4,)), ((5, 2, 3), (5, 3, 4))):
        A, B = rng.normal(size=left), rng.normal(size=right)
        np.testing.assert_allclose(product(A, B), A @ B, rtol=0, atol=1e-14)


@pytest.mark.parametrize('n', [1, 2, 3, 6, 11])
def test_eigenvectors_and_factors(rng, n):
    A = rng.normal(size=(n, n))
    A = A + A.T
    values, vectors = symmetric_eigen(A)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A), rtol=0, atol=1e-13)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), rtol=0, atol=1e-14)
    np.testing.assert_allclose(A @ vectors, vectors * values, rtol=0, atol=1e-13)
    B = A @ A + np.eye(n)
    L = lower_factor(B)
    np.testing.assert_allclose(L, np.linalg.cholesky(B), rtol=0, atol=1e-13)
    np.testing.assert_allclose(L @ solved_lower(L, A), A, rtol=0, atol=1e-13)


def test_what_has_no_eigenvectors_and_no_factor():
    with pytest.raises(np.linalg.LinAlgError):
        symmetric_eigen(np.array([[np.nan]]))
    with pytest.raises(np.linalg.LinAlgError):
        lower_factor(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_rounded_numbers_keep_what_was_given(rng):
    given = np.array([0.3, 17.25, -1.5, 0.0])
    assert (rounded(given * (1 + 1e-15), 1.0) == given).all()
    x = rng.uniform(-1, 1, 50)
    for scale in (1e-3, 1.0, 60.0):
        assert 1e-11 * scale < np.abs(rounded(x * scale, scale) - x * scale).max() <= 1e-9 * scale


def test_models_of_python_numbers():
    model = kd.load(STACKER).model
    found = with_python_numbers(model)
    assert found.joints[0].rotation.dtype == object
    assert type(found.bodies[0].inertia[0, 0]) is float
    assert model.joints[0].rotation.dtype == np.float64
    assert with_python_numbers(found.joint_names) is found.joint_names
