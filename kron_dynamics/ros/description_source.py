# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Where dynamics_node has its description from: its parameters, or the topic at any time."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.robot import Robot
from kron_dynamics.ros.description import (
    robot_from_parameters,
    robot_from_text,
    subscribe_description,
)
from kron_dynamics.ros.parameter_set import ParameterSet


class DescriptionSource:
    """The robot of the parameters, or of the last text on robot_description."""

    def __init__(
        self,
        node: Node,
        parameters: ParameterSet,
        *,
        commands: Callable[[], bool],
        in_use: Callable[[], Robot | None],
        refused: Callable[[KronDynamicsError], None],
    ) -> None:
        """Load the description if the parameters contain it, else subscribe to the topic.

        A file is read now, and not again: its changes need a new process.

        Args:
            node: node whose topic and log are used.
            parameters: parameters of the node.
            commands: returns whether the node sends commands.
            in_use: returns the robot that the node is configured for, or None.
            refused: called with the reason if a text cannot be used.

        Raises:
            KronDynamicsError: the description in the parameters is unusable.
        """
        self._node = node
        self._parameters = parameters
        self._commands, self._in_use, self._refused = commands, in_use, refused
        self._text: str | None = None  # that of the robot
        self._unread: str | None = None  # arrived while the node sent commands
        self.robot = robot_from_parameters(parameters)
        """The robot; None until a text has arrived."""
        self.from_topic = self.robot is None
        if self.from_topic:
            subscribe_description(node, self.receive)

    def receive(self, text: str) -> None:
        """Load a text; while the node sends commands, only keep it for the next configuration.

        Loading takes up to seconds, and commands are computed in this thread.
        """
        if self._commands():
            self._unread = text
            if text != self._text:
                self._announce()
            return
        try:
            self._load(text)
        except KronDynamicsError as error:
            self._refused(error)
            return
        present = self._in_use()
        if present is not None and self.robot is not None:
            if self.robot.model.fingerprint != present.model.fingerprint:
                self._announce()

    def latest(self) -> Robot | None:
        """Return the robot of the last text, or None without one; load it if that was put off.

        Raises:
            KronDynamicsError: that text is unusable.
        """
        if self._unread is not None:
            self._load(self._unread)
        return self.robot

    def _load(self, text: str) -> None:
        self.robot = robot_from_text(self._parameters, text)
        self._text, self._unread = text, None

    def _announce(self) -> None:
        self._node.get_logger().warning(
            'another robot_description arrived: it takes effect after cleanup and configure'
        )
