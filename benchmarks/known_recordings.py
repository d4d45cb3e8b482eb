# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated recordings, with ground truth, of machines that differ from their descriptions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from lxml import etree

import kron_dynamics as kd
from benchmarks.known_machines import MACHINES, Machine
from benchmarks.robots import description
from kron_dynamics.bag.samples import DroppedSamples, Samples
from kron_dynamics.bag.series.joint_log import JointLog, JointSegment
from kron_dynamics.bag.series.runs import Run
from kron_dynamics.carrying import CarryingRobot
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.payload import RigidPayload
from kron_dynamics.simulation.plant import Plant
from kron_dynamics.typing import FloatArray

# Factors of the real machine's masses, and of its friction if the description has some.
HEAVIER, ROUGHER = 1.05, 1.3
OFFSET = 0.01  # offset of the recorded efforts as a share of the limits

Reference = Callable[[FloatArray | float], tuple[FloatArray, FloatArray, FloatArray]]


@dataclass(frozen=True)
class Recording:
    """Recorded signals and ground truth, arrays of shape (N, n).

    Attributes:
        time: s, shape (N,).
        q: quantized positions.
        qd: noisy velocities.
        effort: noisy efforts, averaged over the control periods before and after the sample.
        acceleration: true accelerations, averaged over the same periods.
        effort_noise: noise of the efforts.
    """

    time: FloatArray
    q: FloatArray
    qd: FloatArray
    effort: FloatArray
    acceleration: FloatArray
    effort_noise: FloatArray

    def rubbed(self, share: float, passage: FloatArray) -> Recording:
        """Return the recording with load-dependent friction added to the efforts.

        Args:
            share: friction as a share of the effort of each joint.
            passage: transition velocities of the regularised friction, shape (n,).
        """
        friction = share * np.abs(self.effort - self.effort_noise) * np.tanh(self.qd / passage)
        return replace(self, effort=self.effort + friction)

    def segment(self, velocities: bool) -> JointSegment:
        """Return the recording as a segment of a bag, with or without velocities."""
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

    def run(self) -> Run:
        """Return the recording as the run of a topic."""
        stamps = np.zeros((3, 1), np.int64)
        log = JointLog((self.segment(True),), DroppedSamples(), len(self.time), 0, *stamps, True)
        return Run('/joint_states', log, None, None, ())


class Simulated:
    """A real machine, and its description."""

    def __init__(self, name: str) -> None:
        """Load both; kernels are compiled when they are first needed."""
        self.machine = MACHINES[name]
        self.link = description(name).tip
        self.described = kd.loads(machine_urdf(name, self.machine, False))
        self.real = kd.loads(machine_urdf(name, self.machine, True))
        self.carrying = CarryingRobot(self.real, self.link)
        self._empty: dict[int, Recording] = {}

    def offset(self, seed: int) -> FloatArray:
        """Return the offsets of the recorded efforts of a run, shape (n,), N m or N."""
        random = np.random.default_rng([seed, 0])
        return np.asarray(
            OFFSET * self.real.model.effort_limit * random.standard_normal(self.real.n)
        )

    def empty(self, seed: int) -> Recording:
        """Return the recording without load of a run; the last one is cached."""
        if seed not in self._empty:
            random = np.random.default_rng([seed, 1])
            self._empty = {seed: self.record(random, self.offset(seed), ())}
        return self._empty[seed]

    def loaded(self, seed: int) -> tuple[Recording, tuple[RigidPayload, ...]]:
        """Return the recording of a run with two successive loads, and the loads."""
        random = np.random.default_rng([seed, 2])
        loads = tuple(random_load(self.machine, random) for _ in range(2))
        return self.record(random, self.offset(seed), loads), loads

    def record(
        self, random: np.random.Generator, offset: FloatArray, loads: Sequence[RigidPayload]
    ) -> Recording:
        """Return a recording of random motion, each of the loads carried for an equal time.

        Raises:
            ParameterError: the motion needs more than the effort limit of a drive.
        """
        machine, limits = self.machine, self.described.model
        reference = random_motion(machine, random, limits.velocity_limit)
        every = round(machine.period / machine.control)
        count = round(machine.duration / machine.period)
        # Two control periods more, for the averages about the first and the last sample.
        times = machine.control * np.arange(-1.0, every * count + 1.0)
        states = self._moved(reference(times), loads)
        if np.any(np.abs(states[2]) > limits.effort_limit):
            # The plant saturates efforts, so the commands differ from the efforts that acted.
            raise ParameterError('the simulated motion needs more effort than the drives have')
        # Averaged over two control periods: faster changes are effects of the sampled control.
        acceleration = (states[1, 2:] - states[1, :-2]) / (2.0 * machine.control)
        effort = 0.5 * (states[2, 1:-1] + states[2, :-2])
        states, acceleration, effort = (
            values[..., ::every, :][..., :count, :]
            for values in (states[:, 1:-1], acceleration, effort)
        )
        noise = random.standard_normal((3, count, self.real.n))
        q = states[0] + machine.position_noise * machine.resolution * noise[0]
        effort_noise = machine.effort_noise * limits.effort_limit * noise[2]
        return Recording(
            machine.period * np.arange(count),
            np.round(q / machine.resolution) * machine.resolution,
            states[1] + machine.velocity_noise * limits.velocity_limit * noise[1],
            effort + offset + effort_noise,
            acceleration,
            effort_noise,
        )

    def _moved(
        self,
        wanted: tuple[FloatArray, FloatArray, FloatArray],
        loads: Sequence[RigidPayload],
    ) -> FloatArray:
        """Return states and commands, shape (3, N, n), under feedforward and feedback control."""
        q, qd, qdd = wanted
        machine, count = self.machine, len(q)
        robot = self.carrying if loads else self.real
        parts = np.arange(count) * max(1, len(loads)) // count
        stiffness, damping = machine.gains
        plant = Plant(robot, q[0])
        plant.qd = qd[0]
        states = np.empty((3, count, self.real.n))
        for part in range(parts[-1] + 1):
            rows = np.flatnonzero(parts == part)
            if loads:
                self.carrying.set_payload(self.link, loads[part])
            forward = robot.inverse_dynamics(q[rows], qd[rows], qdd[rows])
            mass = robot.mass_matrix(q[rows])
            for k, known, inertia in zip(rows, forward, mass, strict=True):
                error = damping * (qd[k] - plant.qd) + stiffness * (q[k] - plant.q)
                # Friction is compensated for the velocity in the middle of the period.
                middle = plant.qd + 0.5 * machine.control * (qdd[k] + error)
                command = known + inertia @ error + robot.joint_friction(middle)
                states[:, k] = plant.q, plant.qd, command
                plant.advance(command, machine.control, machine.step)
        return states


def machine_urdf(name: str, machine: Machine, real: bool) -> str:
    """Return the URDF of a machine with rotors, either described or real."""
    if not real:
        return urdf_text(name, machine.rotors)
    return urdf_text(name, machine.rotors, machine.coulomb, mass=HEAVIER, friction=ROUGHER)


def urdf_text(
    name: str,
    rotors: float = 0.0,
    coulomb: float = 0.0,
    *,
    mass: float = 1.0,
    friction: float = 1.0,
) -> str:
    """Return the URDF of a robot with rotors, and with changed masses and friction.

    Args:
        name: name of a robot in `benchmarks.robots`.
        rotors: reflected rotor inertia per effort limit, kg m^2 / (N m).
        coulomb: Coulomb friction as a share of the effort limits; 0 for that of the description.
        mass: factor of masses and inertias.
        friction: factor of the description's friction, if `coulomb` is 0.
    """
    root = etree.fromstring(description(name).text.encode())
    for inertial in root.iter('inertial'):
        for element in (inertial.find('mass'), inertial.find('inertia')):
            for key, value in element.attrib.items():
                element.set(key, repr(mass * float(value)))
    for joint in root.findall('joint'):
        limit, dynamics = joint.find('limit'), joint.find('dynamics')
        if limit is None or joint.get('type') == 'fixed':
            continue
        largest = float(limit.get('effort'))
        if rotors:
            place = etree.SubElement(root, 'transmission', name=f'{joint.get("name")}_drive')
            etree.SubElement(place, 'joint', name=joint.get('name'))
            drive = etree.SubElement(place, 'actuator', name=f'{joint.get("name")}_motor')
            etree.SubElement(drive, 'rotor_inertia', value=repr(rotors * largest))
            etree.SubElement(drive, 'gear_ratio').set('value', '1')
        if coulomb:
            if dynamics is None:
                dynamics = etree.SubElement(joint, 'dynamics')
            dynamics.set('friction', repr(coulomb * largest))
        elif dynamics is not None:
            for key, value in dynamics.attrib.items():
                dynamics.set(key, repr(friction * float(value)))
    return str(etree.tostring(root, encoding='unicode'))


def random_motion(machine: Machine, random: np.random.Generator, fastest: FloatArray) -> Reference:
    """Return a random motion as a function of one time or N times.

    It returns positions, velocities of at most `fastest`, and accelerations, shape (n,) or (N, n).
    """
    n = len(fastest)
    frequency = 2 * np.pi * machine.slowest * random.uniform(1.0, 6.0, (4, n))
    phase = random.uniform(0.0, 2 * np.pi, (4, n))
    share = random.dirichlet(np.ones(4), n).T * machine.reach
    share *= np.minimum(1.0, fastest / np.sum(share * frequency, axis=0))

    def reference(times: FloatArray | float) -> tuple[FloatArray, FloatArray, FloatArray]:
        angle = frequency * np.asarray(times)[..., None, None] + phase
        sines = np.sin(angle)
        return (
            machine.pose + np.sum(share * sines, axis=-2),
            np.sum(share * frequency * np.cos(angle), axis=-2),
            -np.sum(share * frequency**2 * sines, axis=-2),
        )

    return reference


def random_load(machine: Machine, random: np.random.Generator) -> RigidPayload:
    """Return a random load within the range that a machine may carry."""
    mass = random.uniform(*machine.loads)
    center = machine.place * random.uniform(-1.0, 1.0, 3)
    inertia = mass * (0.3 * machine.place) ** 2 * np.eye(3)
    return RigidPayload(mass, center, inertia)
