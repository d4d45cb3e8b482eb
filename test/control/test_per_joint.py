# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.control import reorder
from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.exceptions import ParameterError, TrajectoryError

WANTED = ('travel', 'slew', 'luff', 'wheel')


@given(st.permutations(WANTED))
def test_reorder_brings_any_order_into_the_wanted_one(given_names):
    index = reorder(given_names, WANTED)
    assert tuple(given_names[i] for i in index) == WANTED
    rows = np.array([[WANTED.index(name) for name in given_names]])
    np.testing.assert_array_equal(rows[:, index], [[0, 1, 2, 3]])


def test_reorder_names_all_that_is_wrong():
    with pytest.raises(TrajectoryError) as caught:
        reorder(['luff', 'slew', 'luff', 'Travel'], WANTED)
    message = str(caught.value)
    assert "repeated: 'luff'" in message
    assert "unknown: 'Travel'" in message
    assert "missing: 'travel', 'wheel'" in message


def test_parameter_is_a_read_only_copy():
    given_values = np.array([1.0, 2.0])
    kept = positive_per_joint('gain', given_values, ['a', 'b'])
    given_values[0] = 9.0
    assert kept[0] == 1.0
    with pytest.raises(ValueError, match='read-only'):
        kept[0] = 3.0


def test_zero_and_infinity_are_used_only_where_they_have_a_meaning():
    names = ['a', 'b']
    assert positive_per_joint('gain', [0.0, 1.0], names, zero_allowed=True)[0] == 0.0
    assert positive_per_joint('limit', [np.inf, 1.0], names, infinity_allowed=True)[0] == np.inf
    with pytest.raises(ParameterError, match="'a': 0"):
        positive_per_joint('limit', [0.0, 1.0], names, infinity_allowed=True)
    with pytest.raises(ParameterError, match="'b': inf"):
        positive_per_joint('gain', [0.0, np.inf], names, zero_allowed=True)
    for options in ({'zero_allowed': True}, {'infinity_allowed': True}):
        with pytest.raises(ParameterError, match="'a': nan, 'b': -1"):
            positive_per_joint('x', [np.nan, -1.0], names, **options)


def test_very_many_wrong_names_are_refused_at_once_and_briefly():
    """A request with them kept all services waiting for half a minute, under Python's lock."""
    names = [f'joint_{k}' for k in range(20_000)]
    start = time.process_time()
    with pytest.raises(TrajectoryError) as refused:
        reorder([*names, *names[:3000]], ('slew', 'luff'))
    assert time.process_time() - start < 1.0
    said = str(refused.value)
    assert len(said) < 1500
    for part in ("repeated: 'joint_0', ", "unknown: 'joint_0', ", 'and 19', "missing: 'slew'"):
        assert part in said
