# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of one model, each made when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from kron_dynamics.kernels.compilation import Recipe, make_kernels
from kron_dynamics.kernels.kernel import Kernel, KernelReport
from kron_dynamics.model.robot_model import RobotModel

# A name, of an array of length n; or a name and a length.
Argument = str | tuple[str, int]


class Quantity(NamedTuple):
    """What a kernel computes.

    Attributes:
        name: of the quantity; equal names must mean equal functions.
        function: takes the model and one array an argument.
        arguments: their names, with their lengths where these are not n.
        result_type: named tuple of several results, None for one.
        in_body_axes: whether the result is in the axes of the model's bodies.
    """

    name: str
    function: Callable[..., Any]
    arguments: Sequence[Argument]
    result_type: type[tuple[Any, ...]] | None = None
    in_body_axes: bool = False


class KernelCollection:
    """The kernels of one model by name."""

    def __init__(self, model: RobotModel, threads: int = 1) -> None:
        """Start without any kernel; `threads` share a batch, 0 for all cores."""
        self._model = model
        self._fingerprint = model.fingerprint
        self._threads = threads
        self._kernels: dict[str, Kernel] = {}

    def get(self, quantity: Quantity) -> Kernel:
        """Return the kernel of a quantity, compiling it the first time."""
        if quantity.name not in self._kernels:
            self.prepare([quantity])
        return self._kernels[quantity.name]

    def prepare(self, quantities: Iterable[Quantity]) -> None:
        """Make all kernels that are missing, in as few compilations as there are cores."""
        recipes = [
            Recipe(
                quantity.name,
                tuple((a, self._model.n) if isinstance(a, str) else a for a in quantity.arguments),
                quantity.function,
                quantity.result_type,
                quantity.in_body_axes,
            )
            for quantity in quantities
            if quantity.name not in self._kernels
        ]
        if recipes:
            for kernel in make_kernels(recipes, self._model, self._fingerprint, self._threads):
                self._kernels[kernel.report.name] = kernel

    @property
    def n(self) -> int:
        """Number of generalized coordinates: the length of every argument."""
        return self._model.n

    @property
    def reports(self) -> list[KernelReport]:
        """What has been made so far."""
        return [kernel.report for kernel in self._kernels.values()]
