# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings whose truth is known, and how near to it the analysis of bags comes.

python -m benchmarks.known_truth --runs 100

Each run simulates a stacker-reclaimer, a UR5 and a Panda that are not as described: heavier
links, other friction, offsets of the measured efforts. They move without load, then with one that
changes half way; positions are rounded, and noise is on all. A table says how far accelerations
and payloads are from the truth, and how often an interval holds it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree

import kron_dynamics as kd
from benchmarks.known_machines import MACHINES, Machine
from benchmarks.robots import description
from kron_dynamics.bag.replaying.filters import JointFilter, choose_filters
from kron_dynamics.bag.replaying.row_signals import JointSmoothing
from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.carrying import CarryingRobot
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.payload import PayloadEstimate, PayloadFit, fit_payload
from kron_dynamics.identification.rows import Rows, regressor_rows
from kron_dynamics.model.payload import RigidPayload
from kron_dynamics.simulation.plant import Plant
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class Recording:
    """What was recorded, and what was the case: arrays of shape (N, n).

    Attributes:
        time: s, shape (N,).
        q: rounded positions.
        qd: noisy velocities.
        effort: noisy efforts.
        acceleration: as it was, averaged over two periods of the control.
    """

    time: FloatArray
    q: FloatArray
    qd: FloatArray
    effort: FloatArray
    acceleration: FloatArray

    def segment(self, velocities: bool) -> JointSegment:
        """Return it as a stretch of a bag, with or without velocities."""
        columns = range(self.q.shape[1])
        nothing = Samples(np.empty(0), np.empty(0))
        return JointSegment(
            0,
            float(self.time[0]),
            float(self.time[-1]),
            tuple(Samples(self.time, self.q[:, k]) for k in columns),
            tuple(Samples(self.time, self.qd[:, k]) if velocities else nothing for k in columns),
            tuple(Samples(self.time, self.effort[:, k]) for k in columns),
        )


class Simulated:
    """A machine as it is, and as it is described."""

    def __init__(self, name: str) -> None:
        """Load and compile it."""
        self.machine = MACHINES[name]
        self.link = description(name).tip
        self.described = kd.loads(machine_urdf(name, self.machine, False))
        self.real = CarryingRobot(kd.loads(machine_urdf(name, self.machine, True)), self.link)

    def record(
        self, random: np.random.Generator, offset: FloatArray, loads: Sequence[RigidPayload]
    ) -> Recording:
        """Return a recording of random motion, during equal parts of which it carries loads.

        Raises:
            ParameterError: a drive would have to exceed its effort limit.
        """
        machine, n = self.machine, self.described.n
        reference = random_motion(machine, random, self.described.model.velocity_limit)
        every = round(machine.period / machine.control)
        count = round(machine.duration / machine.period)
        self.real.set_payload(self.link, loads[0])
        plant = Plant(self.real, reference(0.0)[0])
        plant.qd = reference(0.0)[1]
        states = np.empty((3, every * count + 1, n))
        stiffness, damping = machine.gains
        part = 0
        for k in range(every * count):
            if k * len(loads) // (every * count) != part:
                part += 1
                self.real.set_payload(self.link, loads[part])
            q, qd, qdd = reference(k * machine.control)
            wanted = qdd + damping * (qd - plant.qd) + stiffness * (q - plant.q)
            command = self.real.inverse_dynamics(plant.q, plant.qd, wanted)
            # Drives overcome friction, as it will be in the middle of the period.
            command += self.real.joint_friction(plant.qd + 0.5 * machine.control * wanted)
            states[:, k] = plant.q, plant.qd, command
            plant.advance(command, machine.control, machine.step)
        states[:, -1] = plant.q, plant.qd, command
        # Over two periods of the control: what varies within these is no motion.
        acceleration = np.gradient(states[1], machine.control, axis=0)[:-1:every]
        states = states[:, :-1:every]
        limits = self.described.model
        if np.any(np.abs(states[2]) > limits.effort_limit):
            # A plant cuts it off, so what is recorded is not what acted.
            raise ParameterError('the simulated motion needs more effort than the drives have')
        noise = random.standard_normal((3, count, n))
        q = states[0] + machine.position_noise * machine.resolution * noise[0]
        return Recording(
            machine.period * np.arange(count),
            np.round(q / machine.resolution) * machine.resolution,
            states[1] + machine.velocity_noise * limits.velocity_limit * noise[1],
            states[2] + offset + machine.effort_noise * limits.effort_limit * noise[2],
            acceleration,
        )


def machine_urdf(name: str, machine: Machine, real: bool) -> str:
    """URDF text with rotors; as it is, it is 5 % heavier and has more friction than described."""
    root = etree.fromstring(description(name).text.encode())
    for inertial in root.iter('inertial') if real else ():
        for element in (inertial.find('mass'), inertial.find('inertia')):
            for key, value in element.attrib.items():
                element.set(key, repr(1.05 * float(value)))
    for joint in root.findall('joint'):
        limit, dynamics = joint.find('limit'), joint.find('dynamics')
        if limit is None or joint.get('type') == 'fixed':
            continue
        largest = float(limit.get('effort'))
        if machine.rotors:
            place = etree.SubElement(root, 'transmission', name=f'{joint.get("name")}_drive')
            etree.SubElement(place, 'joint', name=joint.get('name'))
            drive = etree.SubElement(place, 'actuator', name=f'{joint.get("name")}_motor')
            etree.SubElement(drive, 'rotor_inertia', value=repr(machine.rotors * largest))
            etree.SubElement(drive, 'gear_ratio').set('value', '1')
        if real and machine.coulomb:
            if dynamics is None:
                dynamics = etree.SubElement(joint, 'dynamics')
            dynamics.set('friction', repr(machine.coulomb * largest))
        elif real and dynamics is not None:
            for key, value in dynamics.attrib.items():
                dynamics.set(key, repr(1.3 * float(value)))
    return etree.tostring(root, encoding='unicode')


def random_motion(machine: Machine, random: np.random.Generator, fastest: FloatArray):  # noqa: ANN202
    """A function of time: positions, rates up to the fastest, accelerations, shape (n,) each."""
    n = len(fastest)
    frequency = 2 * np.pi * machine.slowest * random.uniform(1.0, 6.0, (4, n))
    phase = random.uniform(0.0, 2 * np.pi, (4, n))
    share = random.dirichlet(np.ones(4), n).T * machine.reach
    share *= np.minimum(1.0, fastest / np.sum(share * frequency, axis=0))

    def reference(t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        angle = frequency * t + phase
        return (
            machine.pose + np.sum(share * np.sin(angle), axis=0),
            np.sum(share * frequency * np.cos(angle), axis=0),
            -np.sum(share * frequency**2 * np.sin(angle), axis=0),
        )

    return reference


def rows_of(
    robot: kd.Robot, recording: Recording, filters: Sequence[JointFilter], width: float
) -> Rows:
    """Return regressor and efforts of a recording, its motion smoothed."""
    segment = recording.segment(True)
    q, qd, _, _ = JointSmoothing(filters).motion(segment, recording.time)
    inner = slice(filters[0].half_count, -filters[0].half_count)
    motion = Motion(recording.time[inner], q[inner], qd[inner], recording.effort[inner])
    return regressor_rows(robot, motion, width)


def acceleration_errors(robot: kd.Robot, recording: Recording) -> FloatArray:
    """Return errors of joints' accelerations relative to those by central differences, (3, n).

    Of accelerations from both signals, from positions alone, and the stated error over the true.
    """
    period = float(recording.time[1])
    effort = np.sqrt(np.mean(recording.effort**2, axis=0))
    plain = np.gradient(recording.qd, period, axis=0)
    twice = np.diff(recording.q, 2, axis=0) / period**2
    ratios = []
    for velocities, other in ((True, plain[1:-1]), (False, twice)):
        segment = recording.segment(velocities)
        filters = choose_filters(robot, [segment], effort)
        found = JointSmoothing(filters).motion(segment, recording.time)[2]
        reach = filters[0].half_count
        found[:reach] = found[len(found) - reach :] = np.nan
        error = (found - recording.acceleration)[1:-1]
        inner = np.isfinite(error).all(axis=1)
        rms = np.sqrt(np.mean(error[inner] ** 2, axis=0))
        theirs = np.sqrt(np.mean((other - recording.acceleration[1:-1])[inner] ** 2, axis=0))
        ratios.append(theirs / rms)
        if velocities:
            stated = np.array([item.acceleration_error() for item in filters]) / rms
    return np.array([*ratios, stated])


@dataclass(frozen=True)
class Outcome:
    """One run of a machine.

    Attributes:
        ratios: errors of accelerations by central differences over those here, from velocities
            and positions and from positions alone; and stated over true errors: shape (3, n).
        fit: the payload found.
        loads: the true ones.
        change: when they changed, s.
    """

    ratios: FloatArray
    fit: PayloadFit
    loads: tuple[RigidPayload, ...]
    change: float

    @property
    def found(self) -> list[tuple[PayloadEstimate, RigidPayload]]:
        """Estimates where they should be, with the truth: at a quarter and three quarters."""
        pairs = []
        for share, load in zip((0.5, 1.5), self.loads, strict=True):
            (piece,) = [
                piece
                for k, piece in enumerate(self.fit.pieces)
                if share * self.change < piece.end or k == len(self.fit.pieces) - 1
            ][:1]
            pairs.append((piece, load))
        return pairs


def run(simulated: Simulated, seed: int) -> Outcome:
    """Simulate and analyse a machine once."""
    random, machine = np.random.default_rng(seed), simulated.machine
    robot = simulated.described
    offset = 0.01 * robot.model.effort_limit * random.standard_normal(robot.n)
    loads = tuple(random_load(machine, random) for _ in range(2))
    empty = simulated.record(random, offset, [RigidPayload(0.0)])
    loaded = simulated.record(random, offset, loads)
    effort = np.sqrt(np.mean(empty.effort**2, axis=0))
    filters = choose_filters(robot, [empty.segment(True)], effort)
    rows = [rows_of(robot, item, filters, machine.width) for item in (loaded, empty)]
    center = None if machine.place else np.zeros(3)
    fit = fit_payload(robot, simulated.link, *rows, center=center)
    return Outcome(acceleration_errors(robot, empty), fit, loads, 0.5 * machine.duration)


def random_load(machine: Machine, random: np.random.Generator) -> RigidPayload:
    """Return a load of those that a machine may carry, drawn at random."""
    mass = random.uniform(*machine.loads)
    center = machine.place * random.uniform(-1.0, 1.0, 3)
    inertia = mass * (0.3 * machine.place) ** 2 * np.eye(3)
    return RigidPayload(mass, center, inertia)


def table(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Return lines about the runs of a machine."""
    pairs = [pair for outcome in outcomes for pair in outcome.found]
    errors = np.array([abs(found.mass / true.mass - 1.0) for found, true in pairs])
    holds = [f.mass_interval[0] <= true.mass <= f.mass_interval[1] for f, true in pairs]
    width = [np.ptp(found.mass_interval) / (2.0 * true.mass) for found, true in pairs]
    ratios = np.array([outcome.ratios for outcome in outcomes])
    counts = [len(outcome.fit.pieces) for outcome in outcomes]
    lines = [
        f'{name}: {len(outcomes)} runs, {len(pairs)} payloads',
        f'  acceleration error, central differences of velocities over here: least '
        f'{ratios[:, 0].min():.3g}, median {np.median(ratios[:, 0]):.3g}',
        f'  acceleration error, of positions: least {ratios[:, 1].min():.3g}, '
        f'median {np.median(ratios[:, 1]):.3g}',
        f'  stated over true error of accelerations: {ratios[:, 2].min():.3g} to '
        f'{ratios[:, 2].max():.3g}, median {np.median(ratios[:, 2]):.3g}',
        f'  mass: median error {100 * np.median(errors):.3g} %, largest '
        f'{100 * errors.max():.3g} %, within 2 % in {100 * np.mean(errors < 0.02):.3g} %',
        f'  mass: 95 % interval of +/- {100 * np.median(width):.3g} % holds the truth in '
        f'{100 * np.mean(holds):.3g} %',
        f'  payload changes once: found so in {100 * np.mean(np.array(counts) == 2):.3g} %',
    ]
    centers = [(f, t) for f, t in pairs if any(t.center_of_mass)]
    if centers:
        off = np.array([np.abs(f.center_of_mass - t.center_of_mass) for f, t in centers])
        spread = np.array([1.96 * f.center_deviation for f, _ in centers])
        lines.append(
            f'  centre of mass: median error {1e3 * np.median(off):.3g} mm, interval holds the '
            f'truth in {100 * np.mean(off < spread):.3g} % of the coordinates'
        )
    return lines


def main() -> None:
    """Run the campaign and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=100)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--machine', choices=list(MACHINES), action='append')
    arguments = parser.parse_args()
    for name in arguments.machine or MACHINES:
        simulated = Simulated(name)
        outcomes = [run(simulated, arguments.seed + k) for k in range(arguments.runs)]
        print('\n'.join(table(name, outcomes)), flush=True)


if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
