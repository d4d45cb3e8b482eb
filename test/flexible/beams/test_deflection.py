# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Legendre series of beams whose sections vary, against NumPy's."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre

from kron_dynamics.flexible.beams.deflection import _derivative, _integral


def test_series_are_differentiated_and_integrated() -> None:
    series = np.random.default_rng(0).normal(size=12)
    np.testing.assert_allclose(_derivative(series)[:-1], legendre.legder(series), rtol=1e-13)
    series[-1] = 0.0  # the integral has as many terms
    expected = legendre.legint(series, lbnd=-1.0)[:-1]
    np.testing.assert_allclose(_integral(series), expected, rtol=1e-13, atol=1e-15)
