# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of one model, each made when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kron_dynamics.kernels.kernel import Kernel, KernelReport
from kron_dynamics.model.robot_model import RobotModel

# A name, of an array of length n; or a name and a length.
Argument = str | tuple[str, int]


class KernelCollection:
    """The kernels of one model by name."""

    def __init__(self, model: RobotModel) -> None:
        """Start without any kernel."""
        self._model = model
        self._fingerprint = model.fingerprint
        self._kernels: dict[str, Kernel] = {}

    def get(
        self, name: str, function: Callable[..., Any], arguments: Sequence[Argument]
    ) -> Kernel:
        """Return the kernel of a quantity, compiling it the first time.

        Args:
            name: of the quantity; equal names must mean equal functions.
            function: takes the model and one array an argument.
            arguments: their names, with their lengths where these are not n.
        """
        kernel = self._kernels.get(name)
        if kernel is None:
            kernel = self._kernels[name] = Kernel(
                name,
                [(a, self._model.n) if isinstance(a, str) else a for a in arguments],
                lambda *values: function(self._model, *values),
                self._fingerprint,
            )
        return kernel

    @property
    def n(self) -> int:
        """Number of generalized coordinates: the length of every argument."""
        return self._model.n

    @property
    def reports(self) -> list[KernelReport]:
        """What has been compiled so far."""
        return [kernel.report for kernel in self._kernels.values()]
