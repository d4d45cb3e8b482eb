# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kron_dynamics.control import CommandGuard
from kron_dynamics.exceptions import NonFiniteError, ParameterError, ShapeError

NAMES = ('slew', 'luff')
EFFORT = np.array([100.0, 50.0])
RATE = np.array([1000.0, 200.0])

efforts = arrays(float, 2, elements=st.floats(-1e4, 1e4))
steps = st.floats(0.0, 1.0)


def guard(**options):
    return CommandGuard(EFFORT, RATE, NAMES, **options)


def test_a_modest_command_passes_unchanged():
    checked = guard()
    checked.reset([10.0, 10.0])
    np.testing.assert_array_equal(checked.apply([15.0, 9.0], 0.01), [15.0, 9.0])
    assert not checked.effort_saturations.any() and not checked.rate_saturations.any()


def test_first_command_is_limited_in_size_alone():
    np.testing.assert_array_equal(guard().apply([-500.0, 40.0], 0.01), [-100.0, 40.0])


def test_start_without_a_jump_from_the_effort_given():
    checked = guard()
    checked.reset([80.0, -500.0])
    np.testing.assert_allclose(checked.apply([-80.0, 50.0], 0.01), [70.0, -48.0])
    np.testing.assert_allclose(checked.apply([-80.0, 50.0], 0.01), [60.0, -46.0])


def test_reset_without_effort_forgets_the_last_command():
    checked = guard()
    checked.reset([80.0, 0.0])
    checked.reset()
    np.testing.assert_array_equal(checked.apply([-80.0, 50.0], 0.01), [-80.0, 50.0])


def test_no_time_allows_no_change_even_without_a_rate_limit():
    checked = CommandGuard(EFFORT, [np.inf, 200.0], NAMES)
    checked.reset([1.0, 2.0])
    np.testing.assert_array_equal(checked.apply([50.0, 50.0], 0.0), [1.0, 2.0])
    np.testing.assert_allclose(checked.apply([50.0, 50.0], 0.01), [50.0, 4.0])


def test_a_stall_is_not_made_up_for_in_a_jump():
    checked = guard(longest_step=0.02)
    checked.reset([0.0, 0.0])
    np.testing.assert_allclose(checked.apply([100.0, 50.0], 30.0), [20.0, 4.0])


@given(first=efforts, commands=st.lists(st.tuples(efforts, steps), min_size=1, max_size=20))
def test_no_sequence_of_commands_leaves_the_limits(first, commands):
    checked = guard()
    checked.reset(first)
    last = np.clip(first, -EFFORT, EFFORT)
    for tau, dt in commands:
        sent = checked.apply(tau, dt)
        assert (np.abs(sent) <= EFFORT).all()
        assert (np.abs(sent - last) <= RATE * min(dt, 0.1) + 1e-9).all()
        # As near to the command as the limits allow.
        target = np.clip(tau, -EFFORT, EFFORT)
        assert (np.abs(target - sent) <= np.abs(target - last) + 1e-9).all()
        last = sent


@given(
    first=efforts,
    commands=st.lists(st.tuples(steps, st.lists(efforts, min_size=1, max_size=3)), max_size=8),
)
def test_only_the_last_command_of_a_time_counts(first, commands):
    checked, once = guard(), guard()
    checked.reset(first)
    once.reset(first)
    np.testing.assert_array_equal(checked.replace([5.0, -5.0]), np.clip(first, -EFFORT, EFFORT))
    for dt, wanted in commands:
        sent = checked.apply(wanted[0], dt)
        with pytest.raises(NonFiniteError, match="'luff': nan"):
            checked.replace([0.0, np.nan])
        np.testing.assert_array_equal(checked.last, sent)
        for tau in wanted[1:]:
            sent = checked.replace(tau)
        np.testing.assert_array_equal(sent, once.apply(wanted[-1], dt))


@given(tau=efforts, dt=steps)
def test_a_command_held_is_reached(tau, dt):
    checked = guard()
    checked.reset([0.0, 0.0])
    for _ in range(40):
        sent = checked.apply(tau, 0.05)
    np.testing.assert_allclose(sent, np.clip(tau, -EFFORT, EFFORT))


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_command_that_is_not_finite_is_refused_and_leaves_no_trace(bad):
    checked = guard()
    checked.reset([10.0, 10.0])
    with pytest.raises(NonFiniteError, match=f"'luff': {bad}") as caught:
        checked.apply([0.0, bad], 0.01)
    assert 'slew' not in str(caught.value)
    assert not checked.effort_saturations.any() and not checked.rate_saturations.any()
    np.testing.assert_allclose(checked.apply([10.0, 20.0], 0.01), [10.0, 12.0])


def test_all_joints_that_are_not_finite_are_named():
    with pytest.raises(NonFiniteError, match="'slew': nan, 'luff': inf"):
        guard().apply([np.nan, np.inf], 0.01)


def test_saturations_are_counted_per_joint_and_kind():
    checked = guard()
    checked.apply([500.0, 0.0], 0.01)
    checked.apply([500.0, 10.0], 0.01)
    checked.apply([-500.0, 10.0], 0.01)
    np.testing.assert_array_equal(checked.effort_saturations, [3, 0])
    np.testing.assert_array_equal(checked.rate_saturations, [1, 2])
    checked.reset()
    checked.effort_saturations[:] = 0
    np.testing.assert_array_equal(checked.effort_saturations, [3, 0])


def test_neither_input_nor_output_is_shared():
    checked = guard()
    tau = np.array([1.0, 1.0])
    sent = checked.apply(tau, 0.01)
    tau[:] = 90.0
    sent[:] = 90.0
    np.testing.assert_allclose(checked.apply([1.0, 1.0], 0.0), [1.0, 1.0])


@pytest.mark.parametrize('tau', [[1.0], [1.0, 2.0, 3.0], 1.0, [[1.0, 2.0]]])
def test_command_of_the_wrong_shape_is_refused(tau):
    with pytest.raises(ShapeError, match=r'expected \(2,\)'):
        guard().apply(tau, 0.01)
    with pytest.raises(ShapeError, match=r'expected \(2,\)'):
        guard().reset(tau)


def test_reset_to_an_effort_that_is_not_finite_is_refused():
    with pytest.raises(NonFiniteError, match="'slew'"):
        guard().reset([np.nan, 0.0])


@pytest.mark.parametrize('dt', [-0.001, np.nan])
def test_time_that_runs_backwards_is_refused(dt):
    with pytest.raises(ParameterError, match='time since the last command'):
        guard().apply([0.0, 0.0], dt)


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (([100.0, 0.0], RATE, NAMES), "effort_limit .*'luff': 0; .*above 0 .or inf."),
        (([100.0, np.nan], RATE, NAMES), "effort_limit .*'luff': nan"),
        ((EFFORT, [-1.0, 1.0], NAMES), "rate_limit .*'slew': -1"),
        ((EFFORT, [1.0], NAMES), 'rate_limit has shape'),
    ],
)
def test_limits_that_cannot_be_used_name_the_joint(arguments, words):
    with pytest.raises(ParameterError, match=words):
        CommandGuard(*arguments)


@pytest.mark.parametrize('longest', [0.0, -1.0, np.nan, np.inf])
def test_longest_step_must_be_a_time(longest):
    with pytest.raises(ParameterError, match='longest_step'):
        guard(longest_step=longest)
