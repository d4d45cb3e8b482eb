# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Report a payload to the node, whose efforts include it from then on, and remove it again.

ros2 launch kron_dynamics demo.launch.py
python payload_change.py LINK MASS
"""

import sys

import rclpy
from geometry_msgs.msg import Point
from kron_dynamics_msgs.srv import EquationsOfMotion, SetPayload
from rclpy.node import Node


def call(node: Node, kind: type, name: str, **request: object) -> object:
    """Return the response of a service; exit if the request was refused."""
    client = node.create_client(kind, f'dynamics_node/{name}')
    if not client.wait_for_service(timeout_sec=60.0):
        raise SystemExit(f'{client.srv_name} is not available: is dynamics_node running?')
    for _ in range(5):  # the response to a client that the node does not know yet is lost
        future = client.call_async(kind.Request(**request))
        rclpy.spin_until_future_complete(node, future, timeout_sec=20.0)
        if future.done():
            break
    else:
        raise SystemExit(f'{client.srv_name} does not answer')
    answer = future.result()
    if not answer.success:
        raise SystemExit(f'{name}: {answer.message}')
    return answer


def weight(node: Node) -> dict[str, float]:
    """Return the efforts that hold the machine at rest in one pose, N m or N."""
    answer = call(node, EquationsOfMotion, 'equations_of_motion', position=[100.0, 0.5, 0.0])
    return dict(zip(answer.joint_names, answer.gravity_vector, strict=True))


link, mass = sys.argv[1], float(sys.argv[2])
rclpy.init()
node = rclpy.create_node('payload')
before = weight(node)
r = 0.5  # m: radius of a solid ball at the link's origin
inertia = [0.4 * mass * r**2 * part for part in (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)]
call(
    node, SetPayload, 'set_payload', link=link, mass=mass, center_of_mass=Point(), inertia=inertia
)
loaded = weight(node)
for joint in before:
    print(f'{joint:<8} {before[joint]:12.4g} {loaded[joint]:12.4g} with {mass:g} kg at {link}')
call(node, SetPayload, 'set_payload', link=link, mass=0.0)  # remove the payload
print('payload removed:', {joint: f'{effort:.4g}' for joint, effort in weight(node).items()})
rclpy.shutdown()
