# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics demo`: a simulated stacker-reclaimer, run by run, over ROS 2."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import rclpy
from rclpy.signals import SignalHandlerOptions

from kron_dynamics.bag import read_bag
from kron_dynamics.demo.scenarios import (
    Done,
    Scenario,
    Setting,
    scenarios,
    stacker_reclaimer,
)
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.ros.demo.recorder import BagRecorder
from kron_dynamics.ros.demo.run import DemoRun

# Realistic sensor errors of such a machine: 20-bit encoders, effort noise of 0.5 % of the rating.
_NOISE = {
    'position_resolution': {
        'travel': 1e-3,
        'slew': 5.99e-6,
        'luff': 5.99e-6,
        'cylinder': 5e-5,
    },
    'velocity_noise': {'travel': 2e-3, 'slew': 5e-5, 'luff': 1e-5, 'cylinder': 1e-4},
    'effort_noise': {'travel': 3e3, 'slew': 2.5e4, 'luff': 1e5, 'cylinder': 1.8e4},
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demonstration; return 0 if all requirements are met, else 1.

    Args:
        argv: command-line arguments without the program's name; None for the process's.

    Raises:
        KronDynamicsError: the demonstration could not be completed.
    """
    arguments = _parser().parse_args(argv)
    began = time.monotonic()
    # Isolate the demonstration from other ROS systems on this computer and network.
    os.environ.setdefault('ROS_DOMAIN_ID', str(random.randrange(102, 215)))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    output = _output_folder(arguments.output)
    model = stacker_reclaimer().robot().model
    chosen = {k: scenario for k, scenario in scenarios().items() if arguments.only in (None, k)}
    print(f'{model.name}: {model.total_mass / 1e3:.0f} t, joints {", ".join(model.joint_names)}')
    print(f'output in {output}, ROS_DOMAIN_ID {os.environ["ROS_DOMAIN_ID"]}')
    runs = _make_runs(chosen, arguments, output)
    contents = read_bag(output / 'bag')
    problems: list[str] = []
    for name, scenario in chosen.items():
        found = scenario.report(contents, runs[name], output / f'{name}.png')
        print(f'\n{found.text}')
        problems += found.problems
    print(f'\nbag       {output / "bag"} (kron_dynamics analyze reads it)')
    for name in chosen:
        print(f'plot      {output / name}.png')
    for problem in problems:
        print(f'demo: {problem}', file=sys.stderr)
    verdict = 'failed' if problems else 'passed'
    print(f'demo {verdict} in {time.monotonic() - began:.0f} s')
    return 1 if problems else 0


def _make_runs(
    chosen: Mapping[str, Scenario], arguments: argparse.Namespace, output: Path
) -> dict[str, list[Done]]:
    """Make all runs, recorded into one bag."""
    with _Signals() as signals:
        # rclpy's own handlers would invalidate the topics of a run that has to be stopped.
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        try:
            # A unique namespace: another demonstration may run in this domain.
            own: dict[str, Any] = {
                'namespace': f'demo_{os.getpid()}',
                'start_parameter_services': False,
            }
            node = rclpy.create_node('demo', **own)
            recorder = BagRecorder(rclpy.create_node('recorder', **own), output / 'bag')

            def make(scenario: Scenario, setting: Setting) -> Done:
                run = DemoRun(node, recorder, setting, signals.look)
                return _run(run, scenario, setting, arguments, output)

            try:
                return {
                    name: [make(scenario, setting) for setting in scenario.settings]
                    for name, scenario in chosen.items()
                }
            finally:
                recorder.close()
        finally:
            rclpy.try_shutdown()


class _Signals:
    """Defers SIGINT, SIGTERM and SIGHUP until the demonstration polls for them.

    An exception raised by a handler within an rclpy call is converted or lost. Deferring also
    keeps signals from interrupting the end of the child processes, so that none is left behind.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Signals that the parent made this process ignore stay ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if kind is None:
            self.look()

    def look(self) -> None:
        """Raise KeyboardInterrupt after SIGINT, or SystemExit with the code of another signal."""
        if self._number == signal.SIGINT:
            raise KeyboardInterrupt
        if self._number is not None:
            raise SystemExit(128 + self._number)

    def _on_signal(self, number: int, _: object) -> None:
        self._number = number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='kron_dynamics demo',
        description='Simulate a stacker-reclaimer that reclaims a bench, under computed torque '
        'and under PD alone with the same gains, one whose boom vibrates, with and without '
        'input shaping, and one whose boom is luffed by a torque and by a hydraulic cylinder: two '
        'nodes over ROS 2, recorded and compared.',
    )
    parser.add_argument(
        '--output',
        type=Path,
        metavar='DIR',
        help='new folder for bag, plot and logs (default: kron_dynamics_demo/<date and time>)',
    )
    parser.add_argument('--only', choices=tuple(scenarios()), help='one scenario (default: all)')
    parser.add_argument(
        '--real-time-factor',
        type=float,
        default=5.0,
        metavar='X',
        help='simulated seconds per second (default: %(default)g)',
    )
    parser.add_argument(
        '--noise', action='store_true', help='give the sensors realistic resolution and noise'
    )
    return parser


def _output_folder(wanted: Path | None) -> Path:
    if wanted is None:
        return _new_folder(datetime.now())
    if wanted.exists() and any(wanted.iterdir()):
        raise ParameterError(f"output folder '{wanted}' is not empty")
    wanted.mkdir(parents=True, exist_ok=True)
    return wanted


def _new_folder(now: datetime) -> Path:
    """Make a folder with the date and time; another one may be made in the same second."""
    first = Path('kron_dynamics_demo') / now.strftime('%Y-%m-%d_%H-%M-%S')
    folder, number = first, 1
    while True:
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
            folder = first.with_name(f'{first.name}_{number}')
        else:
            return folder


def _run(
    run: DemoRun,
    scenario: Scenario,
    setting: Setting,
    arguments: argparse.Namespace,
    output: Path,
) -> Done:
    """Make one run."""
    simulator = {'real_time_factor': repr(float(arguments.real_time_factor)), **setting.simulator}
    if arguments.noise:
        for quantity, values in _NOISE.items():
            simulator |= {
                f'{quantity}.{joint}': repr(value)
                for joint, value in values.items()
                if joint in run.model.joint_names
            }
    try:
        run.record()
        run.start(simulator, output)
        _progress(setting.name, 'starting', 0.0)
        motion = scenario.motion(run.model, run.wait_until_active())
        start = run.follow(motion, lambda share: _progress(setting.name, 'running', share))
        run.stop()
        run.catch_up()
        _progress(setting.name, 'done', 1.0)
        print()
        return Done(setting.name, motion, start)
    finally:
        run.abandon()


def _progress(name: str, what: str, share: float) -> None:
    """Print a progress bar on a terminal; elsewhere a line at the start and at the end."""
    if sys.stdout.isatty():
        bar = ('#' * round(30 * share)).ljust(30, '.')
        print(f'\r{name:<16} [{bar}] {100 * share:3.0f} % {what:<9}', end='', flush=True)
    elif what != 'running':
        print(f'{name:<16} {what}', flush=True)
