# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A planner that calls the node's services: efforts along a path, and the motion of the tool.

ros2 launch kron_dynamics demo.launch.py
python planner_client.py
"""

import numpy as np
import rclpy
from kron_dynamics_msgs.srv import FrameKinematics, InverseDynamics
from service_calls import call

rclpy.init()
node = rclpy.create_node('planner')

# 200 points of a quintic polynomial from rest to rest. Arrays are flat, one point after the other.
start, goal, duration = np.array([100.0, 0.5, 0.0]), np.array([102.0, 0.7, 0.05]), 60.0
s = np.linspace(0.0, 1.0, 200)[:, None]
q = start + (goal - start) * (10 * s**3 - 15 * s**4 + 6 * s**5)
qd = (goal - start) * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
qdd = (goal - start) * (60 * s - 180 * s**2 + 120 * s**3) / duration**2
states = {
    'joint_names': ['travel', 'slew', 'luff'],  # in any order, but all of them
    'position': q.ravel().tolist(),
    'velocity': qd.ravel().tolist(),
    'acceleration': qdd.ravel().tolist(),
}
answer = call(node, InverseDynamics, 'inverse_dynamics', include_friction=True, **states)
tau = np.reshape(answer.effort, q.shape)
for joint, efforts in zip(answer.joint_names, tau.T, strict=True):
    print(f'{joint:<8} effort from {efforts.min():.4g} to {efforts.max():.4g}')

answer = call(node, FrameKinematics, 'frame_kinematics', **states)  # for the node's tip_frame
J = np.reshape(answer.jacobian, (len(q), 6, q.shape[1]))
speed = np.hypot(*np.einsum('kij,kj->ik', J[:, :2], qd))
print(f'{answer.frame} moves at {speed.max():.3f} m/s at most, horizontally')
rclpy.shutdown()
