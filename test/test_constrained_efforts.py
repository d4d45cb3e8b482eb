# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Constrained robots: efforts of a motion, how actuators share them, and reactions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from constrained_robots import GRAVITY, HINGE, PIN, START, four_bar, hands, two_arms
from mechanisms import four_bar_text, joint, link, sleigh_text
from uncompiled import ConstrainedOnFloats, uncompiled

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import (
    Attachment,
    BladeConstraint,
    Coupling,
    HingeLoop,
    RollingWheel,
)
from kron_dynamics.dynamics import kane_bodies

pytestmark = pytest.mark.interpreted


def test_inverse_dynamics_is_the_inverse(rng: Any, assert_close: Any) -> None:
    """One actuator for one degree of freedom, any of the three; none at the others."""
    for driven in four_bar().joint_names:
        robot = ConstrainedRobot(four_bar(), [HINGE], start=START, actuated=[driven])
        q, qd = robot.start, robot.velocities(robot.start, [1.1])
        qdd = robot.accelerations(q, qd, [2.3])
        tau = robot.inverse_dynamics(q, qd, qdd)
        others = [k for k, name in enumerate(robot.joint_names) if name != driven]
        assert tau[others].tolist() == [0.0, 0.0]
        assert_close(robot.forward_dynamics(q, qd, tau).qdd, qdd, 1e-12)


def test_more_actuators_than_freedoms_share_by_weights(rng: Any, assert_close: Any) -> None:
    robot = hands()
    q = robot.start
    u, u_dot = rng.normal(size=(2, robot.degrees_of_freedom))
    qd = robot.velocities(q, u)
    qdd = robot.accelerations(q, qd, u_dot)
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert_close(robot.forward_dynamics(q, qd, tau).qdd, qdd, 1e-11)
    heavy = {'turn': 1e3, 'left1_joint': 5.0}
    other = robot.inverse_dynamics(q, qd, qdd, weights=heavy)
    assert_close(robot.forward_dynamics(q, qd, other).qdd, qdd, 1e-10)
    W = np.diag([heavy.get(name, 1.0) for name in robot.joint_names])
    A = robot.terms(q, qd).A
    # Any other efforts of the same motion differ by A^T x, and cost more.
    assert_close(A @ tau, np.zeros(4), 1e-11, floor=np.abs(tau).max())
    assert_close(A @ W @ other, np.zeros(4), 1e-9, floor=np.abs(W @ other).max())
    for bad in ({'elbow': 1.0}, {'turn': 0.0}, {'turn': -1.0}):
        with pytest.raises(kd.ParameterError, match='weights has'):
            robot.inverse_dynamics(q, qd, qdd, weights=bad)


def test_reactions_are_those_of_efforts_that_cause_the_motion() -> None:
    robot = ConstrainedRobot(four_bar(), [HINGE], start=START)
    q, qd = robot.start, robot.velocities(robot.start, [1.1])
    qdd = robot.accelerations(q, qd, [2.3])
    tau = robot.inverse_dynamics(q, qd, qdd)
    loads = robot.reactions(q, qd, qdd, tau)
    rounded = robot.reactions(np.round(q, 8), qd, qdd, np.round(tau, 7))
    assert rounded.wrenches['pin'] == pytest.approx(loads.wrenches['pin'], abs=1e-5)
    # Efforts that push against the loop load it, and do not move it.
    preload = robot.terms(q, qd).A.T @ np.array([1.0, 2.0, 0.0, 0.0, 0.0])
    robot.reactions(q, qd, qdd, tau + preload)
    for wrong in (np.zeros(3), tau + [0.01, 0.0, 0.0]):
        with pytest.raises(kd.ConstraintError, match="tau does not cause qdd: .* lacking at '"):
            robot.reactions(q, qd, qdd, wrong)


@pytest.mark.parametrize('gravity', [(0.0, 0.0, -9.81), (0.0, 9.81, 0.0), (0.0, 0.0, 0.0)])
def test_a_constraint_that_carries_nothing_has_reactions(gravity: Any, rng: Any) -> None:
    """Equal pendulums that a rod couples swing as they would without it: all forces cancel."""
    sizes = (0.03, 0.01, -0.3), (0.01, 0.02, 0.015)
    text = '<robot name="pair"><link name="base"/>' + ''.join(
        link(name, 2.3, *sizes) + joint(f'{name}_joint', 'base', name, (x, 0.0, 0.0), '0 1 0')
        for x, name in enumerate(('left', 'right'))
    )
    pair = uncompiled(f'{text}</robot>', gravity=gravity)
    rod = Coupling('rod', {'left_joint': 1.0, 'right_joint': -1.0})
    robot = ConstrainedOnFloats(pair, [rod])
    for angle, rate in rng.normal(size=(10, 2)):
        q, qd = np.full(2, angle), np.full(2, rate)
        qdd = robot.forward_dynamics(q, qd, np.zeros(2)).qdd
        loads = robot.reactions(q, qd, qdd, np.zeros(2)).multipliers['rod']
        np.testing.assert_allclose(loads, 0.0, atol=1e-12)
        with pytest.raises(kd.ConstraintError, match='tau does not cause qdd'):
            robot.reactions(q, qd, qdd + 0.01, np.zeros(2))


def test_too_few_actuators_are_named_where_they_do_not_do(rng: Any) -> None:
    robot = ConstrainedOnFloats(
        two_arms(), hands().constraints, start=hands().start, actuated=['turn', 'left1_joint']
    )
    q = robot.start
    u, u_dot = rng.normal(size=(2, 3))
    qd = robot.velocities(q, u)
    with pytest.raises(
        kd.ConstraintError, match=r"joints 'turn', 'left1_joint' cannot cause .* 3 degrees"
    ):
        robot.inverse_dynamics(q, qd, robot.accelerations(q, qd, u_dot))
    # A motion that they cause can be had, though they are too few for every one.
    tau = np.zeros(7)
    tau[:2] = 3.0, -1.0
    qdd = robot.forward_dynamics(q, qd, tau).qdd
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), tau, atol=1e-8)


def test_accelerations_that_the_loop_forbids_are_refused() -> None:
    robot = ConstrainedRobot(four_bar(), [PIN], start=START)
    q, qd = robot.start, robot.velocities(robot.start, [1.1])
    with pytest.raises(kd.ConstraintError, match="constraint 'pin': qdd misses it by"):
        robot.inverse_dynamics(q, qd, np.array([1.0, 1.0, 1.0]))
    with pytest.raises(kd.ConstraintError, match="constraint 'pin': qdd misses it by"):
        robot.reactions(q, qd, np.array([1.0, 1.0, 1.0]), np.zeros(3))


@pytest.mark.parametrize('make', ['four_bar', 'hands', 'sleigh', 'wheel'])
def test_reactions_hold_every_body_in_balance(make: str, rng: Any, assert_close: Any) -> None:
    """Newton and Euler of each body by what its joints and loops do to it, [P] (33)."""
    if make == 'four_bar':
        robot = ConstrainedRobot(four_bar(), [HINGE], start=START)
    elif make == 'hands':
        robot = hands()
    else:
        text = sleigh_text(2.0, 0.3, 0.15)
        holds = {
            'sleigh': BladeConstraint('blade', 'sleigh', (0.0, 1.0, 0.0), (0.1, 0.0, 0.0)),
            'wheel': RollingWheel('wheel', 'sleigh', 0.3, (0.0, 1.0, 0.0)),
        }
        robot = ConstrainedRobot(uncompiled(text), [holds[make]], start=[0.3, 0.2, 0.7])
    q, tau = robot.start, rng.normal(size=robot.n)
    qd = robot.velocities(q, rng.normal(size=robot.degrees_of_freedom))
    motion = robot.forward_dynamics(q, qd, tau)
    found = robot.reactions(q, qd, motion.qdd, tau)
    model = robot.robot.model
    lam = np.concatenate([found.multipliers[c.name] for c in robot.constraints])
    assert_close(lam, motion.multipliers, 1e-9, floor=1.0)
    # Along its axis every joint has its effort, and that of gears.
    gears = [k for k, c in enumerate(robot.constraints) if c.links() is None]
    A, efforts, start = robot.terms(q, qd).A, tau.copy(), 0
    for k, c in enumerate(robot.constraints):
        if k in gears:
            efforts += A[start : start + c.size].T @ lam[start : start + c.size]
        start += c.size
    for k, moving in enumerate(model.joints):
        name = next(name for name, frame in model.frames.items() if frame.body == k)
        rotation = robot.robot.frame(name).pose(q)[:3, :3]
        twist = np.concatenate(
            [moving.motion.linear_axis(moving), moving.motion.angular_axis(moving)]
        )
        axis = np.concatenate([rotation @ twist[:3], rotation @ twist[3:]])
        assert_close(
            found.joints[moving.name] @ axis, efforts[moving.coordinate], 1e-10, floor=1.0
        )
    # The first joint carries all: momentum of the whole, weight and what the ground does.
    outside = [w for c in robot.constraints if (w := found.wrenches.get(c.name)) is not None]
    on_ground = [c for c in robot.constraints if c.links() is not None and not c.links()[1]]
    force = sum(
        (
            model.bodies[k].mass * (b.acceleration(qd, motion.qdd)[3:] - model.gravity)
            for k, b in enumerate(kane_bodies(model, q, qd))
        ),
        np.zeros(3),
    )
    if on_ground:
        force = force - outside[0][:3]
    roots = [j.name for j in model.joints if j.parent < 0]
    assert_close(sum(found.joints[name][:3] for name in roots), force, 1e-10, floor=1.0)
    assert outside


def test_payloads_count_in_motion_and_reactions(assert_close: Any) -> None:
    """What the coupler carries, against the same mass in the description."""
    center = (0.5, 0.0, 0.1)
    extra = (
        '<link name="load"><inertial><mass value="5"/><inertia ixx="0" iyy="0" izz="0" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><joint name="hook" type="fixed"><parent link="coupler"'
        '/><child link="load"/><origin xyz="0.5 0 0.1"/></joint></robot>'
    )
    text = four_bar_text()
    gravity = (0.0, -GRAVITY, 0.0)
    carrying = kd.CarryingRobot(kd.loads(text, gravity=gravity), 'coupler')
    carrying.set_payload('coupler', (5.0, center))
    loaded = uncompiled(text.replace('</robot>', extra), gravity=gravity)
    found = []
    for robot in (carrying, loaded):
        closed = ConstrainedOnFloats(robot, [HINGE], start=START, independent=['j1'])
        q, tau = closed.start, np.array([3.0, 0.0, 0.0])
        qd = closed.velocities(q, [1.2])
        motion = closed.forward_dynamics(q, qd, tau)
        reactions = closed.reactions(q, qd, motion.qdd, tau)
        found.append([motion.qdd, reactions.wrenches['pin'], *reactions.joints.values()])
    for own, expected in zip(*found, strict=True):
        assert_close(own, expected, 1e-10)


def test_a_wheel_rolls_without_slip(assert_close: Any) -> None:
    """A wheel that is driven on a beam of a slide: the slide moves by radius times angle."""
    text = (
        '<robot name="cart"><link name="rail"/>'
        '<link name="cart"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><link name="wheel"><inertial><mass value="2"/>'
        '<inertia ixx="0.05" iyy="0.09" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="way" type="prismatic"><parent link="rail"/><child link="cart"/>'
        '<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
        '<joint name="axle" type="continuous"><parent link="cart"/><child link="wheel"/>'
        '<origin xyz="0 0 0.3"/><axis xyz="0 1 0"/></joint></robot>'
    )
    robot = ConstrainedRobot(
        kd.loads(text), [RollingWheel('wheel', 'wheel', 0.3)], independent=['axle']
    )
    assert robot.report([0.0, 0.0]).redundant == {'wheel': 1}  # across, the rail holds it
    qd = robot.velocities([0.0, 0.4], [2.0])
    assert_close(qd, [0.6, 2.0], 1e-13)
    motion = robot.forward_dynamics([0.0, 0.4], qd, [0.0, 1.5])
    # (5 kg r^2 + 0.09) alpha = 1.5
    assert_close(motion.qdd[1], 1.5 / (5 * 0.09 + 0.09), 1e-12)
    found = robot.reactions([0.0, 0.4], qd, motion.qdd, [0.0, 1.5])
    assert_close(found.wrenches['wheel'][:3], [5 * motion.qdd[0], 0, 0], 1e-12)


def cylinder_text(mass: float) -> str:
    """A boom that a hydraulic cylinder of some mass lifts: its two pins make a triangle."""
    sizes = (0.01 * mass, 0.02 * mass, 0.02 * mass)
    parts = [
        '<link name="tower"/>',
        link('boom', 900.0, (5.0, 0.0, 0.3), (200.0, 7000.0, 7000.0)),
        link('barrel', mass, (0.9, 0.0, 0.0), sizes) if mass else '<link name="barrel"/>',
        link('rod', mass, (-0.6, 0.0, 0.0), sizes) if mass else '<link name="rod"/>',
        joint('luff', 'tower', 'boom', (0.0, 0.0, 0.0), '0 -1 0'),
        joint('foot', 'tower', 'barrel', (1.0, 0.0, -2.5), '0 -1 0'),
        joint('stroke', 'barrel', 'rod', (2.0, 0.0, 0.0), '1 0 0', 'prismatic'),
    ]
    return f'<robot name="boom">{"".join(parts)}</robot>'


@pytest.mark.filterwarnings('ignore::kron_dynamics.ModelWarning')
@pytest.mark.parametrize('mass', [0.0, 60.0])
def test_a_cylinder_lifts_a_boom_by_its_lever_arm(mass: float, assert_close: Any) -> None:
    """Its force is the boom's torque over the lever arm; with mass, by the balance of power."""
    robot = uncompiled(cylinder_text(mass))
    eye = Attachment('boom', (3.0, 0.0, -0.4), (0.0, -1.0, 0.0))
    pin = HingeLoop('eye', eye, Attachment('rod', axis=(0.0, -1.0, 0.0)))
    boom = ConstrainedOnFloats(
        robot,
        [pin],
        start=[0.2, 0.8, 1.0],
        hold=['luff'],
        independent=['luff'],
        actuated=['stroke'],
    )
    alone = uncompiled(
        '<robot name="boom"><link name="tower"/>'
        + link('boom', 900.0, (5.0, 0.0, 0.3), (200.0, 7000.0, 7000.0))
        + joint('luff', 'tower', 'boom', (0.0, 0.0, 0.0), '0 -1 0')
        + '</robot>'
    )

    def length(angle: float) -> float:
        c, s = np.cos(angle), np.sin(angle)
        return float(np.hypot(3.0 * c + 0.4 * s - 1.0, 3.0 * s - 0.4 * c + 2.5))

    for angle, rate, change in ((0.2, 0.0, 0.0), (0.5, 0.3, -0.2), (-0.1, -0.2, 0.1)):
        q = boom.close([angle, *boom.start[1:]], hold=['luff'])
        c, s = np.cos(angle), np.sin(angle)
        # Between the line of the two pins and the luff axis.
        place = np.array([3.0 * c + 0.4 * s, 3.0 * s - 0.4 * c])
        along = (place - [1.0, -2.5]) / length(angle)
        arm = place[0] * along[1] - place[1] * along[0]
        assert_close(q[2] + 2.0, length(angle), 1e-10)
        qd = boom.velocities(q, [rate])
        assert_close(qd[2], arm * rate, 1e-10, floor=1.0)
        tau = boom.inverse_dynamics(q, qd, boom.accelerations(q, qd, [change]))
        assert tau[:2].tolist() == [0.0, 0.0]
        torque = alone.inverse_dynamics([angle], [rate], [change])[0]
        if not mass:
            assert_close(tau[2], torque / arm, 1e-10)
        else:
            force = robot.inverse_dynamics(q, qd, boom.accelerations(q, qd, [change]))
            assert_close(tau[2] * arm, boom.speeds(q, qd).B[:, 0] @ force, 1e-10)
            assert abs(tau[2] * arm - torque) > 1e-3 * abs(torque)
