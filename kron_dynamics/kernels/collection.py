# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels of one model, each made when it is first needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kron_dynamics.kernels.kernel import Kernel, KernelReport
from kron_dynamics.kernels.kernel_factory import make_kernels, make_lanes
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.model.robot_model import RobotModel


class KernelCollection:
    """The kernels of one model by the keys of their specifications."""

    def __init__(self, model: RobotModel, threads: int = 1) -> None:
        """Start without kernels; `threads` is how many share a batch, 0 for all cores."""
        self._model = model
        self._fingerprint = model.fingerprint
        self._threads = threads
        self._kernels: dict[str, Kernel] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the model only; kernels are reloaded from the cache."""
        return KernelCollection, (self._model, self._threads)

    def get(self, specification: KernelSpecification) -> Kernel:
        """Return the kernel of a specification, compiled at the first request.

        Kernels are identified by key: specifications of equal keys must be equal.
        """
        self.prepare([specification])
        return self._kernels[specification.key]

    def prepare(
        self, specifications: Iterable[KernelSpecification], batches: bool = False
    ) -> None:
        """Make all missing kernels in one go and, if `batches`, their code for batches."""
        wanted = {known.key: known for known in specifications}.values()
        missing = [known for known in wanted if known.key not in self._kernels]
        if missing:
            made = make_kernels(missing, self._model, self._fingerprint, self._threads)
            for known, kernel in zip(missing, made, strict=True):
                self._kernels[known.key] = kernel
        without = [known for known in wanted if self._kernels[known.key].lacks_lanes]
        if batches and without:
            addresses = make_lanes(without, self._model, self._fingerprint)
            for k, known in enumerate(without):
                self._kernels[known.key].use_lanes(None if addresses is None else addresses[k])

    @property
    def model(self) -> RobotModel:
        """The model that the equations are evaluated on."""
        return self._model

    @property
    def n(self) -> int:
        """Number of generalized coordinates, the default length of arguments."""
        return self._model.n

    @property
    def reports(self) -> list[KernelReport]:
        """Reports of the kernels made so far."""
        return [kernel.report for kernel in self._kernels.values()]
