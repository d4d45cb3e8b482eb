# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes whose frequencies cross along a motion keep their shapes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import kron_dynamics.control as control
from kron_dynamics.control.shaping.mode_crossings import tracked_modes
from kron_dynamics.modes.mode_tracking import Vibrations

REST = np.zeros((2, 2, 1))
RATIOS = np.array([0.01, 0.05])


def pair(t, coupling=0.0, turn=0.0, swings=0.5):
    """Modes at a time whose squared frequencies swing about 100 against each other, by 20.

    They are coupled, and their shapes turned from the coordinates.
    """
    a, b = 100.0 + 20.0 * np.cos(2.0 * np.pi * swings * t) * np.array([-1.0, 1.0])
    c, s = np.cos(turn), np.sin(turn)
    R = np.array([[c, -s], [s, c]])
    K = R @ np.array([[a, coupling], [coupling, b]]) @ R.T
    D = R @ np.diag(2.0 * RATIOS * np.sqrt([a, b])) @ R.T
    squares, shapes = np.linalg.eigh(K)
    # The senses of eigenvectors are chance.
    flips = np.sign(np.sin(50.0 * t + np.arange(2.0)) + 1e-9)
    return Vibrations(np.eye(2), D, squares, shapes * flips)


def motion(count=65, **of):
    times = np.linspace(0.0, 1.0, count)
    return times, *tracked_modes(
        [pair(t, **of) for t in times], times, np.linspace(0.0, 1.0, len(times))
    )


@pytest.mark.parametrize('count', [2, 7, 65, 400])
@pytest.mark.parametrize('turn', [0.0, 0.6])
def test_modes_that_do_not_know_each_other_cross(count, turn):
    times, w, z = motion(count, turn=turn)
    swing = 20.0 * np.cos(np.pi * times)
    np.testing.assert_allclose(w**2, np.stack((100.0 - swing, 100.0 + swing)).T, rtol=1e-9)
    np.testing.assert_allclose(z, np.broadcast_to(RATIOS, z.shape), rtol=1e-9)


@pytest.mark.parametrize('coupling', [1e-6, 1e-3, 0.1, 0.5])
def test_a_narrow_gap_is_crossed_without_a_kink(coupling):
    """At every density, also where poses lie within the gap."""
    for count in (33, 65, 513):
        _, w, z = motion(count, coupling=coupling)
        _, free, damping = motion(count)
        np.testing.assert_allclose(w, free, rtol=2.0 * coupling / 100.0)
        np.testing.assert_allclose(z, damping, atol=coupling * 0.01)
    bends = np.abs(np.diff(w, 2, axis=0)).max() / np.abs(np.diff(free, 2, axis=0)).max()
    assert bends < 1.0 + 20.0 * coupling


@pytest.mark.parametrize('coupling', [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 15.0])
def test_frequencies_differ_from_those_of_the_pose_in_a_gap_only(coupling):
    """By half of the gap at most, if it is crossed; a wide one is not."""
    times, w, _ = motion(coupling=coupling)
    exact = np.array([pair(t, coupling).squares for t in times])
    off = np.abs(np.sort(w**2) - exact).max(axis=1)
    assert off.max() <= (1.05 * coupling if coupling < 8.0 else 0.1)
    assert off[[0, -1]].max() < 1e-9
    assert (np.abs(np.diff(w, axis=0)).max(axis=1) < 0.1).all()


def test_a_motion_may_end_in_a_gap():
    _, w, _ = motion(coupling=0.5, swings=0.25)
    np.testing.assert_allclose(np.sort(w[-1] ** 2), [99.5, 100.5], rtol=1e-9)


def test_shapes_that_turn_many_times_need_many_poses():
    times = np.linspace(0.0, 1.0, 1025)
    crossing = [pair(t, turn=np.sin(80.0 * np.pi * t), swings=0.0) for t in times]
    w, z = tracked_modes(crossing, times, np.linspace(0.0, 1.0, len(times)))
    np.testing.assert_allclose(w**2, np.broadcast_to([80.0, 120.0], w.shape), rtol=0.04)
    np.testing.assert_allclose(z, np.broadcast_to(RATIOS, z.shape), rtol=0.4)


def test_equal_frequencies_at_the_start_are_those_of_the_coordinates():
    def modes(t):
        shapes = np.eye(2) if t else np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2.0)
        return Vibrations(np.eye(2), np.eye(2), np.array([80.0, 80.0 + 9.0 * t]), shapes)

    times = np.linspace(0.0, 1.0, 33)
    w, _ = tracked_modes([modes(t) for t in times], times, np.linspace(0.0, 1.0, len(times)))
    np.testing.assert_allclose(w**2, np.stack((80.0 + 0.0 * times, 80.0 + 9.0 * times)).T)


class SoftArm:
    """A joint whose angle q makes one of two modes stiffer, and the other one softer."""

    n = 3
    model = SimpleNamespace(
        name='soft', is_flexible=True, joint_count=1, structural_damping=np.array([0.0, 0.4, 0.6])
    )

    def linearization(self, q, qd, qdd):
        return SimpleNamespace(mass_matrix=np.eye(3), stiffness_matrix=np.diag([0.0, *squares(q)]))


def squares(q):
    return 100.0 + 15.0 * np.sin(q[0]), 115.0 - 12.0 * q[0]


def test_a_reference_along_which_two_modes_cross_is_shaped_for_both():
    asked = control.Trajectory.from_points(('turn',), [0.0, 2.0], [[0.0], [1.2]], *REST)
    shaped = control.shape_trajectory(asked, control.ClampedJointModes(SoftArm()))

    def known(q):
        w = np.sqrt(squares(q))
        return w, [0.4, 0.6] / (2.0 * w)

    assert np.diff(squares([0.0])) > 0.0 > np.diff(squares([1.2]))
    expected = control.shape_trajectory(asked, known)
    assert shaped.duration == pytest.approx(expected.duration, rel=1e-6)
    for t in np.linspace(0.0, shaped.duration, 20):
        np.testing.assert_allclose(shaped.sample(t), expected.sample(t), atol=1e-5)
