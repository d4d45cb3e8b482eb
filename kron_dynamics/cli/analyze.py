# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics analyze`: recorded efforts and accelerations against the model."""

from __future__ import annotations

import argparse
from pathlib import Path

from kron_dynamics.bag import BagAnalysis, analyze_bag
from kron_dynamics.bag.analysis import DEFAULT_MAX_NOISE
from kron_dynamics.bag.export import run_slug, write_series, write_summary
from kron_dynamics.bag.report import format_report
from kron_dynamics.cli.options import add_constraints, add_gravity, finite_number, positive_number
from kron_dynamics.cli.streams import require_plots, writing

DESCRIPTION = """\
Recompute the efforts and the tip's acceleration of a recorded motion from the robot's model, and
report per joint what remains of the recorded ones. Reads rosbag2 recordings (directory, .mcap or
.db3); ROS is not needed. Every JointState topic with all joints of the robot is one run.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument('bag', metavar='BAG', type=Path, help='rosbag2 directory, .mcap or .db3')
    parser.add_argument(
        '--urdf', metavar='FILE', type=Path, help='the robot (default: as recorded in the bag)'
    )
    add_constraints(parser)
    parser.add_argument(
        '--robot-description',
        metavar='TOPIC',
        help='topic of the robot in the bag for all joint states (default: that in the namespace '
        'of each, or above it)',
    )
    parser.add_argument(
        '--joint-states',
        metavar='TOPIC',
        action='append',
        default=[],
        help='JointState topic to analyse; may be repeated (default: all that cover the robot)',
    )
    parser.add_argument(
        '--frame', metavar='LINK', help="link whose acceleration is compared (default: the tip's)"
    )
    add_gravity(parser)
    parser.add_argument(
        '--window',
        metavar='SECONDS',
        type=positive_number,
        help='length of the smoothing window (default: from the noise in the data)',
    )
    parser.add_argument(
        '--effort-delay',
        metavar='SECONDS',
        type=finite_number,
        help='how late the stamps of the efforts are; 0 takes them as they are (default: found '
        'in the data, and applied if about a sample)',
    )
    parser.add_argument(
        '--max-noise',
        metavar='SHARE',
        type=positive_number,
        default=DEFAULT_MAX_NOISE,
        help='share of the effort above which noise dominates (default: %(default)s)',
    )
    parser.add_argument(
        '--output',
        metavar='DIR',
        type=Path,
        help='where summary, series and plots go (default: BAG_analysis beside the bag)',
    )
    parser.add_argument('--no-plot', action='store_true', help='draw no plots')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Analyse a bag, print the report and write its files."""
    if not arguments.no_plot:
        require_plots('--no-plot goes without')
    analysis = analyze_bag(
        arguments.bag,
        urdf=arguments.urdf,
        robot_description=arguments.robot_description,
        joint_states=arguments.joint_states,
        frame=arguments.frame,
        constraints=arguments.constraints,
        gravity=arguments.gravity,
        window=arguments.window,
        effort_delay=arguments.effort_delay,
        max_noise=arguments.max_noise,
    )
    print(format_report(analysis))
    bag = arguments.bag.resolve()
    output = arguments.output or bag.with_name(
        f'{bag.name if bag.is_dir() else bag.stem}_analysis'
    )
    files = _write_files(analysis, output, plot=not arguments.no_plot)
    print(f'\nwritten  {output}: {", ".join(files)}')
    return 0


def _write_files(analysis: BagAnalysis, output: Path, plot: bool) -> list[str]:
    """Write all files and return their names."""
    with writing(output):
        output.mkdir(parents=True, exist_ok=True)
        write_summary(analysis, output / 'summary.json')
    files = ['summary.json']
    for item in analysis.runs:
        slug = run_slug(item.replay.run.topic)
        with writing(output / f'{slug}.csv'):
            write_series(item.replay, output / f'{slug}.csv')
        files.append(f'{slug}.csv')
        if plot:
            from kron_dynamics.bag.plot import plot_run

            title = f'{item.replay.run.topic} against {item.replay.robot.model.name}'
            with writing(output / f'{slug}.png'):
                plot_run(item, title, output / f'{slug}.png')
            files.append(f'{slug}.png')
    return files
