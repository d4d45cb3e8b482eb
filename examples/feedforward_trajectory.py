# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory for joint_trajectory_controller, with the efforts that it adds as feed-forward.

ros2 launch kron_dynamics demo.launch.py
python feedforward_trajectory.py [joint_trajectory_controller]
"""

import sys

import rclpy
from builtin_interfaces.msg import Duration
from kron_dynamics_msgs.srv import AnnotateTrajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

STILL = [0.0, 0.0, 0.0]
MOTION = {  # s: positions in m and rad
    0: [100.0, 0.5, 0.0],
    30: [101.0, 0.6, 0.02],
    60: [101.0, 0.7, 0.04],
}

controller = sys.argv[1] if len(sys.argv) > 1 else 'joint_trajectory_controller'
rclpy.init()
node = rclpy.create_node('planner')
trajectory = JointTrajectory(joint_names=['travel', 'slew', 'luff'])
for seconds, positions in MOTION.items():
    point = JointTrajectoryPoint(positions=positions, velocities=STILL, accelerations=STILL)
    point.time_from_start = Duration(sec=seconds)
    trajectory.points.append(point)

client = node.create_client(AnnotateTrajectory, 'dynamics_node/annotate_trajectory')
if not client.wait_for_service(timeout_sec=60.0):
    raise SystemExit(f'{client.srv_name} is not offered: is dynamics_node running?')
request = AnnotateTrajectory.Request(trajectory=trajectory, include_friction=True)
future = client.call_async(request)
rclpy.spin_until_future_complete(node, future)
answer = future.result()
if not answer.success:
    raise SystemExit(answer.message)
for sentence in answer.violations:
    print('not possible:', sentence)
for point in answer.trajectory.points:
    print(f'{point.time_from_start.sec:4d} s', [f'{effort:.4g}' for effort in point.effort])

if not answer.violations:
    topic = f'{controller}/joint_trajectory'
    publisher = node.create_publisher(JointTrajectory, topic, 1)
    publisher.publish(answer.trajectory)
    print(f'sent to {publisher.topic_name}')
rclpy.shutdown()
