# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Our side: calls as in a control loop, with the kernel loaded and arrays preallocated."""

from __future__ import annotations

import functools
import time

import numpy as np

import kron_dynamics as kd
from benchmarks.robots import GRAVITY, ROOT, compared_states, description, state
from benchmarks.timing import CLOCK, PythonTask


def robot(name: str, threads: int = 1) -> kd.Robot:
    """Return a robot by name, cached; `boom` is the stacker with two modes of its boom."""
    return _loaded(name, threads)


@functools.cache
def _loaded(name: str, threads: int) -> kd.Robot:
    if name == 'boom':
        boom = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
        text = description('stacker').text
        return kd.loads(text, gravity=GRAVITY, threads=threads, flexible=boom)
    return kd.loads(description(name).text, gravity=GRAVITY, threads=threads)


def tau(name: str, count: int | None = None, threads: int = 1) -> PythonTask:
    """Return inverse dynamics of a state, or of `count` states."""
    bound, s = robot(name, threads).inverse_dynamics, state(robot(name).n, count)
    out = np.empty(s.q.shape)
    names = {'tau': bound, 'q': s.q, 'qd': s.qd, 'qdd': s.qdd, 'out': out}
    clock = CLOCK if threads == 1 else time.perf_counter
    return PythonTask('ours', 'tau(q, qd, qdd, out=out)', '[out]', clock=clock, **names)


def mass(name: str, count: int | None = None) -> PythonTask:
    """Return the mass matrix of a state, or of `count` states, some of which are compared."""
    bound, q = robot(name).mass_matrix, state(robot(name).n, count).q
    out = np.empty((*q.shape, q.shape[-1]))
    some = ... if count is None else compared_states(count)
    names = {'mass': bound, 'q': q, 'out': out, 'some': some}
    return PythonTask('ours', 'mass(q, out=out)', '[out[some]]', **names)


def symbols(name: str) -> PythonTask:
    """Return C*: all Christoffel symbols, shape (n, n*n)."""
    bound, n = robot(name).velocity_free_coriolis_matrix, robot(name).n
    out = np.empty((n, n * n))
    return PythonTask('ours', 'symbols(q, out=out)', '[out]', symbols=bound, q=state(n).q, out=out)


def step(name: str, count: int | None = None) -> PythonTask:
    """Return the control step: M, c, g, J and dJ/dt qd of the tip in one call."""
    bound, n = robot(name).frame(description(name).tip).control_step, robot(name).n
    s, front = state(n, count), () if count is None else (count,)
    out = tuple(np.empty((*front, *shape)) for shape in ((n, n), (n,), (n,), (6, n), (6,)))
    some = ... if count is None else compared_states(count)
    results = '[array[some] for array in out]'
    names = {'step': bound, 'q': s.q, 'qd': s.qd, 'out': out, 'some': some}
    return PythonTask('ours', 'step(q, qd, out=out)', results, **names)
