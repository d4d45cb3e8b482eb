# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Which joint states a node believes, and what it says of those that it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from kron_dynamics.control import AssembledState
from kron_dynamics.control.supervision.joint_sources import JointSources
from kron_dynamics.control.supervision.state_gate import (
    StateGate,
    Verdict,
    position_jumps,
    position_margins,
)
from kron_dynamics.robot import Robot
from kron_dynamics.ros.parameters import NO_LIMIT, ParameterSet

_WARN_PERIOD = 5.0


class StateSupervision:
    """Judges the joint states of a node, and remembers since when none was believed."""

    def __init__(self, node: Node, settings: ParameterSet, robot: Robot) -> None:
        """Make it for a robot; `settings` are those of dynamics_node, joints included."""
        self._robot = robot
        self._settings = settings
        self._sources = JointSources(robot.joint_names)
        self._node = node
        self.take_up_settings()
        self._timeout = settings.value('state_timeout')
        self._believed: float | None = None
        self._doubt: str | None = None
        self._last_doubt: str | None = None
        self._not_believed = 0

    def take_up_settings(self) -> None:
        """Judge by the parameters as they are now, and forget the states seen so far."""
        settings, model = self._settings, self._robot.model
        factor = settings.value('velocity_fault_factor')
        margin = settings.per_joint('position_margin.{joint}', model.joint_names)
        jump = settings.per_joint('position_jump.{joint}', model.joint_names)
        self._gate = StateGate(
            model,
            position_margin=np.where(margin > 0.0, margin, position_margins(model)),
            position_jump=np.where(jump > 0.0, jump, position_jumps(model)),
            velocity_factor=np.inf if factor >= NO_LIMIT else factor,
        )

    def note_source(self, message: JointState, info: Mapping[str, Any]) -> None:
        """Take a message and what the middleware says of it; older ones do not say who sent it."""
        source = info.get('publisher_gid')
        self._sources.note(
            message.name, message.position, None if source is None else source['data']
        )

    def restart(self) -> None:
        """Forget the states seen so far, as after a clock that stepped back."""
        self._gate.reset()

    def judge(self, state: AssembledState, stamp: float, now: float) -> Verdict:
        """Return what is to be thought of a fresh state; tells the log of doubts.

        Args:
            state: fresh positions and velocities.
            stamp: of it, s.
            now: steady time, s.
        """
        verdict = self._gate.judge(state.q, state.qd, stamp)
        if verdict.believed:
            self._believed = now
            self._doubt = None
            if (joint := self._sources.doubled) is not None:
                return Verdict(True, self._two_sources(joint))
            return verdict
        self._doubt = self._last_doubt = verdict.problem
        self._not_believed += 1
        self._node.get_logger().warning(
            f'joint state not believed: {verdict.problem}', throttle_duration_sec=_WARN_PERIOD
        )
        return verdict

    def problem(self, now: float) -> str | None:
        """Return why no state has been believed for too long, or that there are two sources."""
        silent = self._believed is None or now - self._believed > self._timeout
        if self._doubt is not None and silent:
            return f'joint states are not believed: {self._doubt}'
        joint = self._sources.doubled
        return None if joint is None else self._two_sources(joint)

    def values(self) -> dict[str, str]:
        """Return what diagnostics tell, as texts; empty where there is nothing to tell."""
        if not self._not_believed:
            return {}
        return {'joint states not believed': f'{self._not_believed}, last: {self._last_doubt}'}

    def _two_sources(self, joint: str) -> str:
        topic = self._node.resolve_topic_name('joint_states')
        nodes = sorted(
            f'{info.node_namespace.rstrip("/")}/{info.node_name}'
            for info in self._node.get_publishers_info_by_topic(topic)
        )
        return (
            f"two sources give joint '{joint}' on {topic}, expected one; its publishers: "
            f'{", ".join(nodes)}'
        )
