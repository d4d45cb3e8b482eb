# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Single calls from Python, and tau and M in a C loop: targets 1 to 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks import casadi_peer, mujoco_peer, ours, pinocchio_cpp, pinocchio_peer
from benchmarks.native_code import LoopTask
from benchmarks.robots import state
from benchmarks.rows import Outcome
from benchmarks.timing import Task, check_equal, compare, pinned, quickest


def against(mine: Task, peers: Sequence[Task], rounds: int) -> Outcome:
    """Compare with the fastest of a peer's variants, all of which must give our numbers."""
    with pinned():
        for peer in peers:
            check_equal(mine, peer)
        peer = quickest(peers)
        return Outcome.of(compare(mine, peer, rounds), peer.name)


def step_pinocchio(robot: str, rounds: int) -> Outcome:
    """Control step, one call."""
    return against(ours.step(robot), pinocchio_peer.steps(robot), rounds)


def step_mujoco(robot: str, rounds: int) -> Outcome:
    """Control step, one call."""
    return against(ours.step(robot), mujoco_peer.steps(robot), rounds)


def symbols_pinocchio(robot: str, rounds: int) -> Outcome:
    """C*, one call, against n Coriolis matrices of Pinocchio."""
    return against(ours.symbols(robot), [pinocchio_peer.symbols(robot)], rounds)


def symbols_cpp(robot: str, rounds: int) -> Outcome:
    """C*, one call from Python, against Pinocchio's second-order tensors in a C++ loop."""
    with pinned(), pinocchio_cpp.Program(robot) as program:
        task = pinocchio_cpp.SymbolsTask(program, ours.robot(robot).n)
        return against(ours.symbols(robot), [task], rounds)


def tau_pinocchio(robot: str, rounds: int) -> Outcome:
    """Inverse dynamics, one call."""
    return against(ours.tau(robot), [pinocchio_peer.tau(robot)], rounds)


def tau_mujoco(robot: str, rounds: int) -> Outcome:
    """Inverse dynamics, one call."""
    return against(ours.tau(robot), [mujoco_peer.tau(robot)], rounds)


def mass_pinocchio(robot: str, rounds: int) -> Outcome:
    """Mass matrix, one call."""
    return against(ours.mass(robot), pinocchio_peer.mass(robot), rounds)


def mass_mujoco(robot: str, rounds: int) -> Outcome:
    """Mass matrix, one call."""
    return against(ours.mass(robot), [mujoco_peer.mass(robot)], rounds)


def casadi_loop(robot: str, quantity: str, rounds: int) -> Outcome:
    """Tau or M, both called in the same C loop."""
    built: Any = ours.robot(robot)  # typed as Any because of the kernel's attribute `address`
    s = state(built.n)
    if quantity == 'tau':
        address, inputs = built.inverse_dynamics.address, [s.q, s.qd, s.qdd]
    else:
        address, inputs = built.mass_matrix.address, [s.q]
    out = np.empty((built.n,) if quantity == 'tau' else (built.n, built.n))
    mine = LoopTask('ours', address, inputs, out)
    return against(mine, [casadi_peer.in_c_loop(robot, quantity)], rounds)


def casadi_call(robot: str, quantity: str, rounds: int) -> Outcome:
    """Tau or M in one call from Python, both through our extension module."""
    mine = ours.tau(robot) if quantity == 'tau' else ours.mass(robot)
    return against(mine, [casadi_peer.through_our_call(robot, quantity)], rounds)


def casadi_buffer(robot: str, quantity: str, rounds: int) -> Outcome:
    """Tau or M in one call from Python, CasADi by the fastest of its own calls."""
    mine = ours.tau(robot) if quantity == 'tau' else ours.mass(robot)
    return against(mine, [casadi_peer.own_call(robot, quantity)], rounds)
