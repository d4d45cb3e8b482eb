# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The parameter of a path that is regular at rests."""

from __future__ import annotations

import numpy as np
import pytest

from kron_dynamics.control.reference.rest_map import RestMap


@pytest.mark.parametrize('powers', [(3.0, 3.0), (2.0, 3.0), (1.5, 1.0), (2.0 / 3.0, 2.0)])
def test_derivatives_and_inverse_are_those_of_the_map(powers, assert_close):
    rest_map = RestMap(begin=1.0, length=7.0, duration=3.0, zones=(0.5, 1.1), powers=powers)
    r, h = np.linspace(0.1, 2.9, 57), 1e-5
    s, slope, bend = rest_map(r)
    ahead, behind = rest_map(r + h), rest_map(r - h)
    assert_close((ahead[0] - behind[0]) / (2.0 * h), slope, 1e-7)
    assert_close((ahead[1] - behind[1]) / (2.0 * h), bend, 1e-4)
    assert_close(rest_map(np.array([0.0, 3.0]))[0], [1.0, 8.0], 1e-4)
    assert_close(rest_map.inverse(s), r, 1e-9)
    middle = (r > 0.5) & (r < 1.9)
    assert_close(slope[middle], np.full(middle.sum(), slope[middle][0]))


def test_places_near_rests_are_powers():
    rest_map = RestMap(begin=0.0, length=1.0, duration=2.0, zones=(1.0, 1.0), powers=(3.0, 2.0))
    first = rest_map(np.array([0.002, 0.004]))[0]
    last = 1.0 - rest_map(2.0 - np.array([0.002, 0.004]))[0]
    assert first[1] / first[0] == pytest.approx(8.0, rel=0.01)
    assert last[1] / last[0] == pytest.approx(4.0, rel=0.01)
