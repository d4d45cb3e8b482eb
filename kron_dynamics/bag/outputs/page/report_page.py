# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Self-contained HTML page with all results and plots of an analysis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from kron_dynamics.bag.analysis import BagAnalysis, RunAnalysis
from kron_dynamics.bag.outputs.facts import (
    Fact,
    bag_facts,
    description_warnings,
    result_hints,
    robot_fact,
    run_facts,
)
from kron_dynamics.bag.outputs.page.html_page import asset, write_html
from kron_dynamics.bag.outputs.page.plot_data import DrawnRun, typeset
from kron_dynamics.bag.outputs.provenance import Provenance
from kron_dynamics.bag.outputs.result_tables import ResultTable, result_tables, segment_table

# Facts that a reader must not overlook.
WARNINGS = ('doubt', 'lost', 'note', 'noise', 'unused')
# The plots of robots with more joints are collapsed at first.
MOST_OPEN = 8
HINT = (
    'Drag to zoom, double-click for all; Shift and drag to pan, Ctrl or Shift and the wheel to '
    'zoom; a click on a name hides its line. The strip above each plot shows the phases.'
)


def write_page(
    analysis: BagAnalysis, provenance: Provenance, drawn: Sequence[DrawnRun], path: Path
) -> None:
    """Write the page of an analysis.

    Args:
        analysis: the analysed bag.
        provenance: provenance of the analysis.
        drawn: the plots of each run.
        path: file to write.
    """
    name = analysis.contents.path.resolve().name
    runs = [
        _run(number, run, plots, analysis.max_noise)
        for number, (run, plots) in enumerate(zip(analysis.runs, drawn, strict=True))
    ]
    body = [
        f'<h1>Analysis of {escape(name)}</h1>',
        *_navigation(analysis),
        _facts(bag_facts(analysis)),
        _provenance(provenance),
        *runs,
    ]
    data = json.dumps([plots.data for plots in drawn], separators=(',', ':'), allow_nan=False)
    data = data.replace('<', '\\u003c')  # no text in the data must end the script element
    page = [
        '<main>',
        *body,
        '</main>',
        f'<script type="application/json" id="data">{data}</script>',
        f'<!--\n{asset("uPlot.LICENSE")}-->',
        f'<script>{asset("uPlot.iife.min.js")}</script>',
        f'<script>{asset("series.js")}{asset("report.js")}</script>',
    ]
    write_html(path, f'Analysis of {name}', asset('uPlot.min.css') + asset('report.css'), page)


def _navigation(analysis: BagAnalysis) -> list[str]:
    if len(analysis.runs) < 2:
        return []
    links = [
        f'<a href="#run-{number}">{escape(run.replay.run.topic)}</a>'
        for number, run in enumerate(analysis.runs)
    ]
    return [f'<nav aria-label="Runs">{"".join(links)}</nav>']


def _run(number: int, run: RunAnalysis, plots: DrawnRun, max_noise: float) -> str:
    replay = run.replay
    tables = result_tables(run)
    # The text for a terminal lacks them: loading the description has shown them there.
    warned = [('note', text) for text in description_warnings(run)]
    if len(replay.stretches) > 1:
        tables.append(segment_table(replay, max_noise))
    return '\n'.join(
        [
            f'<section><h2 id="run-{number}">{escape(replay.run.topic)}</h2>',
            _facts([robot_fact(run), *run_facts(replay), *result_hints(run), *warned]),
            *(_table(each) for each in tables),
            '<h3>Plots</h3>',
            f'<p class="hint">{HINT}{_resolution(plots)}</p>',
            f'<div class="controls" id="controls-{number}"></div>',
            *_plots(number, plots),
            '</section>',
        ]
    )


def _resolution(plots: DrawnRun) -> str:
    if plots.samples_per_point == 1:
        return ''
    return (
        f' Each point shows minimum and maximum of {plots.samples_per_point} samples, so that '
        'all peaks are visible; all samples are in the other files.'
    )


def _plots(number: int, plots: DrawnRun) -> list[str]:
    lines = []
    place = 0
    is_open = ' open' if len(plots.sections) <= MOST_OPEN + 2 else ''
    for section in plots.sections:
        if not section.panels:
            continue
        title = escape(section.title)
        lines.append(f'<details{is_open}><summary>{title}</summary><div class="panels">')
        for panel in section.panels:
            lines.append(
                f'<div class="panel"><h4>{escape(panel.title)}</h4>'
                f'<div class="place" id="panel-{number}-{place}"></div></div>'
            )
            place += 1
        lines.append('</div></details>')
    return lines


def _facts(facts: Sequence[Fact]) -> str:
    """Return facts as a list, and warnings in a box."""
    plain, warnings = [], []
    for label, text in facts:
        if label in WARNINGS:
            warnings.append(f'<li><b>{escape(label)}</b> {escape(text)}</li>')
        elif label:
            plain.append(f'<dt>{escape(label)}</dt><dd>{escape(text)}</dd>')
        else:
            plain.append(f'<dd class="more">{escape(text)}</dd>')
    box = f'<div class="warnings"><ul>{"".join(warnings)}</ul></div>' if warnings else ''
    return f'<dl>{"".join(plain)}</dl>{box}'


def _table(table: ResultTable) -> str:
    head, *rows = table.rows
    width = max(len(row) for row in table.rows)
    units = [k for k, title in enumerate(head) if title == 'unit']

    def cells(row: Sequence[str], kind: str) -> str:
        full = [*row, *([''] * (width - len(row)))]
        # Other cells may be names.
        texts = (typeset(text) if k in units else _signed(text) for k, text in enumerate(full))
        return ''.join(f'<{kind}>{escape(text)}</{kind}>' for text in texts)

    body = ''.join(f'<tr>{cells(row, "td")}</tr>' for row in rows)
    return (
        f'<div class="table"><table><caption>{escape(table.title)}</caption>'
        f'<thead><tr>{cells(head, "th")}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _signed(text: str) -> str:
    return text.replace('+/- ', '± ', 1) if text.startswith('+/- ') else text


def _provenance(provenance: Provenance) -> str:
    """Return files with their hashes, the given options, and versions."""
    files = [
        f'<dt>{escape(each.name)}</dt>'
        f'<dd>{each.size} bytes, SHA-256 <code>{each.sha256}</code></dd>'
        for each in provenance.files
    ]
    options = [
        f'<dt>{escape(name)}</dt><dd>{escape(_text(value))}</dd>'
        for name, value in provenance.options.items()
        if value not in (None, [])
    ]
    versions = ', '.join(f'{name} {version}' for name, version in provenance.versions.items())
    return (
        '<details open><summary>What was analysed, and how</summary>'
        f'<dl>{"".join(files)}{"".join(options)}'
        f'<dt>versions</dt><dd>{escape(versions)}</dd></dl></details>'
    )


def _text(value: object) -> str:
    return ' '.join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
