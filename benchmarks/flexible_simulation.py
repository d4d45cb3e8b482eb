# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Free vibration of a flexible boom, against exudyn at the same phase error: target 9.

The boom is clamped (in our model by brakes), with a mass at its tip, without damping and gravity,
so that the frequency of small vibrations is the root of a transcendental equation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

import kron_dynamics as kd
from benchmarks import exudyn_peer
from benchmarks.accuracy import Simulation, compare_simulations
from benchmarks.rows import Outcome
from kron_dynamics.simulation import Plant

LENGTH, STIFFNESS, LINE_MASS, TIP_MASS = 60.0, 1.8e11, 2750.0, 60e3  # m, N m^2, kg/m, kg
DEFLECTION = 0.01  # m
PERIODS, PHASE_ERROR, LOSS = 20, 0.01, 0.1
ELEMENTS = (1, 2, 3)
FIRST = 12 * PERIODS  # steps: enough that no method of order 2 is off by a whole period

_BOOM = f"""<robot name="boom"><link name="tower"/>
  <joint name="luff" type="continuous"><parent link="tower"/><child link="beam"/>
    <axis xyz="0 -1 0"/></joint>
  <link name="beam"><inertial><origin xyz="{LENGTH / 2} 0 0"/>
    <mass value="{LINE_MASS * LENGTH}"/><inertia ixx="1e9"
    iyy="{1e9 + LINE_MASS * LENGTH**3 / 12}" izz="{1e9 + LINE_MASS * LENGTH**3 / 12}" ixy="0"
    ixz="0" iyz="0"/></inertial></link>
  <joint name="tip" type="fixed"><parent link="beam"/><child link="load"/>
    <origin xyz="{LENGTH} 0 0"/></joint>
  <link name="load"><inertial><mass value="{TIP_MASS}"/><inertia ixx="0" iyy="0" izz="0" ixy="0"
    ixz="0" iyz="0"/></inertial></link></robot>"""

# Returns deflection of the tip, m, and its rate, m/s, at the end of a number of steps.
Run = Callable[[int], tuple[float, float]]


def against_exudyn(rounds: int) -> Outcome:
    """Compare with exudyn's implicit solver and its fastest number of elements."""
    duration = PERIODS * 2.0 * np.pi / frequency()
    peers = []
    for elements in ELEMENTS:
        run = exudyn_peer.boom(
            elements,
            length=LENGTH,
            stiffness=STIFFNESS,
            line_mass=LINE_MASS,
            tip_mass=TIP_MASS,
            deflection=DEFLECTION,
        )
        peers.append(
            simulation_of(f'exudyn with {elements} elements', functools.partial(run, duration))
        )
    return compare_simulations(simulation_of('ours', ours(duration)), peers, FIRST, rounds)


def frequency() -> float:
    """Return the lowest eigenfrequency of a clamped beam with a mass at its tip, rad/s."""
    ratio = TIP_MASS / (LINE_MASS * LENGTH)

    def residual(x: float) -> float:
        tip = np.cos(x) * np.sinh(x) - np.sin(x) * np.cosh(x)
        return float(1.0 + np.cos(x) * np.cosh(x) + ratio * x * tip)

    root = brentq(residual, 0.1, 1.9, xtol=1e-14)
    return float((root / LENGTH) ** 2 * np.sqrt(STIFFNESS / LINE_MASS))


def simulation_of(name: str, run: Run) -> Simulation:
    """Return a run as a simulation; it is accurate if the phase is, and most amplitude is left."""

    def is_accurate(steps: int) -> bool:
        deflection, rate = run(steps)
        rate /= frequency()
        error = np.arctan2(-rate, deflection) / (2.0 * np.pi * PERIODS)
        loss = 1.0 - np.hypot(deflection, rate) / DEFLECTION
        return bool(abs(error) <= PHASE_ERROR and abs(loss) <= LOSS)

    return Simulation(name, run, is_accurate)


def ours(duration: float) -> Run:
    """Return the run of our boom, clamped by its brakes, with one mode."""
    beam = {
        'length': LENGTH,
        'mass_per_length': LINE_MASS,
        'bending_stiffness': STIFFNESS,
        'modes': {'w': 1},
    }
    robot = kd.loads(_BOOM, gravity=(0.0, 0.0, 0.0), flexible={'flexible_links': {'beam': beam}})
    plant = Plant(robot, [0.0])
    plant.brakes_set = True
    start, rest, none = np.array([0.0, DEFLECTION]), np.zeros(2), np.zeros(1)

    def run(steps: int) -> tuple[float, float]:
        plant.q, plant.qd = start, rest
        plant.advance(none, duration, duration / steps)
        return float(plant.q[1]), float(plant.qd[1])

    return run
