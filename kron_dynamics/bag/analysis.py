# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Analysis of a whole bag: every run it holds, recomputed with one robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from kron_dynamics.bag.reader import BagContents, read_bag
from kron_dynamics.bag.recorded_robots import RecordedRobot, left_out, recorded_robots
from kron_dynamics.bag.replay import Replay, replay_run
from kron_dynamics.bag.results import JointResult, TipResult, joint_results, tip_results
from kron_dynamics.bag.runs import Run, find_runs
from kron_dynamics.bag.smoothness import Smoothness, smoothness
from kron_dynamics.exceptions import BagError
from kron_dynamics.loading import load, loads
from kron_dynamics.model.robot_model import STANDARD_GRAVITY
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike

DEFAULT_MAX_NOISE = 0.5


@dataclass(frozen=True)
class RunAnalysis:
    """One run: its recomputed series and what they amount to.

    Attributes:
        replay: the series.
        description: where the robot's description is from: a file or a topic.
        joints: result of each joint, in coordinate order.
        tip: linear and angular result of the tip; empty if its acceleration is not recorded.
        smoothness: jerk, rates and steps of the efforts.
    """

    replay: Replay
    description: str
    joints: tuple[JointResult, ...]
    tip: tuple[TipResult, ...]
    smoothness: Smoothness


@dataclass(frozen=True)
class BagAnalysis:
    """A bag and its runs.

    Attributes:
        contents: what was read.
        max_noise: share of an effort above which noise is said to dominate.
        runs: the runs, in the order their topics appear.
    """

    contents: BagContents
    max_noise: float
    runs: tuple[RunAnalysis, ...]


def analyze_bag(
    path: str | Path,
    *,
    urdf: str | Path | None = None,
    robot_description: str | None = None,
    joint_states: Sequence[str] = (),
    frame: str | None = None,
    constraints: str | Path | None = None,
    gravity: ArrayLike = STANDARD_GRAVITY,
    window: float | None = None,
    effort_delay: float | None = None,
    max_noise: float = DEFAULT_MAX_NOISE,
) -> BagAnalysis:
    """Return the efforts and tip accelerations of a bag's runs against the robot's model.

    Args:
        path: a rosbag2 directory, or a bare ``.mcap`` or ``.db3`` file.
        urdf: the robot's description; None takes that in the bag, of each robot its own.
        robot_description: topic of the description in the bag for all joint states.
        joint_states: topics to analyse; empty takes each that has all joints of the robot.
        frame: link whose acceleration is compared; None takes the robot's tip.
        constraints: file of what closes the robot's loops, in place of what the bag has on
            ``robot_constraints``; joints without a drive are left out.
        gravity: gravity acceleration in the root link's axes, shape (3,), m/s^2.
        window: length of the smoothing window in s; None chooses it from the data.
        effort_delay: how late the stamps of recorded efforts are, in s; None finds it in the data
            and applies it if it is about a sample.
        max_noise: share of a joint's effort above which its noise is said to dominate.

    Raises:
        BagError: the bag cannot be read or lacks what is needed.
        ModelError: the robot's description is unusable.
        ParameterError: the window is too short for the data.
        UnknownFrameError: the robot has no such link.
    """
    contents = read_bag(path)
    if urdf is not None:
        robot = load(urdf, constraints=constraints, gravity=gravity)
        found = [(run, robot, str(urdf)) for run in find_runs(contents, robot.model, joint_states)]
    else:
        found = _runs_of_recorded(contents, robot_description, joint_states, constraints, gravity)
    runs = []
    for run, robot, description in found:
        replay = replay_run(robot, run, frame=frame, window=window, effort_delay=effort_delay)
        runs.append(
            RunAnalysis(
                replay,
                description,
                joint_results(replay, max_noise),
                tip_results(replay, max_noise),
                smoothness(replay),
            )
        )
    return BagAnalysis(contents, max_noise, tuple(runs))


def _runs_of_recorded(
    contents: BagContents,
    topic: str | None,
    wanted: Sequence[str],
    constraints: str | Path | None,
    gravity: ArrayLike,
) -> list[tuple[Run, Robot, str]]:
    """Runs of the robots that a bag describes, with the robot and where it is described."""
    robots = recorded_robots(contents, topic)
    if not wanted:
        for other in left_out(contents, robots):
            contents.notes.append(f'{other} is not used: no robot description is above it')
    runs = list[tuple[Run, Robot, str]]()
    problems = []
    for recorded, topics in robots:
        chosen = [name for name in wanted if name in topics]
        if wanted and not chosen and (set(wanted) <= set(contents.joint_states)):
            continue
        robot = _loaded(recorded, constraints, gravity)
        try:
            found = find_runs(contents, robot.model, chosen or wanted, topics or None)
        except BagError as error:
            problems.append(error)
            continue
        runs += [(run, robot, recorded.origin) for run in found]
    if not runs and problems:
        raise problems[0]
    if not runs:
        raise BagError(f'no robot description in {contents.path} is above {", ".join(wanted)}')
    return runs


def _loaded(recorded: RecordedRobot, constraints: str | Path | None, gravity: ArrayLike) -> Robot:
    closing: str | Path | Mapping[str, object] | None = constraints
    if constraints is None and recorded.constraints is not None:
        closing = yaml.safe_load(recorded.constraints)
    return loads(recorded.urdf, constraints=closing, gravity=gravity, expand_xacro=False)
