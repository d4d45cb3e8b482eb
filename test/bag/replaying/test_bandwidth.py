# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Spectra of accelerations, held against those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.bag.replaying.bandwidth import acceleration_spectrum


@pytest.mark.parametrize('rows', [60, 75])
def test_without_noise_all_is_motion_with_the_spectrum_of_scipy(rows):
    # Imported here: it takes a second in every process that collects the tests.
    from scipy.signal import welch

    rng, step = np.random.default_rng(5), 0.02
    # Twice the rows and two samples that differences lose; the shortest is too short to count.
    parts = [rng.standard_normal(count + 2) for count in (2 * rows, rows, rows + 20, rows // 2)]
    found = acceleration_spectrum(parts, None, step, 0.0, 0.0)
    sums, weight = 0.0, 0
    for part in parts[:-1]:
        frequency, power = welch(np.diff(part, 2), 1 / step, nperseg=rows, detrend=False)
        sums, weight = sums + (len(part) - 2) * power, weight + len(part) - 2
    rate = 2.0 * np.pi * frequency[1:]
    np.testing.assert_allclose(found.angle, rate * step, rtol=1e-13)
    # Second differences are not quite second derivatives.
    gain = (rate**2 / (2.0 - 2.0 * np.cos(rate * step))) ** 2
    np.testing.assert_allclose(found.power, frequency[1] * gain * (sums / weight)[1:], rtol=1e-10)
