# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`Kernel`: a compiled equation as a function of arrays, for one state or a batch."""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.arguments import real_array
from kron_dynamics.exceptions import ShapeError
from kron_dynamics.kernels.batches import (
    STATES_PER_THREAD,
    Evaluate,
    in_threads,
    thread_count,
)
from kron_dynamics.kernels.caller import call_type
from kron_dynamics.messages import clipped
from kron_dynamics.typing import ArrayLike, FloatArray

# Fewest states for which the code for batches is used; `caller.c` has the same number.
BATCH = 16
_WHOLE = 2**62  # limit in states that no batch reaches, so that none is divided


class KernelReport(NamedTuple):
    """Origin and cost of a kernel.

    Attributes:
        name: the quantity.
        operations: arithmetic operations, sines and cosines per state.
        source: 'c' (compiled) or 'numpy' (no compiler was found).
        build_seconds: time spent recording and compiling when it was built, s.
        cached: whether it was loaded from the disk cache.
    """

    name: str
    operations: int
    source: str
    build_seconds: float
    cached: bool


class Kernel:
    """A function of row vectors, compiled for one robot.

    Attributes:
        name: the quantity.
        report: its origin and cost.
        call: the same function through the fastest available path; callers should store this one.
        address: address of its machine code, or None without a compiler.
    """

    def __init__(
        self,
        name: str,
        arguments: Sequence[tuple[str, int]],
        shapes: Sequence[tuple[int, ...]],
        report: KernelReport,
        evaluate: Evaluate | None = None,
        of_state: Callable[[], Callable[..., None]] | None = None,
        address: int | None = None,
        result_type: Callable[..., Any] | None = None,
        threads: int = 1,
        lanes: Callable[[], int | None] | None = None,
    ) -> None:
        """Wrap machine code, or a Python function that does the same.

        Args:
            name: the quantity; used in error messages.
            arguments: (name, length) of each argument, at most five.
            shapes: shape of each result, at most eight.
            report: its origin and cost.
            evaluate: fills outs of shape (count, width) from rows of shape (count, length), all
                C-contiguous; needed without an address.
            of_state: returns ``function(0, *rows, *outs)`` for one state; it may raise an error.
            address: address of ``void (ptrdiff_t count, const double *const *in, double *const
                *out)``, whose library must stay loaded.
            result_type: NamedTuple class of several results; None for a single result.
            threads: number of threads that share a batch; 0 for all cores.
            lanes: compiles the function for batches and returns its address, or None if that is
                impossible; called when it is first needed.

        Raises:
            TypeError: there are several results and no type for them.
            ParameterError: threads is negative.
        """
        if result_type is None and len(shapes) != 1:
            raise TypeError(f'{name} has {len(shapes)} results, but no result_type')
        self.name = self.__name__ = self.__qualname__ = name
        self.report = report
        self.address = address
        self._arguments = tuple(arguments)
        self._shown = clipped(name)
        self._labels = tuple(f'{argument} of {self._shown}' for argument, _ in self._arguments)
        self._shapes = tuple(tuple(shape) for shape in shapes)
        self._result_type = result_type
        self._threads = threads = thread_count(threads)
        sizes = tuple(size for _, size in self._arguments)
        self.call: Callable[..., Any] = self
        if address is not None:
            evaluate = _c_function(address, len(sizes), len(self._shapes))
        elif of_state is not None and len(self._shapes) == 1:
            self.call = _for_plain_arrays(self, of_state, sizes, self._shapes[0])
        assert evaluate is not None
        self._lanes = lanes
        self._evaluate = self._evaluate_batch = in_threads(evaluate, threads)
        if address is not None and (call := call_type()) is not None:
            limit = self._limit if lanes is None else BATCH
            short = call(address, sizes, self._shapes, result_type, self.__call__, limit)
            short.__name__ = short.__qualname__ = name
            short.address = address
            self.call = short

    def __repr__(self) -> str:
        return f'<kernel {self.name}>'

    @property
    def lacks_lanes(self) -> bool:
        """Whether its code for batches has still to be compiled."""
        return self._lanes is not None

    @property
    def _limit(self) -> int:
        """Fewest states of a batch that is divided among threads."""
        return _WHOLE if self._threads == 1 else 2 * STATES_PER_THREAD

    def use_lanes(self, address: int | None) -> None:
        """Set the code that evaluates batches; None keeps the code for single states."""
        if address is not None:
            evaluate = _c_function(address, len(self._arguments), len(self._shapes))
            self._evaluate_batch = in_threads(evaluate, self._threads)
        use_for_batches = getattr(self.call, 'use_for_batches', None)
        if use_for_batches is not None:
            use_for_batches(address or self.address, self._limit)
        self._lanes = None

    def __call__(self, *values: ArrayLike, out: Any = None, **by_name: ArrayLike) -> Any:
        """Evaluate for one state or a batch of N.

        Args:
            values: one array per argument, shape (length,) or (N, length); if any is a batch,
                single states are repeated.
            out: writable C-contiguous float64 array of the result's shape, or a tuple of them for
                several results; None allocates new ones.
            by_name: arguments by name.

        Returns:
            the result, in the quantity's shape with N in front if any argument is a batch; a
            NamedTuple of several results; `out` itself if it is given.

        Raises:
            ArgumentTypeError: an argument holds anything but real numbers.
            ShapeError: an argument or out has another shape, or the batches differ in length.
            ParameterError: a number is beyond the range of float64.
        """
        if by_name or len(values) != len(self._arguments):
            values = self._in_order(values, by_name)
        rows, batch = self._rows(values)
        lead = () if batch is None else (batch,)
        shapes = [(*lead, *shape) for shape in self._shapes]
        count = 1 if batch is None else batch
        if out is None:
            made = [np.empty(shape) for shape in shapes]
            self._run(count, rows, made)
            return made[0] if self._result_type is None else self._result_type(*made)
        outs = self._given(out, shapes)
        # Compiled code may read arguments after it has written results, so they must not overlap.
        apart = [_apart_from(rows, array) for array in outs]
        self._run(count, rows, apart)
        for array, result in zip(outs, apart, strict=True):
            if result is not array:
                array[...] = result
        return out

    def _run(self, count: int, rows: Sequence[FloatArray], outs: Sequence[FloatArray]) -> None:
        if count < BATCH:
            self._evaluate(count, rows, outs)
            return
        lanes = self._lanes  # read once: another thread may finish them now
        if lanes is not None:
            self.use_lanes(lanes())
        self._evaluate_batch(count, rows, outs)

    def _in_order(
        self, values: Sequence[ArrayLike], by_name: dict[str, ArrayLike]
    ) -> tuple[ArrayLike, ...]:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind) for name, _ in self._arguments]
        try:
            return inspect.Signature(parameters).bind(*values, **by_name).args
        except TypeError as error:
            raise TypeError(f'{self._shown}: {error}') from None

    def _rows(self, values: Sequence[ArrayLike]) -> tuple[list[FloatArray], int | None]:
        arrays = [
            np.ascontiguousarray(real_array(value, label))
            for value, label in zip(values, self._labels, strict=True)
        ]
        batch: int | None = None
        for label, (_, size), array in zip(self._labels, self._arguments, arrays, strict=True):
            if array.ndim not in (1, 2) or array.shape[-1] != size:
                raise ShapeError(
                    f'{label} has shape {array.shape}, expected ({size},) or (N, {size})'
                )
            if array.ndim == 2:
                if batch is not None and len(array) != batch:
                    raise ShapeError(
                        f'{label} has {len(array)} states, expected {batch} as in the arguments '
                        f'before it'
                    )
                batch = len(array)
        if batch is not None:
            arrays = [array if array.ndim == 2 else np.tile(array, (batch, 1)) for array in arrays]
        return arrays, batch

    def _given(self, out: Any, shapes: Sequence[tuple[int, ...]]) -> list[FloatArray]:
        """Return the arrays of `out`, checked so that the kernel can write to them."""
        if self._result_type is None:
            return [self._checked(out, 'out', shapes[0])]
        if not isinstance(out, tuple) or len(out) != len(shapes):
            raise ShapeError(
                f'out of {self._shown} {_shown(out)}, expected a tuple of {len(shapes)} arrays'
            )
        outs = [
            self._checked(array, f'out[{k}]', shape)
            for k, (array, shape) in enumerate(zip(out, shapes, strict=True))
        ]
        if any(np.may_share_memory(a, b) for a, b in combinations(outs, 2)):
            raise ShapeError(f'out of {self._shown} holds arrays that share memory')
        return outs

    def _checked(self, array: Any, place: str, shape: tuple[int, ...]) -> FloatArray:
        # Masked arrays are refused: results written below a mask would be hidden.
        if isinstance(array, np.ndarray) and not isinstance(array, np.ma.MaskedArray):
            if array.shape == shape and array.dtype == np.float64 and array.flags.carray:
                return array
        raise ShapeError(
            f'{place} of {self._shown} {_shown(array)}, expected a writable C-contiguous float64 '
            f'array of shape {shape}'
        )


def _shown(array: Any) -> str:
    if isinstance(array, np.ndarray):
        return f'has shape {array.shape} and type {clipped(str(array.dtype))}'
    return f'is {clipped(type(array).__name__)}'


def _apart_from(rows: Sequence[FloatArray], out: FloatArray) -> FloatArray:
    """Return the array, or a new one of its shape if it shares memory with an argument."""
    shared = any(np.may_share_memory(row, out) for row in rows)
    return np.empty(out.shape) if shared else out


def _c_function(address: int, arguments: int, results: int) -> Evaluate:
    pointer = ctypes.c_void_p
    inputs, outputs = pointer * arguments, pointer * results
    # Functions of CFUNCTYPE release the interpreter lock while they run.
    function = ctypes.CFUNCTYPE(None, ctypes.c_ssize_t, inputs, outputs)(address)

    def evaluate(count: int, rows: Sequence[FloatArray], outs: Sequence[FloatArray]) -> None:
        function(count, inputs(*map(_pointer, rows)), outputs(*map(_pointer, outs)))

    return evaluate


def _pointer(array: Any) -> int:
    try:  # several times faster than array.ctypes
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # the array is read-only or empty
        return int(array.ctypes.data)


def _for_plain_arrays(
    kernel: Kernel,
    of_state: Callable[[], Callable[..., None]],
    sizes: Sequence[int],
    shape: tuple[int, ...],
) -> Callable[..., Any]:
    """Return a fast path for kernels without machine code: one state, plain arrays, one result.

    Other calls are forwarded to the kernel. Results may overlap arguments, because Python code
    reads all arguments before it writes results.
    """
    count, singles = len(sizes), tuple((size,) for size in sizes)
    array_type, plain, empty = np.ndarray, np.dtype(np.float64), np.empty

    def call(*values: Any, out: Any = None, **by_name: Any) -> Any:
        if by_name or len(values) != count:
            return kernel(*values, out=out, **by_name)
        # `strict=True` would take as long as one of the comparisons.
        for value, single in zip(values, singles):  # noqa: B905
            if type(value) is not array_type or value.shape != single or value.dtype is not plain:
                return kernel(*values, out=out)
        if out is None:
            result = empty(shape)
        elif type(out) is array_type and out.shape == shape and out.dtype is plain:
            result = out
        else:
            return kernel(*values, out=out)
        try:
            of_state()(0, *values, result)
        except (BufferError, TypeError, ValueError, ZeroDivisionError):
            # An array is read-only or not contiguous, or a number is not finite.
            return kernel(*values, out=out)
        return result

    # A partial, unlike a function, accepts the `__reduce_ex__` that makes it picklable.
    partial = functools.partial(call)
    vars(partial).update(__name__=kernel.name, __qualname__=kernel.name)
    return partial
