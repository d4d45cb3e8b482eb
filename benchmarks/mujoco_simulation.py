# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulation against MuJoCo, both with the fewest steps that are accurate enough: target 9.

Robots fall freely from one state, without friction, limits and contacts. The reference solution
is from an eighth-order integrator with a tight tolerance.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from lxml import etree
from scipy.integrate import solve_ivp

import kron_dynamics as kd
from benchmarks import mujoco_peer
from benchmarks.accuracy import Simulation, compare_simulations
from benchmarks.robots import CHAIN, GRAVITY, Description, description
from benchmarks.rows import Outcome
from kron_dynamics.simulation import Plant
from kron_dynamics.typing import FloatArray

DURATIONS = {'stacker': 5.0, 'ur5': 0.5, CHAIN: 0.3}  # s: long enough for large motions
ACCURACY = 1e-3  # largest error of a coordinate at the end, rad or m
INTEGRATORS = {'rk4': 'mjINT_RK4', 'euler': 'mjINT_EULER', 'implicit': 'mjINT_IMPLICIT'}

# Simulates with a number of steps and returns the final q.
Run = Callable[[int], FloatArray]


class Fall(NamedTuple):
    """Free fall of a robot without friction and limits: duration, initial and final state."""

    text: str
    robot: kd.Robot
    duration: float
    start: tuple[FloatArray, FloatArray]
    end: FloatArray


@functools.cache
def fall(name: str) -> Fall:
    """Return a robot's free fall from a state in motion."""
    root = etree.fromstring(description(name).text.encode())
    for joint in root.iter('joint'):
        for element in joint.findall('dynamics'):
            joint.remove(element)
        for limit in joint.findall('limit'):
            limit.attrib.update({'lower': '-1000', 'upper': '1000'})
    text = str(etree.tostring(root, encoding='unicode'))
    robot = kd.loads(text, gravity=GRAVITY)
    n, rest = robot.n, np.zeros(robot.n)
    start = np.random.default_rng(7).uniform(-0.5, 0.5, (2, n))
    duration = DURATIONS[name]

    def rates(_: float, y: FloatArray) -> FloatArray:
        return np.concatenate((y[n:], robot.forward_dynamics(y[:n].copy(), y[n:].copy(), rest)))

    found = solve_ivp(
        rates,
        (0.0, duration),
        start.ravel(),
        method='DOP853',
        rtol=1e-12,
        atol=1e-12,
    )
    return Fall(text, robot, duration, (start[0], start[1]), found.y[:n, -1])


def against(name: str, integrator: str, rounds: int) -> Outcome:
    """Compare with one of MuJoCo's integrators."""
    case = fall(name)

    def simulation(label: str, run: Run) -> Simulation:
        def is_accurate(steps: int) -> bool:
            return bool(np.abs(run(steps) - case.end).max() <= ACCURACY)

        return Simulation(label, run, is_accurate)

    peer = _mujoco(name, case, INTEGRATORS[integrator])
    ours = simulation('ours', _ours(case))
    return compare_simulations(ours, [simulation('MuJoCo', peer)], 2, rounds)


def _ours(case: Fall) -> Run:
    plant = Plant(case.robot, case.start[0])
    rest = np.zeros(case.robot.n)

    def run(steps: int) -> FloatArray:
        plant.q, plant.qd = case.start
        try:
            plant.advance(rest, case.duration, case.duration / steps)
        except kd.NonFiniteError:  # by far too few steps
            return np.full(len(rest), np.inf)
        return plant.q

    return run


def _mujoco(name: str, case: Fall, integrator: str) -> Run:
    model = mujoco_peer.built(Description(case.text, description(name).tip))
    mujoco = mujoco_peer.mujoco
    model.opt.integrator = getattr(mujoco.mjtIntegrator, integrator)
    for part in ('CONTACT', 'CONSTRAINT', 'ACTUATION', 'AUTORESET'):
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f'mjDSBL_{part}'))
    data: Any = mujoco.MjData(model)

    def run(steps: int) -> FloatArray:
        model.opt.timestep = case.duration / steps
        mujoco.mj_resetData(model, data)
        data.qpos, data.qvel = case.start
        mujoco.mj_step(model, data, steps)
        return np.array(data.qpos)

    return run
