# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Specification of a kernel: an equation with its arguments, and how it is recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kron_dynamics.kernels.late_imports import IMPORTING
from kron_dynamics.kernels.origins import Origin, origins_of
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.reproducible import with_python_numbers

if TYPE_CHECKING:
    from kron_dynamics.kernels.loops.trace import LoopTrace
    from kron_dynamics.kernels.trace import Graph, Trace

# Fewest joints for which loops are considered, and fewest operations of straight-line code for
# which they are used. Measured on serial chains: from there on straight-line code is hardly faster
# than loops, which compile in a fraction of the time. Arms stay below.
_JOINTS_OF_LOOPS = 10
_LONG = 2500
# Loops have at most four times the operations of straight-line code. With more than this, there is
# no need to record the latter for comparison.
_LONG_IN_LOOPS = 4 * _LONG

# The module that makes kernels: all its imports are sources of every kernel.
_GENERATOR = 'kron_dynamics.kernels.kernel_factory'


# The name of an argument of length n, or a name and a length.
Argument = str | tuple[str, int]


class KernelSpecification(NamedTuple):
    """Specification of a kernel.

    Attributes:
        name: the quantity; together with the model's fingerprint it identifies the function.
        arguments: names of the arguments, with their lengths if these are not n.
        function: function of a model and traced arrays of those lengths; it returns a tuple if
            there are several results.
        result_type: the named tuple class of several results, None for one result.
        in_body_axes: whether the result is in the axes of the model's bodies.
        has_loops: whether the function traverses the tree by the model's methods only, so that
            its loops can be recorded.
        has_inertia: whether it depends on the inertia of the bodies, and so on payloads.
        captured: `captured_text` of the function if it is a user's method; '' if it is not.
    """

    name: str
    arguments: Sequence[Argument]
    function: Callable[..., Any]
    result_type: type[tuple[Any, ...]] | None = None
    in_body_axes: bool = False
    has_loops: bool = True
    has_inertia: bool = False
    captured: str = ''

    @property
    def key(self) -> str:
        """What identifies the function in a collection; the name if it is the package's."""
        return f'{self.name}\n{self.captured}' if self.captured else self.name

    def lengths(self, model: RobotModel) -> list[tuple[str, int]]:
        """Return name and length of each argument for a model."""
        return [(a, model.n) if isinstance(a, str) else a for a in self.arguments]

    def record(self, model: RobotModel, graph: Graph | None = None) -> Trace:
        """Return the trace of the function, in a given graph or one of its own."""
        with IMPORTING:
            from kron_dynamics.kernels.trace import Trace  # not needed if kernels are cached

        function = functools.partial(self.function, with_python_numbers(model))
        return Trace(function, self.sizes(model), graph)

    def record_for_compiler(self, model: RobotModel, graph: Graph) -> Trace | LoopTrace:
        """Return the trace that makes the better C: straight-line, or with loops over joints."""
        is_small = len(model.joints) < _JOINTS_OF_LOOPS
        is_tree = not (model.is_flexible or model.has_closed_loops)
        if is_small or not is_tree or not self.has_loops:
            return self.record(model, graph)
        with IMPORTING:
            from kron_dynamics.kernels.loops.trace import LoopTrace

        loops = LoopTrace(self.function, rigid_tree(model), self.sizes(model), self.in_body_axes)
        if loops.operations >= _LONG_IN_LOOPS:
            return loops
        trace = self.record(model, graph)
        return loops if trace.operations >= _LONG else trace

    def sizes(self, model: RobotModel) -> list[int]:
        """Return the length of each argument for a model."""
        return [length for _, length in self.lengths(model)]

    def origins(self, model: RobotModel) -> list[Origin]:
        """Return the origins of a kernel's sources: the function, the model, the generator."""
        return [_GENERATOR, *type(model).__mro__, *origins_of(self.function)]
