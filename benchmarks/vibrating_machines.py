# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated runs of machines with flexible links: sampled control with delay, encoders, noise."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml

import kron_dynamics as kd
from benchmarks.known_machines import MACHINES as RIGID
from benchmarks.known_recordings import urdf_text
from benchmarks.robots import description
from kron_dynamics.bag.samples import DroppedSamples, Samples
from kron_dynamics.bag.series.auxiliary_series import Companion
from kron_dynamics.bag.series.joint_log import JointLog, JointSegment
from kron_dynamics.bag.series.runs import Run
from kron_dynamics.resources import resource_path
from kron_dynamics.simulation import Plant

BOOM = yaml.safe_load(
    resource_path('config', 'stacker_reclaimer_flexible.yaml').read_text(encoding='utf-8')
)


def _one_beam(
    link: str,
    length: float,
    axes: tuple[list[int], list[int]],
    mass_per_length: float,
    stiffness: tuple[float, float],
) -> dict[str, Any]:
    """Return the description of a flexible link with one mode in each bending plane."""
    return {
        'flexible_links': {
            link: {
                'length': length,
                'axis': axes[0],
                'lateral': axes[1],
                'mass_per_length': mass_per_length,
                'bending_stiffness': dict(zip('vw', stiffness, strict=True)),
                'modes': {'v': 1, 'w': 1},
                'damping_ratio': 0.02,
            }
        }
    }


# The upper arm of a UR5 and the forearm of a Panda as beams. Manufacturers do not publish their
# stiffness; it is chosen for vibrations of some 10 Hz.
UPPER_ARM = _one_beam('upper_arm_link', 0.425, ([0, 0, 1], [1, 0, 0]), 3.0, (2.5e3, 2.5e3))
FOREARM = _one_beam('panda_link4', 0.384, ([0, 1, 0], [1, 0, 0]), 1.0, (1.3e3, 8e2))


@dataclass(frozen=True)
class Machine:
    """A machine and its recording; noises are standard deviations, per joint, SI units.

    Attributes:
        name: name in `benchmarks.robots`; rotors and friction are those of `known_machines`.
        flexible: description of its flexible links.
        pose: central positions of the joints.
        reach: amplitude of each joint's motion.
        period: period of control and recording, s.
        bandwidth: bandwidth of the control, rad/s.
        resolution: resolution of the encoders.
        rate_noise: noise of velocities.
        effort_noise: noise of efforts.
        tip_noise: noise of an accelerometer at the tip, m/s^2.
        duration: duration of a recording, s.
    """

    name: str
    flexible: dict[str, Any]
    pose: tuple[float, ...]
    reach: tuple[float, ...]
    period: float
    bandwidth: float
    resolution: tuple[float, ...]
    rate_noise: tuple[float, ...]
    effort_noise: tuple[float, ...]
    tip_noise: float
    duration: float

    def description(self, stiffness: float = 1.0, damping: float | None = None) -> dict[str, Any]:
        """Return the description of its flexible links, with changed stiffness or damping.

        Args:
            stiffness: factor of the bending stiffness.
            damping: damping ratio; None leaves it.
        """
        changed = copy.deepcopy(self.flexible)
        for link in changed['flexible_links'].values():
            for plane in link['bending_stiffness']:
                link['bending_stiffness'][plane] *= stiffness
            if damping is not None:
                link['damping_ratio'] = damping
        return changed

    def robot(
        self, stiffness: float = 1.0, damping: float | None = None, *, bends: bool = True
    ) -> kd.Robot:
        """Return the robot, see `description`; with rigid links unless it `bends`."""
        return kd.loads(
            self.urdf, flexible=self.description(stiffness, damping) if bends else None
        )

    @property
    def urdf(self) -> str:
        """The machine's URDF text."""
        return urdf_text(self.name, RIGID[self.name].rotors, RIGID[self.name].coulomb)

    @property
    def tip(self) -> str:
        """Name of the link with the accelerometer."""
        return description(self.name).tip


STACKER = Machine(
    'stacker',
    BOOM,
    (100.0, 0.4, 0.03),
    (0.0, 0.02, 0.01),
    0.01,
    1.0,
    (1e-3, 5.99e-6, 5.99e-6),
    (2e-3, 5e-5, 1e-5),
    (3e3, 25e3, 1e5),
    0.002,
    100.0,
)
UR5 = Machine(
    'ur5',
    UPPER_ARM,
    tuple(RIGID['ur5'].pose),
    (0.15, 0.12, 0.15, 0.1, 0.1, 0.1),
    0.008,
    8.0,
    (5e-6,) * 6,
    (1e-3,) * 6,
    (0.3,) * 3 + (0.06,) * 3,
    0.02,
    40.0,
)
PANDA = Machine(
    'panda',
    FOREARM,
    tuple(RIGID['panda'].pose),
    (0.25, 0.25, 0.25, 0.3, 0.2, 0.2, 0.2),
    # At 125 Hz, the delay of one period would make the forearm unstable at 30 Hz.
    0.004,
    6.0,
    (1e-6,) * 7,
    (1e-3,) * 7,
    (0.17,) * 4 + (0.024,) * 3,
    0.02,
    40.0,
)
ELASTIC = {machine.name: machine for machine in (STACKER, UR5, PANDA)}


@dataclass(frozen=True)
class Truth:
    """True signals of a machine: shapes (N,), (N, n_j), (N, n_j), (N, n_j), (N, 6)."""

    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    effort: np.ndarray
    tip: np.ndarray


def moved(machine: Machine, robot: kd.Robot, duration: float, seed: int = 0) -> Truth:
    """Move a machine back and forth by PD control with feedforward, delayed by a period."""
    model, rng = robot.model, np.random.default_rng(seed)
    n, pose, reach = model.joint_count, np.array(machine.pose), np.array(machine.reach)
    plant, steps = Plant(robot, pose), max(1, round(machine.period / 0.002))
    resolution, link = np.array(machine.resolution), robot.frame(machine.tip)
    inertia = robot.rigid.mass_matrix(pose).diagonal()
    w = machine.bandwidth
    goal, wanted, rate = pose.copy(), pose.copy(), np.zeros(n)
    pending = robot.gravity_vector(plant.q)[:n]
    rows = []
    for k in range(round(duration / machine.period)):
        if k % round(2.0 * np.pi / w / machine.period) == 0:
            goal = pose + reach * rng.choice([-1.0, 0.0, 1.0], n)
        push = np.clip(w * w * (goal - wanted) - 2.0 * w * rate, -0.3 * w * w * reach, None)
        push = np.minimum(push, 0.3 * w * w * reach)
        rate, wanted = rate + machine.period * push, wanted + machine.period * rate
        seen = resolution * np.round(plant.q[:n] / resolution)
        error = w * w * (wanted - seen) + 2.0 * w * (rate - plant.qd[:n])
        command = robot.rigid.gravity_vector(wanted) + inertia * (push + error)
        command = command + robot.rigid.joint_friction(rate)
        plant.advance(pending, machine.period, machine.period / steps)
        before = plant.effort, plant.qdd
        pending = command
        plant.advance(pending, 0.0, machine.period)
        after = plant.effort, plant.qdd
        # Efforts jump with each command; sensors measure the mean of before and after.
        effort, qdd = (0.5 * (one + two) for one, two in zip(before, after, strict=True))
        rows.append((plant.q, plant.qd, qdd, effort))
    q, qd, qdd, effort = (np.array(each) for each in zip(*rows, strict=True))
    time = machine.period * np.arange(1.0, len(q) + 1.0)
    return Truth(time, q[:, :n], qd[:, :n], effort, link.acceleration(q, qd, qdd))


def recorded(machine: Machine, truth: Truth, seed: int, *, tip: bool = True) -> Run:
    """Return the recording of a motion, with quantized positions and noise of a seed."""
    rng, t = np.random.default_rng(seed), truth.time
    resolution = np.array(machine.resolution)
    q, qd, effort = (
        values + np.array(noise) * rng.standard_normal(values.shape)
        for values, noise in (
            (truth.q, machine.resolution),
            (truth.qd, machine.rate_noise),
            (truth.effort, machine.effort_noise),
        )
    )
    q = resolution * np.round(q / resolution)
    shaken = truth.tip + machine.tip_noise * rng.standard_normal(truth.tip.shape)
    columns = [tuple(Samples(t, column) for column in values.T) for values in (q, qd, effort)]
    segment = JointSegment(0, float(t[0]), float(t[-1]), *columns)
    log = JointLog((segment,), DroppedSamples(), len(t), 0, *np.zeros((3, 1), np.int64), True)
    beside = Companion('/imu', ((Samples(t, shaken),),), DroppedSamples()) if tip else None
    return Run('/joint_states', log, None, beside, ())
