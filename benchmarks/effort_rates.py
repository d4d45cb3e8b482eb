# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rates of efforts d(tau)/dt: one call from Python, and against tau in a C loop; target 3."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import ours, pinocchio_peer
from benchmarks.calls import against
from benchmarks.native_code import LoopTask
from benchmarks.robots import state
from benchmarks.rows import Outcome
from benchmarks.timing import PythonTask, in_turns, pinned
from kron_dynamics.typing import FloatArray


def rate_pinocchio(robot: str, rounds: int) -> Outcome:
    """One call, against Pinocchio's derivatives of inverse dynamics times the rates."""
    return against(_rate(robot), [pinocchio_peer.effort_rate(robot, jerks(robot))], rounds)


def rate_over_tau(robot: str, rounds: int) -> Outcome:
    """Time of the rate's kernel over the time of tau's, in turns in a C loop."""
    built: Any = ours.robot(robot)  # typed as Any because of the kernel's attribute `address`
    s, out = state(built.n), np.empty(built.n)
    motion = [s.q, s.qd, s.qdd, jerks(robot)]
    rate = LoopTask('rate', built.inverse_dynamics_rate.address, motion, out)
    tau = LoopTask('tau', built.inverse_dynamics.address, motion[:3], out)
    with pinned():
        times = in_turns(tau, rate, rounds)
    return Outcome(times.ratio, times.peer.median, times.ours.median)


def jerks(robot: str) -> FloatArray:
    """Return third derivatives of the coordinates for the state of a robot, shape (n,)."""
    return np.random.default_rng(8).uniform(-3.0, 3.0, ours.robot(robot).n)


def _rate(robot: str) -> PythonTask:
    bound, s = ours.robot(robot).inverse_dynamics_rate, state(ours.robot(robot).n)
    names = {'rate': bound, 'q': s.q, 'qd': s.qd, 'qdd': s.qdd, 'qddd': jerks(robot)}
    out = np.empty(s.q.shape)
    return PythonTask('ours', 'rate(q, qd, qdd, qddd, out=out)', '[out]', out=out, **names)
