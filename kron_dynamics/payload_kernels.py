# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels with the payloads as an additional argument, which their calls supply themselves."""

from __future__ import annotations

import copy
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
    """Payloads in effect with their kernels; replaced atomically, so calls never see a mixture.

    Attributes:
        carriers: the l links whose bodies may carry payloads, in order.
        parameters: ten inertial parameters of each carrier's payload about the link's origin, in
            the link's axes, shape (10 l,).
        calls: kernels for these carriers, by the key of the kernel without payload.
        repeated: parameters repeated for each state of a batch, for the last batch length only.
    """

    carriers: tuple[str, ...]
    parameters: FloatArray
    calls: dict[str, Callable[..., Any]]
    repeated: dict[int, FloatArray]

    def like(self, argument: Any) -> FloatArray:
        """Return the parameters, repeated if another argument is a batch."""
        if type(argument) is not np.ndarray or argument.ndim != 2:
            return self.parameters
        rows = self.repeated.get(len(argument))
        if rows is None:
            rows = np.tile(self.parameters, (len(argument), 1))
            self.repeated.clear()
            self.repeated[len(argument)] = rows
        return rows


class PayloadKernels(KernelCollection):
    """The kernels of a robot that may carry payloads.

    Kernels that depend on inertia are compiled with the payloads as one more argument, which
    their calls append.
    """

    def __init__(self, model: RobotModel, threads: int, carriers: tuple[str, ...]) -> None:
        """Start without kernels and without payloads.

        Args:
            model: the robot.
            threads: number of threads that share a batch, 0 for all cores.
            carriers: different links whose frames are those of their bodies; see `carrier_of`.
        """
        super().__init__(model, threads)
        self._specifications: dict[str, KernelSpecification] = {}
        self._lock = threading.Lock()
        self.setting = threading.RLock()
        """Held while payloads are replaced; calls do not wait for it."""
        self._loading = _unloaded(carriers)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the model and its payloads; kernels are reloaded from the cache."""
        carriers, parameters = self._loading.carriers, self._loading.parameters
        return _restored, (self._model, self._threads, carriers, parameters)

    def __copy__(self) -> PayloadKernels:
        """Return kernels whose payloads change independently; both share the compiled ones."""
        other = PayloadKernels.__new__(PayloadKernels)
        vars(other).update(vars(self))
        return other

    @property
    def in_effect(self) -> tuple[tuple[str, ...], FloatArray]:
        """Carriers, and the ten parameters of the payload of each, shape (l, 10)."""
        carriers, parameters, *_ = self._loading
        return carriers, parameters.reshape(-1, PARAMETERS_PER_BODY)

    @property
    def model(self) -> RobotModel:
        """The model with the current payloads."""
        carriers, parameters, *_ = self._loading
        return carrying(self._model, carriers, parameters)

    def with_parameters(self, parameters: Mapping[str, FloatArray]) -> PayloadKernels:
        """Return kernels with other payloads, and compile those that new carriers need.

        Args:
            parameters: ten parameters, shape (10,), by carrier; other carriers carry nothing.

        Raises:
            KernelBuildError: there is a compiler and it failed.
        """
        other = copy.copy(self)
        present = self._loading  # read once: another thread may replace it
        missing = tuple(link for link in parameters if link not in present.carriers)
        carriers = present.carriers + missing
        calls = self._calls_for(carriers) if missing else present.calls
        none = np.zeros(PARAMETERS_PER_BODY)
        values = np.array([parameters.get(link, none) for link in carriers]).ravel()
        other._loading = _Loading(carriers, values, calls, {})
        return other

    def take_over(
        self, after: PayloadKernels, before: tuple[tuple[str, ...], FloatArray], share: float
    ) -> None:
        """Put payloads interpolated between two sets into effect.

        Args:
            after: kernels with the payloads at a share of 1, from `with_parameters`.
            before: payloads at a share of 0: `in_effect` at the start of the change.
            share: 0 to 1.

        Raises:
            KernelBuildError: a carrier of `before` is none of `after`, and the compiler failed.
        """
        known, _, calls, _ = after._loading
        # Since `after` was made, other links may have become carriers.
        carriers = tuple(dict.fromkeys((*known, *before[0])))
        if carriers != known:
            calls = self._calls_for(carriers)
        ends = np.zeros((2, len(carriers), PARAMETERS_PER_BODY))
        for end, payloads in zip(ends, (before, after.in_effect), strict=True):
            for link, own in zip(*payloads, strict=True):
                end[carriers.index(link)] = own
        # This form is exact at both ends.
        mean = ((1.0 - share) * ends[0] + share * ends[1]).ravel()
        while True:
            with self._lock:
                if calls.keys() >= self._loading.calls.keys():
                    self._loading = _Loading(carriers, mean, calls, {})
                    return
            calls.update(self._calls_for(carriers))  # other threads have added kernels meanwhile

    def get(self, specification: KernelSpecification) -> Any:
        """Return an object whose `call` is the kernel of a specification.

        A kernel that depends on inertia uses the payloads in effect at the time of the call.
        """
        if not specification.has_inertia:
            return super().get(specification)
        self.prepare([specification])
        name, key = specification.name, specification.key
        count = len(specification.arguments)

        def call(*values: Any, out: Any = None, **by_name: Any) -> Any:
            loading = self._loading
            kernel = loading.calls[key]
            if not loading.carriers:
                return kernel(*values, out=out, **by_name)
            if by_name or len(values) != count:
                _check_count(name, values, count)
                return kernel(*values, out=out, payload=loading.parameters, **by_name)
            return kernel(*values, loading.like(values[0]), out=out)

        # A partial, unlike a function, accepts the `__reduce_ex__` that makes it picklable.
        return SimpleNamespace(call=functools.partial(call))

    def prepare(
        self, specifications: Iterable[KernelSpecification], batches: bool = False
    ) -> None:
        """Make all missing kernels in one go; see `KernelCollection.prepare`."""
        wanted = list(specifications)
        loaded = {known.key: known for known in wanted if known.has_inertia}
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
        """Compile all known kernels for some carriers, and return their calls."""
        known = dict(self._specifications)
        super().prepare([with_payload(each, carriers) for each in known.values()])
        return self._made(known, carriers)

    def _made(
        self, known: Mapping[str, KernelSpecification], carriers: tuple[str, ...]
    ) -> dict[str, Callable[..., Any]]:
        made = {key: with_payload(each, carriers).key for key, each in known.items()}
        return {key: self._kernels[loaded].call for key, loaded in made.items()}


def _unloaded(carriers: tuple[str, ...]) -> _Loading:
    return _Loading(carriers, np.zeros(PARAMETERS_PER_BODY * len(carriers)), {}, {})


def _restored(
    model: RobotModel, threads: int, carriers: tuple[str, ...], parameters: FloatArray
) -> PayloadKernels:
    kernels = PayloadKernels(model, threads, carriers)
    kernels._loading = _Loading(carriers, parameters, {}, {})
    return kernels


def with_payload(known: KernelSpecification, carriers: tuple[str, ...]) -> KernelSpecification:
    """Return a specification with one more argument, the payloads of the carriers, if any.

    Args:
        known: specification of a kernel that depends on inertia.
        carriers: different links whose frames are those of their bodies.
    """
    if not carriers:
        return known
    function = known.function

    def loaded(model: Any, *values: Any) -> Any:
        *own, payload = values
        return function(carrying(model, carriers, payload), *own)

    return known._replace(
        # The name lists all carriers because kernels are identified by name.
        name=f'{known.name} with payload on {carriers!r}',
        arguments=(*known.arguments, ('payload', PARAMETERS_PER_BODY * len(carriers))),
        function=loaded,
    )


def _check_count(name: str, values: tuple[Any, ...], count: int) -> None:
    if len(values) > count:
        raise TypeError(f'{clipped(name)} takes {count} arguments, got {len(values)}')
