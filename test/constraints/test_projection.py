# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed positions next to given ones: branches, limits and refusals."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from constrained_robots import spatial_loop
from mechanisms import four_bar_text, two_arms_text
from uncompiled import ConstrainedOnFloats, uncompiled

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import (
    Attachment,
    ConstraintSystem,
    Coupling,
    DistanceLoop,
    HingeLoop,
    PointLoop,
    PrescribedMotion,
    WeldLoop,
)
from kron_dynamics.elementary import sin
from kron_dynamics.kinematics import forward_kinematics
from kron_dynamics.model.tree import roll_pitch_yaw

pytestmark = pytest.mark.interpreted

END, TIP = Attachment('coupler', (0.9, 0.0, 0.0)), Attachment('rocker', (0.7, 0.0, 0.0))
PIN = PointLoop('pin', END, TIP, components='xy')
LENGTHS = 0.35, 0.9, 0.7, 1.0


@functools.cache
def four_bar() -> kd.Robot:
    return kd.loads(four_bar_text(*LENGTHS))


@functools.cache
def two_arms() -> kd.Robot:
    return uncompiled(two_arms_text())


def by_circles(crank: float, side: int = 1) -> Any:
    """The four-bar's angles by the cut of two circles, in one of its two branches."""
    a, b, c, d = LENGTHS
    end = a * np.array([np.cos(crank), np.sin(crank)])
    ray = np.array([d, 0.0]) - end
    far = np.linalg.norm(ray)
    along = (b**2 - c**2 + far**2) / (2 * far)
    up = side * np.sqrt(b**2 - along**2)
    tip = end + (along * ray + up * np.array([-ray[1], ray[0]])) / far
    coupler = np.arctan2(*(tip - end)[::-1])
    return np.array([crank, coupler - crank, np.arctan2(tip[1], tip[0] - d)])


@pytest.mark.parametrize('side', [1, -1])
def test_both_branches_are_kept_round_a_turn(side: int, assert_close: Any) -> None:
    robot = ConstrainedRobot(four_bar(), [PIN], start=by_circles(0.9, side) + 0.05, hold=['j1'])
    q = robot.start
    for angle in np.linspace(q[0], q[0] + 2 * np.pi, 40):
        q = robot.close([angle, *q[1:]], hold=['j1'])
        turns = 2 * np.pi * np.round((q - by_circles(angle, side)) / (2 * np.pi))
        assert_close(q - turns, by_circles(angle, side), 1e-9)
    assert np.abs(robot.residual(q)).max() < 1e-13


def test_a_poor_start_is_closed_without_leaving_it_far(assert_close: Any) -> None:
    for side in (1, -1):
        there = by_circles(0.9, side)
        # Halfway to the other branch would be 0.9 rad away.
        robot = ConstrainedRobot(four_bar(), [PIN], start=there + [0.0, 0.3, -0.3], hold=['j1'])
        assert_close(robot.start, there, 1e-9)


def test_the_change_is_the_least_for_small_errors(rng: Any) -> None:
    robot = ConstrainedRobot(four_bar(), [PIN], start=by_circles(0.9))
    q, error = robot.start, 1e-4 * rng.normal(size=3)
    found = robot.close(q + error) - q
    B = robot.speeds(q, np.zeros(3)).B[:, 0]
    # What is left of the error is its part along the motion that the loop allows.
    np.testing.assert_allclose(found, B * (B @ error) / (B @ B), atol=2e-7)


def test_frames_of_closed_loops_are_where_they_shall_be(assert_close: Any) -> None:
    hands = Attachment('left3', (0.3, 0.1, 0.0)), Attachment('right3', (0.3, -0.1, 0.0))

    def place(q: Any, frame: Attachment) -> Any:
        pose = forward_kinematics(two_arms().model, q, frame.link)
        return pose[:3, 3] + pose[:3, :3] @ frame.point

    start = [0.2, 0.5, -0.4, 0.1, 0.6, 0.3, 0.2]
    meet = ConstrainedOnFloats(two_arms(), [PointLoop('meet', *hands)], start=start)
    assert_close(place(meet.start, hands[0]), place(meet.start, hands[1]), 1e-10)
    rod = ConstrainedOnFloats(two_arms(), [DistanceLoop('rod', *hands, length=0.31)], start=start)
    distance = np.linalg.norm(place(rod.start, hands[0]) - place(rod.start, hands[1]))
    assert_close(distance, 0.31, 1e-10)
    turning = ConstrainedOnFloats(two_arms(), [HingeLoop('axle', *hands)], start=start)
    axes = [forward_kinematics(two_arms().model, turning.start, h.link)[:3, 2] for h in hands]
    assert_close(*axes, 1e-10)


def test_a_weld_brings_two_frames_together(assert_close: Any) -> None:
    """Six coordinates in the loop, six conditions: what carries both arms is free."""
    q = np.array([0.2, 0.5, -0.4, 0.1, 0.6, 0.3, 0.2])
    left, right = (forward_kinematics(two_arms().model, q, n) for n in ('left3', 'right3'))
    relative = np.linalg.solve(right, left)
    R = relative[:3, :3]
    rpy = np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(R[2, 0]), np.arctan2(R[1, 0], R[0, 0])
    b = Attachment('right3', tuple(relative[:3, 3]), rpy=rpy)
    assert_close(b.rotation(), R, 1e-13)
    loop = WeldLoop('hold', 'left3', b)
    robot = ConstrainedOnFloats(two_arms(), [loop], start=q + 0.03 * np.sin(np.arange(7.0)))
    assert (robot.rank, robot.independent) == (6, ('turn',))
    poses = [forward_kinematics(two_arms().model, robot.start, n) for n in ('left3', 'right3')]
    assert_close(np.linalg.solve(poses[1], poses[0]), relative, 1e-10)
    # A sixth part of a turn away in one axis is open.
    other = Attachment('right3', b.point, rpy=(rpy[0], rpy[1], rpy[2] + np.pi / 3))
    with pytest.raises(kd.ConstraintError, match="'hold'"):
        ConstrainedOnFloats(two_arms(), [WeldLoop('hold', 'left3', other)], start=q)
    # With its axes exchanged, x for y for z for x, all six conditions hold.
    third = roll_pitch_yaw(R @ np.roll(np.eye(3), 1, axis=0))
    exchanged = WeldLoop('hold', 'left3', Attachment('right3', b.point, rpy=third))
    phi = ConstraintSystem(two_arms().model, [exchanged]).terms(q, 0 * q, 0.0).phi
    assert_close(phi, np.zeros(6), 1e-14, floor=1.0)
    with pytest.raises(kd.ConstraintError, match="'hold' closes with an axis the wrong way"):
        ConstrainedOnFloats(two_arms(), [exchanged], start=q)


def test_the_axes_of_a_frame(assert_close: Any) -> None:
    """Proper rotations that bring z there by the shortest way, also where it points down."""
    for axis in ((0, 0, 1), (0, 0, -2), (1, 2, 3), (0, -1, 0), (1e-9, 0, -1), (3e-5, 1e-5, -1)):
        R = Attachment('hand', axis=axis).rotation()
        assert_close(R @ R.T, np.eye(3), 1e-14)
        assert np.linalg.det(R) == pytest.approx(1.0)
        assert_close(R[:, 2], np.array(axis) / np.linalg.norm(axis), 1e-15)
        # The turn is no longer than the angle between the axes.
        assert np.trace(R) == pytest.approx(1 + 2 * R[2, 2])


def test_a_loop_that_cannot_be_closed_is_named() -> None:
    far = Attachment('coupler', (3.0, 0.0, 0.0))
    loop = PointLoop('too long', far, TIP, components='xy')
    with pytest.raises(kd.ConstraintError, match=r"cannot be met: 'too long' \(0\.9.* m or rad"):
        ConstrainedRobot(four_bar(), [loop], start=[0.9, -0.4, 1.5])
    with pytest.raises(kd.ConstraintError, match=r"with j3 held: 'pin' \(0\.\d+ m"):
        ConstrainedRobot(four_bar(), [PIN], start=[0.9, -0.4, 0.1], hold=['j3'])
    robot = ConstrainedRobot(four_bar(), [PIN], start=by_circles(0.9))
    with pytest.raises(kd.ConstraintError, match='with j1, j2, j3 held'):
        robot.close(robot.start + 0.1, hold=('j1', 'j2', 'j3'))


def test_constraints_that_contradict_each_other_are_named() -> None:
    pair = [PrescribedMotion('low', 'j1', 0.2), PrescribedMotion('high', 'j1', 0.3)]
    words = r"cannot be met together: 'low' \(0.05 m or rad left\), 'high' \(0.05 m or rad left\)"
    with pytest.raises(kd.ConstraintError, match=words):
        ConstrainedRobot(four_bar(), pair)
    # At the start they agree, in their rates they do not.
    pair = [PrescribedMotion('still', 'j1', 0.0), PrescribedMotion('moves', 'j1', lambda t: 2 * t)]
    with pytest.raises(kd.ConstraintError, match="'still', 'moves' ask for rates"):
        ConstrainedRobot(four_bar(), pair)


def test_axes_the_wrong_way_round_are_refused() -> None:
    back = Attachment('rocker', TIP.point, (0.0, 0.0, -1.0))
    with pytest.raises(kd.ConstraintError, match="'pin' closes with an axis the wrong way round"):
        ConstrainedRobot(four_bar(), [HingeLoop('pin', END, back)], start=by_circles(0.9))


def test_prescribed_motions_over_time(derivative: Any, assert_close: Any) -> None:
    """A driven crank: positions, rates and accelerations of a machine without freedom."""
    drive = PrescribedMotion('drive', 'j1', lambda t: 0.9 + 0.4 * sin(3 * t))
    robot = ConstrainedRobot(four_bar(), [PIN, drive], start=by_circles(0.9))
    assert robot.degrees_of_freedom == 0

    def place(t: float) -> Any:
        return robot.close(by_circles(0.9 + 0.4 * np.sin(3 * t)) + 0.01, t)

    t = 0.3
    q, qd = place(t), derivative(lambda s: place(t + s))
    assert_close(robot.velocities(q, [], t), qd, 1e-8)
    qdd = derivative(lambda s: robot.velocities(place(t + s), [], t + s))
    assert_close(robot.accelerations(q, robot.velocities(q, [], t), [], t), qdd, 1e-8)
    motion = robot.forward_dynamics(q, robot.velocities(q, [], t), np.zeros(3), t)
    assert_close(motion.qdd, qdd, 1e-8)


def test_gears_are_met_from_anywhere(assert_close: Any) -> None:
    gear = Coupling('gear', {'j1': 2.0, 'j3': -1.0}, signal=0.5)
    robot = ConstrainedRobot(four_bar(), [gear], start=[4.0, 1.0, -3.0])
    assert_close(2 * robot.start[0] - robot.start[2], 0.5, 1e-12)
    assert_close(robot.start[1], 1.0, 1e-14)
    # The motor of a large ratio is many turns away.
    gear = Coupling('gear', {'j1': 500.0, 'j3': -1.0})
    robot = ConstrainedRobot(four_bar(), [gear], start=[0.9, 1.0, 0.0], hold=['j1'])
    assert_close(robot.start, [0.9, 1.0, 450.0], 1e-12)


def test_rates_next_to_given_ones(rng: Any, assert_close: Any) -> None:
    robot = ConstrainedRobot(four_bar(), [PIN], start=by_circles(0.9))
    q, qd = robot.start, rng.normal(size=3)
    closed = robot.close_rates(q, qd)
    assert_close(robot.terms(q, closed).A @ closed, np.zeros(2), 1e-13, floor=1.0)
    # The change is orthogonal to what the loop allows.
    assert_close(robot.speeds(q, closed).B.T @ (closed - qd), [0.0], 1e-13, floor=1.0)
    assert_close(robot.close_rates(q, closed), closed, 1e-13)


@pytest.mark.parametrize('digits', [9, 6, 5, 4])
def test_rates_of_a_redundant_loop_from_rounded_angles(digits: int) -> None:
    """Admissible rates stay as they are, up to the error of the angles."""
    robot = spatial_loop(1.0)
    qd = robot.velocities(robot.start, [2.0])
    q = np.round(robot.start, digits)
    assert qd[0] == pytest.approx(-qd[2]) and np.abs(qd).min() > 0.5
    np.testing.assert_allclose(robot.close_rates(q, qd), qd, atol=10.0 ** (1 - digits))
    assert robot.report(q).redundant == {'loop': 3}


@pytest.mark.parametrize('t', [0.05, 0.1, 0.2, 0.3, 0.5])
@pytest.mark.parametrize('share', [0.0, 0.5, 1.0])
def test_motions_that_contradict_each_other_do_not_pass_as_open_loops(
    t: float, share: float
) -> None:
    """They part slowly after the start, so that each rate is nearly right: no mean is given."""
    motions = (lambda t: t + 0.5 * t**4), (lambda t: t)
    robot = ConstrainedRobot(
        four_bar(), [PrescribedMotion(f'm{k}', 'j1', f) for k, f in enumerate(motions)]
    )
    q = [t + share * 0.5 * t**4, 0.3, 0.2]
    for rates in (robot.close_rates, robot.speeds):
        with pytest.raises(kd.ConstraintError, match="'m0', 'm1' ask for rates that contradict"):
            rates(q, [1.0, 0.0, 0.0], t)


@pytest.mark.parametrize(
    ('start', 'error', 'words'),
    [
        (np.zeros(2), kd.ShapeError, r'start has shape \(2,\), expected \(3,\)'),
        ([0.0, np.nan, 0.0], kd.NonFiniteError, 'start holds a NaN'),
        ('low', kd.ArgumentTypeError, "start is or holds 'low'"),
    ],
)
def test_starts_that_are_none_are_refused(start: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        ConstrainedRobot(four_bar(), [PIN], start=start)


def test_welds_take_frames_as_they_are() -> None:
    """All three axes: turned about z, a weld is open where a hinge is closed."""
    q = by_circles(0.9)
    weld, hinge = WeldLoop('w', END, TIP), HingeLoop('h', END, TIP)
    assert ConstrainedRobot(four_bar(), [hinge], start=q).rank == 2
    with pytest.raises(kd.ConstraintError, match="'w'"):
        # Closed in place; the angle between coupler and rocker is no free one any more.
        ConstrainedRobot(four_bar(), [weld, PrescribedMotion('crank', 'j1', 0.9)], start=q)
