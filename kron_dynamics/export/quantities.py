# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Selection and recording of the functions of a library: quantities of a robot and its links.

There is no list of them here: each `compiled` method of `Robot` and `RobotFrame` can be exported
by name. Header, wrapper and self-test are generated from the recorded functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kron_dynamics.exceptions import InvalidInertiaError, ParameterError
from kron_dynamics.export.identifiers import different_identifiers
from kron_dynamics.frame import RobotFrame
from kron_dynamics.kernels.c_functions import CFunction, c_functions
from kron_dynamics.kernels.compiled import Compiled, compiled_methods
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.kernels.trace import Graph, Trace
from kron_dynamics.messages import listed, shown
from kron_dynamics.payload_kernels import with_payload
from kron_dynamics.robot import Robot

OF_ROBOT = compiled_methods(Robot)
OF_FRAME = compiled_methods(RobotFrame)
# Default quantities of a robot.
USUAL_OF_ROBOT = (
    'mass_matrix',
    'bias_forces',
    'gravity_vector',
    'inverse_dynamics',
    'forward_dynamics',
    'joint_friction',
)
# Identifiers that no link may have: combined with a quantity of frames they would be the name of a
# quantity of the robot.
_TAKEN = frozenset(
    name.removesuffix(f'_{quantity}')
    for name in OF_ROBOT
    for quantity in OF_FRAME
    if name.endswith(f'_{quantity}')
)
# Default quantities of a frame.
USUAL_OF_FRAME = ('pose', 'jacobian', 'velocity', 'control_step')


@dataclass(frozen=True)
class Function:
    """A function of a library.

    Attributes:
        name: name in C, without the library's prefix.
        quantity: name of the exported method of `Robot` or `RobotFrame`.
        link: link whose frame the quantity is of; None for a quantity of the robot.
        description: what it returns, in one sentence.
        specification: the equation, with its arguments.
        results: name and shape of each result.
        operations: number of arithmetic operations, sines and cosines per call.
        code: the C code.
    """

    name: str
    quantity: str
    link: str | None
    description: str
    specification: KernelSpecification
    results: tuple[tuple[str, tuple[int, ...]], ...]
    operations: int
    code: CFunction


@dataclass(frozen=True)
class _Wanted:
    name: str
    quantity: str
    link: str | None
    method: Compiled[Any, Any]
    specification: KernelSpecification


def chosen_quantities(
    names: Sequence[str], links: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the quantities of the robot, and those of each frame, to export.

    Args:
        names: methods of `Robot` and `RobotFrame`; empty for the usual ones.
        links: links whose frames are requested.

    Raises:
        ParameterError: a quantity is unknown, or one of a frame is named without links.
    """
    if not names:
        return USUAL_OF_ROBOT, USUAL_OF_FRAME if links else ()
    for name in names:
        if name not in OF_ROBOT and name not in OF_FRAME:
            raise ParameterError(
                f'quantity {shown(name)} does not exist, expected one of the robot: '
                f'{listed(OF_ROBOT)}; or of a frame: {listed(OF_FRAME)}'
            )
    of_frame = tuple(dict.fromkeys(name for name in names if name in OF_FRAME))
    if of_frame and not links:
        raise ParameterError(
            f"quantity '{of_frame[0]}' needs a link, and no frame is named: give frames, "
            f'on the command line --frame LINK'
        )
    return tuple(dict.fromkeys(name for name in names if name in OF_ROBOT)), of_frame


def recorded(
    robot: Robot,
    quantities: tuple[Sequence[str], Sequence[str]],
    links: Sequence[str],
    carriers: Sequence[str],
    prefix: str,
    real: str,
    usual: bool,
) -> tuple[list[Function], list[Trace | LoopTrace]]:
    """Return the functions of a library and their traces.

    Args:
        robot: the robot.
        quantities: names of the quantities of the robot, and of each frame.
        links: links of the frames.
        carriers: links at whose frames payloads are arguments.
        prefix: prefix of the names in C.
        real: type of numbers, 'double' or 'float'.
        usual: whether quantities that need the inverse of a singular M are left out instead of
            refused.

    Raises:
        InvalidInertiaError: a quantity needs the inverse of M, which is singular.
        KernelBuildError: a number of the model is too large for the type.
    """
    wanted = list(_wanted(robot, quantities, links, carriers, usual))
    graph = Graph()
    traces: dict[str, Trace | LoopTrace] = {
        f'{prefix}_{each.name}': each.specification.record_for_compiler(robot.model, graph)
        for each in wanted
    }
    code = c_functions(traces, real)
    by_name = {f'{prefix}_{each.name}': each for each in wanted}
    functions = []
    for name, function in code.items():
        each, trace = by_name[name], traces[name]
        fields = getattr(each.specification.result_type, '_fields', ('result',))
        functions.append(
            Function(
                each.name,
                each.quantity,
                each.link,
                _sentence(each.method),
                each.specification,
                tuple(zip(fields, trace.shapes, strict=True)),
                trace.operations,
                function,
            )
        )
    return functions, [traces[name] for name in code]


def _wanted(
    robot: Robot,
    quantities: tuple[Sequence[str], Sequence[str]],
    links: Sequence[str],
    carriers: Sequence[str],
    usual: bool,
) -> Iterator[_Wanted]:
    of_robot, of_frame = quantities
    for quantity in of_robot:
        method = OF_ROBOT[quantity]
        if method.inverts_mass and robot.singular_mass is not None:
            if usual:
                continue
            raise InvalidInertiaError(robot.singular_mass)
        yield _with_payloads(quantity, quantity, None, method, robot, carriers)
    for link, identifier in zip(links, different_identifiers(links, _TAKEN), strict=True):
        for quantity in of_frame:
            name, method = f'{identifier}_{quantity}', OF_FRAME[quantity]
            yield _with_payloads(name, quantity, link, method, robot.frame(link), carriers)


def _with_payloads(
    name: str,
    quantity: str,
    link: str | None,
    method: Compiled[Any, Any],
    owner: Any,
    carriers: Sequence[str],
) -> _Wanted:
    specification = method.specification(owner)
    if specification.has_inertia:
        specification = with_payload(specification, tuple(carriers))
    return _Wanted(name, quantity, link, method, specification)


def _sentence(method: Compiled[Any, Any]) -> str:
    """Return the first paragraph of a method's docstring on one line, without its citation."""
    first = (method.__doc__ or '').split('\n\n')[0]
    words = ' '.join(first.split()).replace('``', '').removeprefix('Return ')
    return re.sub(r' \[[A-Z]\] .*', '', words)
