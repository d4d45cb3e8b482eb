# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics analyze`: recorded efforts and accelerations against the model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from kron_dynamics.bag import BagAnalysis, analyze_bag
from kron_dynamics.bag.analysis import RunAnalysis
from kron_dynamics.bag.outputs.earlier_files import foreign_results
from kron_dynamics.bag.outputs.files import (
    DEFAULT_FORMATS,
    FORMATS,
    require_libraries,
    write_files,
)
from kron_dynamics.bag.outputs.result_folder import beside
from kron_dynamics.bag.outputs.text_report import format_report
from kron_dynamics.bag.results import DEFAULT_MAX_NOISE
from kron_dynamics.bag.vibration.flexible_update import write_update
from kron_dynamics.cli.options import (
    add_constraints,
    add_flexible,
    add_gravity,
    add_recorded_joints,
    finite_number,
    positive_number,
    recorded_joint_options,
)
from kron_dynamics.cli.output_files import check_outputs, output_file
from kron_dynamics.cli.progress import ProgressBar
from kron_dynamics.cli.streams import print_kept, writing
from kron_dynamics.exceptions import ParameterError

# Options whose files the summary lists with hashes.
FILE_OPTIONS = ('urdf', 'flexible', 'constraints')
DESCRIPTION = """\
Recompute the efforts and the tip's acceleration of a recorded motion from the robot's model, and
report the residuals per joint. Reads rosbag2 recordings (directory, .mcap or .db3); ROS is not
needed. Every JointState topic with all joints of the robot is one run.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument('bag', metavar='BAG', type=Path, help='rosbag2 directory, .mcap or .db3')
    add_analysis(parser)
    parser.add_argument(
        '--output',
        metavar='DIR',
        type=Path,
        help='folder for the results (default: BAG_analysis beside the bag)',
    )
    parser.add_argument(
        '--update-flexible',
        metavar='FILE',
        type=Path,
        help='write the description of the flexible links to this file, with stiffness and '
        'damping fitted to the recorded modes',
    )
    parser.set_defaults(run=run)


def add_analysis(parser: argparse.ArgumentParser) -> None:
    """Add the options of an analysis, except the bag and the output folder."""
    parser.add_argument(
        '--urdf', metavar='FILE', type=Path, help='the robot (default: as recorded in the bag)'
    )
    add_flexible(parser)
    add_constraints(parser)
    parser.add_argument(
        '--robot-description',
        metavar='TOPIC',
        help='topic of the robot description in the bag for all joint states (default: '
        "robot_description in each topic's namespace or above)",
    )
    add_recorded_joints(parser)
    parser.add_argument(
        '--frame', metavar='LINK', help="link whose acceleration is compared (default: the tip's)"
    )
    add_gravity(parser)
    parser.add_argument(
        '--window',
        metavar='SECONDS',
        type=positive_number,
        help='length of the smoothing window (default: derived from the noise in the data)',
    )
    parser.add_argument(
        '--effort-delay',
        metavar='SECONDS',
        type=finite_number,
        help='delay of the effort stamps; 0 for no correction (default: estimated from the data, '
        'and applied if about a sample)',
    )
    parser.add_argument(
        '--max-noise',
        metavar='SHARE',
        type=positive_number,
        default=DEFAULT_MAX_NOISE,
        help='share of the effort above which noise dominates (default: %(default)s)',
    )
    parser.add_argument(
        '--format',
        action='append',
        choices=tuple(FORMATS),
        help='output format; may be repeated (default: '
        f'{", ".join(DEFAULT_FORMATS)}). '
        + '; '.join(f'{name}: {meaning}' for name, meaning in FORMATS.items()),
    )


def run(arguments: argparse.Namespace) -> int:
    """Analyse a bag, print the report and write the requested files."""
    if arguments.update_flexible is not None and arguments.flexible is None:
        raise ParameterError('--update-flexible needs --flexible: the description to update')
    check_outputs(arguments, 'update_flexible')
    analysis = analyze_as_told(arguments)
    if arguments.update_flexible is not None:
        _update(analysis, arguments.flexible, arguments.update_flexible)
    return 0


def analyze_as_told(arguments: argparse.Namespace) -> BagAnalysis:
    """Analyse a bag, print the report, write its files and return all results.

    Args:
        arguments: options of `add_analysis`, ``bag`` and ``output``.
    """
    formats = arguments.format or DEFAULT_FORMATS
    require_libraries(formats)
    with closing(ProgressBar()) as progress:
        analysis = analyze_bag(
            arguments.bag,
            urdf=arguments.urdf,
            robot_description=arguments.robot_description,
            joint_states=arguments.joint_states,
            frame=arguments.frame,
            flexible=arguments.flexible,
            constraints=arguments.constraints,
            gravity=arguments.gravity,
            window=arguments.window,
            effort_delay=arguments.effort_delay,
            max_noise=arguments.max_noise,
            progress=progress,
            **recorded_joint_options(arguments),
        )
    print(format_report(analysis))
    output = arguments.output or beside(arguments.bag, 'analysis')
    notes = list[str]()
    with writing(output):
        files = write_files(analysis, output, formats, _options(arguments, formats), notes)
        foreign = foreign_results(output, files)
    print(f'\nwritten  {output}: {", ".join(files)}')
    print_kept(notes)
    if foreign:
        print(f'         older files, not from this analysis: {", ".join(foreign)}')
    left_out = [name for name in FORMATS if name not in (*formats, 'json')]
    if left_out:
        print(f'         not asked for with --format: {", ".join(left_out)}')
    return analysis


def _update(analysis: BagAnalysis, source: Path, path: Path) -> None:
    """Write a description of flexible links updated from the run with the most detected modes."""

    def detected(run: RunAnalysis) -> int:
        return sum(mode.seen for mode in run.vibrations.modes) if run.vibrations else 0

    best = max(analysis.runs, key=detected)
    assert best.vibrations is not None
    kept = list[str]()
    with output_file(path, kept) as file:
        changes = write_update(file, source, best.vibrations, best.bending)
    print(f'written  {path}: ' + '\n         '.join(changes))
    print_kept(kept)


def _options(arguments: argparse.Namespace, formats: Sequence[str]) -> dict[str, object]:
    """Return the options of the analysis, without bag and outputs; files as paths."""
    given = {
        name: value
        for name, value in vars(arguments).items()
        if name not in ('run', 'command', 'bag', 'output', 'update_flexible')
    }
    for name in FILE_OPTIONS:
        if given[name] is not None:
            given[name] = Path(given[name])
    return given | {'format': list(formats)}
