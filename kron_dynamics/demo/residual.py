# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Residual vibration of the boom's tip after the reference has stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kron_dynamics.bag import BagContents
from kron_dynamics.control import Trajectory
from kron_dynamics.demo.motion import Motion
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.exceptions import BagError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray

# Modal coordinate that a joint's move excites: sideways and vertical, m at the tip.
EXCITED = {'slew': 'boom/v1', 'luff': 'boom/w1'}
# Length of the evaluation window in periods: long enough for a mean that does not depend on the
# phase, short enough that a boom with 2 % damping and held joints keeps more than two thirds of
# its amplitude.
PERIODS = 3
# Required samples per half period: peaks are then underestimated by at most 2 %.
_SAMPLES = 8


class Window(NamedTuple):
    """Time window in which the vibration after a move is evaluated.

    Attributes:
        joint: name of the joint that moved.
        mode: name of the modal coordinate that vibrates.
        begin: time since the start of the motion, s, at which the run's own reference stops.
        end: end of the window since the start of the motion, s.
    """

    joint: str
    mode: str
    begin: float
    end: float


@dataclass(frozen=True, slots=True, eq=False)
class VibrationResult:
    """One run's vibration: the samples recorded during the motion and its waiting times.

    Attributes:
        name: name of the run.
        time: times of the deflections since the start of the motion, shape (N,), s.
        deflection: deflection of the tip by mode, each of shape (N,), m.
        joint_time: times of the velocities since the start of the motion, shape (L,), s.
        velocity: velocities by joint, each of shape (L,), rad/s.
        followed: the run's own reference.
        windows: evaluation windows, one after each move.
    """

    name: str
    time: FloatArray
    deflection: dict[str, FloatArray]
    joint_time: FloatArray
    velocity: dict[str, FloatArray]
    followed: Trajectory
    windows: tuple[Window, ...]

    def residual(self, window: Window) -> float:
        """Return the largest deviation from the mean within a window, m at the tip."""
        inside = (self.time >= window.begin) & (self.time <= window.end)
        deflection = self.deflection[window.mode][inside]
        return float(np.abs(deflection - deflection.mean()).max())


def held_periods(robot: Robot, position: ArrayLike) -> dict[str, float]:
    """Return the period of each modal coordinate by name, s, with held joints.

    Args:
        robot: robot with flexible links.
        position: joint positions, shape (n_j,), rad or m.
    """
    count, zero = robot.model.joint_count, np.zeros(robot.n)
    linear = robot.linearize(quasi_static_equilibrium(robot, position), zero, zero)
    squares = linear.stiffness.diagonal()[count:] / linear.mass.diagonal()[count:]
    periods = 2.0 * np.pi / np.sqrt(squares)
    return dict(zip(robot.joint_names[count:], periods.tolist(), strict=True))


def evaluate_vibration(
    contents: BagContents,
    name: str,
    motion: Motion,
    start: float,
    followed: Trajectory,
    periods: Mapping[str, float],
) -> VibrationResult:
    """Return the tip's vibration after each move of a run recorded in the namespace `name`.

    Windows begin where the run's own reference stops, so they show the vibration that this
    reference excited. A shaped reference stops later, and the drives damp an unshaped run's
    vibration until then: to compare both runs at the same time, evaluate one with the windows of
    the other.

    Args:
        contents: the bag.
        name: namespace of the run, without slashes.
        motion: the reference before shaping.
        start: start of the motion on the clock of the states, s.
        followed: the run's own reference; each of its moves ends later than in `motion` by the
            difference of the durations.
        periods: periods of the modal coordinates by name, s.

    Raises:
        BagError: the bag lacks the run, or its end.
    """
    until = float(motion.times[-1])
    delay = followed.duration - until
    time, deflection = _series(
        contents, f'/{name}/simulator_node/modal_states', 'position', start, until
    )
    joint_time, velocity = _series(contents, f'/{name}/joint_states', 'velocity', start, until)
    windows = []
    for joint, stop in motion.stops():
        mode = EXCITED[joint]
        if mode not in deflection:
            raise BagError(f"'{name}' has no coordinate '{mode}' in {contents.path}")
        begin = stop + delay
        end = begin + PERIODS * periods[mode]
        samples, _ = np.histogram(time, bins=2 * PERIODS, range=(begin, end))
        if samples.min() < _SAMPLES:
            raise BagError(
                f"'{name}' has {samples.tolist()} samples in the half periods of {mode} "
                f'after the {joint} move, from {begin:.4g} s to {end:.4g} s, expected at least '
                f'{_SAMPLES} in each of {2 * PERIODS}'
            )
        windows.append(Window(joint, mode, begin, end))
    return VibrationResult(name, time, deflection, joint_time, velocity, followed, tuple(windows))


def _series(
    contents: BagContents, topic: str, quantity: str, start: float, until: float
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return the times since the start, up to `until`, and a quantity's series by name."""
    missing = f"no messages on '{topic}' during the motion in {contents.path}"
    recorded = contents.joint_states.get(topic)
    if recorded is None:
        raise BagError(missing)
    since = recorded.stamp * 1e-9 - start
    states = recorded.taken((since >= 0.0) & (since <= until))
    if not len(states):
        raise BagError(missing)
    times = np.asarray(states.stamp * 1e-9 - start)
    return times, dict(zip(states.names, states.values(states.names, quantity).T, strict=True))
