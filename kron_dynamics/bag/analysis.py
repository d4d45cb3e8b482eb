# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Analysis of a whole bag: each run is recomputed with the model of its robot.

Times of samples: `series/joint_log.py`; residuals of the efforts: `replaying/segment_replay.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from kron_dynamics.bag.external_effort import (
    ExternalEfforts,
    ExternalResult,
    external_efforts,
    external_results,
    recorded_effort_noise,
)
from kron_dynamics.bag.phases import Phase, phases
from kron_dynamics.bag.reading.reader import BagContents, read_bag
from kron_dynamics.bag.replaying.replay import Replay, replay_run
from kron_dynamics.bag.results import (
    DEFAULT_MAX_NOISE,
    JointResult,
    TipResult,
    joint_results,
    tip_results,
)
from kron_dynamics.bag.samples import Progress
from kron_dynamics.bag.series.joint_sources import require_joint_states
from kron_dynamics.bag.series.recorded_robots import RecordedRobot, left_out, recorded_robots
from kron_dynamics.bag.series.runs import Run, find_runs
from kron_dynamics.bag.smoothness import Smoothness, smoothness
from kron_dynamics.bag.vibration.modal_content import modal_content
from kron_dynamics.bag.vibration.modal_results import ModalContent
from kron_dynamics.exceptions import BagError, ParameterError
from kron_dynamics.loading import load, loads
from kron_dynamics.model.robot_model import STANDARD_GRAVITY
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike

FlexibleSource = str | Path | Mapping[str, object] | None


@dataclass(frozen=True)
class RunAnalysis:
    """One run: its recomputed series and the results derived from them.

    Attributes:
        replay: the series.
        description: source of the robot's description: a file or a topic.
        joints: result of each joint, in coordinate order.
        tip: linear and angular result of the tip; empty if its acceleration is not recorded.
        smoothness: jerk, and rates and steps of the efforts.
        vibrations: vibrations of flexible links; None where all links are rigid.
        bending: returns the same robot with another description of its flexible links.
        external: external effort on each joint, by a momentum observer.
        external_series: the external efforts over time, one item per segment.
        phases: when the machine moved, was at rest, held a load or dug.
    """

    replay: Replay
    description: str
    joints: tuple[JointResult, ...]
    tip: tuple[TipResult, ...]
    smoothness: Smoothness
    vibrations: ModalContent | None
    bending: Callable[[FlexibleSource], Robot]
    external: tuple[ExternalResult, ...]
    external_series: tuple[ExternalEfforts, ...]
    phases: tuple[Phase, ...]


@dataclass(frozen=True)
class BagAnalysis:
    """A bag and its runs.

    Attributes:
        contents: the contents of the bag.
        max_noise: noise above this share of an effort is reported as dominating.
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
    rename: Mapping[str, str] | None = None,
    scale: Mapping[str, float | str] | None = None,
    hold: Mapping[str, float] | None = None,
    frame: str | None = None,
    flexible: str | Path | None = None,
    constraints: str | Path | None = None,
    gravity: ArrayLike = STANDARD_GRAVITY,
    window: float | None = None,
    effort_delay: float | None = None,
    max_noise: float = DEFAULT_MAX_NOISE,
    progress: Progress | None = None,
) -> BagAnalysis:
    """Return a bag's recorded efforts and tip accelerations compared with the robot's model.

    Args:
        path: a rosbag2 directory, or a bare ``.mcap`` or ``.db3`` file.
        urdf: the robot's description; None uses the descriptions in the bag, one for each robot.
        robot_description: topic of the description in the bag to use for all joint states.
        joint_states: topics to analyse; empty takes each topic that has all joints of the robot,
            else the topics that have all joints together.
        rename: joints of the model by their names in the bag; one ``*`` in both for a pattern.
        scale: factors or units (deg, rev, rpm, mm, kN, mN) by joint of the model, by pattern, or
            with a quantity, ``{'luff:effort': -1.0}``.
        hold: positions of joints that are not recorded and stand still, rad or m.
        frame: link whose acceleration is compared; None takes the robot's tip.
        flexible: description of flexible links. Their modal coordinates are simulated from the
            recorded joint motion, starting at rest in each segment.
        constraints: file with the robot's loop-closure constraints, instead of those on
            ``robot_constraints`` in the bag; joints without a drive are left out.
        gravity: gravity acceleration in the root link's axes, shape (3,), m/s^2.
        window: length of the smoothing window in s; None chooses it from the data.
        effort_delay: delay of the stamps of recorded efforts, in s; None estimates it from the
            data and applies it if it is about a sample.
        max_noise: noise above this share of a joint's effort is reported as dominating.
        progress: called with the current step and its completed share, 0 to 1.

    Raises:
        BagError: the bag cannot be read or lacks what is needed.
        ModelError: the robot's description is unusable.
        ParameterError: the window is too short for the data, the delay too long, or a joint to
            hold does not exist.
        UnknownFrameError: the robot has no such link.
    """
    contents = read_bag(path, rename=rename, scale=scale, progress=progress)
    given = constraints, gravity, flexible
    if urdf is not None:
        found = _runs_of_file(contents, urdf, joint_states, hold or {}, *given)
    else:
        found = _runs_of_recorded(contents, robot_description, joint_states, hold or {}, *given)
    replayed = partial(
        replay_run, frame=frame, window=window, effort_delay=effort_delay, progress=progress
    )
    runs = [_analyzed(each, replayed(each.robot, each.run), max_noise) for each in found]
    return BagAnalysis(contents, max_noise, tuple(runs))


class _Found(NamedTuple):
    run: Run
    robot: Robot
    description: str
    bending: Callable[[FlexibleSource], Robot]


def _from_file(
    urdf: str | Path,
    constraints: str | Path | None,
    gravity: ArrayLike,
    flexible: FlexibleSource,
) -> Robot:
    return load(urdf, flexible=flexible, constraints=constraints, gravity=gravity)


def _analyzed(found: _Found, replay: Replay, max_noise: float) -> RunAnalysis:
    vibrations = None
    if found.robot.model.is_flexible:
        vibrations = modal_content(found.robot, found.run, replay.frame, replay.effort_sources)
    external, noise = external_efforts(replay), recorded_effort_noise(replay)
    results = external_results(replay, external, noise)
    return RunAnalysis(
        replay,
        found.description,
        joint_results(replay, max_noise),
        tip_results(replay, max_noise),
        smoothness(replay),
        vibrations,
        found.bending,
        results,
        tuple(external),
        phases(replay, external, noise, np.array([item.noise for item in results])),
    )


def _runs_of_file(
    contents: BagContents,
    urdf: str | Path,
    wanted: Sequence[str],
    hold: Mapping[str, float],
    constraints: str | Path | None,
    gravity: ArrayLike,
    flexible: FlexibleSource,
) -> list[_Found]:
    """Return the runs of the robot that a file describes."""
    bending = partial(_from_file, urdf, constraints, gravity)
    robot = bending(flexible)
    runs = find_runs(contents, robot.rigid.model, wanted, hold=hold)
    return [_Found(run, robot, str(urdf), bending) for run in runs]


def _runs_of_recorded(
    contents: BagContents,
    topic: str | None,
    wanted: Sequence[str],
    hold: Mapping[str, float],
    constraints: str | Path | None,
    gravity: ArrayLike,
    flexible: FlexibleSource,
) -> list[_Found]:
    """Return the runs of the robots that a bag describes, with robot and description's topic."""
    robots = recorded_robots(contents, topic)
    require_joint_states(contents, wanted)
    others = left_out(contents, robots)
    if nobodys := [name for name in wanted if name in others]:
        raise BagError(f'no robot description in {contents.path} is above {", ".join(nobodys)}')
    if not wanted:
        for other in others:
            contents.notes.append(f'{other} is not used: no robot description is above it')
    runs = list[_Found]()
    problems = []
    unknown = set(hold)
    for recorded, topics in robots:
        chosen = [name for name in wanted if name in topics]
        if wanted and not chosen:
            continue
        bending = partial(_loaded, recorded, constraints, gravity)
        robot = bending(flexible)
        model = robot.rigid.model
        held = {joint: hold[joint] for joint in model.joint_names if joint in hold}
        unknown -= set(held)
        try:
            found = find_runs(contents, model, chosen, topics, held)
        except BagError as error:
            if wanted:
                raise
            problems.append(error)
            contents.notes.append(f'the robot of {recorded.origin} is not analysed: {error}')
            continue
        runs += [_Found(run, robot, recorded.origin, bending) for run in found]
    if unknown:
        raise ParameterError(f'hold: no robot of the bag has a joint {", ".join(sorted(unknown))}')
    if problems and not runs:
        raise problems[0]
    return runs


def _loaded(
    recorded: RecordedRobot,
    constraints: str | Path | None,
    gravity: ArrayLike,
    flexible: FlexibleSource,
) -> Robot:
    closing: str | Path | Mapping[str, object] | None = constraints
    if constraints is None and recorded.constraints is not None:
        closing = yaml.safe_load(recorded.constraints)
    return loads(
        recorded.urdf,
        flexible=flexible,
        constraints=closing,
        gravity=gravity,
        expand_xacro=False,
    )
