# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads as an argument of the kernels, against the same bodies in the description."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hurried_compiler import hurry
from loop_cases import chain_text
from pinocchio_oracle import Oracle, arm_text, pin

import kron_dynamics as kd
from kron_dynamics import dynamics, taylor
from kron_dynamics.carrying import PayloadChange
from kron_dynamics.control import CommandGuard, ComputedTorque
from kron_dynamics.simulation import Plant

pytestmark = pytest.mark.interpreted

STACKER = Path(__file__).parents[1] / 'urdf' / 'stacker_reclaimer.urdf'
# Of quantities: how many of q, qd, qdd and qddd they take.
ARGUMENTS = {
    'mass_matrix': 1,
    'mass_matrix_derivative': 1,
    'velocity_free_coriolis_matrix': 1,
    'coriolis_matrix': 2,
    'coriolis_vector': 2,
    'gravity_vector': 1,
    'bias_forces': 2,
    'inverse_dynamics': 3,
    'forward_dynamics': 3,
    'inverse_dynamics_rate': 4,
    'forward_jerk': 4,
    'acceleration_energy': 3,
    'second_order_acceleration_energy': 4,
    'linearization': 3,
    'kinetic_energy': 2,
    'potential_energy': 1,
}
BEAM = {
    'flexible_links': {
        'beam': {
            'length': 0.5,
            'mass_per_length': 1.0,
            'bending_stiffness': {'v': 90.0, 'w': 60.0},
            'modes': {'v': 1, 'w': 1},
            # Shapes of what the beam carries would be others with the payload.
            'mode_shapes': 'clamped_free',
        }
    }
}
TURNING = np.array([[0.05, 0.004, -0.003], [0.004, 0.06, 0.002], [-0.003, 0.002, 0.04]])
TOOL = kd.RigidPayload(3.0, np.array([0.1, -0.05, 0.2]), TURNING)


def parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def assert_same(robot: Any, other: Any, states: Any, names: Any = ARGUMENTS) -> None:
    """A robot's kernels give what the equations of another's model do, on floats."""
    for name in names:
        arguments = states[: ARGUMENTS[name]]
        got = parts(getattr(robot, name)(*arguments))
        right = parts(getattr(dynamics, name)(other.model, *arguments))
        for a, b in zip(got, right, strict=True):
            scale = np.abs(b).max(initial=1e-300)
            np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-10 * scale, err_msg=name)


@pytest.fixture(scope='module')
def arm(robot_text: Callable[[str], str]) -> kd.Robot:
    return kd.loads(robot_text('rrp'))


def test_without_payload_all_is_as_on_the_plain_robot(arm: Any, rng: Any) -> None:
    carrying = kd.CarryingRobot(arm, 'nozzle')
    assert_same(carrying, arm, rng.uniform(-1, 1, (3, 3)), ['inverse_dynamics'])
    assert carrying.payloads == {}


def test_kernels_are_those_of_the_plain_robot_until_a_link_carries(arm: Any, rng: Any) -> None:
    carrying = kd.CarryingRobot(arm)
    states = rng.uniform(-1, 1, (3, 3))
    np.testing.assert_array_equal(
        carrying.inverse_dynamics(*states), arm.inverse_dynamics(*states)
    )
    q, qd, qdd = states
    carrying.inverse_dynamics(q=q, qd=qd, qdd=qdd)
    carrying.set_payload('nozzle', 2.0)
    added = carrying.inverse_dynamics(*states) - arm.inverse_dynamics(*states)
    acceleration = arm.frame('nozzle').acceleration(q, qd, qdd)[:3] - arm.model.gravity
    J = arm.frame('nozzle').jacobian(q)[:3]
    np.testing.assert_allclose(added, 2.0 * J.T @ acceleration, atol=1e-10)


def test_payload_counts_as_one_in_the_description(arm: Any, robot_text: Any, rng: Any) -> None:
    carrying = kd.CarryingRobot(arm, 'nozzle')
    described = kd.loads(robot_text('rrp'), payload={'nozzle': TOOL})
    states = rng.uniform(-1, 1, (4, 3))
    carrying.mass_matrix(states[0])
    before = len(carrying.kernel_report())
    carrying.set_payload('nozzle', TOOL)
    carrying.mass_matrix(states[0])
    assert len(carrying.kernel_report()) == before  # nothing was compiled
    assert_same(carrying, described, states)
    batch = rng.uniform(-1, 1, (3, 40, 3))
    one_by_one = [carrying.inverse_dynamics(*state) for state in batch.swapaxes(0, 1)]
    np.testing.assert_allclose(carrying.inverse_dynamics(*batch), one_by_one, atol=1e-11)
    step = carrying.frame('nozzle').control_step(*states[:2])
    other = dynamics.control_step(described.model, *states[:2], 'nozzle')
    for a, b in zip(step, other, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    Y, pi = carrying.regressor(*states[:3]), carrying.inertial_parameters()
    np.testing.assert_allclose(Y @ pi, carrying.inverse_dynamics(*states[:3]), atol=1e-10)
    # The robot that it was made from stays as it is, and none is none again.
    assert np.abs(arm.gravity_vector(states[0]) - carrying.gravity_vector(states[0])).max() > 1.0
    carrying.set_payload('nozzle', 0.0)
    assert_same(carrying, arm, states)


def test_payloads_of_several_links_add_up_and_one_replaces_another(
    arm: Any, robot_text: Any, rng: Any
) -> None:
    states = rng.uniform(-1, 1, (3, 3))
    names = ['inverse_dynamics', 'mass_matrix']
    carrying = kd.CarryingRobot(arm, 'nozzle')
    carrying.inverse_dynamics(*states)
    carrying.set_payload('nozzle', 5.0)
    carrying.set_payload('nozzle', TOOL)
    carrying.set_payload('beam', (2.0, (0.1, 0.0, 0.3)))  # on another body: other kernels
    both = {'nozzle': TOOL, 'beam': (2.0, (0.1, 0.0, 0.3))}
    assert_same(carrying, kd.loads(robot_text('rrp'), payload=both), states, names)
    assert set(carrying.payloads) == set(both)
    twin = pickle.loads(pickle.dumps(carrying))
    apart = copy.deepcopy(carrying)
    apart.set_payload('beam', 0.0)
    np.testing.assert_array_equal(
        twin.inverse_dynamics(*states), carrying.inverse_dynamics(*states)
    )
    assert set(apart.payloads) == {'nozzle'}
    assert_same(apart, kd.loads(robot_text('rrp'), payload={'nozzle': TOOL}), states, names)


def test_keywords_out_and_wrong_arguments(arm: Any, rng: Any) -> None:
    carrying = kd.CarryingRobot(arm, 'nozzle')
    carrying.set_payload('nozzle', TOOL)
    q, qd, qdd = rng.uniform(-1, 1, (3, 3))
    right = carrying.inverse_dynamics(q, qd, qdd)
    np.testing.assert_array_equal(carrying.inverse_dynamics(q=q, qdd=qdd, qd=qd), right)
    out = np.empty(3)
    assert carrying.inverse_dynamics(q, qd, qdd, out=out) is out
    np.testing.assert_array_equal(out, right)
    for wrong in ((q, qd), (q, qd, qdd, q)):
        with pytest.raises(TypeError, match='inverse_dynamics'):
            carrying.inverse_dynamics(*wrong)
    with pytest.raises(kd.ShapeError, match='qd of inverse_dynamics'):
        carrying.inverse_dynamics(q, qd[:2], qdd)
    assert np.isnan(carrying.gravity_vector([0.0, np.nan, 0.0])).any()


def test_expansions_have_the_payload(arm: Any, rng: Any) -> None:
    carrying = kd.CarryingRobot(arm, 'nozzle')
    carrying.set_payload('nozzle', TOOL)
    q = rng.uniform(-1, 1, 3)
    expansion = taylor.expand(carrying.mass_matrix, q, 1)
    np.testing.assert_allclose(expansion(q), carrying.mass_matrix(q), atol=1e-12)


@pytest.mark.parametrize(
    ('file', 'link'), [('ur5_robot.urdf', 'tool0'), ('panda.urdf', 'panda_hand')]
)
def test_arms_with_a_tool_against_pinocchio(file: str, link: str, rng: Any) -> None:
    text = arm_text(file)
    arm = kd.CarryingRobot(kd.loads(text), link)
    oracle = Oracle(text, arm.model)
    frame = oracle.pin.frames[oracle.pin.getFrameId(link)]
    tool = kd.RigidPayload(2.0, np.array([0.01, 0.02, 0.08]), 0.02 * TURNING)
    added = pin.Inertia(tool.mass, tool.center_of_mass, tool.inertia)
    parent = frame.parentJoint
    oracle.pin.inertias[parent] = oracle.pin.inertias[parent] + frame.placement.act(added)
    oracle.data = oracle.pin.createData()
    q, qd, qdd = rng.uniform(-1, 1, (3, arm.n))
    without = arm.inverse_dynamics(q, qd, qdd)
    arm.set_payload(link, tool)
    tau = oracle.inverse_dynamics(q, qd, qdd)
    assert np.abs(tau - without).max() > 1.0
    np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), tau, atol=1e-10)
    np.testing.assert_allclose(arm.mass_matrix(q), oracle.mass_matrix(q), atol=1e-10)
    np.testing.assert_allclose(arm.gravity_vector(q), oracle.gravity_vector(q), atol=1e-10)
    np.testing.assert_allclose(
        arm.coriolis_matrix(q, qd), oracle.coriolis_matrix(q, qd), atol=1e-10
    )


def test_flexible_links_feel_what_rides_on_them(robot_text: Any, rng: Any) -> None:
    text = robot_text('rrp')
    carrying = kd.CarryingRobot(kd.loads(text, flexible=BEAM), 'nozzle')
    described = kd.loads(text, flexible=BEAM, payload={'nozzle': TOOL})
    states = rng.uniform(-0.02, 0.02, (3, carrying.n))
    states[:, :3] += rng.uniform(-1, 1, (3, 3))
    plain = kd.loads(text, flexible=BEAM)
    names = ['inverse_dynamics', 'mass_matrix', 'potential_energy']
    assert_same(carrying, plain, states, names)
    carrying.set_payload('nozzle', TOOL)
    # The slow one to compile, on floats.
    links, parameters = carrying._kernels.in_effect
    loaded = dynamics.payload.carrying(carrying.model, links, parameters.ravel())
    for a, b in zip(
        dynamics.linearization(loaded, *states),
        dynamics.linearization(described.model, *states),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-9)
    third = *states, rng.uniform(-1, 1, carrying.n)
    for name in ('inverse_dynamics_rate', 'second_order_acceleration_energy'):
        equation = getattr(dynamics, name)
        expected = equation(described.model, *third)
        np.testing.assert_allclose(equation(loaded, *third), expected, rtol=1e-10, atol=1e-9)
    assert_same(carrying, described, states, names)
    # The payload is felt by the modal coordinates, and by the robot with stiff links.
    change = carrying.mass_matrix(states[0]) - dynamics.mass_matrix(plain.model, states[0])
    assert np.abs(change[3:, 3:]).max() > 0.1
    assert_same(
        carrying.rigid, described.rigid, states[:, :3], ['inverse_dynamics', 'mass_matrix']
    )
    Y = dynamics.regressor(carrying.model, *states)
    tau = carrying.inverse_dynamics(*states)
    np.testing.assert_allclose(Y @ carrying.inertial_parameters(), tau, atol=1e-9)
    with pytest.raises(kd.ModelError, match="link 'beam' bends"):
        carrying.set_payload('beam', 1.0)


@pytest.mark.compiled  # code with loops is only compiled
def test_kernels_with_loops_take_payloads(rng: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)
    text = chain_text(14)
    names = ['inverse_dynamics', 'inverse_dynamics_rate', 'mass_matrix']
    plain = kd.loads(text)
    link = plain.model.tip_link
    carrying = kd.CarryingRobot(plain, link)
    states = rng.uniform(-1, 1, (4, plain.n))
    assert_same(carrying, plain, states, names)
    carrying.set_payload(link, TOOL)
    assert_same(carrying, kd.loads(text, payload={link: TOOL}), states, names)
    assert carrying.kernel_report()[0].operations < 20_000  # loops, not straight-line code


@pytest.mark.parametrize(
    ('values', 'error', 'words'),
    [
        ((-1.0,), kd.InvalidInertiaError, 'mass is -1 kg, expected >= 0'),
        ((np.nan,), kd.NonFiniteError, 'mass holds a NaN'),
        (('heavy',), kd.ArgumentTypeError, 'mass'),
        ((1.0, [0.0, 0.0]), kd.ShapeError, r'center_of_mass has shape \(2,\)'),
        ((1.0, [0.0, 0.0, np.inf]), kd.NonFiniteError, 'center_of_mass'),
        ((1.0, np.zeros(3), np.zeros(6)), kd.ShapeError, 'inertia has shape'),
        ((1.0, np.zeros(3), np.triu(np.ones((3, 3)))), kd.InvalidInertiaError, 'not symmetric'),
        ((0.0, np.zeros(3), np.eye(3)), kd.InvalidInertiaError, 'without mass'),
        ((1e300, [1e30, 0.0, 0.0]), kd.InvalidInertiaError, 'not finite'),
    ],
)
def test_bodies_that_cannot_be(values: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as told:
        kd.RigidPayload(*values)
    assert '\n' not in str(told.value)


@pytest.mark.parametrize(
    ('payload', 'kind'),
    [
        (kd.RigidPayload(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])), 'triangle_inequality'),
        (
            kd.RigidPayload(1.0, np.zeros(3), np.diag([1.0, 1.0, -1.0])),
            'not_positive_semidefinite',
        ),
        (kd.RigidPayload(1.0, np.array([80.0, 0.0, 10.0])), 'payload_far'),
        (kd.RigidPayload(1.0, np.zeros(3), np.eye(3) * 4e3), 'payload_inertia'),
    ],
)
def test_what_no_body_has_is_told_or_refused(
    arm: Any, payload: kd.RigidPayload, kind: str
) -> None:
    carrying = kd.CarryingRobot(arm, 'nozzle')
    with pytest.raises(kd.InvalidInertiaError, match=f"link 'nozzle/payload'.*{kind}"):
        carrying.set_payload('nozzle', payload, strict=True)
    assert carrying.payloads == {}
    with pytest.warns(kd.ModelWarning, match=kind) as told:
        carrying.set_payload('nozzle', payload)
    assert told[0].filename == __file__
    with warnings.catch_warnings(record=True):
        warnings.simplefilter('always')
        carrying.set_payload('nozzle', payload, strict=True, allow=[kind])
    assert carrying.payloads['nozzle'] is payload


def test_links_that_cannot_carry(arm: Any) -> None:
    carrying = kd.CarryingRobot(arm)
    with pytest.raises(kd.UnknownFrameError, match="link 'hook' does not exist"):
        carrying.set_payload('hook', 1.0)
    with pytest.raises(kd.ModelError, match=f"link '{arm.model.root_link}' does not move"):
        carrying.set_payload(arm.model.root_link, 1.0)
    with pytest.raises(kd.ModelError, match="payload: link 'nozzle' carries"):
        carrying.set_payload('nozzle', (1.0, (0.0, 0.0)))
    with pytest.raises(kd.ModelError, match='does not move'):
        kd.CarryingRobot(arm, arm.model.root_link)
    with pytest.raises(kd.ArgumentTypeError, match='robot is'):
        kd.CarryingRobot('arm')  # type: ignore[arg-type]


def test_change_in_steps_is_in_proportion(arm: Any, rng: Any) -> None:
    carrying = kd.CarryingRobot(arm, 'nozzle')
    carrying.set_payload('nozzle', 1.0)
    q = rng.uniform(-1, 1, 3)
    before = carrying.gravity_vector(q)
    change = PayloadChange(carrying, carrying.with_payload('nozzle', TOOL))
    np.testing.assert_array_equal(carrying.gravity_vector(q), before)
    change.advance(0.25)
    quarter = carrying.gravity_vector(q)
    assert carrying.payloads['nozzle'].mass == 1.0  # until all of it is in effect
    change.advance(1.0)
    assert carrying.payloads == {'nozzle': TOOL}
    after = carrying.gravity_vector(q)
    np.testing.assert_allclose(quarter, 0.75 * before + 0.25 * after, rtol=1e-12)
    with pytest.raises(kd.ParameterError, match='share is 1.5'):
        change.advance(1.5)


def test_other_threads_see_one_payload_or_the_other(arm: Any) -> None:
    """A call that took the numbers of one and the kernel of another would be off."""
    carrying = kd.CarryingRobot(arm, 'nozzle')
    q = np.array([0.3, 0.4, 0.2])
    allowed = set()
    light, heavy = kd.RigidPayload(1.0), TOOL
    for payload in (light, heavy):
        carrying.set_payload('nozzle', payload)
        allowed.add(carrying.gravity_vector(q).tobytes())
    seen, stop = set(), threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.add(carrying.gravity_vector(q).tobytes())

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(50):
        carrying.set_payload('nozzle', light)
        carrying.set_payload('nozzle', heavy)
    stop.set()
    for reader in readers:
        reader.join()
    assert seen <= allowed


def test_the_stacker_holds_its_wheel_once_it_knows_of_the_load() -> None:
    """5 t at the wheel: a position error without them, none with them, and no leap of efforts."""
    load = kd.RigidPayload(5e3, np.array([0.5, 0.0, -0.4]), np.diag([4e3, 5e3, 4e3]))
    robot = kd.CarryingRobot(kd.load(STACKER), 'bucket_wheel')
    start, dt = np.array([0.0, 0.3, -0.05]), 0.02
    plant = Plant(kd.load(STACKER, payload={'bucket_wheel': load}), start)
    law = ComputedTorque(robot, np.full(3, 9.0), np.full(3, 6.0))
    rate = np.array([6e5, 5e6, 2e7])
    guard = CommandGuard(robot.model.effort_limit, rate, robot.joint_names)
    guard.reset(plant.robot.gravity_vector(start))
    rest, sent = np.zeros(3), []

    def hold(steps: int) -> float:
        for _ in range(steps):
            sent.append(guard.apply(law(plant.q, plant.qd, (start, rest, rest)), dt))
            plant.advance(sent[-1], dt, 2e-3)
        return float(np.abs(plant.q - start)[2])

    off = hold(200)
    assert off > 4e-4  # 25 mm at the wheel
    robot.set_payload('bucket_wheel', load)
    assert hold(300) < 0.1 * off
    steps = np.abs(np.diff(sent, axis=0))
    assert (steps <= rate * dt * (1 + 1e-9)).all()
    assert steps[199, 2] > 0.9 * rate[2] * dt  # the limit it was that held it back
