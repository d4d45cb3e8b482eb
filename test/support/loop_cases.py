# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantities and robots for tests of kernels with loops, and their compilation and check."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics import dynamics, kinematics
from kron_dynamics.kernels.compiler import find_compiler
from kron_dynamics.kernels.compiler_process import compile_library
from kron_dynamics.kernels.emit import emit_c
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.model import RobotModel


class Quantity(NamedTuple):
    """A function of a model, a link, `arrays` arrays of length n and `triples` of length 3."""

    function: Callable[..., Any]
    arrays: int
    triples: int = 0
    in_body_axes: bool = False


def of_model(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda model, link, *arrays: function(model, *arrays)


def of_link(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda model, link, *arrays: function(model, *arrays, link)


def external_wrench(model: Any, link: str, q: Any, force: Any, moment: Any) -> Any:
    return dynamics.external_wrench(model, q, link, force, moment, axes=model.root_link)


def point_jacobian(model: Any, link: str, q: Any) -> Any:
    return kinematics.jacobian(model, q, link, (0.1, -0.2, 0.3))


QUANTITIES = {
    'mass_matrix': Quantity(of_model(dynamics.mass_matrix), 1),
    'mass_matrix_derivative': Quantity(of_model(dynamics.mass_matrix_derivative), 1),
    'velocity_free_coriolis_matrix': Quantity(of_model(dynamics.velocity_free_coriolis_matrix), 1),
    'coriolis_matrix': Quantity(of_model(dynamics.coriolis_matrix), 2),
    'coriolis_vector': Quantity(of_model(dynamics.coriolis_vector), 2),
    'gravity_vector': Quantity(of_model(dynamics.gravity_vector), 1),
    'bias_forces': Quantity(of_model(dynamics.bias_forces), 2),
    'inverse_dynamics': Quantity(of_model(dynamics.inverse_dynamics), 3),
    'inverse_dynamics_rate': Quantity(of_model(dynamics.inverse_dynamics_rate), 4),
    'forward_jerk': Quantity(of_model(dynamics.forward_jerk), 4),
    'acceleration_energy': Quantity(of_model(dynamics.acceleration_energy), 3),
    'second_order_acceleration_energy': Quantity(
        of_model(dynamics.second_order_acceleration_energy), 4
    ),
    'linearization': Quantity(of_model(dynamics.linearization), 3),
    'kinetic_energy': Quantity(of_model(dynamics.kinetic_energy), 2),
    'potential_energy': Quantity(of_model(dynamics.potential_energy), 1),
    'regressor': Quantity(of_model(dynamics.regressor), 3, in_body_axes=True),
    'control_step': Quantity(of_link(dynamics.control_step), 2),
    'external_wrench': Quantity(external_wrench, 1, triples=2),
    'pose': Quantity(of_link(kinematics.forward_kinematics), 1),
    'jacobian': Quantity(of_link(kinematics.jacobian), 1),
    'point_jacobian': Quantity(point_jacobian, 1),
    'translational_jacobian': Quantity(of_link(kinematics.translational_jacobian), 1),
    'rotational_jacobian': Quantity(of_link(kinematics.rotational_jacobian), 1),
    'kinematic_hessian': Quantity(of_link(kinematics.kinematic_hessian), 1),
    'translational_hessian': Quantity(of_link(kinematics.translational_hessian), 1),
    'jacobian_dot': Quantity(of_link(kinematics.jacobian_dot), 2),
    'velocity': Quantity(of_link(kinematics.frame_velocity), 2),
    'acceleration': Quantity(of_link(kinematics.frame_acceleration), 3),
    'jerk': Quantity(of_link(kinematics.frame_jerk), 4),
    'joint_friction': Quantity(of_model(dynamics.joint_friction), 1),
    'forward_dynamics': Quantity(of_model(dynamics.forward_dynamics), 3),
}


def record(name: str, model: RobotModel, link: str) -> LoopTrace:
    quantity = QUANTITIES[name]
    sizes = [model.n] * quantity.arrays + [3] * quantity.triples
    return LoopTrace(
        lambda staged, *arrays: quantity.function(staged, link, *arrays),
        model,
        sizes,
        quantity.in_body_axes,
    )


class Compiled:
    """Compiled functions with loops of several traces, in one library."""

    def __init__(
        self,
        traces: dict[str, LoopTrace],
        folder: Path,
        source: str | None = None,
        options: Sequence[str] = (),
    ) -> None:
        command = find_compiler()
        assert command is not None
        source = emit_c(list(traces.values())) if source is None else source
        compile_library((*command, *options), source, folder / 'loops.so')
        self._library = ctypes.CDLL(str(folder / 'loops.so'))
        self._places = {name: k for k, name in enumerate(traces)}
        self.traces = traces

    def __call__(self, name: str, *arrays: np.ndarray) -> list[np.ndarray]:
        """Return the results for a batch: arrays have shape (count, length)."""
        trace, count = self.traces[name], len(arrays[0])
        results = [np.full((count, *shape), 7.0) for shape in trace.shapes]
        rows = [np.ascontiguousarray(array) for array in arrays]
        pointers = [
            (ctypes.c_void_p * len(some))(*(array.ctypes.data for array in some))
            for some in (rows, results)
        ]
        function = self._library[f'kernel_{self._places[name]}']
        function(ctypes.c_ssize_t(count), *pointers)
        return results


def link_text(k: int, rng: np.random.Generator) -> str:
    x, y, z = rng.uniform(0.01, 0.2, 3)
    numbers = ' '.join(f'{v:.4f}' for v in rng.uniform(-0.3, 0.3, 3))
    turn = ' '.join(f'{v:.4f}' for v in rng.uniform(-3, 3, 3))
    return (
        f'<link name="link{k}"><inertial><origin xyz="{numbers}" rpy="{turn}"/>'
        f'<mass value="{rng.uniform(0.3, 3):.4f}"/>'
        f'<inertia ixx="{y + z}" iyy="{z + x}" izz="{x + y}" ixy="0" ixz="0" iyz="0"/>'
        f'</inertial></link>'
    )


def joint_text(k: int, parent: int, kind: str, axis: Any, rng: Any, rest: str = '') -> str:
    place = ' '.join(f'{v:.4f}' for v in rng.uniform(-0.4, 0.4, 3))
    turn = ' '.join(f'{v:.4f}' for v in rng.uniform(-3, 3, 3)) if kind != 'chain' else '0 0 0'
    kind = 'revolute' if kind == 'chain' else kind
    return (
        f'<joint name="joint{k}" type="{kind}"><parent link="link{parent}"/>'
        f'<child link="link{k}"/><origin xyz="{place}" rpy="{turn}"/>'
        f'<axis xyz="{" ".join(map(str, axis))}"/>'
        f'<limit lower="-3" upper="3" velocity="5" effort="100"/>{rest}</joint>'
    )


def chain_text(n: int) -> str:
    """Return the URDF of a serial chain with axes along x, y, z in turn."""
    rng, parts = np.random.default_rng(n), ['<link name="link0"/>']
    for k in range(1, n + 1):
        parts += [link_text(k, rng), joint_text(k, k - 1, 'chain', np.eye(3)[k % 3], rng)]
    return f'<robot name="chain">{"".join(parts)}</robot>'


def tree_text(n: int, seed: int = 4) -> str:
    """Return a URDF with branches, oblique axes, prismatic, screw and mimic joints."""
    rng, parts = np.random.default_rng(seed), ['<link name="link0"/>']
    for k in range(1, n + 1):
        share = rng.uniform()
        kind = 'prismatic' if share < 0.3 else 'screw' if share > 0.8 else 'revolute'
        more = f'<screw_thread_pitch value="{30 * share - 27:.3f}"/>' if kind == 'screw' else ''
        if k > 3 and rng.uniform() < 0.3:
            ratio, offset = rng.uniform(-2, 2, 2)
            more += (
                f'<mimic joint="joint{rng.integers(1, 4)}" multiplier="{ratio:.3f}" '
                f'offset="{offset:.3f}"/>'
            )
        parent = k - 1 if rng.uniform() < 0.6 else int(rng.integers(0, k))
        axis = rng.integers(-3, 4, 3)
        axis = axis if axis.any() else (0, 0, -1)
        parts += [link_text(k, rng), joint_text(k, parent, kind, axis, rng, more)]
    return f'<robot name="tree">{"".join(parts)}</robot>'


def shuffled_joints(model: RobotModel) -> list[str]:
    """Return the names of the joints in no order of the file."""
    return [str(name) for name in np.random.default_rng(1).permutation(model.joint_names)]


def numbered_breadth_first(model: RobotModel) -> RobotModel:
    """Return the robot with bodies numbered so that what a joint carries is scattered."""
    count = len(model.joints)
    order = sorted(range(count), key=lambda k: (len(model.paths[k]), -k))
    place = {k: order.index(k) for k in range(count)} | {-1: -1}
    joints = [replace(model.joints[k], parent=place[model.joints[k].parent]) for k in order]
    frames = {name: replace(frame, body=place[frame.body]) for name, frame in model.frames.items()}
    bodies = tuple(model.bodies[k] for k in order)
    return replace(model, joints=tuple(joints), bodies=bodies, frames=frames)


class Case(NamedTuple):
    """A robot, one of its links, and its compiled functions."""

    model: RobotModel
    link: str
    functions: Compiled


def make_case(
    model: RobotModel,
    folder: Path,
    names: Any = tuple(QUANTITIES),
    link: str | None = None,
    options: Sequence[str] = (),
) -> Case:
    """Record and compile some quantities; options are for the compiler."""
    link = model.tip_link if link is None else link
    traces = {name: record(name, model, link) for name in names}
    return Case(model, link, Compiled(traces, folder, options=options))


def states(case: Case, name: str, count: int) -> list[np.ndarray]:
    rng, quantity = np.random.default_rng(len(name)), QUANTITIES[name]
    sizes = [case.model.n] * quantity.arrays + [3] * quantity.triples
    return [rng.uniform(-1.3, 1.3, (count, size)) for size in sizes]


def check(case: Case, name: str, assert_close: Any, count: int = 11) -> None:
    arrays = states(case, name, count)
    actual = case.functions(name, *arrays)
    for row in (0, count - 1):  # one state in a SIMD lane, one in the remainder
        state = [array[row] for array in arrays]
        expected = QUANTITIES[name].function(case.model, case.link, *state)
        expected = expected if isinstance(expected, tuple) else (expected,)
        condition = 1.0
        if name == 'forward_dynamics':
            condition += np.linalg.cond(dynamics.mass_matrix(case.model, state[0])) / 100
        for one, other in zip(actual, expected, strict=True):
            # Terms that are exactly 0 in the equations may be rounding errors in the kernel.
            assert_close(one[row], other, 1e-12 * condition, floor=1e-3)
