# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""HTML page about all bags of a campaign, with links to the page of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kron_dynamics.bag.campaigns.jobs import SUMMARY
from kron_dynamics.bag.outputs.page.html_page import asset, write_html
from kron_dynamics.bag.outputs.text_tables import percent

PAGE = 'campaign.html'
# Files to link to for a bag: the first one that exists.
_PAGES = ('report.html', SUMMARY)
HINT = (
    'Residual of each joint: RMS of recorded minus recomputed effort, as a share of the RMS of '
    'the recorded effort. A click on the name of a column sorts by it, a second one in reverse '
    'order.'
)


@dataclass(frozen=True)
class _Cell:
    """A table cell.

    Attributes:
        html: its contents.
        value: sort key; empty if unknown.
        share: shaded share of the cell, 0 to 1.
    """

    html: str
    value: str
    share: float = 0.0


def write_campaign_page(summary: Mapping[str, Any], folder: Path, path: Path) -> None:
    """Write the page of a campaign.

    Args:
        summary: from `campaign_summary.summarize`.
        folder: folder of the campaign; results of bags are below ``bags``.
        path: file to write; its links are those of a page in the folder.
    """
    bags = summary['bags']
    failed = [bag for bag in bags if bag['error']]
    runs = [(bag, run) for bag in bags if bag['summary'] for run in bag['summary']['runs']]
    robots: dict[tuple[str, ...], list[tuple[Any, Any]]] = {}
    for bag, run in runs:
        key = (run['robot']['name'], *run['robot']['joints'])
        robots.setdefault(key, []).append((bag, run))
    body = [
        '<main><h1>Campaign</h1>',
        f'<dl><dt>bags</dt><dd>{len(bags)}, {len(bags) - len(failed)} analysed, '
        f'{len(failed)} failed</dd><dt>runs</dt><dd>{len(runs)}</dd></dl>',
        *_failures(failed),
        f'<p class="hint">{HINT}</p>',
        *(_robot(name, joints, found, folder) for (name, *joints), found in robots.items()),
        '</main>',
        f'<script>{asset("campaign.js")}</script>',
    ]
    write_html(path, 'Campaign', asset('report.css') + asset('campaign.css'), body)


def _failures(failed: Sequence[Mapping[str, Any]]) -> list[str]:
    if not failed:
        return []
    items = ''.join(
        f'<li><b>{escape(bag["name"])}</b> {escape(str(bag["error"]))}</li>' for bag in failed
    )
    return [f'<div class="warnings">Not analysed<ul>{items}</ul></div>']


def _robot(name: str, joints: Sequence[str], runs: Sequence[tuple[Any, Any]], folder: Path) -> str:
    """Return the table of all runs of a robot."""
    modes = dict.fromkeys(mode['name'] for _, run in runs for mode in _modes(run))
    head = ['bag', 'topic', 'time s', 'doubts', *joints, *(f'{mode} Hz' for mode in modes)]
    rows = []
    for bag, run in runs:
        cells = [
            _link(bag['name'], folder),
            _Cell(escape(run['topic']), run['topic']),
            _seconds(run),
            _doubts(bag, run),
            *map(_residual, run['joints']),
            *(_frequency(run, mode) for mode in modes),
        ]
        rows.append(f'<tr>{"".join(map(_html, cells))}</tr>')
    titles = ''.join(f'<th><button type="button">{escape(title)}</button></th>' for title in head)
    return (
        f'<h2>{escape(name)}</h2><div class="table"><table class="sorted">'
        f'<thead><tr>{titles}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _html(cell: _Cell) -> str:
    shaded = f' class="share" style="--share: {100 * cell.share:.3g}%"' if cell.share else ''
    return f'<td data-value="{escape(cell.value)}"{shaded}>{cell.html}</td>'


def _link(name: str, folder: Path) -> _Cell:
    for page in _PAGES:
        if (folder / 'bags' / name / page).exists():
            address = quote(f'bags/{name}/{page}', errors='surrogateescape')
            return _Cell(f'<a href="./{address}">{escape(name)}</a>', name)
    return _Cell(escape(name), name)


def _seconds(run: Mapping[str, Any]) -> _Cell:
    seconds = sum(part['end'] - part['start'] for part in run['segments'])
    return _Cell(f'{seconds:.4g}', repr(seconds))


def _residual(joint: Mapping[str, Any]) -> _Cell:
    if joint['source'] == 'none':
        return _Cell('no effort', '')
    if joint['noise_dominates'] or joint['ratio'] is None:
        return _Cell('noise', '')
    ratio = float(joint['ratio'])
    return _Cell(percent(ratio), repr(ratio), min(ratio, 1.0))


def _modes(run: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found = run['vibrations']
    return found['modes'] if found else ()


def _frequency(run: Mapping[str, Any], name: str) -> _Cell:
    for mode in _modes(run):
        if mode['name'] == name and mode['frequency'] is not None:
            interval = f'{mode["frequency"]:.4g} ± {mode["frequency_interval"]:.2g}'
            return _Cell(interval, repr(mode['frequency']))
    return _Cell('not seen', '')


def _doubts(bag: Mapping[str, Any], run: Mapping[str, Any]) -> _Cell:
    """Return the cell of doubts, notes and warnings, collapsed."""
    about = run['robot'].get('warnings', ())
    notes = [*run['doubts'], *bag['summary']['notes'], *run['notes'], *about]
    if not notes:
        return _Cell('', '0')
    items = ''.join(f'<li>{escape(text)}</li>' for text in notes)
    return _Cell(
        f'<details><summary>{len(notes)}</summary><ul>{items}</ul></details>', str(len(notes))
    )
