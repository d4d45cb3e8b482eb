# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels recorded with their loops, against the same equations on floats."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from long_runs import some_of
from loop_cases import (
    QUANTITIES,
    Case,
    Compiled,
    chain_text,
    check,
    make_case,
    numbered_breadth_first,
    record,
    shuffled_joints,
    states,
    tree_text,
)

from kron_dynamics import dynamics, kinematics
from kron_dynamics.kernels.emit import emit_c
from kron_dynamics.kernels.loops.axes import with_axes_along_z
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.model import RobotModel, load_model

SOME = ('mass_matrix', 'velocity_free_coriolis_matrix', 'forward_dynamics', 'control_step')
SMALL = (*SOME, 'regressor', 'kinematic_hessian', 'jerk')
# Of single, double and triple loops over the joints.
OF_ALL_DEGREES = ('inverse_dynamics', 'gravity_vector', 'acceleration')
# In every run; what else there is takes a second each to compile.
OF_A_CHAIN = ('mass_matrix', 'control_step', 'kinematic_hessian', 'inverse_dynamics')
OF_A_TREE = (
    *(*SOME, 'regressor', 'kinematic_hessian', 'jerk', 'linearization', 'external_wrench'),
    *('inverse_dynamics_rate', 'second_order_acceleration_energy'),
)
# Takes half the time. What is optimized is the chain and a tree that is numbered in another way;
# test_analysis.py shows which loops may be, for all quantities.
HURRY = ('-O0',)
NAMES = sorted(path.stem for path in (Path(__file__).parents[2] / 'robots').glob('*.urdf'))


@pytest.fixture(scope='module')
def chain(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return make_case(load_model(chain_text(30)), tmp_path_factory.mktemp('chain'), OF_A_CHAIN)


@pytest.fixture(scope='module')
def whole_chain(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return make_case(load_model(chain_text(30)), tmp_path_factory.mktemp('whole_chain'))


@pytest.fixture(scope='module')
def tree_model() -> RobotModel:
    model = load_model(tree_text(25))
    assert len(model.joints) > model.n
    assert {'prismatic', 'screw', 'revolute'} == {joint.kind for joint in model.joints}
    assert any(joint.kind == 'screw' and joint.mimics for joint in model.joints)
    assert any(k not in path for k, path in zip(range(24), model.paths[1:], strict=True))
    shuffled = shuffled_joints(model)
    armature = {shuffled[0]: 0.3, shuffled[5]: 0.1}
    return load_model(tree_text(25), gravity=(1.0, 2.0, -9.0), joints=shuffled, armature=armature)


@pytest.fixture(scope='module')
def tree(tree_model: RobotModel, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return make_case(tree_model, tmp_path_factory.mktemp('tree'), OF_A_TREE, options=HURRY)


@pytest.fixture(scope='module')
def whole_tree(tree_model: RobotModel, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return make_case(tree_model, tmp_path_factory.mktemp('whole_tree'))


# Axes along x, y or z have code of their own, whatever is computed from them.
@pytest.mark.parametrize('name', OF_A_CHAIN)
def test_chain(chain: Case, name: str, assert_close: Any) -> None:
    check(chain, name, assert_close)


@pytest.mark.long
@pytest.mark.parametrize('name', QUANTITIES)
def test_every_quantity_of_a_chain(whole_chain: Case, name: str, assert_close: Any) -> None:
    check(whole_chain, name, assert_close)


@pytest.mark.parametrize('name', OF_A_TREE)
def test_tree_with_mimic_joints_in_any_order(tree: Case, name: str, assert_close: Any) -> None:
    check(tree, name, assert_close)


@pytest.mark.long
@pytest.mark.parametrize('name', QUANTITIES)
def test_every_quantity_of_a_tree(whole_tree: Case, name: str, assert_close: Any) -> None:
    check(whole_tree, name, assert_close)


@pytest.mark.parametrize('robot', some_of(NAMES, ['planar_2r']))
def test_small_robots(robot: str, robot_text: Any, tmp_path: Path, assert_close: Any) -> None:
    case = make_case(load_model(robot_text(robot)), tmp_path, SMALL, options=HURRY)
    for name in case.functions.traces:
        check(case, name, assert_close)


@pytest.mark.long  # the tree has all that they have, and test_kernel_conformance a humanoid
@pytest.mark.parametrize('file_name', ['talos_full_v2.urdf', 'icub_reduced.urdf'])
def test_humanoids(file_name: str, tmp_path: Path, assert_close: Any) -> None:
    oracle = pytest.importorskip('pinocchio_oracle')
    model = load_model(oracle.arm_text(file_name))
    link = model.link_names[len(model.link_names) // 2]
    case = make_case(model, tmp_path, (*SOME, 'inverse_dynamics', 'kinematic_hessian'), link)
    for name in case.functions.traces:
        check(case, name, assert_close)


def test_forty_joints(tmp_path: Path, assert_close: Any) -> None:
    # Too much for the stack: some of the memory is from the heap.
    names = ('velocity_free_coriolis_matrix', 'regressor')
    case = make_case(load_model(chain_text(40)), tmp_path, names)
    assert emit_c(list(case.functions.traces.values())).count('= malloc(') >= 1
    for name in case.functions.traces:
        check(case, name, assert_close)


@pytest.mark.long
@settings(max_examples=10)
@given(data=st.data())
def test_random_trees(
    data: Any, random_trees: Any, tmp_path_factory: pytest.TempPathFactory, assert_close: Any
) -> None:
    model = load_model(data.draw(random_trees))
    link = data.draw(st.sampled_from(model.link_names))
    case = make_case(model, tmp_path_factory.mktemp('random'), SMALL, link)
    for name in SMALL:
        check(case, name, assert_close)


@pytest.mark.parametrize(
    'names', some_of([list(SOME[:2]), list(SOME[2:])], [list(SOME[:2])]), ids=repr
)
def test_any_numbering_of_the_joints(names: list[str], tmp_path: Path, assert_close: Any) -> None:
    case = make_case(numbered_breadth_first(load_model(tree_text(20))), tmp_path, names)
    for name in names:
        check(case, name, assert_close)


def test_root_link(tree_model: RobotModel, tmp_path: Path, assert_close: Any) -> None:
    names = ('pose', 'jacobian', 'kinematic_hessian', 'acceleration')
    case = make_case(tree_model, tmp_path, names, tree_model.root_link, HURRY)
    for name in names:
        check(case, name, assert_close)


def test_nan_in_nan_out_and_nowhere_else(chain: Case, assert_close: Any) -> None:
    for name in ('inverse_dynamics', 'mass_matrix', 'control_step', 'kinematic_hessian'):
        arrays = states(chain, name, 19)
        clean = chain.functions(name, *arrays)
        for row in (3, 18):  # one of the lanes, one of the rest
            arrays[0][row] = np.nan
        for result, before in zip(chain.functions(name, *arrays), clean, strict=True):
            spoiled = np.isnan(result.reshape(19, -1)).any(axis=1)
            assert spoiled.tolist() == [row in (3, 18) for row in range(19)]
            # Beside a NaN, sines come from the library: the last digit may differ.
            assert_close(result[~spoiled], before[~spoiled])


def test_no_states(chain: Case) -> None:
    (empty,) = chain.functions('mass_matrix', np.empty((0, 30)))
    assert empty.shape == (0, 30, 30)


def test_nan_without_memory(tmp_path: Path) -> None:
    model = load_model(chain_text(40))
    trace = record('velocity_free_coriolis_matrix', model, model.tip_link)
    source = emit_c([trace])
    assert source.count('= malloc(') == 1
    starved = Compiled({'C': trace}, tmp_path, source.replace('= malloc(', '= (void *)(0 * '))
    assert np.isnan(starved('C', np.zeros((2, 40)))[0]).all()


def test_no_lanes_without_memory(chain: Case, tmp_path: Path, assert_close: Any) -> None:
    trace = record('mass_matrix', chain.model, chain.link)
    source = emit_c([trace]).replace(' : malloc(', ' : (void *)(0 * ')
    arrays = states(chain, 'mass_matrix', 9)
    starved = Compiled({'mass_matrix': trace}, tmp_path, source)
    assert_close(starved('mass_matrix', *arrays), chain.functions('mass_matrix', *arrays))


def test_code_is_made_of_numbers_and_a_closed_vocabulary() -> None:
    text = chain_text(8).replace('"link', '"zzlink').replace('"joint', '"zzjoint')
    model = load_model(text)
    trace = record('control_step', model, 'zzlink8')
    code = emit_c([trace]).split('#define ANY_ORDER\n#endif\n')[1]
    words = set(re.findall(r'[A-Za-z_]\w*', re.sub(r'\d+\.?\d*e[+-]\d+', '', code)))
    numbered = {w for w in words if re.fullmatch(r'(kernel_0_)?[a-z]\d+', w)}
    assert words - numbered == {
        *('static', 'const', 'int', 'double', 'wide', 'void', 'restrict', 'for'),
        *('sizeof', 'memset', 'malloc', 'free', 'if', 'space', 'ptrdiff_t', 'uintptr_t', 'count'),
        *('in', 'out', 'w', 'j', 'k', 'kernel_0', 'kernel_0_one', 'kernel_0_many', 'LANES'),
        *(
            'FASTER',
            'APART',
            'ANY_ORDER',
            'same_wide',
            'fma_double',
            'fma_wide',
            'GATHER',
            'scatter',
            'sincos_all',
            'sincos_wide',
        ),
    }


def test_operations_grow_as_the_loops_do() -> None:
    def count(name: str, n: int) -> int:
        model = load_model(chain_text(n))
        return record(name, model, model.tip_link).operations

    # A polynomial of the degree that is expected: its next difference vanishes.
    for name, degree in (('gravity_vector', 1), ('inverse_dynamics', 1), ('mass_matrix', 2)):
        counts = [count(name, n) for n in range(9, 9 + 3 * (degree + 2), 3)]
        assert np.all(np.diff(counts, degree + 1) == 0) and np.all(np.diff(counts, degree) > 0)
    cubic = [count('velocity_free_coriolis_matrix', n) for n in (9, 12, 15, 18, 21)]
    assert np.all(np.diff(cubic, 4) == 0) and np.all(np.diff(cubic, 3) > 0)


def test_operations_are_those_of_a_count_by_hand() -> None:
    model = load_model(tree_text(25))

    def pairs(staged: Any, q: Any) -> Any:
        total = q.zeros((model.n,))
        for k, joint in staged.outward():
            for _, _, before in staged.ancestors(k):
                total[joint.coordinate] += q[before.coordinate] * q[joint.coordinate]
        return total

    depths = [len(path) - 1 for path in model.paths]
    assert LoopTrace(pairs, model, [model.n]).operations == 2 * sum(depths)


def test_what_is_computed_twice_is_computed_once() -> None:
    model = load_model(chain_text(12))
    once = LoopTrace(dynamics.inverse_dynamics, model, [12] * 3)
    twice = LoopTrace(
        lambda m, *arrays: tuple(dynamics.inverse_dynamics(m, *arrays) for _ in range(2)),
        model,
        [12] * 3,
    )
    assert twice.shapes == ((12,), (12,))
    assert twice.operations == once.operations


def test_memory_that_is_changed_later_is_not_shared(tmp_path: Path) -> None:
    model = load_model(chain_text(5))

    def function(staged: Any, q: Any) -> Any:
        arrays = [q.zeros((5,)) for _ in range(3)]
        for array in arrays:
            for k in staged.coordinates():
                array[k] += 2 * q[k]
        for k in staged.coordinates():
            arrays[1][k] += 1
        return tuple(arrays)

    q = np.linspace(1, 2, 5)[None]
    trace = LoopTrace(function, model, [5])
    results = Compiled({'three': trace}, tmp_path)('three', q)
    for result, extra in zip(results, (0, 1, 0), strict=True):
        np.testing.assert_array_equal(result, 2 * q + extra)


def test_axes_along_z_change_nothing(model: RobotModel, state: Any, assert_close: Any) -> None:
    turned = with_axes_along_z(model)
    assert all(joint.axis.tolist() == [0, 0, 1] for joint in turned.joints)
    for name in ('mass_matrix', 'gravity_vector', 'jacobian', 'kinematic_hessian', 'pose'):
        function = QUANTITIES[name].function
        actual, expected = (function(m, model.tip_link, state.q) for m in (turned, model))
        assert_close(actual, expected, 1e-14, floor=1.0)


@pytest.mark.parametrize('equation', ['branch', 'leak', 'list', 'relative'])
def test_what_cannot_be_recorded_is_refused(equation: str) -> None:
    model = load_model(chain_text(4))

    def branch(staged: Any, q: Any) -> Any:
        return [q[k] for k, _ in staged.outward() if k]

    def leak(staged: Any, q: Any) -> Any:
        for k, _ in staged.outward():
            last = q[k] * q[k]
        return [last]

    def relative(staged: Any, q: Any) -> Any:
        return kinematics.relative_jacobian(staged, q, 'link4', 'link1')

    functions = {
        'branch': branch,
        'leak': leak,
        'list': lambda staged, q: np.concatenate([q, q]),
        'relative': relative,
    }
    with pytest.raises((TypeError, RuntimeError)):
        LoopTrace(functions[equation], model, [4])
