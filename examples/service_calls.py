# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A call of a service of dynamics_node, for the examples beside this file."""

import rclpy
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
