# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Batches of states: target 4."""

from __future__ import annotations

from benchmarks import ours, pinocchio_peer
from benchmarks.rows import Outcome
from benchmarks.timing import compare, pinned, quickest

COUNT = 100_000


def batch_rounds(rounds: int) -> int:
    """Return a smaller number of rounds: one takes much longer than a round of single calls."""
    return max(3, rounds // 3)


def tau(robot: str, rounds: int) -> Outcome:
    """Inverse dynamics on one core."""
    with pinned():
        peer = pinocchio_peer.batch_tau(robot, COUNT, 1)
        return Outcome.of(compare(ours.tau(robot, COUNT), peer, batch_rounds(rounds)), peer.name)


def tau_two_threads(robot: str, rounds: int) -> Outcome:
    """Inverse dynamics with two threads, each library with its own."""
    peer = pinocchio_peer.batch_tau(robot, COUNT, 2)
    mine = ours.tau(robot, COUNT, threads=2)
    return Outcome.of(compare(mine, peer, batch_rounds(rounds)), peer.name)


def mass(robot: str, rounds: int) -> Outcome:
    """Mass matrices on one core; Pinocchio has no parallel call for them."""
    return _in_loop(robot, 'mass', rounds)


def step(robot: str, rounds: int) -> Outcome:
    """Control steps on one core; Pinocchio has no parallel call for them."""
    return _in_loop(robot, 'step', rounds)


def _in_loop(robot: str, quantity: str, rounds: int) -> Outcome:
    mine = ours.mass(robot, COUNT) if quantity == 'mass' else ours.step(robot, COUNT)
    ways = pinocchio_peer.mass(robot) if quantity == 'mass' else pinocchio_peer.steps(robot)
    with pinned():
        peer = pinocchio_peer.batch_of(quickest(ways), robot, COUNT)
        return Outcome.of(compare(mine, peer, 3 if rounds > 5 else 1), peer.name)
