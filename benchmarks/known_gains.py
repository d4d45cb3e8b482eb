# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of identified motor gains on simulated recordings with known gains.

python -m benchmarks.known_gains --runs 20

Each run moves a stacker-reclaimer, a UR5 and a Panda that differ from their descriptions (heavier
links, other friction, effort offsets): without load, with a known load, and with an unknown load.
Currents are recorded instead of efforts, with a gain per joint, noise and quantization; positions
are quantized, and velocities noisy. Gains are estimated from the first two recordings, and the
payload of the third is identified with them. A table shows the errors of both, the coverage of the
intervals, and the effect of a wrongly stated known load.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import kron_dynamics as kd
from benchmarks.known_machines import MACHINES, Machine
from benchmarks.known_recordings import machine_urdf, random_load, random_motion
from benchmarks.robots import description
from kron_dynamics.carrying import CarryingRobot
from kron_dynamics.identification import Gain, KnownLoad, Motion
from kron_dynamics.identification.calibration import estimated_gains, rough_gains
from kron_dynamics.identification.payload import fit_payload
from kron_dynamics.identification.payload_estimate import PayloadEstimate
from kron_dynamics.identification.structure import Structure
from kron_dynamics.model.payload import RigidPayload
from kron_dynamics.typing import FloatArray

# Range of the gains per A as shares of the effort limit; resolution of the currents, A: 12 bit for
# the limit.
GAINS = (0.02, 0.1)
RESOLUTION = 1.0 / 4096


class Driven:
    """A real machine with motors, and its description."""

    def __init__(self, name: str) -> None:
        """Load and compile it."""
        self.machine: Machine = MACHINES[name]
        self.link = description(name).tip
        self.described = kd.loads(machine_urdf(name, self.machine, False))
        self.real = CarryingRobot(kd.loads(machine_urdf(name, self.machine, True)), self.link)

    def record(
        self,
        random: np.random.Generator,
        gains: FloatArray,
        offset: FloatArray,
        payload: RigidPayload | None,
    ) -> Motion:
        """Return a recording of random motion with currents in place of efforts.

        Args:
            random: random number generator.
            gains: N m or N per A, shape (n,).
            offset: offset of the efforts, shape (n,), N m or N.
            payload: payload of the tip; None for nothing.
        """
        machine, limits = self.machine, self.described.model
        self.real.set_payload(self.link, payload or RigidPayload(0.0))
        time = machine.period * np.arange(round(machine.duration / machine.period))
        reference = random_motion(machine, random, limits.velocity_limit)
        q, qd, qdd = map(np.array, zip(*map(reference, time), strict=True))
        effort = self.real.inverse_dynamics(q, qd, qdd) + self.real.joint_friction(qd) + offset
        noise = random.standard_normal((3, *q.shape))
        q = q + machine.position_noise * machine.resolution * noise[0]
        qd = qd + machine.velocity_noise * limits.velocity_limit * noise[1]
        effort = effort + machine.effort_noise * limits.effort_limit * noise[2]
        quantum = RESOLUTION * limits.effort_limit / np.abs(gains)
        return Motion(
            time,
            np.round(q / machine.resolution) * machine.resolution,
            qd,
            np.round(effort / gains / quantum) * quantum,
        )


@dataclass(frozen=True)
class Outcome:
    """One run of a machine.

    Attributes:
        gains: true gains, shape (n,).
        found: estimated gains.
        wrong: gains estimated with the known load's mass stated 10 % too high.
        payload: payload estimated from the third recording.
        mass: its true mass, kg.
    """

    gains: FloatArray
    found: tuple[Gain, ...]
    wrong: tuple[Gain, ...]
    payload: PayloadEstimate
    mass: float

    def errors(self, found: Sequence[Gain]) -> FloatArray:
        """Return relative errors of gains, shape (n,)."""
        return np.array([gain.value for gain in found]) / self.gains - 1.0


def run(driven: Driven, seed: int) -> Outcome:
    """Simulate and identify a machine once."""
    random, robot = np.random.default_rng(seed), driven.described
    limit = robot.model.effort_limit
    gains = limit * random.uniform(*GAINS, robot.n)
    offset = 0.01 * limit * random.standard_normal(robot.n)
    stated, unknown = (random_load(driven.machine, random) for _ in range(2))
    empty, loaded, third = (
        driven.record(random, gains, offset, load) for load in (None, stated, unknown)
    )
    structure, joints = Structure(driven.machine.width), np.arange(robot.n)
    fits = []
    for mass in (stated.mass, 1.1 * stated.mass):
        # The inertia of the load is not given.
        load = KnownLoad(driven.link, RigidPayload(mass, stated.center_of_mass), False)
        motions = [empty, replace(loaded, loads=(load,))]
        rough = rough_gains(robot, motions, structure, joints)
        fits.append(estimated_gains(robot, motions, structure, joints, rough))
    rows = [structure.rows(robot, fits[0].applied([motion])) for motion in (third, empty)]
    center = None if driven.machine.place else np.zeros(3)
    payload = fit_payload(robot, driven.link, rows[0], rows[1], center=center).whole
    return Outcome(gains, fits[0].reported(robot), fits[1].reported(robot), payload, unknown.mass)


def table(driven: Driven, outcomes: Sequence[Outcome]) -> list[str]:
    """Return lines that summarize the runs of a machine."""
    robot = driven.described
    lines = [
        f'{robot.model.name}: {len(outcomes)} runs; gains in %',
        '  joint                 mean error  largest  half interval  held  within 2 %  ident.',
    ]
    errors = 100.0 * np.array([outcome.errors(outcome.found) for outcome in outcomes])
    wrong = 100.0 * np.array([outcome.errors(outcome.wrong) for outcome in outcomes])
    for joint, name in enumerate(robot.joint_names):
        found = [outcome.found[joint] for outcome in outcomes]
        half = [50.0 * (gain.high - gain.low) / gain.value for gain in found]
        true = [outcome.gains[joint] for outcome in outcomes]
        held = [gain.low <= k <= gain.high for gain, k in zip(found, true, strict=True)]
        own = errors[:, joint]
        lines.append(
            f'  {name:20s} {own.mean():11.3f} {np.abs(own).max():8.3f} {np.median(half):14.3f} '
            f'{sum(held):5d} {sum(np.abs(own) < 2.0):11d} '
            f'{sum(gain.is_identifiable for gain in found):6d}'
        )
    masses = np.array([o.payload.mass / o.mass - 1.0 for o in outcomes])
    held = [o.payload.mass_interval[0] <= o.mass <= o.payload.mass_interval[1] for o in outcomes]
    lines += [
        f'  payload of a third recording: median error {100 * np.median(np.abs(masses)):.3g} %, '
        f'largest {100 * np.abs(masses).max():.3g} %, within 2 % in {sum(np.abs(masses) < 0.02)}, '
        f'held by its interval in {sum(held)}',
        f'  known load stated 10 % too heavy: gains {np.median(wrong):+.3g} % off in the median, '
        f'{wrong.min():+.3g} % to {wrong.max():+.3g} %',
    ]
    return lines


def main() -> None:
    """Run the campaign and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--machine', choices=list(MACHINES), action='append')
    arguments = parser.parse_args()
    for name in arguments.machine or MACHINES:
        driven = Driven(name)
        outcomes = [run(driven, arguments.seed + k) for k in range(arguments.runs)]
        print('\n'.join(table(driven, outcomes)), flush=True)


if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
