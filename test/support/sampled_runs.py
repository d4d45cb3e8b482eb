# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robots under sampled control with delay, saturation, friction, model errors and noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from lxml import etree

import kron_dynamics as kd
from benchmarks.robots import description
from kron_dynamics.control.law import ControlLaw
from kron_dynamics.simulation.plant import Plant

# State periods of the robots, s, and nonsingular poses.
PERIOD = {'stacker': 0.02, 'ur5': 0.008, 'panda': 0.004}
POSE = {
    'stacker': np.array([100.0, 0.4, 0.03]),
    'ur5': np.array([0.3, -1.1, 1.3, -0.6, 0.9, 0.2]),
    'panda': np.array([0.2, -0.5, 0.3, -1.9, 0.2, 1.7, 0.4]),
}
ROBOTS = tuple(PERIOD)


def machine(
    name: str, *, mass: float = 1.0, coulomb: float | None = None, friction: float = 1.0
) -> kd.Robot:
    """Return a robot with other masses or friction than its description.

    Args:
        name: one of `ROBOTS`.
        mass: factor of all masses and inertias.
        coulomb: Coulomb friction as a fraction of the effort limits, replacing all friction; None
            for that of the description.
        friction: factor of all friction.
    """
    root = etree.fromstring(description(name).text.encode())
    for inertial in root.iter('inertial'):
        for element in (inertial.find('mass'), inertial.find('inertia')):
            for key, value in element.attrib.items():
                element.set(key, repr(mass * float(value)))
    for joint in root.findall('joint') if coulomb is not None else ():
        limit = joint.find('limit')
        for dynamics in joint.findall('dynamics'):
            joint.remove(dynamics)
        if limit is not None:
            level = repr(coulomb * float(limit.get('effort')))
            etree.SubElement(joint, 'dynamics', damping='0', friction=level)
    for dynamics in root.iter('dynamics'):
        for key, value in dynamics.attrib.items():
            dynamics.set(key, repr(friction * float(value)))
    return kd.loads(etree.tostring(root, encoding='unicode'))


@dataclass
class Swing:
    """A motion of all joints about a pose, from rest: sines of different frequencies."""

    pose: np.ndarray
    amplitude: np.ndarray
    frequency: np.ndarray  # Hz

    @classmethod
    def within(cls, robot: kd.Robot, pose: np.ndarray, speed: float, rate: float = 0.2) -> Swing:
        """Return a swing up to a fraction of the velocity limits, at about `rate` Hz."""
        frequency = rate * (1.0 + 0.13 * np.arange(robot.n))
        return cls(pose, speed * robot.model.velocity_limit / (2 * np.pi * frequency), frequency)

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        w = 2.0 * np.pi * self.frequency
        a = self.amplitude
        start = 1.0 - np.exp(-t), np.exp(-t), -np.exp(-t)  # the motion begins at rest
        sine, cosine = np.sin(w * t), np.cos(w * t)
        return (
            self.pose + a * start[0] * sine,
            a * (start[1] * sine + start[0] * w * cosine),
            a * (start[2] * sine + 2.0 * start[1] * w * cosine - start[0] * w**2 * sine),
        )


@dataclass
class Sample:
    """Data of one control period, as available to a controller."""

    time: float
    q: np.ndarray
    qd: np.ndarray
    effort: np.ndarray
    command: np.ndarray


@dataclass
class SampledRun:
    """A plant and a control law with a delay of one period from state to effort.

    Attributes:
        robot: the real machine.
        law: control law, based on any model.
        period: s.
        limit: limits of the commands, shape (n,).
        external: external efforts on the joints as a function of (t, q), shape (n,).
        velocity_noise: standard deviation of the velocities, shape (n,).
        effort_noise: standard deviation of the efforts, shape (n,).
        drive: effort added by the drives, as a function of (q, qd).
        told: whether the law is given the applied efforts, or else its own unsaturated ones.
    """

    robot: kd.Robot
    law: ControlLaw
    period: float
    pose: np.ndarray
    limit: np.ndarray | float = np.inf
    external: Callable | None = None
    velocity_noise: np.ndarray | float = 0.0
    effort_noise: np.ndarray | float = 0.0
    drive: Callable | None = None
    told: bool = True
    steps: int = 2
    seed: int = 1
    samples: list[Sample] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plant = Plant(self.robot, self.pose)
        self.state = self.law.start(self.pose)
        self.time = 0.0
        self.random = np.random.default_rng(self.seed)
        n = self.robot.model.joint_count
        self.n = n
        zero = np.zeros(n)
        first = self.law(self.pose, zero, (self.pose, zero, zero), self.state, 0.0)
        self.under_way = np.clip(first, -self.limit, self.limit)
        self.acting = self.under_way

    def step(self, reference: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Sample:
        """Evaluate the law at the present state, and advance to the next one."""
        n = self.n
        q = self.plant.q[:n].copy()
        true = self.plant.qd[:n]
        qd = true + self.velocity_noise * self.random.standard_normal(n)
        effort = self.acting + self.effort_noise * self.random.standard_normal(n)
        wanted = self.law(q, qd, reference, self.state, self.period if self.time else 0.0)
        command = np.clip(wanted, -self.limit, self.limit)
        self.state.set_applied_effort(command if self.told else wanted)
        sample = Sample(self.time, q, qd, effort, self.under_way)
        # Efforts that act until the next state.
        self.acting = self.under_way
        if self.drive is not None:
            self.acting = self.acting + self.drive(q, true)
        total = self.acting
        if self.external is not None:
            total = total + self.external(self.time, self.plant.q)[:n]
        self.plant.advance(total, self.period, self.period / self.steps)
        self.under_way = command
        self.time += self.period
        return sample
