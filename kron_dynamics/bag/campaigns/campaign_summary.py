# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Summary over all bags of a campaign, as JSON, CSV, an HTML page and text."""

from __future__ import annotations

import csv
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kron_dynamics.bag.campaigns.campaign_page import PAGE, write_campaign_page
from kron_dynamics.bag.campaigns.jobs import SUMMARY, Job, JobResult
from kron_dynamics.bag.outputs.earlier_files import OUTPUTS, new_results, outputs_of
from kron_dynamics.bag.outputs.text_tables import percent, table

_NONE: Mapping[str, str] = MappingProxyType({})
_RECORD, _TABLE = 'campaign.json', 'campaign.csv'
COLUMNS = (
    'bag',
    'robot',
    'topic',
    'joint',
    'unit',
    'sample_count',
    'effort_rms',
    'residual_rms',
    'ratio',
    'residual_mean',
    'noise',
    'noise_dominates',
)


def summarize(
    jobs: Sequence[Job], results: Sequence[JobResult], unsearched: Mapping[str, str] = _NONE
) -> dict[str, Any]:
    """Return the results of a campaign as JSON values; the same bags give the same text.

    ``bags`` has the whole summary of each bag or the reason why there is none. ``joints`` has for
    each joint of each robot the median and the largest residual over all runs in which noise does
    not dominate, as shares of the effort.

    Args:
        jobs: jobs of the campaign.
        results: their results, in the same order.
        unsearched: reasons why places could not be searched, by name: they count as failed.
    """
    bags = [_bag(job, result) for job, result in zip(jobs, results, strict=True)]
    bags += [{'name': name, 'error': why, 'summary': None} for name, why in unsearched.items()]
    bags.sort(key=lambda bag: bag['name'])
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in joint_rows(bags):
        found.setdefault((row['robot'], row['fingerprint'], row['joint']), []).append(row)
    joints = [
        {'robot': robot, 'fingerprint': fingerprint, 'joint': joint, **_over_all(rows)}
        for (robot, fingerprint, joint), rows in found.items()
    ]
    return {'format': 1, 'bags': bags, 'joints': joints}


def joint_rows(bags: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each joint of each run of each bag: COLUMNS, and ``fingerprint``.

    Args:
        bags: as in `summarize`.
    """
    return [
        {
            **joint,
            'bag': bag['name'],
            'robot': run['robot']['name'],
            'fingerprint': run['robot']['fingerprint'],
            'topic': run['topic'],
            'joint': joint['name'],
        }
        for bag in bags
        if bag['summary']
        for run in bag['summary']['runs']
        for joint in run['joints']
    ]


def write_campaign(
    summary: Mapping[str, Any], folder: Path, notes: list[str] | None = None
) -> list[str]:
    """Write ``campaign.json``, ``campaign.csv`` and ``campaign.html``; return their names.

    Args:
        summary: from `summarize`.
        folder: folder of the campaign.
        notes: list to which a note about each file that was not overwritten is added.
    """
    with new_results(folder, _RECORD, [] if notes is None else notes) as work:
        with open(
            work / _TABLE, 'w', encoding='utf-8', errors='backslashreplace', newline=''
        ) as file:
            writer = csv.DictWriter(file, COLUMNS, extrasaction='ignore', lineterminator='\n')
            writer.writeheader()
            writer.writerows(joint_rows(summary['bags']))
        write_campaign_page(summary, folder, work / PAGE)
        record = {**summary, OUTPUTS: outputs_of(work, (_TABLE, PAGE))}
        (work / _RECORD).write_text(json.dumps(record, indent=2) + '\n', encoding='utf-8')
    return [_RECORD, _TABLE, PAGE]


def format_campaign(summary: Mapping[str, Any]) -> str:
    """Return the summary as text for a terminal.

    Args:
        summary: from `summarize`.
    """
    bags = summary['bags']
    failed = [bag for bag in bags if bag['error']]
    lines = [f'bags     {len(bags)}, {len(bags) - len(failed)} analysed, {len(failed)} failed']
    doubtful = [
        bag['name']
        for bag in bags
        if bag['summary'] and any(run.get('doubts') for run in bag['summary']['runs'])
    ]
    if doubtful:
        lines.append(f'doubt    the model is contradicted in {", ".join(doubtful)}')
    lines += _warned(bags)
    rows = [['robot', 'joint', 'runs', 'residual, median', 'largest', 'in', 'noise dominates']]
    for joint in summary['joints']:
        rows.append(
            [
                joint['robot'],
                joint['joint'],
                str(joint['runs']),
                percent(_known(joint['median_ratio'])),
                percent(_known(joint['largest_ratio'])),
                joint['largest_in'] or '-',
                str(joint['noisy_runs']),
            ]
        )
    lines += ['', *table(rows)] if summary['joints'] else []
    return '\n'.join(lines)


def _warned(bags: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each robot whose description is warned about, however many runs it has."""
    robots = [run['robot'] for bag in bags if bag['summary'] for run in bag['summary']['runs']]
    found = {(robot['name'], *robot.get('warnings', ())) for robot in robots}
    lines = []
    for name, *warnings in sorted(found):
        if warnings:
            more = f', and {len(warnings) - 1} more' if len(warnings) > 1 else ''
            lines.append(f'warning  description of {name}: {warnings[0]}{more}')
    return lines


def _bag(job: Job, result: JobResult) -> dict[str, Any]:
    error, summary = result.error, None
    if error is None:
        try:
            text = (Path(job.output) / SUMMARY).read_text(encoding='utf-8')
            summary = json.loads(text)
        except (OSError, ValueError) as problem:
            error = f'its results cannot be read: {problem}'
    return {'name': job.name, 'error': error, 'summary': summary}


def _over_all(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    sure = [row for row in rows if row['ratio'] is not None and not row['noise_dominates']]
    worst = max(sure, key=lambda row: row['ratio'], default=None)
    return {
        'runs': len(rows),
        'noisy_runs': sum(bool(row['noise_dominates']) for row in rows),
        'median_ratio': statistics.median(row['ratio'] for row in sure) if sure else None,
        'largest_ratio': worst['ratio'] if worst else None,
        'largest_in': worst['bag'] if worst else None,
    }


def _known(value: float | None) -> float:
    return math.nan if value is None else value
