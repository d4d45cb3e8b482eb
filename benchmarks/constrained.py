# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robots with closed loops: one call of constrained inverse and forward dynamics."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.robots import ROOT
from benchmarks.rows import Outcome
from benchmarks.timing import PythonTask, Spread, check_equal, compare, pinned, repeats
from kron_dynamics import ConstrainedRobot, load
from kron_dynamics.constraints import HingeLoop
from kron_dynamics.reduced import ReducedRobot
from kron_dynamics.typing import FloatArray

FILES = {
    'four_bar': ('four_bar.urdf', 'four_bar_constraints.yaml'),
    'cylinder': ('stacker_reclaimer_cylinder.urdf', 'stacker_reclaimer_cylinder.yaml'),
}


def inverse(name: str, rounds: int) -> Outcome:
    """Time of one call of inverse dynamics, from Python."""
    robot, q, u, u_dot, _ = machine(name)
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
    motion = robot.velocities(q, u), robot.accelerations(q, u, u_dot)
    check_efforts(name, task, robot.actuated, *motion)
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
    constrained = machine(name)[0].constrained
    driven = ConstrainedRobot(
        *(constrained.robot, constrained.constraints),
        start=constrained.start,
        independent=robot.joint_names,
    )
    rates = driven.velocities(driven.start, qd)
    motion = rates, driven.accelerations(driven.start, rates, qdd)
    check_efforts(name, task, robot.joint_names, *motion)
    return _times(task, rounds)


def check_efforts(
    name: str, task: PythonTask, drives: Sequence[str], qd: FloatArray, qdd: FloatArray
) -> None:
    """Check that Pinocchio finds the accelerations of a motion from the efforts of its drives.

    Args:
        name: name of the machine, which is in its start position.
        task: task whose result is the efforts.
        drives: names of the joints with these efforts.
        qd: rates of all joints, shape (n,).
        qdd: accelerations of all joints, shape (n,).

    Raises:
        MeasurementError: it finds others.
    """
    names, efforts = machine(name)[0].joint_names, np.zeros(len(qd))
    efforts[[names.index(joint) for joint in drives]] = task.values()[0]
    motion = PythonTask(f'the motion of {task.name}', 'pass', '[qdd]', qdd=qdd)
    peer = _pinocchio(name, qd, efforts)
    check_equal(motion, peer)


def forward(name: str, rounds: int) -> Outcome:
    """Forward dynamics with multipliers against `pinocchio.constraintDynamics`."""
    robot, q, u, _, tau = machine(name)
    qd = robot.velocities(q, u)
    ours = PythonTask(
        'forward dynamics',
        'found = call(q, u, tau)',
        '[found.qdd, rows.T @ found.multipliers]',
        call=robot.forward_dynamics,
        q=q,
        u=u,
        tau=tau,
        rows=robot.constrained.terms(q, qd).A,
    )
    with pinned():
        peer = _pinocchio(name, qd, tau, with_forces=True)
        check_equal(ours, peer)
        return Outcome.of(compare(ours, peer, rounds))


@functools.cache
def machine(name: str) -> tuple[ReducedRobot, Any, Any, Any, Any]:
    """Return the robot, a closed q, u, du/dt and the efforts of all joints."""
    urdf, constraints = FILES[name]
    closed = ConstrainedRobot.described(load(ROOT / 'urdf' / urdf), ROOT / 'config' / constraints)
    robot = ReducedRobot(closed)
    rng = np.random.default_rng(3)
    u, u_dot = rng.uniform(-1.0, 1.0, (2, robot.degrees_of_freedom))
    tau = closed.robot.gravity_vector(closed.start) * rng.uniform(0.5, 1.5, closed.n)
    return robot, closed.start, u, u_dot, tau


def _pinocchio(
    name: str, qd: FloatArray, tau: FloatArray, *, with_forces: bool = False
) -> PythonTask:
    """Return constrained forward dynamics of a machine in its start position.

    Args:
        name: name of the machine.
        qd: rates of all joints, shape (n,).
        tau: efforts of all joints, shape (n,).
        with_forces: whether the generalized forces of the constraints are a result, too: as loops
            have more conditions than are independent, their multipliers are not unique.
    """
    robot, q, *_ = machine(name)
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
    velocity[order], efforts[order] = qd, tau
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
    forces = ', (rnea(model, model.createData(), q, v, qdd) - tau)[order]'
    return PythonTask(
        'constraintDynamics',
        'qdd = call(model, data, q, v, tau, models, datas, settings)',
        f'[qdd[order]{forces if with_forces else ""}]',
        call=pin.constraintDynamics,
        rnea=pin.rnea,
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
