# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Linear models about a motion: target 8."""

from __future__ import annotations

import numpy as np

import kron_dynamics as kd
from benchmarks import ours, pinocchio_peer
from benchmarks.batches import COUNT, batch_rounds
from benchmarks.calls import against
from benchmarks.robots import state
from benchmarks.rows import Outcome
from benchmarks.timing import PythonTask, Spread, alone, check_equal, pinned


def one_rigid(robot: str, rounds: int) -> Outcome:
    """M, D_L, K_L and tau of a rigid robot, one call."""
    return against(_linearization(ours.robot(robot)), [pinocchio_peer.derivatives(robot)], rounds)


def one_flexible(rounds: int) -> Outcome:
    """The same for the stacker with two boom modes, one call; the requirement is its time."""
    with pinned():
        return Outcome(alone(_checked(), rounds))


def batch_flexible(rounds: int) -> Outcome:
    """A batch; time per state."""
    task = _linearization(ours.robot('boom'), COUNT)
    with pinned():
        times = alone(task, batch_rounds(rounds))
    return Outcome(Spread(*(value / COUNT for value in (times.median, times.low, times.high))))


def _checked() -> PythonTask:
    """Return the call; first check that without bending its joint rows equal the rigid robot's."""
    flexible, rigid = ours.robot('boom'), ours.robot('stacker')
    joints = slice(rigid.n)
    s = state(flexible.n)
    straight = [np.where(np.arange(flexible.n) < rigid.n, x, 0.0) for x in (s.q, s.qd, s.qdd)]
    given = flexible.linearization(*straight)
    wanted = rigid.linearization(*(x[joints] for x in straight))
    shown = [
        [terms.mass_matrix[joints, joints], terms.effort[joints]] for terms in (given, wanted)
    ]
    check_equal(*(PythonTask('the joints', 'pass', 'shown', shown=each) for each in shown))
    return _linearization(flexible)


def _linearization(robot: kd.Robot, count: int | None = None) -> PythonTask:
    bound, s = robot.linearization, state(robot.n, count)
    out = bound(s.q, s.qd, s.qdd)
    results = '[out[0], out[1], out[2], out[3]]'
    return PythonTask(
        'ours', 'lin(q, qd, qdd, out=out)', results, lin=bound, q=s.q, qd=s.qd, qdd=s.qdd, out=out
    )
