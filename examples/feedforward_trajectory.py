# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory for joint_trajectory_controller that contains feed-forward efforts.

It starts where the machine stands. To look at it without a controller:
ros2 launch kron_dynamics demo.launch.py
ros2 topic echo /joint_trajectory_controller/joint_trajectory trajectory_msgs/msg/JointTrajectory
python feedforward_trajectory.py [joint_trajectory_controller [SECONDS_TO_WAIT_FOR_IT]]
"""

import sys
import time
from collections.abc import Callable

import numpy as np
import rclpy
from kron_dynamics_msgs.srv import AnnotateTrajectory
from rclpy.duration import Duration
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

JOINTS = ['travel', 'slew', 'luff']
controller = sys.argv[1] if len(sys.argv) > 1 else 'joint_trajectory_controller'
patience = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0  # s


def wait_for(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Handle what arrives until a condition holds; exit if it does not."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f'no {what} within {seconds:g} s')
        rclpy.spin_once(node, timeout_sec=0.1)


def measured() -> np.ndarray:
    """Return the positions of the joints in the states from now on."""
    seen.clear()
    wait_for(lambda: seen.keys() >= {*JOINTS}, f'joint_states of {", ".join(JOINTS)}')
    return np.array([seen[joint] for joint in JOINTS])


def hear(state: JointState) -> None:
    """Note the positions of a joint state, which may have some of the joints only."""
    seen.update(zip(state.name, state.position, strict=False))


rclpy.init()
node = rclpy.create_node('planner')
seen: dict[str, float] = {}
node.create_subscription(JointState, 'joint_states', hear, qos_profile_sensor_data)
publisher = node.create_publisher(JointTrajectory, f'{controller}/joint_trajectory', 1)
client = node.create_client(AnnotateTrajectory, 'dynamics_node/annotate_trajectory')
if not client.wait_for_service(timeout_sec=60.0):
    raise SystemExit(f'{client.srv_name} is not available: is dynamics_node running?')

start, distance = measured(), np.array([1.0, 0.1, 0.03])
times = np.arange(61)  # s, from rest to rest
s = times / times[-1]
position = start + np.outer(10 * s**3 - 15 * s**4 + 6 * s**5, distance)
request = AnnotateTrajectory.Request(joint_names=JOINTS, include_friction=True)
request.time_from_start = times.astype(float).tolist()
request.position = position.ravel().tolist()
future = client.call_async(request)
wait_for(future.done, f'answer of {client.srv_name}')
answer = future.result()
if not answer.success or answer.violations:
    raise SystemExit('\n'.join(['not sent:', answer.message, *answer.violations]))

trajectory = JointTrajectory(joint_names=answer.joint_names)
rates = (np.reshape(x, position.shape) for x in (answer.velocity, answer.acceleration))
effort = np.reshape(answer.effort, position.shape)
for t, q, qd, qdd, tau in zip(times, position, *rates, effort, strict=True):
    point = JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd, effort=tau)
    point.time_from_start = Duration(seconds=int(t)).to_msg()
    trajectory.points.append(point)
for joint, efforts in zip(JOINTS, effort.T, strict=True):
    print(f'{joint:<8} effort from {efforts.min():.4g} to {efforts.max():.4g}')

wait_for(publisher.get_subscription_count, f'subscriber of {publisher.topic_name}', patience)
# The controller would jump to the first point: 1 mm or 1 mrad is allowed, NaN is not.
if not (np.abs(measured() - start) < 1e-3).all():
    raise SystemExit('not sent: the machine has moved since the trajectory was planned')
publisher.publish(trajectory)
if not publisher.wait_for_all_acked(Duration(seconds=10)):
    raise SystemExit(f'{publisher.topic_name} has a subscriber that did not receive it')
print(f'sent to {publisher.topic_name}')
rclpy.shutdown()
