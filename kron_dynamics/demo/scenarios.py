# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The scenarios of the demonstration: their runs, evaluations and reports."""

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

SETTLE = 3.0  # simulated time after the end of the motion that is evaluated too, s
# The shaper that adds the least time. With shaping, the node lets the drives compensate the boom's
# reaction on the joints; otherwise the joints would vibrate with the boom, at other frequencies.
SHAPING = 'zv'
_FLEXIBLE = ('config', 'stacker_reclaimer_flexible.yaml')
_CLOSED = 'stacker_reclaimer_cylinder'


class Machine(NamedTuple):
    """Files that describe the simulated machine.

    Attributes:
        urdf: URDF file.
        configuration: parameter file for both nodes.
        constraints: file with the loop constraints, None for a tree.
    """

    urdf: Path
    configuration: Path
    constraints: Path | None = None

    def robot(self) -> Robot:
        """Return the machine in actuated (independent) coordinates."""
        return load(self.urdf, constraints=self.constraints)


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings of one run.

    Attributes:
        name: name of the run.
        machine: machine that is simulated.
        simulator: additional parameters of simulator_node, values as text.
        controller: additional parameters of dynamics_node, values as text.
    """

    name: str
    machine: Machine
    simulator: dict[str, str] = field(default_factory=dict)
    controller: dict[str, str] = field(default_factory=dict)


class Done(NamedTuple):
    """A finished run.

    Attributes:
        name: name of the run.
        motion: motion that was sent.
        start: start of the motion on the clock of the states, s.
    """

    name: str
    motion: Motion
    start: float


class Evaluation(NamedTuple):
    """Result of a scenario.

    Attributes:
        text: report for the user.
        problems: requirements that are not met, one line each.
    """

    text: str
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Runs that are compared with each other.

    Attributes:
        settings: settings of the runs, in their order.
        motion: function of a model and its start position, shape (n,), rad or m, that returns
            the motion.
        report: function of a bag, its runs and a path that plots the runs into this PNG file and
            returns their evaluation.
    """

    settings: tuple[Setting, ...]
    motion: Callable[[RobotModel, FloatArray], Motion]
    report: Callable[[BagContents, Sequence[Done], Path], Evaluation]


def scenarios() -> dict[str, Scenario]:
    """Return the scenarios by name, in their order."""
    stacker, on_cylinder = stacker_reclaimer(), _stacker_on_a_cylinder()
    bends = {'flexible_description_file': str(resource_path(*_FLEXIBLE))}
    # The lead of the configuration is one of computed torque.
    laws = {'computed_torque': {}, 'pd': {'effort_lead': '0.0'}}
    shapings = {'unshaped': 'none', 'shaped': SHAPING}
    return {
        'tracking': Scenario(
            tuple(
                Setting(law, stacker, controller={'control_law': law} | lead)
                for law, lead in laws.items()
            ),
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
    # Shape the reference as the node does, with the same model.
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
