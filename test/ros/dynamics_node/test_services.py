# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The services give what the facade gives, in the request's joint order, or say why not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from model_services import SERVICES
from scipy.spatial.transform import Rotation

from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.ros.frame_service import seen_from

pytestmark = pytest.mark.ros

COUNT = 4
SHUFFLED = ('slide', 'turn', 'lift')


@pytest.fixture
def states(rng):
    """Four states: q, qd, qdd, qddd and efforts, each (4, 3), in the robot's order."""
    q, qd, qdd, qddd = rng.uniform(-0.9, 0.9, (4, COUNT, 3))
    return q, qd, qdd, qddd, rng.uniform(-50.0, 50.0, (COUNT, 3))


def shuffle(robot, *arrays):
    """Bring the columns of arrays (N, n) from the robot's order into SHUFFLED."""
    order = [robot.joint_names.index(name) for name in SHUFFLED]
    return [array[:, order] for array in arrays]


def pairs(robot):
    """Columns i*n + j of a shuffled C* or Hessian, as columns of the robot's."""
    order = [robot.joint_names.index(name) for name in SHUFFLED]
    return [robot.n * i + j for i in order for j in order]


@pytest.mark.parametrize('friction', [False, True])
def test_inverse_dynamics_of_a_batch(call, bench_robot, states, assert_close, friction):
    q, qd, qdd, _, _ = states
    expected = bench_robot.inverse_dynamics(q, qd, qdd)
    expected = expected + friction * bench_robot.joint_friction(qd)
    fields = {'position': q, 'velocity': qd, 'acceleration': qdd, 'include_friction': friction}
    answer = call('inverse_dynamics', **fields)
    assert (answer.success, answer.message) == (True, '')
    assert tuple(answer.joint_names) == bench_robot.joint_names
    assert_close(np.reshape(answer.effort, (COUNT, 3)), expected)
    for field, array in zip(fields, shuffle(bench_robot, q, qd, qdd), strict=False):
        fields[field] = array
    answer = call('inverse_dynamics', joint_names=SHUFFLED, **fields)
    assert tuple(answer.joint_names) == SHUFFLED
    assert_close(np.reshape(answer.effort, (COUNT, 3)), *shuffle(bench_robot, expected))


@pytest.mark.parametrize('friction', [False, True])
def test_forward_dynamics_of_a_batch(call, bench_robot, states, assert_close, friction):
    q, qd, _, _, tau = states
    applied = tau - friction * bench_robot.joint_friction(qd)
    expected = bench_robot.forward_dynamics(q, qd, applied)
    answer = call(
        'forward_dynamics', position=q, velocity=qd, effort=tau, include_friction=friction
    )
    assert (answer.success, answer.message) == (True, '')
    assert_close(np.reshape(answer.acceleration, (COUNT, 3)), expected)
    q, qd, tau, expected = shuffle(bench_robot, q, qd, tau, expected)
    answer = call(
        'forward_dynamics',
        joint_names=SHUFFLED,
        position=q,
        velocity=qd,
        effort=tau,
        include_friction=friction,
    )
    assert tuple(answer.joint_names) == SHUFFLED
    assert_close(np.reshape(answer.acceleration, (COUNT, 3)), expected)


def test_equations_of_motion_of_a_batch(call, bench_robot, states, assert_close):
    q, qd, *_ = states
    n = bench_robot.n
    order = [bench_robot.joint_names.index(name) for name in SHUFFLED]
    square = np.ix_(range(COUNT), order, order)
    wide = np.ix_(range(COUNT), order, pairs(bench_robot))
    mass = bench_robot.mass_matrix(q)
    star = bench_robot.velocity_free_coriolis_matrix(q)
    coriolis = bench_robot.coriolis_matrix(q, qd)
    gravity = bench_robot.gravity_vector(q)

    answer = call('equations_of_motion', position=q, velocity=qd)
    assert (answer.success, answer.message) == (True, '')
    assert_close(np.reshape(answer.mass_matrix, (COUNT, n, n)), mass)
    assert_close(np.reshape(answer.velocity_free_coriolis_matrix, (COUNT, n, n * n)), star)
    assert_close(np.reshape(answer.coriolis_matrix, (COUNT, n, n)), coriolis)
    assert_close(np.reshape(answer.gravity_vector, (COUNT, n)), gravity)

    q, qd = shuffle(bench_robot, q, qd)
    answer = call('equations_of_motion', joint_names=SHUFFLED, position=q, velocity=qd)
    assert tuple(answer.joint_names) == SHUFFLED
    assert_close(np.reshape(answer.mass_matrix, (COUNT, n, n)), mass[square])
    shuffled_star = np.reshape(answer.velocity_free_coriolis_matrix, (COUNT, n, n * n))
    assert_close(shuffled_star, star[wide])
    shuffled_coriolis = np.reshape(answer.coriolis_matrix, (COUNT, n, n))
    assert_close(shuffled_coriolis, coriolis[square])
    assert_close(np.reshape(answer.gravity_vector, (COUNT, n)), *shuffle(bench_robot, gravity))
    # The answer is consistent in its own order: C* (qd (x) qd) = C qd.
    for star_k, coriolis_k, qd_k in zip(shuffled_star, shuffled_coriolis, qd, strict=True):
        assert_close(star_k @ np.kron(qd_k, qd_k), coriolis_k @ qd_k)


def test_linear_models_of_a_batch(call, bench_robot, states, assert_close):
    q, qd, qdd, _, _ = states
    order = [bench_robot.joint_names.index(name) for name in SHUFFLED]
    motions = dict(zip(SERVICES['linearize'][1], (q, qd, qdd), strict=True))
    given = dict(zip(motions, shuffle(bench_robot, q, qd, qdd), strict=True))
    plain, shuffled = (
        call('linearize', **motions),
        call('linearize', joint_names=SHUFFLED, **given),
    )
    assert (plain.success, plain.message, plain.base_frame) == (True, '', 'base')
    assert tuple(plain.joint_names) == bench_robot.joint_names
    assert tuple(shuffled.joint_names) == SHUFFLED
    models = [bench_robot.linearize(*motion) for motion in zip(q, qd, qdd, strict=True)]
    for answer, kept in ((plain, [0, 1, 2]), (shuffled, order)):
        square = np.ix_(range(COUNT), kept, kept)
        for name in ('mass', 'damping', 'stiffness'):
            told = np.reshape(getattr(answer, f'{name}_matrix'), (COUNT, 3, 3))
            assert_close(told, np.array([getattr(model, name) for model in models])[square])
        for name, expected in motions.items():
            assert_close(np.reshape(getattr(answer, name), (COUNT, 3)), expected[:, kept])
        efforts = np.array([model.effort for model in models])[:, kept]
        assert_close(np.reshape(answer.effort, (COUNT, 3)), efforts)
        assert len(answer.frequencies) == len(answer.damping_ratios) == 0


def test_frequencies_are_included_on_request(call, bench_robot, states, assert_close):
    q, qd, qdd, *_ = states
    motions = dict(zip(SERVICES['linearize'][1], (q, qd, qdd), strict=True))
    answer = call('linearize', **motions, include_frequencies=True)
    assert (answer.success, answer.message) == (True, '')
    told = np.reshape([answer.frequencies, answer.damping_ratios], (2, COUNT, 3))
    counts = set()
    for k, motion in enumerate(zip(q, qd, qdd, strict=True)):
        poles = bench_robot.linearize(*motion).poles()
        poles = poles[poles.imag > 0]
        counts.add(len(poles))
        expected = np.array([np.abs(poles), -poles.real / np.abs(poles)])
        assert_close(told[:, k, : len(poles)], expected, rel=1e-9)
        assert np.isnan(told[:, k, len(poles) :]).all()
    assert max(counts) > 0


def test_without_velocity_there_is_no_coriolis_matrix(call, states):
    answer = call('equations_of_motion', position=states[0])
    assert answer.success
    assert len(answer.coriolis_matrix) == 0
    assert len(answer.velocity_free_coriolis_matrix) == COUNT * 27


def poses_of(answer):
    """Homogeneous transforms, shape (N, 4, 4)."""
    transforms = np.tile(np.eye(4), (len(answer.position) // 3, 1, 1))
    transforms[:, :3, :3] = Rotation.from_quat(np.reshape(answer.orientation, (-1, 4))).as_matrix()
    transforms[:, :3, 3] = np.reshape(answer.position, (-1, 3))
    return transforms


def six(numbers):
    """Rows [linear; angular]."""
    return np.reshape(numbers, (-1, 6))


def test_frame_kinematics_of_a_batch(call, bench_robot, states, assert_close):
    q, qd, qdd, qddd, _ = states
    n, frame = bench_robot.n, bench_robot.frame('beam')
    order = [bench_robot.joint_names.index(name) for name in SHUFFLED]
    answer = call(
        'frame_kinematics', frame='beam', position=q, velocity=qd, acceleration=qdd, jerk=qddd
    )
    assert (answer.success, answer.message) == (True, '')
    assert (answer.base_frame, answer.frame) == ('base', 'beam')
    assert_close(poses_of(answer), frame.pose(q))
    assert_close(np.reshape(answer.jacobian, (COUNT, 6, n)), frame.jacobian(q))
    hessian = frame.kinematic_hessian(q)
    assert_close(np.reshape(answer.kinematic_hessian, (COUNT, 6, n * n)), hessian)
    motions = (
        frame.velocity(q, qd),
        frame.acceleration(q, qd, qdd),
        frame.jerk(q, qd, qdd, qddd),
    )
    for got, expected in zip(
        (answer.twist, answer.acceleration, answer.jerk), motions, strict=True
    ):
        assert_close(six(got), expected)

    jacobian = frame.jacobian(q)
    q, qd, qdd, qddd = shuffle(bench_robot, q, qd, qdd, qddd)
    answer = call(
        'frame_kinematics',
        frame='beam',
        joint_names=SHUFFLED,
        position=q,
        velocity=qd,
        acceleration=qdd,
        jerk=qddd,
    )
    assert tuple(answer.joint_names) == SHUFFLED
    assert_close(np.reshape(answer.jacobian, (COUNT, 6, n)), jacobian[:, :, order])
    shuffled_hessian = np.reshape(answer.kinematic_hessian, (COUNT, 6, n * n))
    assert_close(shuffled_hessian, hessian[:, :, pairs(bench_robot)])
    # What the frame does is not a matter of the order of joints.
    for got, expected in zip(
        (answer.twist, answer.acceleration, answer.jerk), motions, strict=True
    ):
        assert_close(six(got), expected)


def test_motion_as_seen_from_another_link(call, bench_robot, states, assert_close):
    q, qd, qdd, qddd, _ = states
    n, root, point = bench_robot.n, bench_robot.model.root_link, [0.3, -0.2, 0.5]
    fields = {'position': q, 'velocity': qd, 'acceleration': qdd, 'jerk': qddd}
    for reference, axes in (('beam', 'nozzle'), ('beam', ''), ('', 'beam'), ('', '')):
        answer = call(
            'frame_kinematics',
            **{'frame': 'nozzle', 'reference': reference, 'axes': axes, 'point': point},
            **fields,
        )
        assert (answer.success, answer.message) == (True, '')
        seen, turned = reference or root, axes or reference or root
        assert (answer.frame, answer.base_frame, answer.axes) == ('nozzle', seen, turned)
        frame = bench_robot.frame('nozzle').relative_to(seen, axes=turned, point=point)
        assert_close(poses_of(answer), frame.pose(q))
        assert_close(np.reshape(answer.jacobian, (COUNT, 6, n)), frame.jacobian(q))
        H = np.reshape(answer.kinematic_hessian, (COUNT, 6, n * n))
        assert_close(H, frame.kinematic_hessian(q))
        assert_close(six(answer.twist), frame.velocity(q, qd))
        assert_close(six(answer.acceleration), frame.acceleration(q, qd, qdd))
        assert_close(six(answer.jerk), frame.jerk(q, qd, qdd, qddd))


def test_which_frame_a_request_is_about(bench_robot):
    """What is empty is the base's or the origin; then the kernels are those of the link alone."""
    nozzle, root = bench_robot.frame('nozzle'), bench_robot.model.root_link
    for reference, axes in (('', ''), (root, ''), ('', root), (root, root)):
        assert seen_from(bench_robot, 'nozzle', reference, axes, []) is nozzle
    seen = seen_from(bench_robot, 'nozzle', 'beam', '', [0.3, -0.2, 0.5])
    assert (seen.reference, seen.axes, seen.point) == ('beam', 'beam', (0.3, -0.2, 0.5))
    seen = seen_from(bench_robot, 'nozzle', '', 'beam', [])
    assert (seen.reference, seen.axes, seen.point) == (root, 'beam', (0.0, 0.0, 0.0))
    for place in (('crane', '', []), ('', 'crane', []), ('', '', [1.0]), ('', '', [math.nan] * 3)):
        with pytest.raises(KronDynamicsError):
            seen_from(bench_robot, 'nozzle', *place)


@pytest.mark.parametrize(
    ('field', 'value', 'said'),
    [
        ('reference', 'crane', "'crane'"),
        ('axes', 'crane', "'crane'"),
        ('point', [1.0, 2.0], 'point has shape (2,), expected (3,)'),
        ('point', [1.0, math.nan, 2.0], 'point holds a NaN'),
    ],
)
def test_observers_that_there_are_not_are_refused(call, field, value, said):
    answer = call('frame_kinematics', position=[0.0, 0.0, 0.0], **{field: value})
    assert not answer.success
    assert said in answer.message


def test_rates_left_empty_give_empty_answers(call, states):
    q, qd, qdd, *_ = states
    position, velocity = {'position': q}, {'position': q, 'velocity': qd}
    counts = []
    for fields in (position, velocity, {**velocity, 'acceleration': qdd}):
        answer = call('frame_kinematics', **fields)
        assert answer.success
        counts.append((len(answer.twist), len(answer.acceleration), len(answer.jerk)))
    assert counts == [(0, 0, 0), (6 * COUNT, 0, 0), (6 * COUNT, 6 * COUNT, 0)]


def test_frame_left_empty_is_the_tip(call, states):
    answer = call('frame_kinematics', position=states[0])
    assert (answer.success, answer.frame) == (True, 'nozzle')
