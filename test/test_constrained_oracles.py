# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed loops against Pinocchio's constraint solver, and against MuJoCo's equalities."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mechanisms import four_bar_text, two_arms_text
from pinocchio_oracle import Oracle, pin
from uncompiled import ConstrainedOnFloats, uncompiled

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import Attachment, HingeLoop, PointLoop

ROOT = Path(__file__).parents[1]
ARMS = Attachment('left3', (0.3, 0.1, 0.0)), Attachment('right3', (0.3, -0.1, 0.0))
BARS = Attachment('coupler', (0.9, 0.0, 0.0)), Attachment('rocker', (0.7, 0.0, 0.0))
CASES = {
    'two arms': (two_arms_text(), ARMS, 'xyz', [0.2, 0.5, -0.4, 0.1, 0.6, 0.3, 0.2]),
    'four-bar': (four_bar_text(), BARS, 'xy', [0.9, -0.4, 1.5]),
}


@functools.cache
def case(name: str) -> tuple[str, ConstrainedRobot, Any, Any, Any]:
    """Text, robot, q, qd and efforts."""
    text, (a, b), components, start = CASES[name]
    robot = uncompiled(text, gravity=(0.0, -9.81, 0.0) if name == 'four-bar' else (0, 0, -9.81))
    closed = ConstrainedOnFloats(
        robot, [PointLoop('loop', a, b, components=components)], start=start
    )
    rng = np.random.default_rng(2)
    q = closed.start
    return (
        text,
        closed,
        q,
        closed.close_rates(q, rng.normal(size=robot.n)),
        rng.normal(size=robot.n),
    )


def pinocchio_motion(name: str) -> tuple[Oracle, Any, Any]:
    """Oracle, accelerations, and the force on frame a in the axes of its joint."""
    if not hasattr(pin, 'PointAnchorConstraintModel'):
        pytest.skip(f'Pinocchio {pin.__version__}, the last for this Python, is called otherwise')
    text, closed, q, qd, tau = case(name)
    oracle = Oracle(text, closed.robot.model)
    model, data = oracle.pin, oracle.data
    sides: list[Any] = []
    for frame in CASES[name][1]:
        # The joint that moves the link; in these robots its frame is the link's.
        index = next(
            k
            for k in range(1, model.njoints)
            if model.frames[model.getFrameId(frame.link, pin.BODY)].parentJoint == k
        )
        sides += [index, pin.SE3(np.eye(3), np.array(frame.point))]
    contact = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, *sides, pin.ReferenceFrame.LOCAL
    )
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(contact)
    datas.append(contact.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    # The planar loop has a condition too many, which the proximal iteration bears.
    settings = pin.ProximalSettings(1e-14, 1e-10, 100)
    state = oracle.configuration(q), oracle.G @ qd, oracle.G @ tau
    qdd = pin.constraintDynamics(model, data, *state, models, datas, settings)
    return oracle, np.linalg.pinv(oracle.G) @ qdd, datas[0].contact_force.linear.copy()


@pytest.mark.parametrize('name', CASES)
def test_pinocchio_has_the_same_accelerations_and_forces(name: str, assert_close: Any) -> None:
    _, closed, q, qd, tau = case(name)
    oracle, qdd, force = pinocchio_motion(name)
    motion = closed.forward_dynamics(q, qd, tau)
    rel = 1e-11 if name == 'two arms' else 1e-9
    assert_close(motion.qdd, qdd, rel)
    link = CASES[name][1][0].link
    turned = closed.robot.frame(link).pose(q)[:3, :3] @ force
    reactions = closed.reactions(q, qd, motion.qdd, tau)
    assert_close(reactions.wrenches['loop'], [*turned, 0, 0, 0], rel * 10)


@pytest.mark.parametrize('name', CASES)
def test_pinocchio_has_the_same_reactions_of_joints(name: str, assert_close: Any) -> None:
    _, closed, q, qd, tau = case(name)
    oracle, *_ = pinocchio_motion(name)
    model, data = oracle.pin, oracle.data
    motion = closed.forward_dynamics(q, qd, tau)
    found = closed.reactions(q, qd, motion.qdd, tau)
    state = oracle.configuration(q), oracle.G @ qd, oracle.G @ motion.qdd
    pin.forwardKinematics(model, data, state[0])
    outside = [pin.Force.Zero() for _ in range(model.njoints)]
    a, b = CASES[name][1]
    wrench = found.wrenches['loop']
    pose = closed.robot.frame(a.link).pose(q)
    place = pose[:3, 3] + pose[:3, :3] @ a.point
    for frame, sign in ((a, 1), (b, -1)):
        joint = model.frames[model.getFrameId(frame.link, pin.BODY)].parentJoint
        there = pin.SE3(np.eye(3), place)
        force = pin.Force(sign * wrench[:3], sign * wrench[3:])
        outside[joint] = data.oMi[joint].actInv(there.act(force))
    forces = pin.StdVec_Force()
    for force in outside:
        forces.append(force)
    pin.rnea(model, data, *state, forces)
    for joint, own in found.joints.items():
        index = model.getJointId(joint)
        turn = data.oMi[index].rotation
        other = np.concatenate([turn @ data.f[index].linear, turn @ data.f[index].angular])
        assert_close(own, other, 1e-10, floor=1.0)


def shipped(urdf: str, constraints: str) -> tuple[str, ConstrainedRobot, Any, Any, Any]:
    """Text, robot, q, qd and efforts of a mechanism of this package, away from its start."""
    text = (ROOT / 'urdf' / f'{urdf}.urdf').read_text(encoding='utf-8')
    closed = ConstrainedRobot.described(kd.loads(text), ROOT / 'config' / f'{constraints}.yaml')
    rng = np.random.default_rng(2)
    q = closed.close(closed.start + rng.uniform(0.0, 0.1, closed.n))
    qd = closed.close_rates(q, 0.1 * rng.normal(size=closed.n))
    tau = closed.robot.gravity_vector(q) * rng.uniform(0.5, 1.5, closed.n)
    return text, closed, q, qd, tau + rng.normal(size=closed.n)


@pytest.mark.parametrize(
    ('urdf', 'constraints'),
    [
        ('four_bar', 'four_bar_constraints'),
        ('stacker_reclaimer_cylinder', 'stacker_reclaimer_cylinder'),
    ],
)
def test_pinocchio_has_the_efforts_and_bearing_loads_of_shipped_mechanisms(
    urdf: str, constraints: str, assert_close: Any
) -> None:
    """Its recursion gives the efforts back, with our accelerations and our wrenches in the loops.

    So both are those of the tree whose loops they close.
    """
    text, closed, q, qd, tau = shipped(urdf, constraints)
    oracle = Oracle(text, closed.robot.model)
    model, data = oracle.pin, oracle.data
    qdd = closed.forward_dynamics(q, qd, tau).qdd
    terms = closed.terms(q, qd)
    assert_close(terms.A @ qdd, terms.b_dot - terms.A_dot @ qd, 1e-9, floor=1e-9)
    found = closed.reactions(q, qd, qdd, tau)
    state = oracle.configuration(q), oracle.G @ qd, oracle.G @ qdd
    pin.forwardKinematics(model, data, state[0])
    outside = [pin.Force.Zero() for _ in range(model.njoints)]
    for constraint in closed.constraints:
        assert isinstance(constraint, HingeLoop)
        wrench = found.wrenches[constraint.name]
        pose = closed.robot.frame(constraint.a.link).pose(q)
        there = pin.SE3(np.eye(3), pose[:3, 3] + pose[:3, :3] @ constraint.a.point)
        for side, sign in ((constraint.a, 1), (constraint.b, -1)):
            joint = model.frames[model.getFrameId(side.link, pin.BODY)].parentJoint
            force = pin.Force(sign * wrench[:3], sign * wrench[3:])
            outside[joint] += data.oMi[joint].actInv(there.act(force))
    forces = pin.StdVec_Force()
    forces.extend(outside)
    assert_close(np.linalg.pinv(oracle.G) @ pin.rnea(model, data, *state, forces), tau, 1e-9)
    for joint, own in found.joints.items():
        index = model.getJointId(joint)
        turn = data.oMi[index].rotation
        load = [*(turn @ data.f[index].linear), *(turn @ data.f[index].angular)]
        assert_close(own, load, 1e-9, floor=1.0)


@pytest.mark.parametrize(
    'made',
    [
        pytest.param(lambda: case('two arms'), id='two arms'),
        pytest.param(lambda: shipped('four_bar', 'four_bar_constraints'), id='four-bar'),
        pytest.param(
            lambda: shipped('stacker_reclaimer_cylinder', 'stacker_reclaimer_cylinder'),
            id='cylinder',
        ),
    ],
)
def test_mujoco_goes_to_the_same_as_its_constraints_stiffen(made: Any, assert_close: Any) -> None:
    """Its equalities give way by 1 - impedance, at most 0.9999: two such are extrapolated.

    The points of hinges are enough: the loops of these robots move in planes.
    """
    mujoco = pytest.importorskip('mujoco')
    text, closed, q, qd, tau = made()
    spec = mujoco.MjSpec.from_string(text)
    spec.compiler.fusestatic = False
    loops = []
    for constraint in closed.constraints:
        names = []
        for side in (constraint.a, constraint.b):
            names.append(f'{constraint.name}_{side.link}')
            spec.body(side.link).add_site(name=names[-1], pos=side.point)
        loops.append(
            spec.add_equality(
                type=mujoco.mjtEq.mjEQ_CONNECT,
                objtype=mujoco.mjtObj.mjOBJ_SITE,
                name1=names[0],
                name2=names[1],
            )
        )
    spec.option.gravity = closed.robot.model.gravity
    expected = closed.forward_dynamics(q, qd, tau).qdd

    def acceleration(impedance: float) -> Any:
        for loop in loops:
            loop.solimp = [impedance, impedance, 1e-3, 0.5, 2]
        model = spec.compile()
        # No friction and no stops, as in the equations.
        model.dof_damping[:], model.dof_frictionloss[:], model.jnt_limited[:] = 0.0, 0.0, 0
        data = mujoco.MjData(model)
        for k, name in enumerate(closed.joint_names):
            joint = model.joint(name)
            data.qpos[joint.qposadr[0]] = q[k]
            data.qvel[joint.dofadr[0]] = qd[k]
            data.qfrc_applied[joint.dofadr[0]] = tau[k]
        mujoco.mj_forward(model, data)
        return np.array([data.qacc[model.joint(n).dofadr[0]] for n in closed.joint_names])

    softer, stiffer = acceleration(0.9998), acceleration(0.9999)
    assert_close(stiffer, expected, 2e-2)
    assert np.abs(stiffer - expected).max() > 1e-5 * np.abs(expected).max()  # it does give way
    assert_close(2 * stiffer - softer, expected, 5e-6)
