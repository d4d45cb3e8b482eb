# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The object a user holds: compiled quantities, batches, frames, order of the joints."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled_together import compile_together
from long_runs import some_of
from uncompiled import uncompiled

import kron_dynamics as kd
from kron_dynamics import ShapeError, UnknownFrameError, dynamics, kinematics
from kron_dynamics.frame import RelativeFrame

# Quantity: (arguments, shape of the result in n).
THIRD_ORDER: dict[str, tuple[tuple[str, ...], Any]] = {
    'inverse_dynamics_rate': (('q', 'qd', 'qdd', 'qddd'), lambda n: (n,)),
    'forward_jerk': (('q', 'qd', 'qdd', 'qddd'), lambda n: (n,)),
    'acceleration_energy': (('q', 'qd', 'qdd'), lambda n: ()),
    'second_order_acceleration_energy': (('q', 'qd', 'qdd', 'qddd'), lambda n: ()),
}
QUANTITIES: dict[str, tuple[tuple[str, ...], Any]] = {
    'mass_matrix': (('q',), lambda n: (n, n)),
    'mass_matrix_derivative': (('q',), lambda n: (n, n * n)),
    'velocity_free_coriolis_matrix': (('q',), lambda n: (n, n * n)),
    'coriolis_matrix': (('q', 'qd'), lambda n: (n, n)),
    'coriolis_vector': (('q', 'qd'), lambda n: (n,)),
    'gravity_vector': (('q',), lambda n: (n,)),
    'bias_forces': (('q', 'qd'), lambda n: (n,)),
    'inverse_dynamics': (('q', 'qd', 'qdd'), lambda n: (n,)),
    'forward_dynamics': (('q', 'qd', 'qddd'), lambda n: (n,)),
    'kinetic_energy': (('q', 'qd'), lambda n: ()),
    'potential_energy': (('q',), lambda n: ()),
    **THIRD_ORDER,
}
FRAME_QUANTITIES: dict[str, tuple[str, tuple[str, ...], Any]] = {
    'pose': ('forward_kinematics', ('q',), lambda n: (4, 4)),
    'jacobian': ('jacobian', ('q',), lambda n: (6, n)),
    'kinematic_hessian': ('kinematic_hessian', ('q',), lambda n: (6, n * n)),
    'jacobian_dot': ('jacobian_dot', ('q', 'qd'), lambda n: (6, n)),
    'velocity': ('frame_velocity', ('q', 'qd'), lambda n: (6,)),
    'acceleration': ('frame_acceleration', ('q', 'qd', 'qdd'), lambda n: (6,)),
    'jerk': ('frame_jerk', ('q', 'qd', 'qdd', 'qddd'), lambda n: (6,)),
}
BATCH = 3


@pytest.fixture(scope='module', params=some_of(['rrp', 'gripper', 'branched'], ['rrp', 'gripper']))
def robot(request: pytest.FixtureRequest, robot_text: Any) -> kd.Robot:
    made = kd.loads(robot_text(request.param))
    compile_together(made, made.model.tip_link, *QUANTITIES, *FRAME_QUANTITIES)
    return made


@pytest.fixture
def batch(robot: kd.Robot, rng: np.random.Generator, random_state: Any) -> Any:
    return random_state(robot.n, rng, BATCH)


def public_methods(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith('_')}


def test_every_method_is_checked_here() -> None:
    rest = {'frame', 'kernel_report', 'prepare', 'joint_friction'}
    rest |= {'regressor', 'inertial_parameters'}  # checked together, at the end
    rest |= {'linearization', 'linearize'}  # test_linearized.py
    rest |= {'check_deflections'}  # flexible/test_validity.py
    rest |= {'tree_coordinates', 'tree_rates'}  # closed_loops/test_closed_loop_dynamics.py
    assert public_methods(kd.Robot) == {*QUANTITIES, *rest}
    assert public_methods(kd.RobotFrame) == {
        *FRAME_QUANTITIES,
        *('prepare', 'external_wrench', 'control_step'),
        'relative_to',  # test_relative_frames.py, with all methods of what it returns
    }
    relative = {*FRAME_QUANTITIES, 'jacobian_derivative', 'prepare'}
    assert public_methods(RelativeFrame) == relative


@pytest.mark.parametrize('quantity', QUANTITIES)
def test_compiled_is_the_equation_on_floats_state_by_state(
    quantity: str, robot: kd.Robot, batch: Any, assert_close: Any
) -> None:
    names, shape = QUANTITIES[quantity]
    arrays = [getattr(batch, name) for name in names]
    equation, method = getattr(dynamics, quantity), getattr(robot, quantity)
    expected = [equation(robot.model, *(array[k] for array in arrays)) for k in range(BATCH)]
    result = method(*arrays)
    assert result.shape == (BATCH, *shape(robot.n))
    assert_close(result, expected)
    single = method(*(array[1] for array in arrays))
    assert single.shape == shape(robot.n)
    np.testing.assert_array_equal(single, result[1])
    out = np.empty_like(result)
    assert method(*arrays, out=out) is out
    np.testing.assert_array_equal(out, result)


@pytest.mark.parametrize('quantity', FRAME_QUANTITIES)
def test_compiled_frame_is_the_equation_on_floats_state_by_state(
    quantity: str, robot: kd.Robot, batch: Any, assert_close: Any
) -> None:
    equation, names, shape = FRAME_QUANTITIES[quantity]
    tip = robot.model.tip_link
    arrays = [getattr(batch, name) for name in names]
    function, method = getattr(kinematics, equation), getattr(robot.frame(tip), quantity)
    expected = [function(robot.model, *(array[k] for array in arrays), tip) for k in range(BATCH)]
    result = method(*arrays)
    assert result.shape == (BATCH, *shape(robot.n))
    assert_close(result, expected)
    single = method(*(array[1] for array in arrays))
    np.testing.assert_array_equal(single, result[1])
    out = np.empty_like(result)
    assert method(*arrays, out=out) is out
    np.testing.assert_array_equal(out, result)


@pytest.mark.parametrize('quantity', QUANTITIES)
def test_wrong_shapes_name_argument_and_quantity(quantity: str, robot: kd.Robot) -> None:
    method = getattr(robot, quantity)
    names = [name for name in inspect.signature(method).parameters if name != 'out']
    for k, shown in enumerate(names):
        arrays = [np.zeros(robot.n + (j == k)) for j in range(len(names))]
        with pytest.raises(ShapeError, match=f'^{shown} of {quantity} has shape'):
            method(*arrays)


@pytest.mark.parametrize('shape', [(1,), (5,), (2, 1), ()])
def test_wrong_shapes_of_joint_friction(shape: Any, robot_text: Any) -> None:
    with pytest.raises(ShapeError, match='qd'):
        kd.loads(robot_text('rrp')).joint_friction(np.zeros(shape))


def test_joint_friction_is_the_models(robot: kd.Robot, batch: Any, assert_close: Any) -> None:
    expected = [dynamics.joint_friction(robot.model, qd) for qd in batch.qd]
    assert_close(robot.joint_friction(batch.qd), expected)
    assert_close(robot.joint_friction(batch.qd[0]), expected[0])


@pytest.mark.parametrize('load', some_of([uncompiled, kd.loads], [uncompiled]))
@pytest.mark.parametrize('name', some_of(['rail_boom', 'branched'], ['branched']))
def test_joints_reorder_is_a_permutation(
    name: str, load: Any, robot_text: Any, rng: np.random.Generator, assert_close: Any
) -> None:
    first = load(robot_text(name))
    p = rng.permutation(first.n)
    assert (p != np.arange(first.n)).any()
    second = load(robot_text(name), joints=[first.joint_names[k] for k in p])
    assert second.joint_names == tuple(first.joint_names[k] for k in p)
    n, (q, qd, qdd) = first.n, rng.uniform(-1, 1, (3, first.n))
    tau = first.inverse_dynamics(q, qd, qdd)
    assert_close(second.inverse_dynamics(q[p], qd[p], qdd[p]), tau[p])
    assert_close(second.forward_dynamics(q[p], qd[p], tau[p]), qdd[p], 1e-11)
    assert_close(second.mass_matrix(q[p]), first.mass_matrix(q)[np.ix_(p, p)])
    C = first.velocity_free_coriolis_matrix(q).reshape(n, n, n)[np.ix_(p, p, p)]
    assert_close(second.velocity_free_coriolis_matrix(q[p]).reshape(n, n, n), C)
    tip = first.model.tip_link
    assert_close(second.frame(tip).jacobian(q[p]), first.frame(tip).jacobian(q)[:, p])
    H = first.frame(tip).kinematic_hessian(q).reshape(6, n, n)[:, p][:, :, p]
    assert_close(second.frame(tip).kinematic_hessian(q[p]).reshape(6, n, n), H)
    assert_close(second.frame(tip).pose(q[p]), first.frame(tip).pose(q))


def test_frames_are_made_once_and_named(robot: kd.Robot) -> None:
    frame = robot.frame(robot.model.tip_link)
    assert frame.name == robot.model.tip_link
    assert robot.frame(robot.model.tip_link) is frame


def test_frame_of_the_base_stands_still(robot: kd.Robot, batch: Any) -> None:
    root = robot.frame(robot.model.root_link)
    np.testing.assert_array_equal(root.pose(batch.q[0]), np.eye(4))
    np.testing.assert_array_equal(root.velocity(batch.q, batch.qd), np.zeros((BATCH, 6)))


def test_unknown_frame(robot: kd.Robot) -> None:
    with pytest.raises(UnknownFrameError, match=f"'nowhere'.*'{robot.model.name}'"):
        robot.frame('nowhere')


def test_report_grows_with_use_and_prepare_compiles_all(robot_text: Any) -> None:
    robot = kd.loads(robot_text('planar_2r'))
    assert robot.kernel_report() == []
    robot.gravity_vector([0.1, 0.2])
    assert [row.name for row in robot.kernel_report()] == ['gravity_vector']
    robot.prepare()
    rows = {row.name: row for row in robot.kernel_report()}
    # The regressor, the linearization and what is of third order are made on demand.
    assert set(rows) == {*QUANTITIES, 'joint_friction'} - {*THIRD_ORDER}
    assert rows['forward_dynamics'].operations > rows['mass_matrix'].operations > 0
    assert {row.source for row in rows.values()} == {'c'}


def test_second_robot_of_the_same_text_finds_its_kernels(robot_text: Any) -> None:
    for expected in (None, True):
        robot = kd.loads(robot_text('rail_boom'))
        robot.mass_matrix([0, 0, 0])
        (report,) = robot.kernel_report()
        assert expected in (None, report.cached)


def test_load_is_loads_of_the_files_text(robot_text: Any, tmp_path: Path) -> None:
    path = tmp_path / 'arm.urdf'
    path.write_text(robot_text('spatial_3r'), encoding='utf-8')
    options: Any = {'gravity': (0, 0, -1.6), 'joints': ('wrist', 'waist', 'shoulder')}
    loaded, again = kd.load(path, **options), kd.loads(robot_text('spatial_3r'), **options)
    assert loaded.model.fingerprint == again.model.fingerprint
    assert loaded.joint_names == options['joints'] == loaded.model.joint_names
    assert loaded.n == 3
    np.testing.assert_array_equal(loaded.model.gravity, [0, 0, -1.6])


def test_regressor_and_wrench_kernels_are_their_equations(
    robot: kd.Robot, batch: Any, rng: np.random.Generator
) -> None:
    model = robot.model
    Y = robot.regressor(batch.q, batch.qd, batch.qdd)
    pi = robot.inertial_parameters()
    np.testing.assert_allclose(
        Y @ pi, robot.inverse_dynamics(batch.q, batch.qd, batch.qdd), rtol=1e-10, atol=1e-9
    )
    force, moment = rng.normal(size=(2, 3))
    f = robot.frame(model.tip_link).external_wrench(batch.q, force, moment)
    for q, row in zip(batch.q, f, strict=True):
        expected = dynamics.external_wrench(
            model, q, model.tip_link, force, moment, axes=model.root_link
        )
        np.testing.assert_allclose(row, expected, rtol=1e-12, atol=1e-12)
