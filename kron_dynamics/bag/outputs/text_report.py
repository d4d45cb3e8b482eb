# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a bag as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from kron_dynamics.bag.analysis import BagAnalysis, RunAnalysis
from kron_dynamics.bag.outputs.facts import Fact, bag_facts, result_hints, robot_fact, run_facts
from kron_dynamics.bag.outputs.result_tables import result_tables, segment_table
from kron_dynamics.bag.outputs.text_tables import table


def format_report(analysis: BagAnalysis) -> str:
    """Return the whole report, lines joined by newlines."""
    lines = _labelled(bag_facts(analysis))
    last = None
    for run in analysis.runs:
        robot = robot_fact(run)
        if robot != last:
            lines += [*([''] if last else []), *_labelled([robot])]
        last = robot
        lines += ['', *_run_lines(run, analysis.max_noise)]
    return '\n'.join(lines)


def _run_lines(run: RunAnalysis, max_noise: float) -> list[str]:
    replay = run.replay
    lines = _labelled([('run', replay.run.topic), *run_facts(replay)])
    for each in result_tables(run):
        lines += ['', *table(each.rows)]
    hints = result_hints(run)
    if hints:
        lines += ['', *_labelled(hints)]
    if len(replay.stretches) > 1:
        lines += ['', *table(segment_table(replay, max_noise).rows)]
    return lines


def _labelled(facts: Sequence[Fact]) -> list[str]:
    return [f'{label:<9}{text}' for label, text in facts]
