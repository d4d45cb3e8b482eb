# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What kernels stand on: sine and cosine to the last place, rows to lanes and back."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from compilers import clang
from mpmath import libmp

from kron_dynamics.kernels import compiler, compiler_process
from kron_dynamics.kernels.prelude import prelude

SOURCE = (
    prelude()
    + """
int lanes(void) { return LANES; }

void one(ptrdiff_t count, const double *x, double *s, double *c) {
  for (ptrdiff_t k = 0; k < count; ++k) sincos_one(x[k], s + k, c + k);
}

void many(ptrdiff_t count, const double *x, double *s, double *c) {
  for (ptrdiff_t k = 0; k + LANES <= count; k += LANES) {
    wide angle, sine, cosine;
    memcpy(&angle, x + k, sizeof angle);
    sincos_wide(angle, &sine, &cosine);
    memcpy(s + k, &sine, sizeof sine);
    memcpy(c + k, &cosine, sizeof cosine);
  }
}

void all(ptrdiff_t count, const double *x, double *s, double *c) {
  sincos_all(x, s, c, (int)count);
}

void spread(const double *rows, double *out, int width) {
  wide y[64];
  memcpy(y, rows, width * sizeof(wide));
  scatter(y, out, width);
}

void collect(const double *x, double *out) {
  const wide gathered = GATHER(x + 1, 3), number = same_wide(0.1);
  memcpy(out, &gathered, sizeof gathered);
  memcpy(out + LANES, &number, sizeof number);
}
"""
)
NEAR = 823549.0  # up to here the sine is the prelude's own
WAYS = ['one', 'many', 'all']
COMPILERS = ['cc 2', 'cc 4', 'cc 8', 'clang']


@pytest.fixture(scope='module', params=COMPILERS)
def library(
    request: pytest.FixtureRequest, tmp_path_factory: Any, vector_options: Any
) -> Iterator[ctypes.CDLL]:
    """The prelude for vectors of each length, and of another compiler."""
    name, *lanes = request.param.split()
    command = clang() if name == 'clang' else (name,)
    path = tmp_path_factory.mktemp('prelude') / 'prelude.so'
    with pytest.MonkeyPatch.context() as patch:
        if lanes:
            options = vector_options(int(lanes[0]))
            patch.setattr(compiler, 'flags', lambda: (*compiler._FLAGS, *options))
        compiler_process.compile_library(command, SOURCE, path)
    loaded = ctypes.CDLL(str(path))
    if lanes and platform.machine() == 'x86_64':
        assert loaded.lanes() == int(lanes[0])
    yield loaded


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def sincos(library: ctypes.CDLL, way: str, x: Any) -> np.ndarray:
    """Sines and cosines of x, (2, count); whole vectors and nothing behind them is written."""
    x = np.array(x, dtype=float)
    rest = -len(x) % library.lanes() if way == 'many' else 0
    padded = np.append(x, np.zeros(rest))
    out = np.full((2, len(padded) + 3), 777.0)
    library[way](ctypes.c_ssize_t(len(padded)), *map(pointer, (padded, out[0], out[1])))
    assert (out[:, len(padded) :] == 777.0).all()
    return out[:, : len(x)]


class Reference(NamedTuple):
    """Angles with their sines and cosines, (2, count), as sums of two doubles."""

    x: np.ndarray
    high: np.ndarray
    low: np.ndarray

    def errors(self, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors in units in the last place, and as they are."""
        error = np.abs((got - self.high) - self.low)
        return error / np.spacing(np.abs(self.high)), error


def reference(x: Any) -> Reference:
    x = np.unique(np.asarray(x, dtype=float))
    high, low = np.empty((2, 2, len(x)))
    for k, angle in enumerate(x.tolist()):
        cosine, sine = libmp.mpf_cos_sin(libmp.from_float(angle), 110)
        for row, value in enumerate((sine, cosine)):
            high[row, k] = libmp.to_float(value)
            rest = libmp.mpf_sub(value, libmp.from_float(high[row, k]))
            low[row, k] = libmp.to_float(rest)
    return Reference(x, high, low)


def around_multiples(quarters: Any) -> np.ndarray:
    """The doubles on both sides of multiples of pi/2, and the next ones."""
    half_pi = libmp.mpf_shift(libmp.mpf_pi(200), -1)
    nearest = np.array(
        [libmp.to_float(libmp.mpf_mul(half_pi, libmp.from_int(int(k)), 200)) for k in quarters]
    )
    steps = [nearest, np.nextafter(nearest, np.inf), np.nextafter(nearest, -np.inf)]
    return np.concatenate(steps)


@pytest.fixture(scope='module')
def share(request: pytest.FixtureRequest) -> int:
    """One of so many angles is looked at: of each its sine to 110 bits is computed slowly."""
    return 1 if request.config.getoption('--long') else 6


@pytest.fixture(scope='module')
def anywhere(share: int) -> Reference:
    rng = np.random.default_rng(2026)
    spread = rng.uniform(-NEAR, NEAR, 60000 // share), rng.uniform(-1000, 1000, 40000 // share)
    few = 5000 // share
    small = rng.uniform(-1, 1, few) * 10.0 ** rng.integers(-12, 1, few)
    edges = [NEAR, -NEAR, np.pi / 4, np.nextafter(np.pi / 4, 1), 1.0, 1e-8]
    return reference(np.concatenate([*spread, small, edges]))


@pytest.fixture(scope='module')
def beside_zeros(share: int) -> Reference:
    rng = np.random.default_rng(2026)
    # The last two multiples have doubles within 1e-16.
    quarters = [*range(-200, 201), *rng.integers(-524288, 524289, 8000 // share), -409102, -204551]
    x = around_multiples(quarters)
    return reference(x[np.abs(x) <= NEAR])


@pytest.fixture(scope='module')
def beyond(share: int) -> Reference:
    rng = np.random.default_rng(2026)
    just = rng.uniform(NEAR, 1e8, 4000 // share)
    far = 10.0 ** rng.uniform(6, 308, 2000 // share)
    edges = [np.nextafter(NEAR, np.inf), 1e6, 1e22, 1e300, *around_multiples([524290, 5242900])]
    x = np.concatenate([just, far, edges])
    return reference(np.append(x, -x))


@pytest.mark.parametrize('way', WAYS)
def test_sines_are_right_to_the_last_places(
    way: str, library: ctypes.CDLL, anywhere: Reference
) -> None:
    units, absolute = anywhere.errors(sincos(library, way, anywhere.x))
    assert absolute.max() < 2.2e-16
    assert units.max() < 2.5
    assert units[:, np.abs(anywhere.x) <= 1000].max() < 1.7


@pytest.mark.parametrize('way', WAYS)
def test_sines_beside_their_zeros_keep_their_digits(
    way: str, library: ctypes.CDLL, beside_zeros: Reference
) -> None:
    units, absolute = beside_zeros.errors(sincos(library, way, beside_zeros.x))
    zeros = np.abs(beside_zeros.high) < 1e-9
    assert zeros.any(axis=0).all()
    assert (units[~zeros] <= 1).all()
    # The angle less the multiple of pi/2: its third part ends at 2^-122.
    assert units[zeros].max() < 4
    assert absolute[zeros].max() < 1e-25


@pytest.mark.parametrize('way', WAYS)
def test_sines_of_huge_angles(way: str, library: ctypes.CDLL, beyond: Reference) -> None:
    units, _ = beyond.errors(sincos(library, way, beyond.x))
    assert units.max() <= 1  # the system's


@pytest.mark.parametrize('way', WAYS)
def test_tiny_angles_are_their_own_sines(way: str, library: ctypes.CDLL) -> None:
    tiny = np.array([0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 1e-100, 1e-9])
    x = np.concatenate([tiny, -tiny])
    sines, cosines = sincos(library, way, x)
    np.testing.assert_array_equal(sines, x)
    np.testing.assert_array_equal(cosines, np.ones(len(x)))


@pytest.mark.parametrize('way', WAYS)
def test_sines_of_no_number_are_none(way: str, library: ctypes.CDLL) -> None:
    for bad in (np.nan, np.inf, -np.inf):
        assert np.isnan(sincos(library, way, [bad] * 9)).all()


@pytest.mark.parametrize('bad', [1e6, -1e22, 1e300, np.inf, np.nan])
def test_one_lane_leaves_the_others_alone(bad: float, library: ctypes.CDLL) -> None:
    lanes = library.lanes()
    near = reference(np.linspace(-30, 30, lanes))
    at_bad = reference([bad]) if np.isfinite(bad) else None
    for lane in range(lanes):
        x = near.x.copy()
        x[lane] = bad
        for way in WAYS:
            got = sincos(library, way, x)
            units, _ = near.errors(got)
            assert np.delete(units, lane, axis=1).max() < 1.7
            if at_bad is None:
                assert np.isnan(got[:, lane]).all()
            else:
                assert at_bad.errors(got[:, lane : lane + 1])[0].max() <= 1


def test_any_number_of_angles(library: ctypes.CDLL) -> None:
    for count in range(20):
        x = np.linspace(-5, 5, count)
        for way in WAYS:
            np.testing.assert_allclose(
                sincos(library, way, x), [np.sin(x), np.cos(x)], rtol=0, atol=3e-16
            )


def test_lanes_become_rows(library: ctypes.CDLL) -> None:
    lanes = library.lanes()
    for width in range(1, 41):
        values = np.arange(float(width * lanes)).reshape(width, lanes)
        out = np.full(width * lanes + 9, 777.0)
        library.spread(pointer(values), pointer(out[1:]), width)
        np.testing.assert_array_equal(out[1:-8].reshape(lanes, width), values.T)
        assert (out[[0, *range(-8, 0)]] == 777.0).all()


def test_rows_become_lanes(library: ctypes.CDLL) -> None:
    lanes = library.lanes()
    x, out = np.arange(40.0), np.full(2 * lanes, 777.0)
    library.collect(pointer(x), pointer(out))
    np.testing.assert_array_equal(out[:lanes], 1 + 3 * np.arange(lanes))
    np.testing.assert_array_equal(out[lanes:], np.full(lanes, 0.1))
