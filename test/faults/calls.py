# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Call random services of a dynamics_node until terminated.

Usage: python test/faults/calls.py NAMESPACE SEED LARGEST; started by soak.py. Every call must
succeed; requests have up to LARGEST states.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import rclpy
from geometry_msgs.msg import Point
from kron_dynamics_msgs.srv import AnnotateTrajectory, RetimeTrajectory, SetPayload

import kron_dynamics

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'support'))

from model_services import SERVICES as MODEL_SERVICES  # noqa: E402
from supervised import description  # noqa: E402

SERVICES = {
    **MODEL_SERVICES,
    'annotate_trajectory': (AnnotateTrajectory, ('position',)),
    'retime_trajectory': (RetimeTrajectory, ('position',)),
    'set_payload': (SetPayload, ()),
}
_PATIENCE = 30.0  # s
# Link and largest mass, kg: light compared with the machine, so that no tolerance is violated.
PAYLOAD = {'stacker': ('bucket_wheel', 50.0), 'ur5': ('wrist_3_link', 0.2)}
PAYLOAD['panda'] = ('panda_hand', 0.2)


def request(
    name: str,
    kind: type,
    fields: tuple[str, ...],
    machine: str,
    robot: kron_dynamics.Robot,
    random_,
    largest: int,
):
    """Return a request of random size."""
    if name == 'set_payload':
        link, mass = PAYLOAD[machine]
        return kind.Request(link=link, mass=mass * random_.uniform(), center_of_mass=Point(z=0.01))
    count = int(random_.integers(2, largest + 1))
    if name == 'retime_trajectory':
        # A path within the limits; long ones take long to compute.
        count = min(count, 20)
        model = robot.model
        low, high = (np.clip(x, -1.0, 1.0) for x in (model.position_lower, model.position_upper))
        path = (low + high) / 2 + (high - low) * random_.uniform(-0.1, 0.1, (count, robot.n))
        return kind.Request(position=path.ravel().tolist())
    values = {field: random_.uniform(-0.1, 0.1, count * robot.n).tolist() for field in fields}
    if name == 'annotate_trajectory':
        values['time_from_start'] = np.arange(count, dtype=float).tolist()
    return kind.Request(**values)


def main() -> None:
    """Call until terminated; print the number of answers of each service."""
    machine, seed, largest = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    robot = kron_dynamics.loads(description(machine))
    random_ = np.random.default_rng(seed)
    # An exception raised by a signal handler within a call of rclpy can get lost.
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
    node = rclpy.create_node('caller', namespace=machine)
    clients = {
        name: node.create_client(kind, f'dynamics_node/{name}')
        for name, (kind, _) in SERVICES.items()
    }
    # A request sent before the service is discovered is lost.
    for name, client in clients.items():
        if not client.wait_for_service(timeout_sec=_PATIENCE):
            sys.exit(f'{name} is not served')
    answers: Counter[str] = Counter()
    while not ended.is_set():
        name = str(random_.choice(list(SERVICES)))
        made = request(name, *SERVICES[name], machine, robot, random_, largest)
        future = clients[name].call_async(made)
        while not (future.done() or ended.is_set()):
            rclpy.spin_once(node, timeout_sec=0.1)
        if future.done():
            if not future.result().success:
                sys.exit(f'{name}: {future.result().message}')
            answers[name] += 1
    print(dict(answers))


if __name__ == '__main__':
    main()
