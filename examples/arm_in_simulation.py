# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Any arm, for instance a UR5 or a Panda, simulated and controlled by the node along a reference.

python arm_in_simulation.py ur5.urdf --params > arm.yaml    # double pole at -5 rad/s per joint
FILES='robot_description_file:=ur5.urdf params_file:=arm.yaml'
ros2 launch kron_dynamics robot.launch.py simulated:=true namespace:=arm $FILES
python arm_in_simulation.py ur5.urdf
"""

import sys
import time

import numpy as np
import rclpy
import yaml
from builtin_interfaces.msg import Duration
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import kron_dynamics as kd

model = kd.load(sys.argv[1]).model
names = list(model.joint_names)
# Start pose of the simulation, away from the limits of all joints.
margin = np.minimum(0.5, 0.25 * (model.position_upper - model.position_lower))
middle = np.clip(0.0, model.position_lower + margin, model.position_upper - margin)
if '--params' in sys.argv:
    gains = {joint: {'kp': 25.0, 'kd': 10.0} for joint in names}
    start = dict(zip(names, middle.tolist(), strict=True))
    nodes = {'dynamics_node': {'gains': gains, 'state_period': 0.01}}
    nodes['simulator_node'] = {'initial_position': start, 'publish_rate': 100.0}
    files = {f'/**/{node}': {'ros__parameters': values} for node, values in nodes.items()}
    print(yaml.safe_dump(files))
    sys.exit()

rclpy.init()
node = rclpy.create_node('mover', namespace='arm')
seen: dict[str, JointState] = {}
for topic in ('joint_states', 'dynamics_node/command_state'):
    node.create_subscription(JointState, topic, lambda m, t=topic: seen.update({t: m}), 10)
publisher = node.create_publisher(JointTrajectory, 'dynamics_node/reference', 1)
while len(seen) < 2 or not publisher.get_subscription_count():  # until the node commands
    rclpy.spin_once(node)
goal = middle + 0.6 * margin
reference = JointTrajectory(joint_names=names)
for seconds, positions in ((0, middle), (4, goal)):
    point = JointTrajectoryPoint(positions=positions.tolist(), velocities=[0.0] * len(names))
    point.time_from_start = Duration(sec=seconds)
    reference.points.append(point)
publisher.publish(reference)
end = time.monotonic() + 5.5
while time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.1)
state = dict(zip(seen['joint_states'].name, seen['joint_states'].position, strict=True))
for joint, wanted in zip(names, goal, strict=True):
    print(f'{joint:<24} at {state[joint]:7.4f}, {1e3 * abs(state[joint] - wanted):.2f} mrad off')
rclpy.shutdown()
