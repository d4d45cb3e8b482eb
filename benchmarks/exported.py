# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Exported C code in a C loop, against C code of CasADi and against Pinocchio in C++."""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from benchmarks import casadi_peer, native_code, ours, pinocchio_cpp
from benchmarks.calls import against
from benchmarks.native_code import LoopTask
from benchmarks.robots import description, state
from benchmarks.rows import Outcome
from benchmarks.timing import pinned
from kron_dynamics.export import export_library, write_export

# Name and arguments of each quantity in an export.
_FUNCTIONS = {
    'tau': ('inverse_dynamics', ('q', 'qd', 'qdd')),
    'mass': ('mass_matrix', ('q',)),
    'step': ('control_step', ('q', 'qd')),
}
# Wraps the exported function with the signature that all measured functions have.
_KERNEL = """
void kernel_{quantity}(ptrdiff_t count, const double *const *in, double *const *out) {{
  static double work[{workspace} + 1];
  (void)count;
  (void)work;
  {function}({arguments});
}}
"""


@functools.cache
def _library(robot: str) -> ctypes.CDLL:
    """Return an export with the three functions, compiled with the options of the peers."""
    built, tip = ours.robot(robot), description(robot).tip
    library = export_library(
        built, prefix='robot', frames=[tip], quantities=[name for name, _ in _FUNCTIONS.values()]
    )
    folder = native_code.folder() / f'export_{robot}'
    write_export(library, folder)
    text = (folder / 'src' / 'robot.c').read_text(encoding='ascii')
    for function in library.functions:
        (quantity,) = (key for key, (name, _) in _FUNCTIONS.items() if name == function.quantity)
        given = [f'in[{k}]' for k in range(len(function.specification.arguments))]
        given += [f'out[{k}]' for k in range(len(function.results))]
        given += ['work'] if function.code.workspace else []
        text += _KERNEL.format(
            quantity=quantity,
            workspace=function.code.workspace,
            function=f'robot_{function.name}',
            arguments=', '.join(given),
        )
    source = native_code.folder() / f'exported_{robot}.c'
    source.write_text(text, encoding='ascii')
    return native_code.library(native_code.compile_c(source, f'-I{folder / "include"}'))


def in_c_loop(robot: str, quantity: str) -> LoopTask:
    """Return tau, M or the control step of an export, called from C."""
    n = ours.robot(robot).n
    s = state(n)
    shapes = {
        'tau': [(n,)],
        'mass': [(n, n)],
        'step': [(n, n), (n,), (n,), (6, n), (6,)],
    }[quantity]
    inputs = [getattr(s, name) for name in _FUNCTIONS[quantity][1]]
    address = ctypes.cast(_library(robot)[f'kernel_{quantity}'], ctypes.c_void_p).value
    assert address is not None
    return LoopTask('exported C', address, inputs, *map(np.empty, shapes))


def casadi(robot: str, quantity: str, rounds: int) -> Outcome:
    """Both called in the same C loop."""
    return against(in_c_loop(robot, quantity), [casadi_peer.in_c_loop(robot, quantity)], rounds)


def pinocchio(robot: str, quantity: str, rounds: int) -> Outcome:
    """In a C loop, against the fastest of Pinocchio's variants in a C++ loop."""
    with pinned(), pinocchio_cpp.Program(robot) as program:
        peers: list[pinocchio_cpp.CppTask] = []
        if quantity == 'tau':
            peers.append(pinocchio_cpp.CppTask(program, 'rnea'))
        elif quantity == 'mass':
            peers += [
                pinocchio_cpp.CppTask(program, name) for name in ('mass_local', 'mass_world')
            ]
        else:
            n = ours.robot(robot).n
            peers += [pinocchio_cpp.StepTask(program, name, n) for name in pinocchio_cpp.STEPS]
        return against(in_c_loop(robot, quantity), peers, rounds)
