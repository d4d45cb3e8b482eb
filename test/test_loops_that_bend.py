# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Links that bend inside loops: the stacker with its cylinder and a boom that bends."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hurried_compiler import hurry
from long_runs import some_of
from scipy.linalg import expm
from uncompiled import ConstrainedOnFloats, OnFloats

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics
from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics.wrenches import Wrench
from kron_dynamics.kernels.compiled import compiled_methods
from kron_dynamics.simulation.reduced_motion import simulate_reduced

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[1]
URDF = ROOT / 'urdf' / 'stacker_reclaimer_cylinder.urdf'
BEAM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
MODAL = ['boom/v1', 'boom/w1']


def described() -> dict[str, Any]:
    """The shipped constraints, with pins that let the boom bend sideways."""
    text = (ROOT / 'config' / 'stacker_reclaimer_cylinder.yaml').read_text(encoding='utf-8')
    found: dict[str, Any] = yaml.safe_load(text)
    for pin in found['constraints'].values():
        pin.update(type='point', components='xy')  # the pins' own axes are z
    for key in ('independent', 'actuated'):
        found[key] += MODAL
    return found


@functools.cache
def bending() -> kd.ConstrainedRobot:
    robot = OnFloats(kd.load(URDF, flexible=BEAM).model)
    return ConstrainedOnFloats.described(robot, described())


@functools.cache
def reduced() -> kd.ReducedRobot:
    return kd.ReducedRobot(
        kd.ConstrainedRobot.described(kd.load(URDF, flexible=BEAM), described())
    )


def state(seed: int = 3) -> tuple[Any, Any, Any]:
    """Closed q with a bent boom, u and du/dt."""
    rng = np.random.default_rng(seed)
    q = np.array([1.0, 0.4, 0.06, *np.zeros(4), 0.12, -0.2])
    independent = ['travel', 'slew', 'luff', *MODAL]
    return bending().close(q, hold=independent), *rng.normal(size=(2, 5))


def on_floats(robot: kd.ReducedRobot, name: str, *arguments: Any) -> Any:
    method = type(robot).__dict__[name]
    return method.specification(robot).function(robot.model, *map(np.array, arguments))


class ReducedOnFloats:
    """A reduced robot whose equations are evaluated on floats."""

    def __getattr__(self, name: str) -> Any:
        if name in compiled_methods(kd.ReducedRobot):
            return functools.partial(on_floats, reduced(), name)
        return getattr(reduced(), name)


# Compiling takes a second for each of them: small motions below are those of kernels, and
# test_kernel_conformance holds all kernels of another robot against its equations.
@pytest.mark.parametrize(
    'evaluated', some_of(['compiled', 'on floats'], ['on floats']), ids=lambda how: how
)
def test_equations_are_the_general_ones(evaluated: str, assert_close: Any) -> None:
    robot: Any = reduced() if evaluated == 'compiled' else ReducedOnFloats()
    general = bending()
    assert robot.degrees_of_freedom == 5
    q, u, u_dot = state()
    qd = general.velocities(q, u)
    qdd = general.accelerations(q, qd, u_dot)
    assert_close(robot.accelerations(q, u, u_dot), qdd, 1e-11)
    assert_close(robot.mass_matrix(q), general.mass_matrix(q), 1e-11)
    assert_close(robot.coriolis_matrix(q, u), general.coriolis_matrix(q, qd), 1e-10)
    C = on_floats(reduced(), 'velocity_free_coriolis_matrix', q)
    bias = robot.equations_of_motion(q, u).bias
    assert_close(C @ np.kron(u, u) + robot.gravity_vector(q), bias, 1e-12)
    efforts = robot.inverse_dynamics(q, u, u_dot)
    expected = general.inverse_dynamics(q, qd, qdd)[list(robot._actuated)]
    assert_close(efforts, expected, 1e-10)
    tau = np.zeros(9)
    tau[list(robot._actuated)] = efforts
    found = robot.forward_dynamics(q, u, tau)
    assert_close(found.u_dot, u_dot, 1e-9)
    assert_close(found.multipliers, general.forward_dynamics(q, qd, tau).multipliers, 1e-9)


def test_linear_models_of_loops_that_bend(derivative: Any, assert_close: Any) -> None:
    robot, general = reduced(), bending()
    q, u, u_dot = state()
    found = on_floats(robot, 'linearization', q, u, u_dot)
    free, actuated = list(robot._choice.independent), list(robot._actuated)
    B = general.speeds(q, np.zeros(9)).B

    def force(p: Any, s: Any) -> Any:
        place = q + B @ p
        place[free] = q[free] + p
        place = general.close(place, hold=robot.independent)
        speeds = general.speeds(place, general.velocities(place, u + s))
        qd = speeds.B @ (u + s)
        tau = general.robot.inverse_dynamics(place, qd, speeds.B @ u_dot + speeds.gamma)
        tau[actuated] -= found.effort
        return speeds.B.T @ tau

    # Along one direction that has a part of every speed: what is wrong in any column shows.
    none, along = np.zeros(5), np.array([0.7, -0.9, 0.8, 1.0, -0.6])
    for matrix, changed in (
        (found.stiffness_matrix, lambda h: force(h * along, none)),
        (found.damping_matrix, lambda h: force(none, h * along)),
    ):
        assert_close(matrix @ along, derivative(changed, np.zeros(1))[:, 0], 1e-8)
    # The cylinder's force has a part in the boom's stiffness, and the boom bends by its weight.
    assert np.abs(found.stiffness_matrix[2:, 2:]).min() > 0.0


@functools.cache
def hanging() -> tuple[Any, kd.LinearizedModel]:
    """The boom bent by its weight, where no force is left on its modes; and its linear model."""
    robot, rest = reduced(), np.zeros(5)
    q = bending().start
    # Compiling the linear model takes longer than evaluating it a few times.
    robot.linearization = functools.partial(on_floats, robot, 'linearization')  # type: ignore[method-assign]
    weight = functools.partial(on_floats, robot, 'gravity_vector')
    K = robot.linearization(q, rest, rest).stiffness_matrix[3:, 3:]
    for _ in range(12):
        q = q.copy()
        q[7:] -= np.linalg.solve(K, weight(q)[3:])
        q = bending().close(q, hold=robot.independent)
    assert np.abs(weight(q)[3:]).max() < 1e-6
    return q, robot.linearize(q, rest, rest)


def test_a_boom_swings_at_its_own_frequency() -> None:
    """With the joints held, at 0.8 Hz up and down, as its file says; the loop is at its root."""
    q, linear = hanging()
    assert q[8] < -0.1
    frequencies = linear.part([3, 4]).frequencies() / (2 * np.pi)
    assert 0.6 < frequencies[0] < 1.0 and frequencies[1] < 2.0


def test_structural_damping_is_in_the_linear_model(assert_close: Any) -> None:
    robot = reduced()
    q, linear = hanging()
    B = on_floats(robot, 'velocity_matrix', q)
    damping = robot.model.structural_damping
    assert damping[7:].min() > 0.0
    bare = robot.linearization(q, np.zeros(5), np.zeros(5))
    assert_close(linear.damping - bare.damping_matrix, B.T @ np.diag(damping) @ B, 1e-12)


@pytest.mark.compiled
def test_small_motions_of_a_boom_in_its_loops_are_the_linear_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half the disturbance leaves a quarter of the error; drives hold their efforts."""
    # Compiling takes longer than the motion, which has the same bits at every level.
    hurry(monkeypatch)
    robot = reduced.__wrapped__()  # with kernels of its own, which are compiled
    q, linear = hanging()
    tau = np.zeros(9)
    tau[list(robot._actuated)] = linear.effort
    free, damping = list(robot._choice.independent), robot.model.structural_damping
    A, x0 = linear.state_space().A, np.array([1.0, 0.01, 0.01, 0.2, 0.2, *np.zeros(5)])
    errors = []
    for size in (1.0, 0.5):
        place = q.copy()
        place[free] += size * x0[:5]
        place = bending().close(place, hold=robot.independent)
        moved = simulate_reduced(
            *(robot, place, np.zeros(5)),
            lambda t, q, qd: tau - damping * qd,
            duration=1.5,
            step=5e-3,
        )
        end = np.concatenate([moved.q[-1, free] - q[free], moved.qd[-1, free]])
        errors.append(np.abs(end - expm(1.5 * A) @ (size * x0))[3:5].max())
        assert errors[-1] < 0.1 * size * 0.2
    assert 3.3 < errors[0] / errors[1] < 4.7


def test_undeformed_links_carry_what_rigid_ones_do(assert_close: Any) -> None:
    flexible = bending().robot.model
    q, u, u_dot = state()
    q, qd, qdd = (x.copy() for x in (q, bending().velocities(q, u), np.append(u_dot, u_dot)[:9]))
    for part in (q, qd, qdd):
        part[7:] = 0.0
    wrenches = [
        Wrench('boom', (3e4, 2e4, -5e4), (1e3, 2e3, 3e3), (11.0, 0.0, -1.2), 'rail'),
        Wrench('cab', (1e3, -2e3, 4e3), (5.0, 6.0, 7.0), (0.0, 0.1, 1.5)),
        Wrench('bucket_wheel', (-9e3, 2e3, 8e3), point=(0.0, 0.0, 0.0)),
        Wrench('rod', (2e3, 1e3, 0.0)),
    ]
    found = dynamics.joint_reactions(flexible, q, qd, qdd, wrenches)
    rigid = flexible.rigid  # type: ignore[attr-defined]
    expected = dynamics.joint_reactions(rigid, q[:7], qd[:7], qdd[:7], wrenches)
    assert_close(found, expected, 1e-10)


def probed(joint: str) -> kd.Robot:
    """The machine with six massless joints before a joint, which feel all that it carries."""
    tree = ET.parse(URDF).getroot()
    moved = next(x for x in tree.iter('joint') if x.get('name') == joint)
    parent, child = moved.find('parent'), 'probe0'
    assert parent is not None
    before, origin = str(parent.get('link')), moved.find('origin')
    assert origin is not None and origin.get('rpy') is None
    moved.remove(origin)
    for k in range(6):
        kind = 'prismatic' if k < 3 else 'revolute'
        child = f'probe{k}'
        ET.SubElement(tree, 'link', name=child)
        probe = ET.SubElement(tree, 'joint', name=f'{child}_joint', type=kind)
        ET.SubElement(probe, 'parent', link=before)
        ET.SubElement(probe, 'child', link=child)
        ET.SubElement(probe, 'axis', xyz=' '.join('1' if i == k % 3 else '0' for i in range(3)))
        ET.SubElement(probe, 'limit', lower='-1', upper='1', effort='1', velocity='1')
        if k == 0:
            probe.append(origin)
        before = child
    parent.set('link', child)
    text = ET.tostring(tree, encoding='unicode')
    return OnFloats(kd.loads(text, flexible=BEAM).model)


@pytest.mark.filterwarnings('ignore::kron_dynamics.ModelWarning')
@pytest.mark.parametrize('joint', ['luff', 'cab_pin', 'slew'])
def test_reactions_are_efforts_of_joints_that_do_not_move(joint: str, assert_close: Any) -> None:
    """Of all six directions at once, while the boom swings and pushes act on it."""
    robot = bending().robot
    probe = probed(joint)
    q, u, u_dot = state()
    qd = bending().velocities(q, u)
    qdd = bending().accelerations(q, qd, u_dot)
    names = list(probe.joint_names)
    places = [names.index(name) for name in robot.joint_names]
    motion = [np.zeros(probe.n) for _ in range(3)]
    for of_probe, own in zip(motion, (q, qd, qdd), strict=True):
        of_probe[places] = own
    pushes = [
        Wrench('bucket_wheel', (-9e5, 2e5, 8e5), (1e5, 2e5, 3e5), (0.5, 0.2, 0.1), 'rail'),
        Wrench('cab', (1e5, -2e5, 4e5), (5e4, 6e4, 7e4), (0.0, 0.1, 1.5), 'rail'),
        Wrench('boom', (3e5, 1e5, 4e5), (5e4, 6e4, 7e4), (11.0, 0.1, -1.2), 'rail'),
    ]
    tau = probe.inverse_dynamics(*motion)
    for push in pushes:
        J = kinematics.jacobian(probe.model, motion[0], push.link, push.point)
        tau = tau - J.T @ np.concatenate([push.force, push.moment])
    feels = tau[[names.index(f'probe{k}_joint') for k in range(6)]]
    R = probe.frame('probe5').pose(motion[0])[:3, :3]
    rows = dynamics.joint_reactions(robot.model, q, qd, qdd, pushes)
    k = [moving.name for moving in robot.model.joints].index(joint)
    assert_close(rows[k], np.concatenate([R @ feels[:3], R @ feels[3:]]), 1e-9)


def test_constrained_reactions_have_the_efforts_along_their_joints(assert_close: Any) -> None:
    """With loop closures on the root of the beam and on what rides on it."""
    robot = bending()
    q, u, u_dot = state()
    qd = robot.velocities(q, u)
    qdd = robot.accelerations(q, qd, u_dot)
    tau = robot.inverse_dynamics(q, qd, qdd)
    found = robot.reactions(q, qd, qdd, tau)
    model = robot.robot.model
    for moving in model.joints:
        frame = {'luff': 'boom', 'slew': 'slew_deck', 'travel': 'gantry', 'cab_pin': 'cab'}.get(
            moving.name, {'barrel_pin': 'barrel', 'cylinder': 'rod'}.get(moving.name, '')
        )
        R = robot.robot.frame(frame or 'levelling_rod').pose(q)[:3, :3]
        axis = [
            R @ part
            for part in (moving.motion.linear_axis(moving), moving.motion.angular_axis(moving))
        ]
        along = found.joints[moving.name] @ np.concatenate(axis)
        assert_close(along, tau[moving.coordinate], 1e-9, floor=np.abs(tau).max())
    # The rail carries weight and momentum of all: from potential energies, twice differentiated.
    force = found.joints['travel'][:3]

    def first_moment(t: Any) -> Any:
        place = q + t[0] * qd + t[0] * t[0] / 2 * qdd
        falls = [-np.eye(3)[k] for k in range(3)]
        elastic = dynamics.potential_energy(falling(model, np.zeros(3)), place)
        return np.array(
            [dynamics.potential_energy(falling(model, g), place) - elastic for g in falls]
        )

    rate = jacobian_of(lambda t: jacobian_of(first_moment, t)[1][:, 0], [0.0])[1][:, 0]
    weight = robot.robot.model.rigid.total_mass * model.gravity  # type: ignore[attr-defined]
    assert_close(force, rate - weight, 1e-9)
    assert np.abs(rate).max() > 1e-2 * np.abs(weight).max()


def falling(model: Any, gravity: Any) -> Any:
    return replace(model, gravity=gravity)


def test_flexible_links_need_the_place_of_a_wrench() -> None:
    q = bending().start
    with pytest.raises(kd.ModelError, match="wrench on flexible link 'boom' has no point"):
        dynamics.joint_reactions(
            bending().robot.model, q, 0 * q, 0 * q, [Wrench('boom', (1.0, 0.0, 0.0))]
        )
    with pytest.raises(kd.ArgumentTypeError, match='expected a Wrench'):
        dynamics.joint_reactions(bending().robot.model, q, 0 * q, 0 * q, [3])  # type: ignore[list-item]


def test_payloads_of_flexible_robots_count_in_reactions(assert_close: Any) -> None:
    """A load that the wheel takes up, against one in the description; the boom is straight."""
    load = (20e3, (0.3, 0.1, -0.2))
    carrying = kd.CarryingRobot(kd.load(URDF, flexible=BEAM), 'bucket_wheel')
    loaded = OnFloats(kd.load(URDF, flexible=BEAM, payload={'bucket_wheel': load}).model)
    found = []
    for robot, takes_up in ((loaded, False), (carrying, False), (carrying, True)):
        if takes_up:
            carrying.set_payload('bucket_wheel', load)
        closed = ConstrainedOnFloats.described(robot, described())
        q, motion = closed.start, np.array([0.3, 0.2, 0.1, 0.0, 0.0])
        qd = closed.velocities(q, motion)
        qdd = closed.accelerations(q, qd, -motion)
        tau = closed.inverse_dynamics(q, qd, qdd)
        found.append(np.concatenate(list(closed.reactions(q, qd, qdd, tau).joints.values())))
    assert_close(found[2], found[0], 1e-10)
    assert np.abs(found[1] - found[0]).max() > 1e-2 * np.abs(found[0]).max()
