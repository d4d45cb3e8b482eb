# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of robots whose loops are closed: commands for the drives, states of all joints."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from kron_dynamics_msgs.srv import EquationsOfMotion, FrameKinematics, InverseDynamics
from lockstep import ANSWERED
from long_runs import some_of
from pinocchio_oracle import arm_text
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import kron_dynamics as kd

pytestmark = [pytest.mark.ros, pytest.mark.interpreted]
ROOT = Path(__file__).parents[2]


class Mechanism(NamedTuple):
    """A machine whose loops are closed.

    Attributes:
        urdf: path of its tree.
        constraints: path of what closes its loops.
        start: of the drives, rad or m.
        goal: of a motion.
        seconds: that the motion takes.
        frequency: of the position loops, rad/s.
        passive: a joint that moves with the drives.
        rate: of the states, Hz.
    """

    urdf: Path
    constraints: Path
    start: tuple[float, ...]
    goal: tuple[float, ...]
    seconds: float
    frequency: float
    passive: str
    rate: float


def arm(folder):
    """A UR5 whose forearm is held parallel by a gear on its upper arm."""
    urdf, constraints = folder / 'ur5.urdf', folder / 'gear.yaml'
    urdf.write_text(arm_text('ur5_robot.urdf'), 'utf-8')
    drives = ['shoulder_pan', 'shoulder_lift', 'wrist_1', 'wrist_2', 'wrist_3']
    constraints.write_text(
        'constraints:\n  gear:\n    type: coupling\n'
        '    ratios: {shoulder_lift_joint: 1.0, elbow_joint: 1.0}\n'
        f'actuated: [{", ".join(f"{name}_joint" for name in drives)}]\n'
    )
    return Mechanism(
        *(urdf, constraints, (0.1, -0.8, 0.3, 0.2, 0.0), (0.4, -1.1, 0.0, 0.5, 0.3)),
        *(2.0, 8.0, 'elbow_joint', 100.0),
    )


# The loops of a four-bar linkage are as the cylinder's.
@pytest.fixture(params=some_of(['stacker', 'ur5', 'four_bar'], ['stacker', 'ur5']))
def mechanism(request, tmp_path):
    if request.param == 'ur5':
        return arm(tmp_path)
    if request.param == 'stacker':
        name = 'stacker_reclaimer_cylinder'
        return Mechanism(
            ROOT / 'urdf' / f'{name}.urdf',
            ROOT / 'config' / f'{name}.yaml',
            *((5.0, 0.2, 0.1), (5.1, 0.203, 0.11), 4.0, 1.5, 'luff', 50.0),
        )
    urdf, constraints = ROOT / 'urdf' / 'four_bar.urdf', 'four_bar_constraints.yaml'
    return Mechanism(
        *(urdf, ROOT / 'config' / constraints, (0.9,), (2.4,), 2.0, 8.0, 'rocker_joint', 200.0)
    )


def test_the_node_drives_a_mechanism(mechanism, launcher, connect, request):
    space = request.node.callspec.id
    robot = kd.load(mechanism.urdf, constraints=mechanism.constraints)
    names = robot.joint_names
    shared = {
        'robot_description_file': str(mechanism.urdf),
        'constraints_file': str(mechanism.constraints),
        'allowed_model_warnings': ['triangle_inequality', 'unknown_attribute'],
    }
    gains = {'kp': mechanism.frequency**2, 'kd': 2.0 * mechanism.frequency}
    joints = {f'gains.{joint}.{gain}': value for joint in names for gain, value in gains.items()}
    if not np.isfinite(robot.model.effort_limit).all():
        joints |= {f'effort_limit.{joint}': 500.0 for joint in names}
    client = connect(space)
    states, sent = (
        client.hear(JointState, 'joint_states'),
        client.hear(Float64MultiArray, 'dynamics_node/commands'),
    )
    simulator = launcher(
        'simulator_node',
        space,
        **shared,
        publish_rate=mechanism.rate,
        joints={
            f'initial_position.{joint}': value
            for joint, value in zip(names, mechanism.start, strict=True)
        },
        remap=ANSWERED,
        lockstep=True,
        command_timeout=20.0,
    )
    node = launcher(
        'dynamics_node',
        space,
        **shared,
        state_period=1.0 / mechanism.rate,
        state_timeout=20.0,
        joints=joints,
    )
    # Discovery has no order: commands may be heard before states.
    client.wait_for(lambda: states and len(sent) > 20, 'states and commands', 120.0)
    assert all(len(command.data) == len(names) for command in sent)

    tree = robot.model.tree.joint_names
    whole = states[-1]
    assert list(whole.name[: len(names)]) == list(names)
    assert sorted(whole.name) == sorted(tree)
    order = [list(whole.name).index(joint) for joint in tree]
    drives = np.array(whole.position[: len(names)])
    found = robot.tree_coordinates(drives)
    np.testing.assert_allclose(np.array(whole.position)[order], found, atol=1e-12)
    np.testing.assert_allclose(drives, mechanism.start, atol=0.02)

    point = JointTrajectoryPoint(positions=mechanism.goal, velocities=[0.0] * len(names))
    point.time_from_start.sec = round(mechanism.seconds)
    references = client.publisher(JointTrajectory, 'dynamics_node/reference')
    client.wait_for(lambda: references.get_subscription_count() > 0, 'the node hears')
    references.publish(JointTrajectory(joint_names=list(names), points=[point]))
    way = np.abs(np.subtract(mechanism.goal, mechanism.start)).max()

    def there():
        return np.abs(np.array(states[-1].position[: len(names)]) - mechanism.goal).max() < (
            0.02 * way
        )

    client.wait_for(there, 'the goal', 60.0)
    moved = dict(zip(states[-1].name, states[-1].position, strict=True))[mechanism.passive]
    expected = dict(zip(tree, robot.tree_coordinates(mechanism.goal), strict=True))
    assert moved == pytest.approx(expected[mechanism.passive], abs=0.05)

    q, rest = np.array(mechanism.goal), np.zeros(len(names))
    answer = client.call(
        InverseDynamics,
        'dynamics_node/inverse_dynamics',
        position=q.tolist(),
        velocity=rest.tolist(),
        acceleration=rest.tolist(),
    )
    np.testing.assert_allclose(answer.effort, robot.gravity_vector(q), rtol=1e-9, atol=1e-6)
    answer = client.call(
        EquationsOfMotion,
        'dynamics_node/equations_of_motion',
        position=q.tolist(),
        velocity=rest.tolist(),
    )
    np.testing.assert_allclose(
        answer.mass_matrix, robot.mass_matrix(q).ravel(), rtol=1e-9, atol=1e-9
    )
    answer = client.call(
        FrameKinematics,
        'dynamics_node/frame_kinematics',
        frame=robot.model.tip_link,
        position=q.tolist(),
        velocity=rest.tolist(),
        acceleration=rest.tolist(),
    )
    J = robot.frame(robot.model.tip_link).jacobian(q)
    np.testing.assert_allclose(answer.jacobian, J.ravel(), rtol=1e-9, atol=1e-12)
    assert 'fault' not in node.output
    for process in (node, simulator):
        process.stop()
