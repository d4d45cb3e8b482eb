# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How much the boom's tip still vibrates once the reference has stopped."""

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

# What the end of a joint's move leaves behind: sideways and up and down, m at the tip.
EXCITED = {'slew': 'boom/v1', 'luff': 'boom/w1'}
# Long enough for a mean that does not depend on the phase, short enough that a boom of 2 %
# damping, the joints held, keeps more than two thirds of its vibration.
PERIODS = 3
# In each half of a period, so that no peak is missed by more than 2 %.
_SAMPLES = 8


class Window(NamedTuple):
    """Where the vibration after a move is looked at.

    Attributes:
        joint: that moved.
        mode: coordinate that vibrates.
        begin: since the start of the motion, s: where the run's own reference stops.
        end: since the start of the motion, s.
    """

    joint: str
    mode: str
    begin: float
    end: float


@dataclass(frozen=True, slots=True, eq=False)
class VibrationResult:
    """One run's vibration, on the samples recorded during the motion and the rest after it.

    Attributes:
        name: of the run.
        time: since the start of the motion, shape (N,), s.
        deflection: of the tip by mode, each of shape (N,), m.
        joint_time: shape (L,), s.
        velocity: of the joints, each of shape (L,), rad/s.
        followed: the run's own reference.
        windows: after each move.
    """

    name: str
    time: FloatArray
    deflection: dict[str, FloatArray]
    joint_time: FloatArray
    velocity: dict[str, FloatArray]
    followed: Trajectory
    windows: tuple[Window, ...]

    def residual(self, window: Window) -> float:
        """Return the largest deviation from the mean in a window, in m at the tip."""
        inside = (self.time >= window.begin) & (self.time <= window.end)
        deflection = self.deflection[window.mode][inside]
        return float(np.abs(deflection - deflection.mean()).max())


def held_periods(robot: Robot, position: ArrayLike) -> dict[str, float]:
    """Return the period of each modal coordinate by name, s, with joints that are held.

    Args:
        robot: with links that bend.
        position: of the joints, shape (n_j,), rad or m.
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
    """Return how much the tip vibrates after each move of a run in the namespace of its name.

    Windows begin where the run's own reference stops: what vibrates then is what the reference
    leaves behind. A shaped reference stops later, and drives damp what an unshaped one has left
    behind until then: put the windows of the one to the other to compare at the same time.

    Args:
        contents: the bag.
        name: namespace of the run, without slashes.
        motion: the reference before it was shaped.
        start: its start on the clock of the states, s.
        followed: the run's own reference, which ends every move as much later as it is longer.
        periods: of the modal coordinates, s.

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
    """Times since the start, and a quantity by name, until a time."""
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
