# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What services compute for the machine and for arms, rigid and flexible, is the facade's."""

from __future__ import annotations

import functools
import time
from array import array
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pinocchio_oracle import arm_text
from scipy.spatial.transform import Rotation

import kron_dynamics as kd
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.services import SERVICES, provide_services

pytestmark = [pytest.mark.ros, pytest.mark.interpreted]

ROOT = Path(__file__).parents[2]
ARMS = {'ur5': ('ur5_robot.urdf', 'tool0'), 'panda': ('panda.urdf', 'panda_hand')}
COUNT = 3
LARGEST = 500_000


@functools.cache
def robot_called(name):
    if name in ARMS:
        return kd.loads(arm_text(ARMS[name][0]))
    boom = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml' if name == 'boom' else None
    return kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf', flexible=boom)


@pytest.fixture(
    params=['stacker', 'boom', *(pytest.param(arm, marks=pytest.mark.long) for arm in ARMS)]
)
def present(request, kernel_cache):
    """What a node with one of the robots is about."""
    tip = ARMS.get(request.param, ('', 'bucket_wheel'))[1]
    return ConfiguredRobot(robot_called(request.param), tip)


@pytest.fixture
def ask(present):
    """Ask a service with arrays (N, n) in the robot's order; joints are sent in reverse order."""

    def answer(name, **fields):
        kind, compute = SERVICES[name]
        request = kind.Request(joint_names=present.robot.joint_names[::-1])
        for field, value in fields.items():
            if isinstance(value, np.ndarray):
                value = array('d', np.ascontiguousarray(value[:, ::-1]).tobytes())
            setattr(request, field, value)
        response = kind.Response()
        compute(present, LARGEST, request, response)
        return response

    return answer


@pytest.fixture
def states(present, rng):
    """q, qd, qdd, qddd, each (N, n)."""
    return rng.uniform(-0.05, 0.05, (4, COUNT, present.robot.n))


def rows(numbers, *shape):
    assert isinstance(numbers, array)  # copied into a message without a loop
    return np.reshape(numbers, (COUNT, *shape))


def pairs(n):
    """Columns i*n + j in reverse order of joints."""
    return np.arange(n * n).reshape(n, n)[::-1, ::-1].ravel()


def test_dynamics(present, ask, states, assert_close):
    robot, n = present.robot, present.robot.n
    q, qd, qdd, _ = states
    answer = ask('equations_of_motion', position=q, velocity=qd)
    assert_close(rows(answer.mass_matrix, n, n), robot.mass_matrix(q)[:, ::-1, ::-1])
    star = robot.velocity_free_coriolis_matrix(q)[:, ::-1][:, :, pairs(n)]
    assert_close(rows(answer.velocity_free_coriolis_matrix, n, n * n), star)
    assert_close(rows(answer.coriolis_matrix, n, n), robot.coriolis_matrix(q, qd)[:, ::-1, ::-1])
    assert_close(rows(answer.gravity_vector, n), robot.gravity_vector(q)[:, ::-1])
    tau = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
    fields = {'position': q, 'velocity': qd, 'include_friction': True}
    answer = ask('inverse_dynamics', acceleration=qdd, **fields)
    assert_close(rows(answer.effort, n), tau[:, ::-1])
    answer = ask('forward_dynamics', effort=tau, **fields)
    assert_close(rows(answer.acceleration, n), qdd[:, ::-1], rel=1e-7)


def test_kinematics(present, ask, states, assert_close):
    n, frame = present.robot.n, present.robot.frame(present.tip_frame)
    q, qd, qdd, qddd = states
    answer = ask('frame_kinematics', position=q, velocity=qd, acceleration=qdd, jerk=qddd)
    assert_close(rows(answer.position, 3), frame.pose(q)[:, :3, 3])
    turned = Rotation.from_quat(rows(answer.orientation, 4)).as_matrix()
    assert_close(turned, frame.pose(q)[:, :3, :3])
    assert (rows(answer.orientation, 4).max(axis=1) >= 0.5).all()
    assert_close(rows(answer.jacobian, 6, n), frame.jacobian(q)[:, :, ::-1])
    hessian = frame.kinematic_hessian(q)[:, :, pairs(n)]
    assert_close(rows(answer.kinematic_hessian, 6, n * n), hessian)
    assert_close(rows(answer.twist, 6), frame.velocity(q, qd))
    assert_close(rows(answer.acceleration, 6), frame.acceleration(q, qd, qdd))
    assert_close(rows(answer.jerk, 6), frame.jerk(q, qd, qdd, qddd))


def test_linear_models(present, ask, states, assert_close):
    robot, n, joints = present.flexible, present.flexible.n, present.robot.n
    order = [*reversed(range(joints)), *range(joints, n)]
    motions = dict(zip(('position', 'velocity', 'acceleration'), states[:3], strict=True))
    answer = ask('linearize', **motions, include_frequencies=True)
    assert list(answer.joint_names) == [robot.joint_names[k] for k in order]
    for k, motion in enumerate(np.stack(states[:3], axis=1)):
        full = np.zeros((3, n))
        full[:, :joints] = motion
        full[0] = quasi_static_equilibrium(robot, *motion)
        model = robot.linearize(*full)
        square = np.ix_(order, order)
        for name in ('mass', 'damping', 'stiffness'):
            told = rows(getattr(answer, f'{name}_matrix'), n, n)[k]
            assert_close(told, getattr(model, name)[square], rel=1e-9)
        for name, expected in zip(motions, full, strict=True):
            assert_close(rows(getattr(answer, name), n)[k], expected[order], rel=1e-9)
        assert_close(rows(answer.effort, n)[k], model.effort[order], rel=1e-9)
        poles = model.poles()
        fastest = np.abs(poles).max()
        poles = poles[poles.imag > 1e-6 * fastest]
        told = rows(answer.frequencies, n)[k]
        found = told[told > 1e-6 * fastest]
        assert_close(found, np.abs(poles), rel=1e-6)
        ratios = rows(answer.damping_ratios, n)[k][told > 1e-6 * fastest]
        np.testing.assert_allclose(ratios, -poles.real / np.abs(poles), atol=1e-5)


def test_only_states_of_links_that_are_bent_too_far_are_refused(kernel_cache):
    """However fast they bend: rates do not lead out of the range of the equations."""
    present = ConfiguredRobot(robot_called('boom'), 'bucket_wheel')
    kind, compute = SERVICES['linearize']
    robot = present.flexible
    far, rest = [0.0] * present.robot.n + [1e3, 0.0], [0.0] * robot.n
    names = list(robot.joint_names)
    compute(
        present,
        LARGEST,
        kind.Request(joint_names=names, position=rest, velocity=far, acceleration=far),
        kind.Response(),
    )
    with pytest.raises(kd.ModelError, match='boom'):
        compute(
            present,
            LARGEST,
            kind.Request(joint_names=names, position=far, velocity=rest, acceleration=rest),
            kind.Response(),
        )


@pytest.mark.parametrize('name', SERVICES)
def test_every_field_of_a_request_counts(kernel_cache, name):
    """A field that is asked for and not used makes people measure what nobody reads."""
    present = ConfiguredRobot(robot_called('boom'), 'bucket_wheel')
    kind, compute = SERVICES[name]
    joints = list(present.robot.joint_names)
    states = ('position', 'velocity', 'acceleration', 'jerk', 'effort')
    fields = kind.Request.get_fields_and_field_types()
    usual = {field: [0.02, 0.05, 0.03] for field in states if field in fields}
    other = {
        **{field: [0.02, 0.06, 0.03] for field in usual},
        'joint_names': joints[::-1],
        'include_friction': True,
        'include_frequencies': True,
        'frame': 'boom',
        'reference': 'boom',
        'axes': 'boom',
        'point': [0.1, 0.2, 0.3],
    }
    assert fields.keys() <= other.keys()

    def answer(**changed):
        response = kind.Response()
        compute(present, LARGEST, kind.Request(**{**usual, **changed}), response)
        told = response.get_fields_and_field_types()
        arrays = {field: getattr(response, field) for field in told}
        # Not the names, which only repeat the request.
        return {field: list(x) for field, x in arrays.items() if isinstance(x, array)}

    known = answer()
    for field in fields:
        assert answer(**{field: other[field]}) != known, field


@pytest.mark.parametrize('name', SERVICES)
def test_the_size_that_is_limited_is_that_of_request_or_answer(kernel_cache, name):
    present = ConfiguredRobot(robot_called('boom'), 'bucket_wheel')
    kind, compute = SERVICES[name]
    request, answer = kind.Request(), kind.Response()
    for field, number in request.get_fields_and_field_types().items():
        if number == 'sequence<double>' and field != 'point':
            setattr(request, field, [0.02, 0.05, 0.03] * 2)
        elif number == 'boolean':
            setattr(request, field, True)
    compute(present, LARGEST, request, answer)
    sizes = {}
    for what, message in (('request', request), ('answer', answer)):
        values = (getattr(message, field) for field in message.get_fields_and_field_types())
        sizes[what] = sum(len(numbers) for numbers in values if isinstance(numbers, array))
    size = max(sizes.values())
    compute(present, size, request, kind.Response())
    (what,) = (what for what in sizes if sizes[what] == size)
    with pytest.raises(kd.ParameterError, match=f'^the {what} would hold {size} numbers'):
        compute(present, size - 1, request, kind.Response())


def test_a_pose_with_a_singular_mass_matrix_is_named(kernel_cache):
    """With the mass at the pivot; elsewhere the same velocity is only out of all proportion."""
    present = ConfiguredRobot(kd.loads(COLLAPSING), 'tip')
    kind, compute = SERVICES['forward_dynamics']
    request = kind.Request(position=[0.3, 0.2, 0.0, 0.0], velocity=[0.0] * 4, effort=[1.0] * 4)
    with pytest.raises(kd.NonFiniteError, match='mass matrix is singular in state 1'):
        compute(present, LARGEST, request, kind.Response())
    request.velocity = [1e200, 0.0, 0.0, 0.0]
    request.position = [0.3, 0.2, 0.3, 0.2]
    with pytest.raises(kd.NonFiniteError, match=r"'\w+' in state 0 is beyond the range"):
        compute(present, LARGEST, request, kind.Response())


def test_a_linear_model_without_mass_has_no_frequencies(kernel_cache):
    present = ConfiguredRobot(kd.loads(COLLAPSING), 'tip')
    kind, compute = SERVICES['linearize']
    request = kind.Request(position=[0.3, 0.2, 0.0, 0.0], include_frequencies=True)
    request.velocity = request.acceleration = [0.0] * 4
    said = "joint 'turn' can move without moving mass in state 1"
    with np.errstate(all='ignore'), pytest.raises(kd.InvalidInertiaError, match=said):
        compute(present, LARGEST, request, kind.Response())
    request.include_frequencies = False
    compute(present, LARGEST, request, kind.Response())


def test_a_rate_without_those_before_it_is_checked_and_not_used(kernel_cache):
    present = ConfiguredRobot(robot_called('stacker'), 'bucket_wheel')
    kind, compute = SERVICES['frame_kinematics']
    request, response = kind.Request(position=[0.1] * 3, jerk=[0.1] * 3), kind.Response()
    compute(present, LARGEST, request, response)
    assert (len(response.position), len(response.twist), len(response.jerk)) == (3, 0, 0)
    request.jerk = [0.1, np.nan, 0.1]
    with pytest.raises(kd.NonFiniteError, match='^jerk holds a NaN'):
        compute(present, LARGEST, request, kind.Response())
    request.jerk = [0.1, 0.1]
    with pytest.raises(kd.ShapeError, match='^jerk has 2 numbers, expected 1 x 3'):
        compute(present, LARGEST, request, kind.Response())


def test_a_defect_is_an_answer_and_not_the_end_of_the_node(kernel_cache, monkeypatch):
    """Whatever a service raises, the thread that sends the commands goes on."""
    kind, _ = SERVICES['linearize']

    def defect(*_):
        raise ZeroDivisionError('a defect')

    monkeypatch.setitem(SERVICES, 'linearize', (kind, defect))
    offered, said = {}, []
    node = SimpleNamespace(
        create_service=lambda _, name, callback, **__: offered.update({name: callback}),
        get_logger=lambda: SimpleNamespace(error=said.append),
        executor=None,
        context=SimpleNamespace(on_shutdown=lambda end: None),
    )
    settings = SimpleNamespace(value=lambda name: LARGEST)
    provide_services(node, settings, lambda: ConfiguredRobot(robot_called('stacker'), 'boom'))
    answering = offered['~/linearize'](kind.Request(), kind.Response())
    with pytest.raises(StopIteration) as done:
        while True:
            answering.send(None)
            time.sleep(0.01)
    answer = done.value.value
    assert not answer.success
    assert answer.message == "unexpected error: ZeroDivisionError('a defect')"
    assert 'a defect' in said[0]


# A point mass on a slide along x, carried by a turn about z: at the pivot the turn moves nothing.
COLLAPSING = """<robot name="collapsing"><link name="base"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>
  <axis xyz="0 0 1"/></joint><link name="arm"/>
<joint name="slide" type="prismatic"><parent link="arm"/><child link="tip"/>
  <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="10" velocity="1"/></joint>
<link name="tip"><inertial><mass value="2"/>
  <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
