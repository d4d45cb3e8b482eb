# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics payload`: the payload that a robot carried in a recording."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from kron_dynamics.bag.outputs.earlier_files import INPUTS, new_results
from kron_dynamics.bag.outputs.json_values import json_text
from kron_dynamics.bag.outputs.provenance import hashed
from kron_dynamics.bag.payload import BagPayload, bag_payload, payload_lines
from kron_dynamics.bag.reading.storage_files import files_of
from kron_dynamics.cli.options import (
    add_gravity,
    add_recorded_joints,
    finite_number,
    recorded_joint_options,
)
from kron_dynamics.cli.streams import print_kept, writing

_SUMMARY = 'payload.json'
DESCRIPTION = """\
Estimate mass and centre of mass of the payload that a link carried in a recording, with 95 %
intervals and over time. A recording of the same robot without load (--empty), or a time without
load in this one (--unloaded), serves to identify model errors: friction, effort offsets, masses.
Otherwise the description is assumed to be accurate within 5 %. ROS is not needed.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument('bag', metavar='BAG', type=Path, help='recording with load')
    parser.add_argument(
        '--urdf', metavar='FILE', type=Path, required=True, help='the robot without load'
    )
    parser.add_argument('--empty', metavar='BAG', type=Path, help='recording without load')
    parser.add_argument(
        '--unloaded',
        nargs=2,
        metavar=('START', 'END'),
        type=finite_number,
        help='time interval without load in the recording, in s',
    )
    parser.add_argument(
        '--frame', metavar='LINK', help="link that carries the load (default: the robot's tip)"
    )
    parser.add_argument(
        '--center',
        nargs=3,
        metavar=('X', 'Y', 'Z'),
        type=finite_number,
        help='centre of mass of the load in the frame of the link, in m (default: estimated)',
    )
    add_recorded_joints(parser)
    add_gravity(parser)
    parser.add_argument(
        '--output', metavar='DIR', type=Path, help='write payload.json to this folder'
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Estimate a payload and print it."""
    payload = bag_payload(
        arguments.bag,
        urdf=arguments.urdf,
        empty=arguments.empty,
        unloaded=None if arguments.unloaded is None else tuple(arguments.unloaded),
        frame=arguments.frame,
        center=arguments.center,
        joint_states=arguments.joint_states,
        gravity=arguments.gravity,
        **recorded_joint_options(arguments),
    )
    print('\n'.join(payload_lines(payload)))
    if arguments.output is not None:
        with writing(arguments.output):
            notes = _write(payload, arguments)
        print(f'\nwritten  {arguments.output}: {_SUMMARY}')
        print_kept(notes)
    return 0


def _write(payload: BagPayload, arguments: argparse.Namespace) -> list[str]:
    """Write the results to the output folder; return a note about each file that is renamed."""
    notes = list[str]()
    recording = [hashed(file) for file in files_of(arguments.bag)]
    empty = [] if arguments.empty is None else files_of(arguments.empty)
    files = [*recording, *map(hashed, [*empty, arguments.urdf])]
    record = payload.summary() | {INPUTS: [asdict(file) for file in files]}
    with new_results(
        arguments.output,
        _SUMMARY,
        notes,
        mark='windows',
        inputs=[arguments.urdf],
        recording=recording,
    ) as work:
        (work / _SUMMARY).write_text(json_text(record), encoding='utf-8')
    return notes
