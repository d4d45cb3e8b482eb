# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tracking errors of a recorded run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag import BagContents
from kron_dynamics.bag.reading.joint_states import JointStates
from kron_dynamics.control import Trajectory
from kron_dynamics.exceptions import BagError
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class LawResult:
    """One control law's run: the samples recorded during the motion.

    Attributes:
        law: name of the run.
        time: time since the start of the motion, shape (N,), s.
        position: measured positions, shape (N, n), rad or m.
        reference: reference positions, shape (N, n), rad or m.
        effort: efforts of the drives, shape (N, n), N m or N.
        state_rate: joint states per second of simulated time, Hz.
        command_rate: commands per second of simulated time, Hz.
        acceleration_rate: tip accelerations per second of simulated time, Hz.
    """

    law: str
    time: FloatArray
    position: FloatArray
    reference: FloatArray
    effort: FloatArray
    state_rate: float
    command_rate: float
    acceleration_rate: float

    @property
    def error(self) -> FloatArray:
        """Reference minus measured position, shape (N, n), rad or m."""
        return self.reference - self.position

    @property
    def rms(self) -> FloatArray:
        """Root mean square of the error, shape (n,), rad or m."""
        return np.asarray(np.sqrt(np.mean(self.error**2, axis=0)))


def evaluate(
    contents: BagContents,
    law: str,
    trajectory: Trajectory,
    start: float,
    settle: float,
) -> LawResult:
    """Return a control law's run along a trajectory, recorded in the namespace `law`.

    Args:
        contents: the bag.
        law: namespace of the run, without slashes.
        trajectory: the reference.
        start: start of the trajectory on the clock of the states, s.
        settle: time after the end of the trajectory that is evaluated too, s.

    Raises:
        BagError: the bag lacks the run.
    """
    topics = {
        'states': f'/{law}/joint_states',
        'commands': f'/{law}/dynamics_node/command_state',
    }
    for topic in topics.values():
        if not contents.joint_states.get(topic):
            raise BagError(f"no messages on '{topic}' in {contents.path}")
    end = start + trajectory.duration + settle
    states = _between(contents.joint_states[topics['states']], start, end)
    commands = _between(contents.joint_states[topics['commands']], start, end)
    accelerations = [
        message
        for message in contents.accelerations.get(f'/{law}/dynamics_node/tip_acceleration', [])
        if start <= message.stamp * 1e-9 <= end
    ]
    if not len(states):
        raise BagError(f"no joint states on '{topics['states']}' during the motion")
    time = np.asarray(states.stamp * 1e-9 - start)
    span = end - start
    return LawResult(
        law=law,
        time=time,
        position=states.values(trajectory.joint_names, 'position'),
        reference=np.array([trajectory.sample(t)[0] for t in time]),
        effort=states.values(trajectory.joint_names, 'effort'),
        state_rate=len(states) / span,
        command_rate=len(commands) / span,
        acceleration_rate=len(accelerations) / span,
    )


def _between(states: JointStates, start: float, end: float) -> JointStates:
    time = states.stamp * 1e-9
    return states.taken((start <= time) & (time <= end))
