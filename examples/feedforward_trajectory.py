# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory for joint_trajectory_controller that contains feed-forward efforts.

ros2 launch kron_dynamics demo.launch.py
python feedforward_trajectory.py [joint_trajectory_controller]
"""

import sys

import numpy as np
import rclpy
from builtin_interfaces.msg import Duration
from kron_dynamics_msgs.srv import AnnotateTrajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

JOINTS = ['travel', 'slew', 'luff']
start, goal, duration = np.array([100.0, 0.5, 0.0]), np.array([101.0, 0.6, 0.03]), 60.0
s = np.linspace(0.0, 1.0, 61)  # one point per second, from rest to rest
position = start + np.outer(10 * s**3 - 15 * s**4 + 6 * s**5, goal - start)

controller = sys.argv[1] if len(sys.argv) > 1 else 'joint_trajectory_controller'
rclpy.init()
node = rclpy.create_node('planner')
client = node.create_client(AnnotateTrajectory, 'dynamics_node/annotate_trajectory')
if not client.wait_for_service(timeout_sec=60.0):
    raise SystemExit(f'{client.srv_name} is not available: is dynamics_node running?')
request = AnnotateTrajectory.Request(
    joint_names=JOINTS,
    time_from_start=(duration * s).tolist(),
    position=position.ravel().tolist(),
    include_friction=True,
)
future = client.call_async(request)
rclpy.spin_until_future_complete(node, future)
answer = future.result()
if not answer.success:
    raise SystemExit(answer.message)
for sentence in answer.violations:
    print('limit violated:', sentence)

trajectory = JointTrajectory(joint_names=answer.joint_names)
rates = (np.reshape(x, position.shape) for x in (answer.velocity, answer.acceleration))
effort = np.reshape(answer.effort, position.shape)
for t, q, qd, qdd, tau in zip(duration * s, position, *rates, effort, strict=True):
    point = JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd, effort=tau)
    point.time_from_start = Duration(sec=int(t), nanosec=round(1e9 * (t % 1.0)))
    trajectory.points.append(point)
for joint, efforts in zip(JOINTS, effort.T, strict=True):
    print(f'{joint:<8} effort from {efforts.min():.4g} to {efforts.max():.4g}')
if not answer.violations:
    publisher = node.create_publisher(JointTrajectory, f'{controller}/joint_trajectory', 1)
    publisher.publish(trajectory)
    print(f'sent to {publisher.topic_name}')
rclpy.shutdown()
