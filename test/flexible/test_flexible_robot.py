# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Identities that the equations of a robot with flexible links must obey."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics
from kron_dynamics.exceptions import ModelError
from kron_dynamics.model import RobotModel
from kron_dynamics.model.traversal import Traversal
from kron_dynamics.resources import resource_path

pytestmark = pytest.mark.interpreted

Check = Callable[..., None]
Derivative = Callable[..., np.ndarray]


@pytest.fixture(scope='session')
def skew(skew: kd.Robot) -> kd.Robot:
    """The robot with kernels of its own: these are not compiled."""
    return kd.Robot(skew.model)


@pytest.fixture(scope='session')
def stacker(stacker: kd.Robot) -> kd.Robot:
    return kd.Robot(stacker.model)


@pytest.fixture
def state(flexible_robot: kd.Robot, rng: np.random.Generator) -> SimpleNamespace:
    """Bent as far as links may be, some tenths of their length, and moving."""
    n, joints = flexible_robot.n, flexible_robot.model.joint_count
    size = np.concatenate([np.ones(joints), np.full(n - joints, 0.2)])
    q, qd, qdd, qddd = rng.uniform(-1, 1, (4, n)) * size
    return SimpleNamespace(q=q, qd=qd, qdd=qdd, qddd=qddd)


def test_the_mass_matrix_is_positive_and_its_derivative_is_right(
    flexible_robot: kd.Robot, state: SimpleNamespace, derivative: Derivative, assert_close: Check
) -> None:
    robot = flexible_robot
    M = robot.mass_matrix(state.q)
    assert (M == M.T).all()
    scale = np.sqrt(M.diagonal())
    assert np.linalg.eigvalsh(M / np.outer(scale, scale)).min() > 1e-6
    dM = robot.mass_matrix_derivative(state.q).reshape(robot.n, robot.n, robot.n)
    assert_close(dM, derivative(robot.mass_matrix, x=state.q), 1e-7)


def test_coriolis_terms_are_those_of_lagrange(
    flexible_robot: kd.Robot, state: SimpleNamespace, assert_close: Check
) -> None:
    robot, qd, n = flexible_robot, state.qd, flexible_robot.n
    dM = robot.mass_matrix_derivative(state.q).reshape(n, n, n)
    C = robot.coriolis_matrix(state.q, qd)
    skew = dM @ qd - 2 * C
    assert_close(skew, -skew.T, 1e-11)
    assert_close(C @ qd, robot.coriolis_vector(state.q, qd), 1e-11)
    symbols = robot.velocity_free_coriolis_matrix(state.q).reshape(n, n, n)
    assert_close(symbols @ qd, C, 1e-11)
    assert_close(symbols, symbols.transpose(0, 2, 1), 1e-14)
    lagrange = (dM @ qd) @ qd - np.einsum('iaj,i,a->j', dM, qd, qd) / 2
    assert_close(robot.coriolis_vector(state.q, qd), lagrange, 1e-11)


def test_the_terms_add_up(
    flexible_robot: kd.Robot, state: SimpleNamespace, derivative: Derivative, assert_close: Check
) -> None:
    robot, q, qd, qdd = flexible_robot, state.q, state.qd, state.qdd
    g = robot.gravity_vector(q)
    assert_close(g, derivative(robot.potential_energy, x=q), 1e-7)
    tau = robot.mass_matrix(q) @ qdd + robot.coriolis_vector(q, qd) + g
    assert_close(robot.inverse_dynamics(q, qd, qdd), tau, 1e-11)
    assert_close(robot.bias_forces(q, qd), robot.coriolis_vector(q, qd) + g, 1e-11)
    assert_close(robot.forward_dynamics(q, qd, tau), qdd, 1e-9)
    assert_close(robot.kinetic_energy(q, qd), qd @ robot.mass_matrix(q) @ qd / 2, 1e-12)


def test_third_order(
    flexible_robot: kd.Robot, state: SimpleNamespace, derivative: Derivative, assert_close: Check
) -> None:
    """[N] eqs. (57), (64), (65): energies of all mass, beams included, against the recursion."""
    robot, model = flexible_robot, flexible_robot.model
    q, qd, qdd, qddd = state.q, state.qd, state.qdd, state.qddd
    rate = robot.inverse_dynamics_rate(q, qd, qdd, qddd)

    def efforts(t: float) -> np.ndarray:
        motion = q + t * qd + t**2 / 2 * qdd + t**3 / 6 * qddd, qd + t * qdd + t**2 / 2 * qddd
        return robot.inverse_dynamics(*motion, qdd + t * qddd)

    assert_close(rate, derivative(efforts, h=1e-4), 1e-7)
    assert_close(sum(dynamics.appell_rate_terms(model, q, qd, qdd, qddd)), rate, 1e-11)
    moved = robot.inverse_dynamics(q, qd, qdd) - robot.gravity_vector(q)
    assert_close(dynamics.appell_forces(model, [q, qd, qdd]), moved, 1e-11)
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert_close(robot.forward_jerk(q, qd, tau, rate), qddd, 1e-8)


def test_energies_of_acceleration_of_stiff_links(stacker: kd.Robot, assert_close: Check) -> None:
    """Without bending they are those of the rigid machine, beams and all."""
    rigid = stacker.model.rigid
    motion = np.random.default_rng(5).uniform(-1, 1, (4, rigid.n))
    with_modes = np.pad(motion, ((0, 0), (0, stacker.n - rigid.n)))
    for order, name in ((3, 'acceleration_energy'), (4, 'second_order_acceleration_energy')):
        energy = getattr(dynamics, name)
        expected = energy(rigid, *motion[:order])
        assert_close(energy(stacker.model, *with_modes[:order]), expected, 1e-9)


def test_the_linearization_is_the_derivative(
    flexible_robot: kd.Robot, state: SimpleNamespace, derivative: Derivative, assert_close: Check
) -> None:
    robot, q, qd, qdd = flexible_robot, state.q, state.qd, state.qdd
    terms = robot.linearization(q, qd, qdd)
    stiffness = derivative(lambda x: robot.inverse_dynamics(x, qd, qdd), x=q)
    damping = derivative(lambda x: robot.inverse_dynamics(q, x, qdd), x=qd)
    assert_close(terms.stiffness_matrix, stiffness, 1e-7)
    assert_close(terms.damping_matrix, damping, 1e-7)
    assert_close(terms.mass_matrix, robot.mass_matrix(q), 1e-14)
    assert_close(terms.effort, robot.inverse_dynamics(q, qd, qdd), 1e-14)


def test_structural_damping_is_in_the_linear_model(
    flexible_robot: kd.Robot, state: SimpleNamespace, assert_close: Check
) -> None:
    robot, model = flexible_robot, flexible_robot.model
    # Bent by no more than `linearize` takes.
    q = np.where(np.arange(robot.n) < model.joint_count, state.q, 0.05 * state.q)
    terms = robot.linearization(q, state.qd, state.qdd)
    linear = robot.linearize(q, state.qd, state.qdd)
    added = linear.damping - terms.damping_matrix
    assert_close(added, np.diag(model.structural_damping), 1e-9)
    assert_close(linear.effort - terms.effort, model.structural_damping * state.qd, 1e-6)
    assert (model.structural_damping[: model.joint_count] == 0).all()
    modal = slice(model.joint_count, None)
    friction = robot.joint_friction(state.qd)[modal]
    assert_close(friction, (model.structural_damping * state.qd)[modal], 1e-12)


def test_frames_ride_on_the_sections(
    flexible_robot: kd.Robot, state: SimpleNamespace, derivative: Derivative, assert_close: Check
) -> None:
    robot, s = flexible_robot, state
    for link in (robot.model.tip_link, robot.model.link_names[-1]):
        frame = robot.frame(link)
        pose = frame.pose(s.q)
        np.testing.assert_allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-14)
        J, H = frame.jacobian(s.q), frame.kinematic_hessian(s.q)
        velocity = frame.velocity(s.q, s.qd)
        assert_close(J @ s.qd, velocity, 1e-12)
        path = derivative(lambda t, frame=frame: frame.pose(s.q + t * s.qd))
        assert_close(path[:3, 3], velocity[:3], 1e-7)
        spin = path[:3, :3] @ pose[:3, :3].T
        assert_close(np.array([spin[2, 1], spin[0, 2], spin[1, 0]]), velocity[3:], 1e-7)
        Jdot = frame.jacobian_dot(s.q, s.qd)
        assert_close(Jdot, H.reshape(6, robot.n, robot.n) @ s.qd, 1e-11)
        acceleration = frame.acceleration(s.q, s.qd, s.qdd)
        assert_close(J @ s.qdd + H @ np.kron(s.qd, s.qd), acceleration, 1e-11)

        def along(t: float, frame: Any = frame) -> np.ndarray:
            return frame.acceleration(
                s.q + t * s.qd + t**2 / 2 * s.qdd + t**3 / 6 * s.qddd,
                s.qd + t * s.qdd + t**2 / 2 * s.qddd,
                s.qdd + t * s.qddd,
            )

        assert_close(frame.jerk(s.q, s.qd, s.qdd, s.qddd), derivative(along), 1e-6)


def test_undeformed_it_is_the_rigid_robot(
    flexible_robot: kd.Robot, state: SimpleNamespace, assert_close: Check
) -> None:
    """The mass, its centre and the inertia of the flexible links are those of the URDF."""
    joints = flexible_robot.model.joint_count
    rigid = flexible_robot.model.rigid
    motion = [np.where(np.arange(flexible_robot.n) < joints, x, 0) for x in vars(state).values()]
    q, qd, qdd, _ = motion
    stiff = [x[:joints] for x in motion]
    tau = dynamics.inverse_dynamics(rigid, *stiff[:3])
    assert_close(flexible_robot.inverse_dynamics(q, qd, qdd)[:joints], tau, 1e-9)
    M = flexible_robot.mass_matrix(q)[:joints, :joints]
    assert_close(M, dynamics.mass_matrix(rigid, stiff[0]), 1e-9)
    for link in rigid.link_names:
        pose = kinematics.forward_kinematics(rigid, stiff[0], link)
        assert_close(flexible_robot.frame(link).pose(q), pose, 1e-12)


def test_loaded_modes_are_modes_of_the_clamped_link(stacker: kd.Robot) -> None:
    """With the joints held at the zero pose each modal coordinate vibrates alone."""
    terms = stacker.linearization(*np.zeros((3, stacker.n)))
    modal = slice(stacker.model.joint_count, None)
    M, K = terms.mass_matrix[modal, modal], stacker.model.flexible_links[0]
    stiffness = np.diag([plane.stiffness[0, 0] for plane in K.planes])
    held = np.sqrt(eigh(stiffness, M, eigvals_only=True))
    found = [plane.modes.natural_frequencies[0] for plane in K.planes]
    np.testing.assert_allclose(held, sorted(found), rtol=1e-6)
    # Unit deflection at the tip, and the damping that was asked for.
    np.testing.assert_allclose(
        stacker.model.structural_damping[modal],
        2 * 0.02 * np.array(found) * M.diagonal(),
        rtol=1e-6,
    )
    tip = stacker.frame('bucket_wheel').jacobian(np.zeros(stacker.n))
    assert abs(tip[1, 3] - 1) < 2e-3
    assert abs(tip[2, 4] - 1) < 2e-3


def test_forms_of_rigid_robots_alone_are_refused(skew: kd.Robot) -> None:
    """The papers' sums over rigid bodies."""
    q = np.zeros(skew.n)
    with pytest.raises(ModelError, match="for rigid robots, and of model 'skew' 'mast', 'blade'"):
        dynamics.lagrange_mass_matrix(skew.model, q)
    with pytest.raises(ModelError, match='for rigid robots'):
        dynamics.direct_velocity_free_matrix(skew.model, q)


def test_only_the_highest_derivatives_may_be_left_out(skew: kd.Robot) -> None:
    model, q = skew.model, np.zeros(skew.n)
    with pytest.raises(kd.ArgumentTypeError, match='^qdd is'):
        kinematics.frame_motion(model, q, q, None, q, model.tip_link)
    with pytest.raises(kd.ArgumentTypeError, match='^qdd is'):
        kinematics.relative_motion(model, q, q, None, q, model.tip_link, model.root_link)
    with pytest.raises(kd.ArgumentTypeError, match='^qdd is'):
        dynamics.acceleration_energy(model, q, q, None)  # type: ignore[arg-type]


def test_a_flexible_model_offers_no_way_through_a_tree_of_rigid_bodies(skew: kd.Robot) -> None:
    ways = {name for name in vars(Traversal) if not name.startswith('_')}
    assert {'table', 'per_body', 'outward', 'path'} <= ways
    assert not ways & set(dir(skew.model))
    assert ways < set(dir(skew.model.skeleton))
    assert isinstance(skew.model, RobotModel) and isinstance(skew.rigid.model, RobotModel)


def test_efforts_are_linear_in_the_parameters_of_the_rigid_bodies(
    flexible_robot: kd.Robot, state: SimpleNamespace, rng: np.random.Generator, assert_close: Check
) -> None:
    """tau = Y pi with any pi: with other bodies and rotors, the beams as they are."""
    robot, model = flexible_robot, flexible_robot.model
    motion = state.q, state.qd, state.qdd
    Y, pi = robot.regressor(*motion), robot.inertial_parameters()
    bodies = len(model.skeleton.bodies)
    assert Y.shape == (robot.n, len(pi)) == (robot.n, 10 * bodies + robot.n + 1)
    tau = robot.inverse_dynamics(*motion)
    assert_close(Y @ pi, tau, 1e-11)
    assert pi[-1] == 1
    # A heavier payload: what rides on the sections, and the parts of links that are rigid.
    heavier = tuple(
        replace(
            body,
            mass=2 * body.mass + 0.3,
            center_of_mass=body.center_of_mass + rng.normal(size=3),
            inertia=body.inertia + np.diag([0.5, 0.6, 0.7]) + 0.05,
        )
        for body in model.skeleton.bodies
    )
    armature = np.where(np.arange(robot.n) < model.joint_count, 0.4, 0.0)
    other = replace(model, skeleton=replace(model.skeleton, bodies=heavier), armature=armature)
    expected = dynamics.inverse_dynamics(other, *motion)
    assert np.abs(expected - tau).max() > 0.1 * np.abs(tau).max()
    assert_close(Y @ dynamics.inertial_parameters(other), expected, 1e-11)


def test_forces_from_outside_move_the_modes(
    skew: kd.Robot, rng: np.random.Generator, assert_close: Check
) -> None:
    q = 0.3 * rng.uniform(-1, 1, skew.n)
    force, moment = rng.uniform(-1, 1, (2, 3))
    frame = skew.frame('tool')
    expected = frame.jacobian(q).T @ np.concatenate([force, moment])
    assert_close(frame.external_wrench(q, force, moment), expected, 1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ('name', 'quantity'),
    [
        ('skew', 'inverse_dynamics'),
        ('stacker', 'linearization'),
        pytest.param('skew', 'linearization', marks=pytest.mark.long),
    ],
)
def test_compiled_batches_and_equations_agree(
    name: str,
    quantity: str,
    request: pytest.FixtureRequest,
    rng: np.random.Generator,
    assert_close: Check,
) -> None:
    robot = kd.Robot(request.getfixturevalue(name).model)  # without the kernels of others
    q, qd, qdd = 0.2 * rng.uniform(-1, 1, (3, 5, robot.n))
    terms = getattr(robot, quantity)(q, qd, qdd)
    terms = terms if isinstance(terms, tuple) else (terms,)
    for k in range(len(q)):
        expected = getattr(dynamics, quantity)(robot.model, q[k], qd[k], qdd[k])
        expected = expected if isinstance(expected, tuple) else (expected,)
        for batch, single in zip(terms, expected, strict=True):
            assert_close(batch[k], single, 1e-11)


def test_closed_forms_are_the_equations_on_symbols(assert_close: Check) -> None:
    robot = kd.load(
        resource_path('urdf', 'flexible_manipulator.urdf'),
        flexible=resource_path('config', 'flexible_manipulator_flexible.yaml'),
    )
    symbolic = robot.symbolic
    values = dict(zip((*symbolic.q, *symbolic.qd), (0.3, 0.1, -0.7, 0.4), strict=True))
    for closed, number in (
        (symbolic.mass_matrix(), robot.mass_matrix([0.3, 0.1])),
        (symbolic.bias_forces(), robot.bias_forces([0.3, 0.1], [-0.7, 0.4])),
        (symbolic.frame('tip').jacobian(), robot.frame('tip').jacobian([0.3, 0.1])),
    ):
        assert_close(np.array(closed.subs(values), dtype=float).reshape(number.shape), number)
