# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Output of the measured rows, as lines for the terminal and as docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.robots import CHAIN, ROBOTS
from benchmarks.rows import Outcome, Row, mark
from benchmarks.sections import HEAD, NAMES, SECTIONS

Result = tuple[Row, Outcome | str]
_NOTES = {
    1: 'The quickest sequences',
    5: 'States without an answer within 0.1 s, dynamics_node : bare node',
    9: 'The fewest steps',
}
_UNITS = ((1.0, 's'), (1e-3, 'ms'), (1e-6, 'us'), (0.0, 'ns'))


def seconds_text(seconds: float) -> str:
    """Return a time with a fitting unit."""
    # A difference of two measured times may be below zero.
    scale, unit = next(pair for pair in _UNITS if abs(seconds) >= pair[0])
    return f'{_digits(seconds / (scale or 1e-9))} {unit}'


def value_text(row: Row, outcome: Outcome) -> str:
    """Return a median with its spread."""
    value = outcome.value
    if value.low == value.high:
        return _number(row, value.median)
    return (
        f'{_number(row, value.median)} ({_number(row, value.low)} to {_number(row, value.high)})'
    )


def required_text(row: Row) -> str:
    """Return the requirement of a row; empty for an informative one."""
    if row.at_least is not None:
        return f'at least {_number(row, row.at_least)}'
    if row.at_most is not None:
        return f'at most {_number(row, row.at_most)}' + (' + spread' if row.spread_counts else '')
    return ''


def line(result: Result) -> str:
    """Return the line of a row for the terminal."""
    row, outcome = result
    verdict = mark(row, outcome) or '-'
    if isinstance(outcome, str):
        return f'{verdict:<13}{row.key:<28}{outcome}'
    times = [seconds_text(s) for s in (outcome.ours, outcome.peer) if s is not None]
    required = required_text(row)
    return (
        f'{verdict:<13}{row.key:<28}{value_text(row, outcome):<34}'
        f'{" : ".join(times):<20}{required and f"({required})"}'
    ).rstrip()


def summary(results: Sequence[Result]) -> str:
    """Return how many rows with a requirement pass, fall short and were not measured."""
    marks = [mark(row, outcome) for row, outcome in results if row.required]
    counts = (f'{marks.count(name)} {name}' for name in ('pass', 'short', 'not measured'))
    return f'{len(marks)} required rows: {", ".join(counts)}'


def markdown(
    facts: Mapping[str, str],
    results: Sequence[Result],
    operations: Mapping[str, Mapping[str, int]] | str,
) -> str:
    """Return the text of docs/benchmarks.md.

    Args:
        facts: facts about the machine.
        results: results of all rows.
        operations: number of operations by robot and kernel, or the reason of a failure.
    """
    parts = [HEAD.strip(), '', *(f'- {name}: {fact}' for name, fact in facts.items())]
    parts += ['', f'**{summary(results)}.**']
    for number, (title, text) in SECTIONS.items():
        parts += ['', f'## {number}. {title}', '', text.strip(), '']
        if number == max(SECTIONS):
            parts += _operations(operations)
        else:
            parts += _table([result for result in results if result[0].target == number])
    return '\n'.join(parts) + '\n'


def write(path: Path, text: str) -> None:
    """Write the report."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding='utf-8')


def _table(results: Sequence[Result]) -> list[str]:
    lines = ['| | robot | ours | peer | measured | required | |', '|---|---|---|---|---|---|---|']
    shown: dict[str, None] = {}
    for row, outcome in results:
        cells = [row.what, NAMES[row.robot]]
        if isinstance(outcome, str):
            cells += ['', '', f'not measured: {outcome}', required_text(row), '']
        else:
            times = (outcome.ours, outcome.peer)
            cells += ['' if time is None else seconds_text(time) for time in times]
            cells += [value_text(row, outcome), required_text(row), mark(row, outcome)]
            if outcome.note:
                shown[f'{NAMES[row.robot]}, {row.what}: {outcome.note}'] = None
        lines.append(f'| {" | ".join(cell.replace("|", "/") for cell in cells)} |')
    if shown and (title := _NOTES.get(results[0][0].target)):
        lines += ['', f'{title}:', '', *(f'- {note}' for note in shown)]
    return lines


def _operations(operations: Mapping[str, Mapping[str, int]] | str) -> list[str]:
    if isinstance(operations, str):
        return [f'Not measured: {operations}']
    names = list(dict.fromkeys(name for counts in operations.values() for name in counts))
    robots = [name for name in (*ROBOTS, CHAIN) if name in operations]
    lines = [f'| kernel | {" | ".join(NAMES[robot] for robot in robots)} |']
    lines.append('|---' * (1 + len(robots)) + '|')
    for name in names:
        counts = (
            f'{operations[robot][name]:,}' if name in operations[robot] else '' for robot in robots
        )
        lines.append(f'| `{name}` | {" | ".join(counts)} |')
    return lines


def _number(row: Row, value: float) -> str:
    if row.unit == 's':
        return seconds_text(value)
    if 0 < abs(value) < 1e-3:
        return f'{value:.1e}'
    return _digits(value) + row.unit


def _digits(value: float) -> str:
    """Return a number with three significant digits, without trailing zeros."""
    decimals = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    text = f'{value:.{decimals}f}'
    return text.rstrip('0').rstrip('.') if '.' in text else text
