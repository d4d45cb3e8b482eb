# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the analysis of bags on simulated recordings with known ground truth.

python -m benchmarks.known_truth --runs 36 --rows known_truth.jsonl

Each run simulates a stacker-reclaimer, a UR5 and a Panda that differ from their descriptions:
heavier links, other friction, offsets of the measured efforts. They move without load, then with
a load that changes half-way; positions are quantized, and all signals noisy. For vibrations, they
have a flexible link with other stiffness and damping than described. Tables show the errors of
accelerations, payloads, identified efforts and vibrations, and the coverage of the intervals.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.known_machines import MACHINES
from benchmarks.known_payloads import (
    Lines,
    Row,
    acceleration_lines,
    accelerations,
    payload_lines,
    payloads,
    payloads_beside_friction,
)
from benchmarks.known_recordings import Simulated
from benchmarks.known_residuals import residual_lines, residuals
from benchmarks.known_vibrations import Elastic, vibration_lines, vibrations


class Part(NamedTuple):
    """A part of the campaign: functions that make a machine, do a run and summarize the runs."""

    machine: Callable[[str], Any]
    run: Callable[[Any, int], Row]
    lines: Callable[[Sequence[Row]], Lines]


PARTS = {
    'accelerations': Part(Simulated, accelerations, acceleration_lines),
    'payload': Part(Simulated, payloads, payload_lines),
    'friction': Part(Simulated, payloads_beside_friction, payload_lines),
    'residual': Part(Simulated, residuals, residual_lines),
    'vibration': Part(Elastic, vibrations, vibration_lines),
}


def measured(
    parts: Sequence[str], machine: str, seeds: Sequence[int], rows: Path | None = None
) -> list[Row]:
    """Return the rows of some parts, read from a file if it has them already.

    Args:
        parts: names in `PARTS`.
        machine: name in `MACHINES`.
        seeds: one for each run.
        rows: JSON Lines file, to which new rows are appended.
    """
    known: dict[tuple[str, str, int], Row] = {}
    for line in rows.read_text().splitlines() if rows and rows.exists() else ():
        row = json.loads(line)
        known[row['part'], row['machine'], row['seed']] = row
    # Parts with the same machine share its recordings.
    made: dict[Callable[[str], Any], Any] = {}
    found = []
    for seed in seeds:
        for name in parts:
            part = PARTS[name]
            row = known.get((name, machine, seed))
            if row is None:
                if part.machine not in made:
                    made[part.machine] = part.machine(machine)
                own = part.run(made[part.machine], seed)
                row = {'part': name, 'machine': machine, 'seed': seed, **own}
                if rows:
                    with rows.open('a') as file:
                        file.write(json.dumps(row) + '\n')
            found.append(row)
    return found


def table(part: str, rows: Sequence[Row]) -> str:
    """Return a table that summarizes the rows of a part, with a column for each machine."""
    columns = {}
    for name in MACHINES:
        own = [row for row in rows if row['part'] == part and row['machine'] == name]
        if own:
            columns[name] = {'runs': str(len(own)), **dict(PARTS[part].lines(own))}
    labels = dict.fromkeys(label for lines in columns.values() for label in lines)
    cells = [[part, *columns]]
    cells += [[label, *(lines.get(label, '') for lines in columns.values())] for label in labels]
    wide = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return '\n'.join(
        '  '.join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)).rstrip()
        for row in cells
    )


def main() -> None:
    """Run the campaign and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=36, help='runs of each machine')
    parser.add_argument('--seed', type=int, default=0, help='seed of the first run')
    parser.add_argument('--machine', choices=list(MACHINES), action='append')
    parser.add_argument('--only', choices=list(PARTS), action='append', help='parts to run')
    parser.add_argument(
        '--rows', type=Path, metavar='FILE', help='stores every run; an existing file is resumed'
    )
    given = parser.parse_args()
    parts = [name for name in PARTS if not given.only or name in given.only]
    seeds = range(given.seed, given.seed + given.runs)
    rows = [
        row
        for name in given.machine or MACHINES
        for row in measured(parts, name, seeds, given.rows)
    ]
    print('\n\n'.join(table(part, rows) for part in parts))


if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
