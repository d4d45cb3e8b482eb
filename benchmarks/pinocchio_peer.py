# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio from Python: the fastest calls that compute the same quantities as ours."""

from __future__ import annotations

import functools
import re
import time
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.robots import GRAVITY, compared_states, description, state
from benchmarks.timing import CLOCK, PythonTask
from kron_dynamics.typing import FloatArray

NAME = 'Pinocchio'

# c and g are separated by a second model without gravity, or by a subtraction. crba in world axes
# also computes the Jacobians, computeAllTerms everything but accelerations. Which sequence is
# fastest depends on the robot.
_ACCELERATION = """\
forwardKinematics(model, data, q, v, zero)
a = getFrameClassicalAcceleration(model, data, frame, LOCAL_WORLD_ALIGNED)"""
_STEPS = {
    'crba, rnea without gravity': f"""\
M = crba(model, data, q, WORLD)
J = getFrameJacobian(model, data, frame, LOCAL_WORLD_ALIGNED)
c = rnea(weightless, data, q, v, zero)
g = computeGeneralizedGravity(model, data, q)
{_ACCELERATION}""",
    'crba, nonLinearEffects without gravity': f"""\
M = crba(model, data, q, WORLD)
J = getFrameJacobian(model, data, frame, LOCAL_WORLD_ALIGNED)
c = nonLinearEffects(weightless, data, q, v)
g = computeGeneralizedGravity(model, data, q)
{_ACCELERATION}""",
    'crba, nonLinearEffects - g': f"""\
M = crba(model, data, q, WORLD)
J = getFrameJacobian(model, data, frame, LOCAL_WORLD_ALIGNED)
g = computeGeneralizedGravity(model, data, q)
c = nonLinearEffects(model, data, q, v) - g
{_ACCELERATION}""",
    'computeAllTerms': f"""\
computeAllTerms(model, data, q, v)
M = data.M
g = data.g
c = data.nle - g
J = getFrameJacobian(model, data, frame, LOCAL_WORLD_ALIGNED)
{_ACCELERATION}""",
}
_STEP_RESULTS = '[M, c, g, J, a.vector]'


@functools.cache
def model(name: str) -> pin.Model:
    """Return Pinocchio's model of a robot."""
    built = pin.buildModelFromXML(description(name).text)
    built.gravity.linear = np.array(GRAVITY)
    return built


def _names(name: str) -> dict[str, Any]:
    built, s = model(name), state(model(name).nv)
    weightless = built.copy()
    weightless.gravity = pin.Motion.Zero()
    return {
        'model': built,
        'weightless': weightless,
        'data': built.createData(),
        'q': s.q,
        'v': s.qd,
        'a': s.qdd,
        'zero': np.zeros(built.nv),
        'units': list(np.eye(built.nv)),
        'frame': built.getFrameId(description(name).tip, pin.BODY),
        'WORLD': pin.Convention.WORLD,
    }


def _task(name: str, label: str, statement: str, results: str, **more: Any) -> PythonTask:
    """Return a task; names in its statement that are not ours are functions of Pinocchio."""
    words = set(re.findall(r'[A-Za-z]\w*', statement))
    names = {key: value for key, value in _names(name).items() if key in words} | more
    names |= {word: getattr(pin, word) for word in words - set(names) if hasattr(pin, word)}
    return PythonTask(label, statement, results, **names)


def tip(name: str) -> tuple[int, FloatArray]:
    """Return the link that a robot's tip is fixed to, and its homogeneous placement there."""
    built = model(name)
    frame = built.frames[built.getFrameId(description(name).tip, pin.BODY)]
    return frame.parentJoint - 1, frame.placement.homogeneous


def tau(name: str) -> PythonTask:
    """Return inverse dynamics."""
    return _task(name, NAME, 'tau = rnea(model, data, q, v, a)', '[tau]')


def mass(name: str) -> list[PythonTask]:
    """Return the mass matrix, by both conventions (local and world) of the algorithm."""
    return [
        _task(name, f'{NAME}, crba {axes} axes', f'M = crba(model, data, q{argument})', '[M]')
        for axes, argument in (('local', ''), ('world', ', WORLD'))
    ]


def symbols(name: str) -> PythonTask:
    """Return all Christoffel symbols: the Coriolis matrices of n unit velocities."""
    call = 'matrices = [computeCoriolisMatrix(model, data, q, unit) for unit in units]'
    return _task(name, NAME, call, '[np.stack(matrices, axis=-1)]', np=np)


def derivatives(name: str) -> PythonTask:
    """Return M, the derivatives of tau with respect to rates and coordinates, and tau."""
    call = 'K, D, M = computeRNEADerivatives(model, data, q, v, a)'
    return _task(name, NAME, call, '[M, D, K, data.tau]')


def effort_rate(name: str, jerks: FloatArray) -> PythonTask:
    """Return d(tau)/dt for some jerks, from the derivatives of inverse dynamics."""
    call = 'K, D, M = computeRNEADerivatives(model, data, q, v, a)\nrate = M @ j + D @ a + K @ v'
    return _task(name, f'{NAME}, derivatives and products', call, '[rate]', j=jerks)


def steps(name: str) -> list[PythonTask]:
    """Return the control step by several sequences of calls."""
    return [
        _task(name, f'{NAME}, {label}', statement, _STEP_RESULTS)
        for label, statement in _STEPS.items()
    ]


def batch_tau(name: str, count: int, threads: int) -> PythonTask:
    """Return inverse dynamics of a batch in Pinocchio's own parallel call."""
    built, s = model(name), state(model(name).nv, count)
    # States are columns of column-major arrays, so that no copy is made.
    out = np.empty((count, built.nv)).T
    return _task(
        name,
        f'{NAME}, rneaInParallel, {threads} thread{"s" if threads > 1 else ""}',
        'rneaInParallel(threads, pool, q, v, a, out)',
        '[out.T]',
        clock=CLOCK if threads == 1 else time.perf_counter,
        threads=threads,
        pool=pin.ModelPool(built, threads),
        q=s.q.T,
        v=s.qd.T,
        a=s.qdd.T,
        out=out,
    )


def batch_of(task: PythonTask, name: str, count: int) -> PythonTask:
    """Return a task of one state in a Python loop over a batch, where no batch call exists."""
    s = state(model(name).nv, count)
    body = task.statement.replace('\n', '\n    ')
    statement = f'for q, v in zip(rows, rates):\n    {body}'

    def compared() -> list[FloatArray]:
        found = [task.results_of(q=s.q[k], v=s.qd[k]) for k in compared_states(count)]
        return [np.stack(results) for results in zip(*found, strict=True)]

    return _task(
        name,
        f'{task.name}, in a loop',
        statement,
        'compared()',
        rows=list(s.q),
        rates=list(s.qd),
        compared=compared,
    )
