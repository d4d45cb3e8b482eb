# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import kron_dynamics.control as control
from kron_dynamics.exceptions import NonFiniteError, TrajectoryError

NAMES = ('travel', 'slew')
TIMES = np.array([0.0, 1.0, 2.5, 4.0])
POSITIONS = np.array([[0.0, 1.0], [0.5, -0.5], [2.0, 0.3], [1.0, 0.0]])
VELOCITIES = np.array([[0.0, 0.4], [0.7, 0.1], [-0.2, 0.3], [0.0, 0.0]])
ACCELERATIONS = np.array([[0.3, 0.0], [-0.6, 0.2], [0.1, 0.9], [0.5, -0.5]])
KINDS = {
    'spline': (),
    'cubic': (VELOCITIES,),
    'quintic': (VELOCITIES, ACCELERATIONS),
}
finite = st.floats(-10.0, 10.0, allow_subnormal=False)


def make(kind):
    return control.Trajectory.from_points(NAMES, TIMES, POSITIONS, *KINDS[kind])


def just_before(t):
    return t - 1e-9


@pytest.mark.parametrize('kind', KINDS)
def test_passes_through_its_points(kind):
    trajectory = make(kind)
    for i, t in enumerate(TIMES):
        sampled = trajectory.sample(t)
        for given_rows, got in zip((POSITIONS, *KINDS[kind]), sampled, strict=False):
            # At the end the machine is at rest, whatever the last acceleration.
            expected = given_rows[i] if given_rows is not ACCELERATIONS or i < 3 else 0.0
            np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize('kind', KINDS)
def test_position_and_velocity_are_continuous_at_the_points(kind):
    trajectory = make(kind)
    for t in TIMES[1:]:
        before, after = trajectory.sample(just_before(t)), trajectory.sample(t)
        np.testing.assert_allclose(before[0], after[0], atol=1e-7)
        np.testing.assert_allclose(before[1], after[1], atol=1e-7)


@pytest.mark.parametrize('kind', ['spline', 'quintic'])
def test_acceleration_is_continuous_between_pieces(kind):
    trajectory = make(kind)
    for t in TIMES[1:-1]:
        before, after = trajectory.sample(just_before(t)), trajectory.sample(t)
        np.testing.assert_allclose(before[2], after[2], atol=1e-6)


def test_cubic_pieces_step_in_acceleration():
    trajectory = make('cubic')
    before, after = trajectory.sample(just_before(1.0))[2], trajectory.sample(1.0)[2]
    assert np.abs(before - after).min() > 0.1


@pytest.mark.parametrize('kind', KINDS)
def test_rates_are_the_derivatives_of_the_position(kind):
    trajectory = make(kind)
    step = 1e-5
    for t in (0.3, 1.7, 3.9):
        before, now, after = (trajectory.sample(t + d) for d in (-step, 0.0, step))
        np.testing.assert_allclose((after[0] - before[0]) / (2 * step), now[1], atol=1e-8)
        np.testing.assert_allclose((after[1] - before[1]) / (2 * step), now[2], atol=1e-8)


def test_spline_begins_and_ends_at_rest():
    trajectory = make('spline')
    np.testing.assert_allclose(trajectory.sample(0.0)[1], 0.0, atol=1e-12)
    np.testing.assert_allclose(trajectory.sample(just_before(4.0))[1], 0.0, atol=1e-7)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('t', [4.0, 4.1, 1e9, np.inf])
def test_rests_at_the_last_point_after_the_end(kind, t):
    q, qd, qdd = make(kind).sample(t)
    np.testing.assert_array_equal(q, POSITIONS[-1])
    assert not qd.any() and not qdd.any()


@pytest.mark.parametrize('kind', KINDS)
def test_rests_at_the_first_point_before_the_beginning(kind):
    q, qd, qdd = make(kind).sample(-0.1)
    np.testing.assert_array_equal(q, POSITIONS[0])
    assert not qd.any() and not qdd.any()


def test_time_nan_is_refused():
    with pytest.raises(NonFiniteError, match='NaN'):
        make('cubic').sample(np.nan)


def test_rest_to_rest_quintic_is_the_minimum_jerk_polynomial():
    at_rest = np.zeros((2, 1))
    trajectory = control.Trajectory.from_points(['a'], [0, 2], [[1.0], [4.0]], at_rest, at_rest)
    for u in (0.1, 0.5, 0.8):
        q, qd, qdd = trajectory.sample(2.0 * u)
        assert q[0] == pytest.approx(1.0 + 3.0 * (10 * u**3 - 15 * u**4 + 6 * u**5))
        assert qd[0] == pytest.approx(1.5 * (30 * u**2 - 60 * u**3 + 30 * u**4))
        assert qdd[0] == pytest.approx(0.75 * (60 * u - 180 * u**2 + 120 * u**3))


def test_single_point_at_time_zero_is_a_hold():
    trajectory = control.Trajectory.from_points(NAMES, [0.0], [[0.2, -0.3]])
    assert trajectory.duration == 0.0
    for t in (-1.0, 0.0, 5.0):
        q, qd, qdd = trajectory.sample(t)
        np.testing.assert_array_equal(q, [0.2, -0.3])
        assert not qd.any() and not qdd.any()


def test_describes_itself():
    trajectory = make('quintic')
    assert trajectory.joint_names == NAMES
    assert trajectory.duration == 4.0
    assert trajectory.piece_count == 3
    np.testing.assert_array_equal(trajectory.final_position, POSITIONS[-1])


def test_is_immutable_and_independent_of_its_input():
    positions = POSITIONS.copy()
    trajectory = control.Trajectory.from_points(NAMES, TIMES, positions)
    positions[:] = 9.0
    np.testing.assert_allclose(trajectory.sample(1.0)[0], POSITIONS[1])
    with pytest.raises(ValueError, match='read-only'):
        trajectory.final_position[0] = 1.0
    with pytest.raises(AttributeError):
        trajectory.duration = 1.0
    trajectory.sample(1.0)[0][:] = 9.0
    np.testing.assert_allclose(trajectory.sample(1.0)[0], POSITIONS[1])


@pytest.mark.parametrize('kind', KINDS)
def test_grid_has_both_sides_of_each_point(kind):
    trajectory = make(kind)
    t, q, qd, qdd = trajectory.grid(5)
    assert t.shape == (15,) and q.shape == qd.shape == qdd.shape == (15, 2)
    assert t[4] == t[5] == 1.0
    np.testing.assert_allclose(q[4], q[5], atol=1e-12)
    np.testing.assert_allclose(qdd[4], trajectory.sample(just_before(1.0))[2], atol=1e-6)
    np.testing.assert_allclose(qdd[5], trajectory.sample(1.0)[2], atol=1e-12)
    expected = trajectory.sample(t[7])
    for got, wanted in zip((q[7], qd[7], qdd[7]), expected, strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)


@given(
    positions=arrays(float, (4, 2), elements=finite),
    inner=arrays(float, (3, 2), elements=finite),
    accelerations=arrays(float, (4, 2), elements=finite),
    kind=st.sampled_from(sorted(KINDS)),
    derivative=st.sampled_from([0, 1]),
)
def test_extrema_bound_a_dense_sampling_and_are_attained(
    positions, inner, accelerations, kind, derivative
):
    velocities = np.vstack((inner, np.zeros(2)))
    rates = {'spline': (), 'cubic': (velocities,), 'quintic': (velocities, accelerations)}
    trajectory = control.Trajectory.from_points(NAMES, TIMES, positions, *rates[kind])
    found = trajectory.extrema(derivative)
    dense = trajectory.grid(400)[1 + derivative]
    scale = 1.0 + np.abs(dense).max()
    assert (found.lowest <= dense.min(axis=0) + 1e-9 * scale).all()
    assert (found.highest >= dense.max(axis=0) - 1e-9 * scale).all()
    for joint in range(2):
        for value, t in (
            (found.lowest[joint], found.lowest_time[joint]),
            (found.highest[joint], found.highest_time[joint]),
        ):
            attained = trajectory.sample(min(t, just_before(4.0)))[derivative][joint]
            assert attained == pytest.approx(value, abs=1e-6 * scale)


def test_extrema_of_a_known_cubic():
    # 3 u^2 - 2 u^3 overshoots nowhere and is fastest in the middle; the joint at rest is flat.
    trajectory = control.Trajectory.from_points(
        NAMES, [0.0, 2.0], [[0.0, 0.5], [1.0, 0.5]], np.zeros((2, 2))
    )
    velocity = trajectory.extrema(1)
    np.testing.assert_allclose(velocity.highest, [0.75, 0.0], atol=1e-12)
    assert velocity.highest_time[0] == pytest.approx(1.0)
    position = trajectory.extrema()
    np.testing.assert_allclose(position.lowest, [0.0, 0.5])
    np.testing.assert_allclose(position.highest, [1.0, 0.5])


def test_points_too_close_in_time_are_refused():
    with pytest.raises(TrajectoryError, match='too close together'):
        control.Trajectory.from_points(
            ['a'], [0.0, 1e-200], [[0.0], [1.0]], np.zeros((2, 1)), np.zeros((2, 1))
        )


def test_computed_states_may_have_steps_of_the_acceleration(assert_close):
    times, q, v = np.array([0.0, 1.0, 3.0]), np.array([[0.0], [1.0], [0.0]]), np.zeros((3, 1))
    after, before = np.array([[1.0], [2.0], [0.0]]), np.array([[0.0], [-3.0], [-1.0]])
    made = control.Trajectory.from_states(['a'], times, (q, v, after), before)
    ends = made.grid(2)[3][:, 0]
    assert_close(ends, [1.0, -3.0, 2.0, -1.0], 1e-12)
    breaks, pieces = made.polynomials
    assert_close(breaks, times)
    assert_close(pieces[:3, :, 0], [[0.0, 1.0], [0.0, 0.0], [0.5, 1.0]])
