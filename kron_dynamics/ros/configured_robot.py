# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot that dynamics_node has been configured for, stiff and flexible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.carrying import CarryingRobot
from kron_dynamics.robot import Robot


@dataclass(frozen=True, slots=True, eq=False)
class ConfiguredRobot:
    """What a configured node is about.

    Attributes:
        flexible: the machine, with links that bend where some do.
        tip_frame: the link of the tip.
    """

    flexible: CarryingRobot
    tip_frame: str

    @property
    def robot(self) -> Robot:
        """The machine with stiff links: control is by this one."""
        return self.flexible.rigid

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Names of the modal coordinates; empty where all links are stiff."""
        return self.flexible.joint_names[self.robot.n :]

    def prepare(self, linearized: bool) -> None:
        """Compile what is needed in the cycle of the states, all before the first one.

        Args:
            linearized: whether linear models are, too.

        Raises:
            UnknownFrameError: there is no link of the tip's name.
            KernelBuildError: there is a compiler and it failed.
        """
        n = self.flexible.n
        # References are checked in batches: none may wait for a compiler.
        self.robot.prepare(self.tip_frame, batches=True)
        if self.mode_names:
            self.flexible.frame(self.tip_frame).pose(np.zeros(n))
        if self.mode_names or linearized:
            self.flexible.joint_friction(np.zeros(n))
            self.flexible.linearization(*np.zeros((3, n)))

    def summary(self) -> str:
        """Return what has been configured, in one line."""
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
