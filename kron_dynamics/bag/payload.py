# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The payload carried in a bag: mass and centre of mass over time, with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kron_dynamics.bag.distinct_recordings import require_distinct
from kron_dynamics.bag.motions import motions, recorded_runs
from kron_dynamics.bag.replaying.effort_delay import told_delay
from kron_dynamics.bag.replaying.kernels import MIN_HALF_COUNT
from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.bag.results import DEFAULT_MAX_NOISE, contradicting_efforts, joint_results
from kron_dynamics.carrying import tree_of
from kron_dynamics.exceptions import BagError
from kron_dynamics.identification.payload import PayloadFit
from kron_dynamics.identification.payload_estimate import PayloadEstimate
from kron_dynamics.identification.payload_friction import payload_beside_friction, payload_rows
from kron_dynamics.identification.rigid_trees import require_rigid_tree
from kron_dynamics.identification.rows import REACH, Rows, joined
from kron_dynamics.loading import load
from kron_dynamics.model.robot_model import STANDARD_GRAVITY
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike

# Standard deviation of the average over regressor and efforts, as a share of the window.
WIDTH_SHARE = 0.25
# Negative payload masses are reported above this share of the robot's mass; smaller ones are
# errors of the model.
NEGATIVE_SHARE = 1e-3


@dataclass(frozen=True)
class BagPayload:
    """The payload of a run.

    Attributes:
        bag: the bag with load.
        empty_bag: the bag without load; None if there is none.
        robot: name of the robot.
        topic: topic of the joint states.
        joints: names, in the order of the noise of the fit.
        fit: mass and centre of mass, over time.
        notes: reasons to doubt the recordings.
    """

    bag: str
    empty_bag: str | None
    robot: str
    topic: str
    joints: tuple[str, ...]
    fit: PayloadFit
    notes: tuple[str, ...]

    def summary(self) -> dict[str, Any]:
        """Return all results as values that JSON can hold."""
        fit = self.fit
        return {
            'bag': self.bag,
            'empty_bag': self.empty_bag,
            'robot': self.robot,
            'topic': self.topic,
            'link': fit.link,
            'notes': list(self.notes),
            'model_learnt': fit.learnt,
            'center_given': fit.center_given,
            'friction_terms': list(fit.terms),
            'unexplained_effort': dict(zip(self.joints, fit.noise.tolist(), strict=True)),
            'whole': _as_dictionary(fit.whole),
            'pieces': [_as_dictionary(item) for item in fit.pieces],
            'windows': [_as_dictionary(item) for item in fit.windows],
        }


def bag_payload(
    path: str | Path,
    *,
    urdf: str | Path,
    empty: str | Path | None = None,
    unloaded: tuple[float, float] | None = None,
    frame: str | None = None,
    center: ArrayLike | None = None,
    joint_states: Sequence[str] = (),
    rename: Mapping[str, str] | None = None,
    scale: Mapping[str, float | str] | None = None,
    hold: Mapping[str, float] | None = None,
    gravity: ArrayLike = STANDARD_GRAVITY,
) -> BagPayload:
    """Return the payload that a link carried in a bag.

    Args:
        path: the bag with load.
        urdf: the robot, without load.
        empty: a bag without load, to learn model errors: friction, offsets of efforts, masses.
        unloaded: start and end of an interval without load, in s of the bag's time.
        frame: link that carries the load; None takes the robot's tip.
        center: the load's centre of mass in the link's frame, shape (3,), m; None estimates it.
        joint_states: topic in both bags, or topics that have all joints together; empty takes
            the only topic that has all joints, else the topics that have them together.
        rename: joints of the model by their names in both bags, as for `analyze_bag`.
        scale: factors or units by joint in both bags, as for `analyze_bag`.
        hold: positions of joints that are not recorded and stand still, rad or m.
        gravity: gravity acceleration in the root link's axes, shape (3,), m/s^2.

    Raises:
        BagError: a bag cannot be read, has several topics, or no efforts.
        ModelError: the description is unusable, or the link does not move.
        ParameterError: too little motion, loops in the description, or the same bag twice.
        UnknownFrameError: the robot has no such link.
    """
    bags = [path] if empty is None else [path, empty]
    require_distinct(bags)
    robot = load(urdf, gravity=gravity)
    require_rigid_tree(robot.model)
    link = robot.model.tip_link if frame is None else frame
    options = {'topics': joint_states, 'rename': rename, 'scale': scale, 'hold': hold}
    loaded, *others = (
        _only_run(recorded_runs(bag, robot, frame=link, **options), bag)  # type: ignore[arg-type]
        for bag in bags
    )
    bare = others[0] if others else None
    rows, without = _rows_with_and_without(loaded, bare, unloaded)
    place = None if center is None else np.asarray(center, dtype=np.float64)
    fit = payload_beside_friction(robot, link, rows, without, center=place)
    return BagPayload(
        str(path),
        None if empty is None else str(empty),
        robot.model.name,
        loaded.run.topic,
        robot.joint_names,
        fit,
        (*_notes(loaded, bare), *_negative(fit, robot)),
    )


def _notes(loaded: Replay, bare: Replay | None) -> tuple[str, ...]:
    notes = _replay_notes(loaded)
    # A load's effort may exceed the robot's own: contradictions with the model are looked for in
    # the recording without load, if there is one.
    contradiction = contradicting_efforts(joint_results(bare or loaded, DEFAULT_MAX_NOISE))
    if bare is not None:
        notes += [f'without load: {note}' for note in _replay_notes(bare)]
    if contradiction is not None:
        notes.append(contradiction if bare is None else f'without load: {contradiction}')
    return tuple(notes)


def _replay_notes(replay: Replay) -> list[str]:
    timing = told_delay(replay.effort_delay, replay.found_delay)
    return [*replay.notes, timing] if timing else list(replay.notes)


def _negative(fit: PayloadFit, robot: Robot) -> list[str]:
    """Return a note about significantly negative masses, if there are any."""
    least = -NEGATIVE_SHARE * sum(body.mass for body in tree_of(robot.model).bodies)
    if not any(each.mass < least and each.mass_interval[1] < 0.0 for each in fit.pieces):
        return []
    return [
        'the payload has a negative mass: are the recordings with and without load interchanged, '
        'does the description include a load, or are efforts or positions of another robot?'
    ]


def _only_run(replays: Sequence[Replay], path: str | Path) -> Replay:
    if len(replays) > 1:
        raise BagError(
            f'{path} has the joints on {", ".join(each.run.topic for each in replays)}, expected '
            'one: say which with --joint-states'
        )
    return replays[0]


def _rows_with_and_without(
    loaded: Replay, bare: Replay | None, unloaded: tuple[float, float] | None
) -> tuple[Rows, Rows | None]:
    """Return the rows with load, and those without; None if there are none."""
    # No shorter than the shortest window of either recording: their rates may differ.
    step = max(each.filters[0].step for each in (loaded, bare) if each is not None)
    width = WIDTH_SHARE * max(loaded.window, (2 * MIN_HALF_COUNT + 1) * step)
    rows = _rows(loaded, width)
    without = [] if bare is None else [_rows(bare, width)]
    if unloaded is not None:
        inside = (rows.time >= unloaded[0]) & (rows.time <= unloaded[1])
        if not inside.any():
            raise BagError(f'nothing was recorded from {unloaded[0]:g} s to {unloaded[1]:g} s')
        without.append(rows.taken(inside))
        rows = rows.taken(~inside)
    return rows, joined(without) if without else None


def _rows(replay: Replay, width: float) -> Rows:
    moved = motions(replay, effort_delay=replay.effort_delay)
    found = [payload_rows(replay.robot, motion, width) for motion in moved]
    found = [rows for rows in found if len(rows)]
    if not found:
        raise BagError(
            f"topic '{replay.run.topic}' has no motion of {2 * REACH * width:.3g} s without gaps: "
            'too short for a payload'
        )
    return joined(found)


def _as_dictionary(estimate: PayloadEstimate) -> dict[str, Any]:
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in {
            **asdict(estimate),
            'mass_interval': list(estimate.mass_interval),
            'center_interval': estimate.center_interval,
        }.items()
    }


def payload_lines(payload: BagPayload) -> list[str]:
    """Return the results as lines for a terminal."""
    fit = payload.fit
    origin = (
        'errors of the model are learnt from motion without load'
        if fit.learnt
        else 'no motion without load: the description is trusted within 5 %, see --empty'
    )
    lines = [
        f'payload  of {fit.link} ({payload.robot}), {payload.topic} of {payload.bag}',
        f'model    {origin}',
        *(['friction grows with the effort: a term of the model'] if 'load' in fit.terms else []),
        *(f'note     {note}' for note in payload.notes),
        '',
        f'{"from s":>9} {"to s":>9} {"mass kg":>12} {"95 % interval":>25}   centre of mass m',
    ]
    changed = len(fit.pieces) > 1
    for piece in fit.pieces if changed else (fit.whole,):
        lines.append(_line(piece, fit.center_given))
    if not changed:
        lines.append('the payload does not change')
    return lines


def _line(piece: PayloadEstimate, given: bool) -> str:
    low, high = piece.mass_interval
    text = (
        f'{piece.start:9.2f} {piece.end:9.2f} {piece.mass:12.5g} {f"{low:.5g} to {high:.5g}":>25}'
    )
    if given:
        return text + '   ' + _coordinates(piece.center_of_mass) + ' as given'
    if low <= 0.0 <= high:
        return text + '   no load is evident'
    parts: Sequence[str] = [
        f'{axis} {value:.4g} +/- {half:.2g}' if excited else f'{axis} not excited'
        for axis, value, half, excited in zip(
            'xyz',
            piece.center_of_mass,
            0.5 * np.ptp(piece.center_interval, axis=1),
            piece.excited,
            strict=True,
        )
    ]
    return text + '   ' + ', '.join(parts)


def _coordinates(place: ArrayLike) -> str:
    return ', '.join(f'{value:.4g}' for value in np.asarray(place))
