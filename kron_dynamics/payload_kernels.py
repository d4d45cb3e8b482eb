# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that take what a robot's bodies carry as one more argument, and add it by themselves."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.dynamics.payload import carrying
from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.kernels import KernelCollection
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.messages import clipped
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import FloatArray


class _Loading(NamedTuple):
    """What is in effect: exchanged as a whole, so that no call sees a half of it.

    Attributes:
        carriers: links whose bodies may carry something, in order.
        parameters: shape (10 l,), of each about the link's origin, in its axes.
        calls: kernels for these carriers by the names of those without payload.
        repeated: the parameters once a state, for the last length of a batch.
    """

    carriers: tuple[str, ...]
    parameters: FloatArray
    calls: dict[str, Callable[..., Any]]
    repeated: dict[int, FloatArray]

    def beside(self, argument: Any) -> FloatArray:
        """Return the parameters as an argument beside another one."""
        if type(argument) is not np.ndarray or argument.ndim != 2:
            return self.parameters
        rows = self.repeated.get(len(argument))
        if rows is None:
            rows = np.tile(self.parameters, (len(argument), 1))
            self.repeated.clear()
            self.repeated[len(argument)] = rows
        return rows


class PayloadKernels(KernelCollection):
    """The kernels of one model that may carry payloads.

    Those that depend on inertia are compiled with one more argument, which their calls add.
    """

    def __init__(self, model: RobotModel, threads: int, carriers: tuple[str, ...]) -> None:
        """Start without any kernel and with nothing carried.

        Args:
            model: the robot.
            threads: that share a batch, 0 for all cores.
            carriers: links whose frames are those of their bodies, different ones.
        """
        super().__init__(model, threads)
        self._specifications: dict[str, KernelSpecification] = {}
        self._lock = threading.Lock()
        self._loading = _unloaded(carriers)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the model and what is in effect: kernels come back from the cache."""
        carriers, parameters = self._loading.carriers, self._loading.parameters
        return _restored, (self._model, self._threads, carriers, parameters)

    @property
    def in_effect(self) -> tuple[tuple[str, ...], FloatArray]:
        """Carriers, and the ten parameters of what each carries, shape (l, 10)."""
        carriers, parameters, *_ = self._loading
        return carriers, parameters.reshape(-1, PARAMETERS_PER_BODY)

    @property
    def model(self) -> RobotModel:
        """The model with what is carried now."""
        carriers, parameters, *_ = self._loading
        return carrying(self._model, carriers, parameters)

    def with_parameters(self, parameters: Mapping[str, FloatArray]) -> PayloadKernels:
        """Return kernels with other payloads, compiling what other carriers need.

        Args:
            parameters: shape (10,) by carrier; others carry nothing.

        Raises:
            KernelBuildError: there is a compiler and it failed.
        """
        other = PayloadKernels.__new__(PayloadKernels)
        vars(other).update(vars(self))  # compiled kernels serve both
        missing = tuple(link for link in parameters if link not in self._loading.carriers)
        carriers = self._loading.carriers + missing
        calls = self._calls_for(carriers) if missing else self._loading.calls
        none = np.zeros(PARAMETERS_PER_BODY)
        values = np.array([parameters.get(link, none) for link in carriers]).ravel()
        other._loading = _Loading(carriers, values, calls, {})
        return other

    def take_over(
        self, after: PayloadKernels, before: tuple[tuple[str, ...], FloatArray], share: float
    ) -> None:
        """Put a weighted mean of two loadings into effect.

        Args:
            after: what there is at a share of 1, from `with_parameters`.
            before: what there is at a share of 0: `in_effect` of then.
            share: 0 to 1.
        """
        carriers, values, calls, _ = after._loading
        start = np.zeros((len(carriers), PARAMETERS_PER_BODY))
        for link, own in zip(*before, strict=True):
            start[carriers.index(link)] = own
        # Exact at both ends.
        mean = (1.0 - share) * start.ravel() + share * values
        while True:
            with self._lock:
                if calls.keys() >= self._loading.calls.keys():
                    self._loading = _Loading(carriers, mean, calls, {})
                    return
            calls.update(self._calls_for(carriers))  # others have come meanwhile

    def get(self, specification: KernelSpecification) -> Any:
        """Return the kernel of a specification: what has its `call`.

        What depends on inertia takes the payloads that are in effect when it is called.
        """
        if not specification.has_inertia:
            return super().get(specification)
        self.prepare([specification])
        name = specification.name
        count = len(specification.arguments)

        def call(*values: Any, out: Any = None, **by_name: Any) -> Any:
            loading = self._loading
            kernel = loading.calls[name]
            if not loading.carriers:
                return kernel(*values, out=out, **by_name)
            if by_name or len(values) != count:
                _refuse_more(name, values, count)
                return kernel(*values, out=out, payload=loading.parameters, **by_name)
            return kernel(*values, loading.beside(values[0]), out=out)

        # Unlike a function, it can say how it is pickled.
        return SimpleNamespace(call=functools.partial(call))

    def prepare(
        self, specifications: Iterable[KernelSpecification], batches: bool = False
    ) -> None:
        """Make all kernels that are missing at once: see `KernelCollection.prepare`."""
        wanted = list(specifications)
        loaded = {known.name: known for known in wanted if known.has_inertia}
        self._specifications.update(loaded)
        while True:
            carriers = self._loading.carriers
            others = [known for known in wanted if not known.has_inertia]
            made = [with_payload(known, carriers) for known in loaded.values()]
            super().prepare([*others, *made], batches)
            with self._lock:
                if self._loading.carriers == carriers:
                    self._loading.calls.update(self._made(loaded, carriers))
                    return

    def _calls_for(self, carriers: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
        """Compile all that there is for some carriers."""
        known = dict(self._specifications)
        super().prepare([with_payload(each, carriers) for each in known.values()])
        return self._made(known, carriers)

    def _made(
        self, known: Mapping[str, KernelSpecification], carriers: tuple[str, ...]
    ) -> dict[str, Callable[..., Any]]:
        names = {name: with_payload(each, carriers).name for name, each in known.items()}
        return {name: self._kernels[made].call for name, made in names.items()}


def _unloaded(carriers: tuple[str, ...]) -> _Loading:
    return _Loading(carriers, np.zeros(PARAMETERS_PER_BODY * len(carriers)), {}, {})


def _restored(
    model: RobotModel, threads: int, carriers: tuple[str, ...], parameters: FloatArray
) -> PayloadKernels:
    kernels = PayloadKernels(model, threads, carriers)
    kernels._loading = _Loading(carriers, parameters, {}, {})
    return kernels


def with_payload(known: KernelSpecification, carriers: tuple[str, ...]) -> KernelSpecification:
    """Return the same with one more argument: what the carriers carry, where there are any.

    Args:
        known: of a kernel that depends on inertia.
        carriers: links whose frames are those of their bodies, different ones.
    """
    if not carriers:
        return known
    function = known.function

    def loaded(model: Any, *values: Any) -> Any:
        *own, payload = values
        return function(carrying(model, carriers, payload), *own)

    return known._replace(
        # In full: equal names must mean equal functions.
        name=f'{known.name} with payload on {carriers!r}',
        arguments=(*known.arguments, ('payload', PARAMETERS_PER_BODY * len(carriers))),
        function=loaded,
    )


def _refuse_more(name: str, values: tuple[Any, ...], count: int) -> None:
    if len(values) > count:
        raise TypeError(f'{clipped(name)} takes {count} arguments, got {len(values)}')
