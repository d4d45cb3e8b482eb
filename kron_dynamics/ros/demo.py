# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics demo`: a simulated stacker-reclaimer under computed torque and under PD alone."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from kron_dynamics.bag import read_bag
from kron_dynamics.demo import LawResult, Motion, bench_reclaiming, evaluate
from kron_dynamics.demo.report import plot_tracking, tracking_ratios, tracking_table
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model import load_model, read_urdf_file
from kron_dynamics.resources import resource_path
from kron_dynamics.ros.demo_run import SETTLE, DemoRun, position_of
from kron_dynamics.ros.recorder import BagRecorder

LAWS = ('computed_torque', 'pd')
REQUIRED_RATIO = 10.0
# Share of the simulated rate that must have arrived.
_REQUIRED_RATE = 0.8
# What the encoders and drives of such a machine do: 20-bit encoders and 0.5 % of rated effort.
_NOISE = {
    'position_resolution': {'travel': 1e-3, 'slew': 5.99e-6, 'luff': 5.99e-6},
    'velocity_noise': {'travel': 2e-3, 'slew': 5e-5, 'luff': 1e-5},
    'effort_noise': {'travel': 3e3, 'slew': 2.5e4, 'luff': 1e5},
}
_STATE_RATE = 50.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demonstration; return 0 if everything was as it should be, else 1.

    Args:
        argv: command line arguments without the program's name; None for the process's.

    Raises:
        KronDynamicsError: the demonstration could not be carried through.
    """
    arguments = _parser().parse_args(argv)
    began = time.monotonic()
    # Other ROS systems on this computer or network are none of the demonstration's business.
    os.environ.setdefault('ROS_DOMAIN_ID', str(random.randrange(102, 215)))
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    output = _output_folder(arguments.output)
    urdf = read_urdf_file(resource_path('urdf', 'stacker_reclaimer.urdf'))
    model = load_model(urdf)
    print(f'{model.name}: {model.total_mass / 1e3:.0f} t, joints {", ".join(model.joint_names)}')
    print(f'output in {output}, ROS_DOMAIN_ID {os.environ["ROS_DOMAIN_ID"]}')
    # rclpy's own handlers would take the topics away under a run that is to be stopped.
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    try:
        node = rclpy.create_node('demo')
        recorder = BagRecorder(node, output / 'bag')
        try:
            runs = {law: _run(node, recorder, law, urdf, arguments, output) for law in LAWS}
        finally:
            recorder.close()
    finally:
        rclpy.try_shutdown()
    contents = read_bag(output / 'bag')
    results = [
        evaluate(contents, law, motion.trajectory(), start, SETTLE)
        for law, (motion, start) in runs.items()
    ]
    plot_tracking(model, results, output / 'tracking.png')
    print()
    print(tracking_table(model, *results))
    for result in results:
        print(
            f'{result.law}: joint states {result.state_rate:.1f} Hz, commands '
            f'{result.command_rate:.1f} Hz, tip accelerations {result.acceleration_rate:.1f} Hz'
        )
    print(f'bag       {output / "bag"} (kron_dynamics analyze reads it)')
    print(f'plot      {output / "tracking.png"}')
    problems = _problems(model.joint_names, results)
    for problem in problems:
        print(f'demo: {problem}', file=sys.stderr)
    verdict = 'failed' if problems else 'passed'
    print(f'demo {verdict} in {time.monotonic() - began:.0f} s')
    return 1 if problems else 0


def _leave(number: int, _: object) -> NoReturn:
    """End as Ctrl-C does, so that no process is left behind; the exit code tells the signal."""
    raise SystemExit(128 + number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='kron_dynamics demo',
        description='Simulate a stacker-reclaimer that reclaims a bench, under computed torque '
        'and under PD alone with the same gains: two nodes over ROS 2, recorded and compared.',
    )
    parser.add_argument(
        '--output',
        type=Path,
        metavar='DIR',
        help='new folder for bag, plot and logs (default: kron_dynamics_demo/<date and time>)',
    )
    parser.add_argument(
        '--real-time-factor',
        type=float,
        default=5.0,
        metavar='X',
        help="seconds of the machine's time per second (default: %(default)g)",
    )
    parser.add_argument(
        '--noise', action='store_true', help='give the sensors realistic resolution and noise'
    )
    return parser


def _output_folder(wanted: Path | None) -> Path:
    folder = wanted or Path('kron_dynamics_demo') / datetime.now().strftime('%Y-%m-%d_%H-%M-%S')
    if folder.exists() and any(folder.iterdir()):
        raise ParameterError(f"output folder '{folder}' is not empty")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(
    node: Node,
    recorder: BagRecorder,
    law: str,
    urdf: str,
    arguments: argparse.Namespace,
    output: Path,
) -> tuple[Motion, float]:
    """Carry one law through; return its motion and the start on the machine's clock, s."""
    model = load_model(urdf)
    simulator = ['-p', f'real_time_factor:={float(arguments.real_time_factor)}']
    if arguments.noise:
        for quantity, values in _NOISE.items():
            for joint, value in values.items():
                simulator += ['-p', f'{quantity}.{joint}:={value!r}']
    run = DemoRun(node, law, urdf)
    try:
        run.record(recorder)
        run.start(resource_path('config', 'stacker_reclaimer.yaml'), simulator, output)
        _progress(law, 'starting', 0.0)
        before = run.wait_until_active()
        motion = bench_reclaiming(model, position_of(before, model.joint_names))
        start = run.follow(motion, lambda share: _progress(law, 'running', share))
        run.stop()
        recorder.stop()
        _progress(law, 'done', 1.0)
        print()
        return motion, start
    finally:
        run.abandon()


def _progress(law: str, what: str, share: float) -> None:
    """A bar that fills on a terminal; elsewhere a line at the start and at the end."""
    if sys.stdout.isatty():
        bar = ('#' * round(30 * share)).ljust(30, '.')
        print(f'\r{law:<16} [{bar}] {100 * share:3.0f} % {what:<9}', end='', flush=True)
    elif what != 'running':
        print(f'{law:<16} {what}', flush=True)


def _problems(joint_names: Sequence[str], results: Sequence[LawResult]) -> list[str]:
    """What is not as it should be, a line each."""
    problems = [
        f"joint '{name}': PD alone tracks only {ratio:.1f} times worse, expected at least "
        f'{REQUIRED_RATIO:g}'
        for name, ratio in zip(joint_names, tracking_ratios(*results), strict=True)
        if not ratio >= REQUIRED_RATIO
    ]
    for result in results:
        for what, rate in (
            ('joint states', result.state_rate),
            ('commands', result.command_rate),
            ('tip accelerations', result.acceleration_rate),
        ):
            if rate < _REQUIRED_RATE * _STATE_RATE:
                problems.append(
                    f'{result.law}: {what} came at {rate:.1f} Hz, expected '
                    f'{_REQUIRED_RATE * _STATE_RATE:g} Hz or more'
                )
    return problems
