# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Age and plausibility checks of joint states in dynamics_node, and their diagnostics.

`StateSupervision.problem` says what is wrong with the states, such as none for too long. `_watch`
of `dynamics_node.py` asks it, and sends `fault_effort_without_state` of
`control/tracking_controller.py`. Late or repeated stamps: `control/joint_states.py`.
docs/faults.md has every case and its parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from rclpy.node import Node

from kron_dynamics.control import AssembledState, JointStateAssembler, SampleOutcome
from kron_dynamics.control.supervision.joint_sources import JointSources
from kron_dynamics.control.supervision.state_gate import (
    StateGate,
    Verdict,
    position_jumps,
    position_margins,
)
from kron_dynamics.exceptions import MessageError
from kron_dynamics.messages import listed
from kron_dynamics.robot import Robot
from kron_dynamics.ros.conversions import Stamp, seconds
from kron_dynamics.ros.declarations import NO_LIMIT
from kron_dynamics.ros.joint_state_bytes import JointStateReader
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.typing import FloatArray

_WARN_PERIOD = 5.0
# States without stamps are timed by the node's clock. If it steps back further than this, in s, it
# was set or restarted; as for stamps.
_CLOCK_STEP = 1.0


class Received(NamedTuple):
    """Result of receiving a joint state message.

    Attributes:
        state: state to be answered; None if it is incomplete or not plausible.
        stamp: stamp of the message.
        time: the stamp in s, or the arrival time if it is 0; that of an earlier message if it is
            later; None if the message was dropped.
        problem: fault of the states or the machine, as text; None if there is none.
    """

    state: AssembledState | None
    stamp: Stamp
    time: float | None
    problem: str | None


class StateSupervision:
    """Receives the joint states of a node and checks their plausibility and age."""

    def __init__(
        self, node: Node, settings: ParameterSet, robot: Robot, assembler: JointStateAssembler
    ) -> None:
        """Make the supervision of a robot's joint states.

        Args:
            node: node whose log and topics are used.
            settings: parameters of dynamics_node, those of the joints included.
            robot: the machine.
            assembler: assembler of its joint states.
        """
        self._assembler = assembler
        self._robot = robot
        self._settings = settings
        self._sources = JointSources(robot.joint_names)
        self._reader = JointStateReader()
        self._node = node
        self.take_up_settings()
        self._timeout = settings.value('state_timeout')
        self._joints = frozenset(robot.joint_names)
        self._clock = -np.inf  # latest time of a state without a stamp, s
        self._time = -np.inf  # latest time of any state, s
        self._times = [-np.inf] * robot.n  # of the positions, s
        self._accepted = -np.inf
        # Names in messages of others, while none of the machine's joints has come.
        self._foreign: tuple[str, ...] = ()
        self._heard = False
        self._dropped = -np.inf
        self._implausibility: str | None = None
        self._last_implausibility: str | None = None
        self._implausible = 0

    def take_up_settings(self) -> None:
        """Apply the current parameters, and discard the history of states."""
        self._gate = self._gate_of_settings()

    def _gate_of_settings(self) -> StateGate:
        settings, model = self._settings, self._robot.model
        factor = settings.value('velocity_fault_factor')
        margin = settings.per_joint('position_margin.{joint}', model.joint_names)
        jump = settings.per_joint('position_jump.{joint}', model.joint_names)
        return StateGate(
            model,
            position_margin=np.where(margin > 0.0, margin, position_margins(model)),
            position_jump=np.where(jump > 0.0, jump, position_jumps(model)),
            velocity_factor=np.inf if factor >= NO_LIMIT else factor,
        )

    @property
    def accepted(self) -> float:
        """Steady time of the last plausible state, s; -inf before the first."""
        return self._accepted

    def receive(self, data: bytes, info: Mapping[str, Any], now: float) -> Received:
        """Receive a message; dropped and implausible ones are logged, those of others are not.

        Args:
            data: serialized sensor_msgs/JointState.
            info: message info of the middleware; older ones do not identify the publisher.
            now: steady time, s.
        """
        source = info.get('publisher_gid')
        try:
            names, position, velocity, effort, stamp = self._reader.read(data)
        except MessageError as error:
            self._assembler.reject('message not readable')
            self._warn_of_dropped(now, f': {error}')
            return Received(None, Stamp(0, 0), None, None)
        self._sources.note(names, position, None if source is None else source['data'])
        stamped = seconds(stamp)
        # Others than the machine's joints tell nothing about how these are timed.
        foreign = self._joints.isdisjoint(names)
        if foreign and not self._heard:
            self._foreign = names
        elif not foreign:
            self._foreign, self._heard = (), True
        clock = None if stamped or foreign else self._clock_time()
        problem, behind = None, -np.inf if clock is None else self._clock - clock
        if behind > _CLOCK_STEP:
            self._assembler.reset()
            self._restart()
            problem = "the node's clock stepped back, and joint_states have no stamps"
        if 0.0 < behind <= _CLOCK_STEP:
            outcome = self._assembler.reject('clock stepped back')
        else:
            self._clock = self._clock if clock is None else clock
            outcome = self._assembler.update(
                names, position, velocity, effort, stamp=stamped or None, now=now
            )
        if outcome is SampleOutcome.REJECTED:
            if not foreign or not names:
                self._warn_of_dropped(now)
            return Received(None, stamp, None, problem)
        if outcome is SampleOutcome.RESTARTED:
            self._restart()
            problem = 'stamps of joint_states stepped back'
        # Of publishers that share the joints, one may always be older than the other.
        self._time = time = max(stamped if clock is None else clock, self._time)
        state = self._assembler.state(now)
        if state.is_new:
            self._times = [time] * len(self._times)
        else:
            new = (state.ages[0] == 0.0).tolist()
            self._times = np.where(new, time, self._times).tolist()
        if not state.ready:
            return Received(None, stamp, time, problem)
        verdict = self._judge(state, now)
        if not verdict.plausible:
            return Received(None, stamp, time, problem)
        return Received(state, stamp, time, problem or verdict.problem)

    def _warn_of_dropped(self, now: float, why: str = '') -> None:
        self._dropped = now
        self._node.get_logger().warning(
            f'joint state dropped{why}; so far: {dict(self._assembler.rejections)}',
            throttle_duration_sec=_WARN_PERIOD,
        )

    def _clock_time(self) -> float:
        return float(self._node.get_clock().now().nanoseconds * 1e-9)

    def _restart(self) -> None:
        """Begin anew at an earlier time."""
        self._gate.reset()
        self._time = -np.inf

    def _judge(self, state: AssembledState, now: float) -> Verdict:
        verdict = self._gate.judge(state.q, state.qd, self._times)
        if verdict.plausible:
            self._accepted = now
            self._implausibility = None
            if (joint := self._sources.doubled) is not None:
                return Verdict(True, self._two_sources(joint))
            return verdict
        self._implausibility = self._last_implausibility = verdict.problem
        self._implausible += 1
        self._node.get_logger().warning(
            f'implausible joint state: {verdict.problem}', throttle_duration_sec=_WARN_PERIOD
        )
        return verdict

    def problem(self, now: float) -> str | None:
        """Return why the states cannot be used, or None.

        They are not fresh, implausible for longer than the timeout, or from several publishers.
        """
        if (stale := self._assembler.state(now).problem()) is not None:
            if self._foreign:
                return f'{stale}; the only states are of other joints: {listed(self._foreign)}'
            if now - self._dropped > self._timeout:
                return stale
            return f'{stale}; states arrive and are dropped: {dict(self._assembler.rejections)}'
        silent = now - self._accepted > self._timeout
        if self._implausibility is not None and silent:
            return f'joint states are implausible: {self._implausibility}'
        joint = self._sources.doubled
        return None if joint is None else self._two_sources(joint)

    def obstacle(self, now: float) -> str | None:
        """Return why motion must not start from the measured state, or None.

        Reasons are those of `problem`, an implausible last state, which leaves the position to
        hold unknown, or a last state that would be a fault at once.
        """
        if (problem := self.problem(now)) is not None:
            return problem
        if self._implausibility is not None:
            return f'the last joint state is implausible: {self._implausibility}'
        state = self._assembler.state(now)
        return self._gate_of_settings().violation(state.q, state.qd)

    def position(self, now: float) -> FloatArray:
        """Return the measured position, shape (n,), rad or m; NaN if the last is implausible."""
        q = self._assembler.state(now).q
        return q if self._implausibility is None else np.full_like(q, np.nan)

    def values(self) -> dict[str, str]:
        """Return the count of implausible states for diagnostics, as texts; empty for none."""
        if not self._implausible:
            return {}
        return {
            'implausible joint states': f'{self._implausible}, last: {self._last_implausibility}'
        }

    def _two_sources(self, joint: str) -> str:
        topic = self._node.resolve_topic_name('joint_states')
        nodes = sorted(
            f'{info.node_namespace.rstrip("/")}/{info.node_name}'
            for info in self._node.get_publishers_info_by_topic(topic)
        )
        return (
            f"several sources give joint '{joint}' on {topic}, expected one; its publishers: "
            f'{", ".join(nodes)}'
        )
