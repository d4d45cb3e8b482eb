# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robots with closed loops: one call of constrained inverse and forward dynamics."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.robots import ROOT
from benchmarks.rows import Outcome
from benchmarks.timing import PythonTask, Spread, check_equal, compare, pinned, repeats
from kron_dynamics import ConstrainedRobot, load
from kron_dynamics.constraints import HingeLoop
from kron_dynamics.reduced import ReducedRobot

FILES = {
    'four_bar': ('four_bar.urdf', 'four_bar_constraints.yaml'),
    'cylinder': ('stacker_reclaimer_cylinder.urdf', 'stacker_reclaimer_cylinder.yaml'),
}


def inverse(name: str, rounds: int) -> Outcome:
    """Time of one call of inverse dynamics, from Python."""
    robot, q, u, u_dot, _ = _machine(name)
    out = np.empty(len(robot.actuated))
    task = PythonTask(
        'inverse dynamics',
        'call(q, u, u_dot, out=out)',
        '[out]',
        call=robot.inverse_dynamics,
        q=q,
        u=u,
        u_dot=u_dot,
        out=out,
    )
    return _times(task, rounds)


def _times(task: PythonTask, rounds: int) -> Outcome:
    with pinned():
        count = repeats(task)
        return Outcome(Spread.of([task.seconds(count) for _ in range(rounds)]))


def inverse_of_drives(name: str, rounds: int) -> Outcome:
    """Time of one call of inverse dynamics in the actuated coordinates, from Python."""
    urdf, constraints = FILES[name]
    robot = load(ROOT / 'urdf' / urdf, constraints=ROOT / 'config' / constraints)
    closing = robot.model.closing
    qd, qdd = np.random.default_rng(3).uniform(-1.0, 1.0, (2, robot.n))
    out = np.empty(robot.n)
    task = PythonTask(
        'inverse dynamics',
        'call(q, qd, qdd, out=out)',
        '[out]',
        call=robot.inverse_dynamics,
        q=closing.start[list(closing.choice.independent)],
        qd=qd,
        qdd=qdd,
        out=out,
    )
    return _times(task, rounds)


def forward(name: str, rounds: int) -> Outcome:
    """Forward dynamics with multipliers against `pinocchio.constraintDynamics`."""
    robot, q, u, _, tau = _machine(name)
    ours = PythonTask(
        'forward dynamics',
        'found = call(q, u, tau)',
        '[found.qdd]',
        call=robot.forward_dynamics,
        q=q,
        u=u,
        tau=tau,
    )
    with pinned():
        peer = _pinocchio(name)
        check_equal(ours, peer)
        return Outcome.of(compare(ours, peer, rounds))


@functools.cache
def _machine(name: str) -> tuple[ReducedRobot, Any, Any, Any, Any]:
    """Return the robot, a closed q, u, du/dt and the efforts of all joints."""
    urdf, constraints = FILES[name]
    closed = ConstrainedRobot.described(load(ROOT / 'urdf' / urdf), ROOT / 'config' / constraints)
    robot = ReducedRobot(closed)
    rng = np.random.default_rng(3)
    u, u_dot = rng.uniform(-1.0, 1.0, (2, robot.degrees_of_freedom))
    tau = closed.robot.gravity_vector(closed.start) * rng.uniform(0.5, 1.5, closed.n)
    return robot, closed.start, u, u_dot, tau


def _pinocchio(name: str) -> PythonTask:
    robot, q, u, _, tau = _machine(name)
    model = pin.buildModelFromUrdf(str(ROOT / 'urdf' / FILES[name][0]))
    model.gravity.linear = np.array(robot.model.gravity)
    data = model.createData()
    numbers = [model.getJointId(joint) for joint in robot.joint_names]
    order = [model.joints[k].idx_v for k in numbers]
    configuration = pin.neutral(model)
    for k, value in zip(numbers, q, strict=True):
        joint = model.joints[k]
        turns = [np.cos(value), np.sin(value)] if joint.nq == 2 else [value]
        configuration[joint.idx_q : joint.idx_q + joint.nq] = turns
    velocity, efforts = np.zeros((2, model.nv))
    velocity[order], efforts[order] = robot.velocities(q, u), tau
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in robot.constrained.constraints:
        assert isinstance(loop, HingeLoop)
        sides: list[Any] = []
        for side in (loop.a, loop.b):
            frame = model.frames[model.getFrameId(side.link, pin.BODY)]
            place = frame.placement * pin.SE3(np.eye(3), np.array(side.point))
            sides += [frame.parentJoint, place]
        models.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, model, *sides, pin.ReferenceFrame.LOCAL
            )
        )
        datas.append(models[len(models) - 1].createData())
    pin.initConstraintDynamics(model, data, models, datas)
    return PythonTask(
        'constraintDynamics',
        'qdd = call(model, data, q, v, tau, models, datas, settings)',
        '[qdd[order]]',
        call=pin.constraintDynamics,
        model=model,
        data=data,
        q=configuration,
        v=velocity,
        tau=efforts,
        models=models,
        datas=datas,
        # Pinocchio's planar loop of three conditions has a redundant one, for which two proximal
        # iterations suffice.
        settings=pin.ProximalSettings(1e-9, 1e-10, 2),
        order=order,
    )
