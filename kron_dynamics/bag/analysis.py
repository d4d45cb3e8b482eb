# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Analysis of a whole bag: every run it holds, recomputed with one robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kron_dynamics.bag.reader import BagContents, read_bag
from kron_dynamics.bag.replay import Replay, replay_run
from kron_dynamics.bag.results import JointResult, TipResult, joint_results, tip_results
from kron_dynamics.bag.runs import find_robot_description, find_runs
from kron_dynamics.bag.smoothness import Smoothness, smoothness
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
        joints: result of each joint, in coordinate order.
        tip: linear and angular result of the tip; empty if its acceleration is not recorded.
        smoothness: jerk, rates and steps of the efforts.
    """

    replay: Replay
    joints: tuple[JointResult, ...]
    tip: tuple[TipResult, ...]
    smoothness: Smoothness


@dataclass(frozen=True)
class BagAnalysis:
    """A bag and its runs.

    Attributes:
        contents: what was read.
        robot: the robot it was recomputed with.
        description: where the robot's description is from: a file or a topic.
        max_noise: share of an effort above which noise is said to dominate.
        runs: the runs, in the order their topics appear.
    """

    contents: BagContents
    robot: Robot
    description: str
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
        urdf: the robot's description; None takes the one in the bag.
        robot_description: topic of the description in the bag, where there are several.
        joint_states: topics to analyse; empty takes each that has all joints of the robot.
        frame: link whose acceleration is compared; None takes the robot's tip.
        constraints: file of what closes the robot's loops; joints without a drive are left out.
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
        robot, description = load(urdf, constraints=constraints, gravity=gravity), str(urdf)
    else:
        text, description = find_robot_description(contents, robot_description)
        robot = loads(text, constraints=constraints, gravity=gravity, expand_xacro=False)
    runs = []
    for run in find_runs(contents, robot.model, joint_states):
        replay = replay_run(robot, run, frame=frame, window=window, effort_delay=effort_delay)
        runs.append(
            RunAnalysis(
                replay,
                joint_results(replay, max_noise),
                tip_results(replay, max_noise),
                smoothness(replay),
            )
        )
    return BagAnalysis(contents, robot, description, max_noise, tuple(runs))
