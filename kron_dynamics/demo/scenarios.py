# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The scenarios of the demonstration: what is run in each, and what is told about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kron_dynamics.bag import BagContents
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.control import ClampedJointModes, shape_trajectory
from kron_dynamics.demo.bench_reclaiming import bench_reclaiming
from kron_dynamics.demo.evaluation import evaluate
from kron_dynamics.demo.luffing import luffing
from kron_dynamics.demo.luffing_report import (
    evaluate_luffing,
    luffing_problems,
    luffing_table,
    plot_luffing,
)
from kron_dynamics.demo.motion import Motion
from kron_dynamics.demo.report import plot_tracking, tracking_problems, tracking_table
from kron_dynamics.demo.residual import evaluate_vibration, held_periods
from kron_dynamics.demo.slew_and_luff import slew_and_luff
from kron_dynamics.demo.vibration_report import (
    plot_vibration,
    vibration_problems,
    vibration_table,
)
from kron_dynamics.loading import load
from kron_dynamics.model import RobotModel
from kron_dynamics.resources import resource_path
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

SETTLE = 3.0  # s of the machine's time that count after the end of the motion
# The one that adds least time. With it, the node has the drives take up the boom's reaction on the
# joints, or these would give way and vibrate with it, at other frequencies.
SHAPING = 'zv'
_FLEXIBLE = ('config', 'stacker_reclaimer_flexible.yaml')
_CLOSED = 'stacker_reclaimer_cylinder'


class Machine(NamedTuple):
    """What is simulated and driven.

    Attributes:
        urdf: file of its description.
        configuration: file of the parameters of both nodes.
        constraints: file of what closes its loops, None of a tree.
    """

    urdf: Path
    configuration: Path
    constraints: Path | None = None

    def robot(self) -> Robot:
        """Return the machine, in the coordinates of its drives."""
        return load(self.urdf, constraints=self.constraints)


@dataclass(frozen=True, slots=True)
class Setting:
    """What one run is about.

    Attributes:
        name: of the run.
        machine: that moves.
        simulator: parameters of simulator_node beside those of every run, as texts.
        controller: the same of dynamics_node.
    """

    name: str
    machine: Machine
    simulator: dict[str, str] = field(default_factory=dict)
    controller: dict[str, str] = field(default_factory=dict)


class Done(NamedTuple):
    """A run that has been made.

    Attributes:
        name: of the run.
        motion: that was sent.
        start: of the motion on the clock of the states, s.
    """

    name: str
    motion: Motion
    start: float


class Evaluation(NamedTuple):
    """What came out of a scenario.

    Attributes:
        text: for the reader.
        problems: what is not as it should be, a line each.
    """

    text: str
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Runs that are compared with each other.

    Attributes:
        settings: of the runs, in their order.
        motion: made from a machine and its position, shape (n,), rad or m.
        report: draws a PNG file of the runs in a bag and returns what else to tell.
    """

    settings: tuple[Setting, ...]
    motion: Callable[[RobotModel, FloatArray], Motion]
    report: Callable[[BagContents, Sequence[Done], Path], Evaluation]


def scenarios() -> dict[str, Scenario]:
    """Return the scenarios by name, in their order."""
    stacker, on_cylinder = stacker_reclaimer(), _stacker_on_a_cylinder()
    bends = {'flexible_description_file': str(resource_path(*_FLEXIBLE))}
    laws = ('computed_torque', 'pd')
    shapings = {'unshaped': 'none', 'shaped': SHAPING}
    return {
        'tracking': Scenario(
            tuple(Setting(law, stacker, controller={'control_law': law}) for law in laws),
            bench_reclaiming,
            _tracking,
        ),
        'vibration': Scenario(
            tuple(
                Setting(name, stacker, bends, bends | {'reference_shaping': shaping})
                for name, shaping in shapings.items()
            ),
            slew_and_luff,
            _vibration,
        ),
        'cylinder': Scenario(
            (Setting('luff_torque', stacker), Setting('luff_cylinder', on_cylinder)),
            luffing,
            _cylinder,
        ),
    }


def stacker_reclaimer() -> Machine:
    """Return the machine of the demonstration, its boom luffed by a torque."""
    name = 'stacker_reclaimer'
    return Machine(resource_path('urdf', f'{name}.urdf'), resource_path('config', f'{name}.yaml'))


def _stacker_on_a_cylinder() -> Machine:
    return Machine(
        resource_path('urdf', f'{_CLOSED}.urdf'),
        resource_path('config', 'cylinder.yaml'),
        resource_path('config', f'{_CLOSED}.yaml'),
    )


def _tracking(contents: BagContents, done: Sequence[Done], plot: Path) -> Evaluation:
    model = stacker_reclaimer().robot().model
    results = [
        evaluate(contents, run.name, run.motion.trajectory(), run.start, SETTLE) for run in done
    ]
    plot_tracking(model, results, plot)
    rates = [
        f'{result.law}: joint states {result.state_rate:.1f} Hz, commands '
        f'{result.command_rate:.1f} Hz, tip accelerations {result.acceleration_rate:.1f} Hz'
        for result in results
    ]
    return Evaluation(
        '\n'.join([tracking_table(model, *results), *rates]),
        tracking_problems(model.joint_names, results),
    )


def _vibration(contents: BagContents, done: Sequence[Done], plot: Path) -> Evaluation:
    robot = load(stacker_reclaimer().urdf, flexible=resource_path(*_FLEXIBLE))
    asked = done[0].motion.trajectory()
    # As the node does it, from the same description.
    followed = asked, shape_trajectory(asked, ClampedJointModes(robot), SHAPING)
    periods = held_periods(robot, asked.sample(0.0)[0])
    unshaped, shaped = (
        evaluate_vibration(contents, run.name, run.motion, run.start, reference, periods)
        for run, reference in zip(done, followed, strict=True)
    )
    plot_vibration(unshaped, shaped, plot)
    return Evaluation(vibration_table(unshaped, shaped), vibration_problems(unshaped, shaped))


def _cylinder(contents: BagContents, done: Sequence[Done], plot: Path) -> Evaluation:
    by_torque, by_cylinder = done
    wanted = by_torque.motion.trajectory()
    machine = _stacker_on_a_cylinder()
    assert machine.constraints is not None
    closed = ConstrainedRobot.described(load(machine.urdf), machine.constraints)
    results = [
        evaluate_luffing(contents, run.name, wanted, run.start, loops)
        for run, loops in ((by_torque, None), (by_cylinder, closed))
    ]
    plot_luffing(results, plot)
    return Evaluation(luffing_table(*results), luffing_problems(*results))
