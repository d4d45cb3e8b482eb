# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that a file of tests needs one after the other, by a few calls of the compiler."""

from __future__ import annotations

from typing import Any

import kron_dynamics as kd
from kron_dynamics.kernels.compiled import compiled_methods


def compile_together(robot: Any, link: str, *names: str, batches: bool = False) -> None:
    """Compile some quantities of a robot and of a link, if they are compiled at all.

    Args:
        robot: the robot.
        link: name of the link.
        names: methods of a robot or of a frame.
        batches: whether to compile the code for batches, too.

    Raises:
        AssertionError: neither the robot nor the link has one of the quantities.
    """
    if not isinstance(robot, kd.Robot):
        return
    methods = [
        (owner, name, method)
        for owner in (robot, robot.frame(link))
        for name, method in compiled_methods(type(owner)).items()
        if name in names
    ]
    assert {name for _, name, _ in methods} == set(names)
    wanted = [method.specification(owner) for owner, _, method in methods]
    robot._kernels.prepare(wanted, batches)
