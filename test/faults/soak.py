# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Long run of dynamics_node: thousands of transitions, then states, goals and service calls.

Usage: python test/faults/soak.py [--only MACHINE ...] [--cycles 1000] [--minutes 30] [--rate 200]
    [--largest 50]

For each machine the node is configured, activated, deactivated and cleaned up repeatedly. Then it
lets the machine follow references while another process calls random services. Prints the memory
of the node once a minute. The exit code is 1 if the node ended, had a fault, sent no command after
a state for longer than `WATCHDOG`, answered no calls, or if its memory grew by more than `GROWTH`
after the first minute or the first third of the transitions. With a large --largest, such as 1000,
it does grow: the middleware keeps buffers for the last ten answers of each service, and each
stays as large as its largest answer.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'test' / 'support'))
from ros_domains import this_computer_only  # noqa: E402

os.environ |= this_computer_only(62)

import rclpy  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState  # noqa: E402
from machine import Machine  # noqa: E402
from supervised import MACHINES, Node, recover, standing, wait_until  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

WATCHDOG = 0.2  # longest time without a command, s; the simulator's command_timeout is 0.5 s
GROWTH = 1.0  # allowed growth of memory, MB
WARM_UP = 60.0  # time before memory counts, s
# payload.ramp_time, s: short, so that other services are called more than once a second.
RAMP = 0.1
CYCLE = (
    Transition.TRANSITION_DEACTIVATE,
    Transition.TRANSITION_CLEANUP,
    Transition.TRANSITION_CONFIGURE,
    Transition.TRANSITION_ACTIVATE,
)


def memory(node: Node) -> float:
    """Return the anonymous resident memory of the process, MB: without files and shared memory."""
    status = Path(f'/proc/{node.process.pid}/status').read_text('ascii')
    (line,) = (line for line in status.splitlines() if line.startswith('RssAnon'))
    return float(line.split()[1]) / 1024.0


def grown(node: Node, warm: float | None) -> list[str]:
    """Return complaints about the growth of memory since the warm-up."""
    if warm is None:
        return []
    more = memory(node) - warm
    print(f'{more:.2f} MB more than after the warm-up', flush=True)
    return [f'it grew by {more:.2f} MB'] if more > GROWTH else []


def transitions(machine: Machine, node: Node, cycles: int) -> list[str]:
    """Cycle the node through its lifecycle; return what went wrong."""
    client = machine.node.create_client(ChangeState, 'dynamics_node/change_state')
    warm, begin = None, time.monotonic()
    machine.braked = True  # no command holds the machine while the node is down
    for k in range(cycles):
        for number in CYCLE:
            request = ChangeState.Request(transition=Transition(id=number))
            future = client.call_async(request)
            wait_until(machine, future.done, f'transition {number}', step=0.005)
            if not future.result().success:
                last = node.log.read_text('utf-8').splitlines()[-1:]
                return [f'transition {number} of cycle {k} failed: {"".join(last)}']
        machine.forget_command()
        if not node.alive():
            return ['the node has ended']
        if warm is None and (k >= cycles // 3 or time.monotonic() - begin >= WARM_UP):
            warm = memory(node)
        if (k + 1) % max(cycles // 10, 1) == 0:
            took = time.monotonic() - begin
            print(f'{k + 1:6} cycles, {took:6.1f} s, {memory(node):.2f} MB', flush=True)
    return grown(node, warm)


def operation(machine: Machine, node: Node, seconds: float, seed: int, largest: int) -> list[str]:
    """Follow references while services are called; return what went wrong."""
    random_ = np.random.default_rng(seed)
    references = machine.node.create_publisher(JointTrajectory, 'dynamics_node/reference', 1)
    namespace = machine.node.get_namespace().strip('/')
    calls = [sys.executable, str(ROOT / 'test' / 'faults' / 'calls.py')]
    calls += [namespace, str(seed), str(largest)]
    wrong: list[str] = []
    home, reach = machine.plant.q.copy(), 0.02 * machine.robot.model.velocity_limit
    with subprocess.Popen(calls, stdout=subprocess.PIPE, text=True) as caller:
        try:
            machine.longest_gap, warm, begin = 0.0, None, time.monotonic()
            said = begin
            while (passed := time.monotonic() - begin) < seconds:
                goal = home + random_.uniform(-1.0, 1.0, home.size) * reach * 4.0
                point = JointTrajectoryPoint(positions=goal.tolist(), velocities=[0.0] * home.size)
                point.time_from_start.sec = 4
                references.publish(
                    JointTrajectory(joint_names=machine.robot.joint_names, points=[point])
                )
                machine.run(5.0)
                if machine.fault is not None:
                    wrong.append(f'fault after {passed:.0f} s: {machine.fault}')
                    recover(machine)
                if not node.alive():
                    return [*wrong, 'the node has ended']
                if caller.poll() is not None:
                    return [*wrong, 'the calls have ended']
                if warm is None and passed >= WARM_UP:
                    warm = memory(node)
                if time.monotonic() - said >= 60.0:
                    said = time.monotonic()
                    gap = 1e3 * machine.longest_gap
                    print(f'{passed:6.0f} s, {memory(node):.2f} MB, longest gap {gap:.0f} ms')
                    sys.stdout.flush()
        finally:
            caller.terminate()
        answers = caller.stdout.read().strip()
        print(f'calls: {answers}')
    if answers in ('', '{}'):
        wrong.append('no service has answered')
    if machine.longest_gap > WATCHDOG:
        wrong.append(f'no command for {machine.longest_gap:.3f} s')
    return wrong + grown(node, warm)


def main() -> int:
    """Run it; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--only', nargs='+', choices=MACHINES, default=MACHINES)
    parser.add_argument('--cycles', type=int, default=1000)
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--rate', type=float, default=200.0, help='rate of the joint states, Hz')
    parser.add_argument('--largest', type=int, default=50, help='most states in a request')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    rclpy.init()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_soak_') as folder:
        for name in options.only:
            parameters = {'state_period': 1.0 / options.rate, 'payload': {'ramp_time': RAMP}}
            with standing(name, Path(folder), options.rate, **parameters) as (machine, node):
                recover(machine)
                found = transitions(machine, node, options.cycles)
                if not found:
                    recover(machine)
                    seconds, seed = 60.0 * options.minutes, options.seed
                    found = operation(machine, node, seconds, seed, options.largest)
                for text in found:
                    print(f'{name}: {text}', flush=True)
                wrong += found
    rclpy.shutdown()
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
