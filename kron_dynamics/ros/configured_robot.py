# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot that dynamics_node is configured for, with rigid and with flexible links."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kron_dynamics.carrying import CarryingRobot
from kron_dynamics.robot import Robot


class ConfiguredRobot(NamedTuple):
    """Robot and tip link of a configured node.

    Attributes:
        flexible: the machine, with its flexible links if it has any.
        tip_frame: link of the tip topics.
    """

    flexible: CarryingRobot
    tip_frame: str

    @property
    def robot(self) -> Robot:
        """The machine with rigid links, which the control law uses."""
        return self.flexible.rigid

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Names of the modal coordinates; empty if all links are rigid."""
        return self.flexible.joint_names[self.robot.n :]

    def prepare(self, linearized: bool) -> None:
        """Compile all kernels of the control cycle, before the first joint state.

        Args:
            linearized: whether linear models are needed, too.

        Raises:
            UnknownFrameError: the robot has no link `tip_frame`.
            KernelBuildError: the compiler failed.
        """
        n = self.flexible.n
        # References are checked in batches, which must not wait for a compiler.
        self.robot.prepare(self.tip_frame, batches=True)
        if self.mode_names:
            self.flexible.frame(self.tip_frame).pose(np.zeros(n))
        if self.mode_names or linearized:
            self.flexible.joint_friction(np.zeros(n))
            self.flexible.linearization(*np.zeros((3, n)))

    def summary(self) -> str:
        """Return a summary of the configuration, in one line."""
        model = self.robot.model
        robots = [self.robot, self.flexible][: 2 if self.mode_names else 1]
        reports = [report for robot in robots for report in robot.kernel_report()]
        built = [report.build_seconds for report in reports if not report.cached]
        made = (
            f'{len(built)} of them built in {sum(built):.1f} s' if built else 'all from the cache'
        )
        modes = f'modes {", ".join(self.mode_names)}; ' if self.mode_names else ''
        return (
            f"configured for '{model.name}': joints {', '.join(model.joint_names)}; {modes}"
            f'{len(reports)} kernels, {made}; '
            f'model {model.fingerprint[:12]}'
        )
