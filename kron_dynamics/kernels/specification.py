# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel computes: an equation with its arguments, and how it is recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kron_dynamics.kernels.sources import Origin, origins_of
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.reproducible import with_python_numbers

if TYPE_CHECKING:
    from kron_dynamics.kernels.loops.trace import LoopTrace
    from kron_dynamics.kernels.trace import Graph, Trace

# Measured on serial chains: straight-line code of so many operations is hardly quicker than that
# of loops, which is compiled in a fraction of the time. Arms never get there.
_JOINTS_OF_LOOPS = 10
_LONG = 2500
# Loops have at most four times the operations, so that there is no need to record both.
_LONG_IN_LOOPS = 4 * _LONG

# The module that makes kernels: whatever it imports is part of what they are made from.
_GENERATOR = 'kron_dynamics.kernels.compilation'


# A name, of an array of length n; or a name and a length.
Argument = str | tuple[str, int]


class KernelSpecification(NamedTuple):
    """A kernel to be made.

    Attributes:
        name: what it computes; with the model's fingerprint it identifies the function.
        arguments: their names, with their lengths where these are not n.
        function: runs on a model and traced arrays of those lengths; a tuple means several
            results.
        result_type: the named tuple that several results come in, None for one result.
        in_body_axes: whether the result is in the axes of the model's bodies.
        has_loops: whether the function goes through the tree by the model's ways alone, so that
            its loops can be recorded.
        has_inertia: whether it depends on the inertia of the bodies, and on what they carry.
    """

    name: str
    arguments: Sequence[Argument]
    function: Callable[..., Any]
    result_type: type[tuple[Any, ...]] | None = None
    in_body_axes: bool = False
    has_loops: bool = True
    has_inertia: bool = False

    def lengths(self, model: RobotModel) -> list[tuple[str, int]]:
        """Return name and length of each argument for a model."""
        return [(a, model.n) if isinstance(a, str) else a for a in self.arguments]

    def record(self, model: RobotModel, graph: Graph | None = None) -> Trace:
        """Return the operations of the function, in a graph shared with others where given."""
        from kron_dynamics.kernels.trace import Trace  # of no use where all is compiled already

        function = functools.partial(self.function, with_python_numbers(model))
        return Trace(function, self.sizes(model), graph)

    def record_for_compiler(self, model: RobotModel, graph: Graph) -> Trace | LoopTrace:
        """Return what makes the better C: all operations, or those of the loops over joints."""
        is_small = len(model.joints) < _JOINTS_OF_LOOPS
        is_tree = not (model.is_flexible or model.has_closed_loops)
        if is_small or not is_tree or not self.has_loops:
            return self.record(model, graph)
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
        """Return where the sources of a kernel are: of its function, the model, the generator."""
        return [_GENERATOR, *type(model).__mro__, *origins_of(self.function)]
