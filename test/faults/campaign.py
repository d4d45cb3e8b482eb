# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Corrupted joint states and killed processes, against dynamics_node in its own process.

Usage: python test/faults/campaign.py [--only MACHINE ...] [--cases CASE ...] [--seconds 5]

For the stacker, a UR5 and a Panda: states corrupted in every way of `spoilers`, two publishers, a
machine that is silent or pushed, a node that is killed or paused. The node must not exit. Every
command must be finite, within the limits and within the rate limit of the previous one. The fault
must be clearable once the states are right again. Prints a line per case; the exit code is 1 if
one failed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'support'))
from ros_domains import this_computer_only  # noqa: E402

os.environ |= this_computer_only(61)

import rclpy  # noqa: E402
from machine import BadCommandError, Machine  # noqa: E402
from spoilers import CASES  # noqa: E402
from supervised import MACHINES, Node, recover, standing  # noqa: E402


def spoiled(machine: Machine, name: str, seconds: float, random_: random.Random) -> str:
    """Run one way to corrupt states; return the fault's reason, or "no fault"."""
    case = CASES[name]
    before = machine.commands
    machine.run(seconds, case.make(random_))
    reason = machine.fault
    if case.fault is None:
        assert reason is None, f'needless fault: {reason}'
        assert machine.commands > before + 20 * seconds, 'too few commands'
    elif case.fault:
        assert reason is not None, 'no fault'
        assert case.fault in reason, f'expected {case.fault!r}, got: {reason}'
    recover(machine)
    return reason or 'no fault'


def two_sources(machine: Machine) -> str:
    """Let a second publisher send other positions."""
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    second = machine.node.create_publisher(JointState, 'joint_states', qos_profile_sensor_data)

    def spoil(state: JointState) -> list[JointState]:
        other = machine.state(0.002)
        other.position = [value + 1e-4 for value in other.position]
        second.publish(other)
        return [state]

    machine.run(2.0, spoil)
    reason = machine.fault
    machine.node.destroy_publisher(second)
    assert reason is not None, 'no fault'
    assert 'several sources' in reason, reason
    recover(machine)
    return reason


def pushed(machine: Machine) -> str:
    """Push the second joint with twice the effort limit of its drive."""
    machine.push[1] = 2.0 * machine.robot.model.effort_limit[1]
    for _ in range(100):
        machine.run(0.05)
        if machine.fault is not None:
            break
    machine.push[:] = 0.0
    reason = machine.fault
    assert reason is not None, 'no fault'
    # Coupled joints of an arm move as well, and may be reported first.
    assert 'of joint' in reason, reason
    machine.stand()
    recover(machine)
    return reason


def held(machine: Machine, node: Node) -> str:
    """Pause the node's process for a second."""
    os.kill(node.process.pid, signal.SIGSTOP)
    machine.run(1.0)
    os.kill(node.process.pid, signal.SIGCONT)
    machine.run(1.0)
    reason = machine.fault
    recover(machine)
    return reason or 'no fault'


def killed(machine: Machine, node: Node) -> str:
    """Kill the node's process and start it again; it must take over the machine."""
    os.killpg(node.process.pid, signal.SIGKILL)
    node.process.wait()
    machine.forget_command()
    machine.active = False
    machine.run(0.5)
    node.start()
    begin = time.monotonic()
    recover(machine)
    return f'commands again after {time.monotonic() - begin:.1f} s'


def main() -> int:
    """Run the campaign; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--only', nargs='+', choices=MACHINES, default=MACHINES)
    parser.add_argument('--cases', nargs='+', help='names of cases, as printed; default: all')
    parser.add_argument(
        '--seconds', type=float, default=5.0, help='duration of each corruption of states'
    )
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    rclpy.init()
    failed = 0
    with tempfile.TemporaryDirectory(prefix='kron_dynamics_faults_') as folder:
        for name in options.only:
            random_ = random.Random(options.seed)
            with standing(name, Path(folder)) as (machine, node):
                try:
                    recover(machine)
                except AssertionError as error:
                    raise SystemExit(f'{error}\n{node.log.read_text("utf-8")}') from None
                runs: dict[str, Callable[[], str]] = {
                    case: partial(spoiled, machine, case, options.seconds, random_)
                    for case in CASES
                }
                runs['two sources'] = partial(two_sources, machine)
                runs['pushed'] = partial(pushed, machine)
                runs['node held'] = partial(held, machine, node)
                runs['node killed'] = partial(killed, machine, node)
                for case, run in runs.items():
                    if options.cases and case not in options.cases:
                        continue
                    try:
                        outcome = run()
                        assert node.alive(), f'the node has ended: {node.log.read_text("utf-8")}'
                    except (AssertionError, BadCommandError) as error:
                        failed += 1
                        outcome = f'FAILED: {error}'
                        machine.bad.clear()
                    print(f'{name:8} {case:14} {outcome}', flush=True)
    rclpy.shutdown()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
