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
from service_calls import call


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
