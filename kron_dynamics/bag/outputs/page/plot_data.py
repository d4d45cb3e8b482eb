# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Data of a run's plots: points of the series in base64, and the panels that show them."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.bag.outputs.page.envelope import DrawnSegment, Envelope
from kron_dynamics.bag.outputs.page.panels import Column, Line, Panel, Section, sections_of
from kron_dynamics.bag.outputs.series import SeriesBlock, quantities_of
from kron_dynamics.bag.outputs.slow_series import NO_PHASE
from kron_dynamics.bag.outputs.text_tables import scale_of
from kron_dynamics.bag.phases import KINDS
from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.typing import FloatArray

# Most numbers (of four bytes) of one run in a page, and limits of the points per series.
MOST_NUMBERS = 3_000_000
MOST_POINTS, LEAST_POINTS = 16_384, 1_024
# Gap drawn between two clock epochs, in s.
EPOCH_PAUSE = 1.0
MICRO = '\N{MICRO SIGN}'


class _DrawnPhase(NamedTuple):
    """A phase of a segment, with its times before they are shifted for drawing."""

    segment: int
    kind: int
    start: float
    end: float


@dataclass(frozen=True)
class DrawnRun:
    """The plots of a run.

    Attributes:
        sections: headings with their panels.
        data: data of the plots as JSON values; panels in the order of the sections.
        samples_per_point: number of samples that a point of a line represents.
    """

    sections: tuple[Section, ...]
    data: dict[str, Any]
    samples_per_point: int


class PlotData:
    """Collects the series of a run block by block, and returns the data of its plots."""

    def __init__(self, replay: Replay) -> None:
        """Make the plots of a run, without data."""
        self._topic = replay.run.topic
        self._sections = sections_of(quantities_of(replay), replay.frame)
        panels = [panel for section in self._sections for panel in section.panels]
        self._columns = list(dict.fromkeys(each for panel in panels for each in panel.columns))
        points = MOST_NUMBERS // (2 * len(self._columns))
        self._envelope = Envelope(min(MOST_POINTS, max(LEAST_POINTS, points)))
        self._epochs: list[int] = []
        self._segment: int | None = None
        self._phases: list[_DrawnPhase] = []

    def add(self, block: SeriesBlock) -> None:
        """Add the next rows of the run; rows that are not compared are not drawn."""
        if block.segment != self._segment:
            self._segment = block.segment
            self._epochs.append(block.epoch)
            self._envelope.begin_segment()
            self._phases.append(_DrawnPhase(len(self._epochs) - 1, NO_PHASE, 0.0, 0.0))
        self._add_phases(block)
        values = np.column_stack([block.values[key][:, k] for key, k in self._columns])
        self._envelope.add(block.time, np.where(block.compared[:, None], values, np.nan))

    def _add_phases(self, block: SeriesBlock) -> None:
        bounds = np.flatnonzero(np.diff(block.phase)) + 1
        for first, last in pairwise([0, *bounds.tolist(), len(block.time)]):
            if first == last:
                continue
            before, kind = self._phases[-1], int(block.phase[first])
            start, end = float(block.time[first]), float(block.time[last - 1])
            if kind == before.kind:
                self._phases[-1] = before._replace(end=end)
            else:
                self._phases[-1] = before._replace(end=start)
                self._phases.append(_DrawnPhase(before.segment, kind, start, end))

    def finish(self) -> DrawnRun:
        """Return the plots, without lines that have no values."""
        drawn = self._envelope.finish()
        segments = shifted(drawn, self._epochs)
        pairs = zip(segments, drawn, strict=True)
        shifts = [float(part.time[0] - before.time[0]) for part, before in pairs]
        low, high = (
            np.concatenate([_with_gap(getattr(part, bound)) for part in segments])
            for bound in ('low', 'high')
        )
        time = np.concatenate([np.append(part.time, part.time[-1]) for part in segments])
        peaks = np.fmax.reduce(np.fmax(np.abs(low), np.abs(high)))
        peak = dict(zip(self._columns, peaks.tolist(), strict=True))
        sections = tuple(_with_values(section, peak) for section in self._sections)
        panels = [panel for section in sections for panel in section.panels]
        shown = list(dict.fromkeys(each for panel in panels for each in panel.columns))
        place = {column: k for k, column in enumerate(shown)}
        width = self._envelope.samples_per_point
        rows = [self._columns.index(column) for column in shown]
        data = {
            'topic': self._topic,
            'samplesPerPoint': width,
            'time': _encoded(time, '<f8'),
            'segments': [
                {
                    'start': float(part.time[0]),
                    'end': float(part.time[-1]),
                    'label': f'segment {number}',
                }
                for number, part in enumerate(segments, start=1)
            ],
            'phases': [
                {'kind': KINDS[kind], 'start': start + shifts[k], 'end': end + shifts[k]}
                for k, kind, start, end in self._phases
                if kind != NO_PHASE
            ],
            'series': [
                {'key': self._columns[row][0], 'column': self._columns[row][1]}
                | {'low': _encoded(low[:, row], '<f4')}
                | ({'high': _encoded(high[:, row], '<f4')} if width > 1 else {})
                for row in rows
            ],
            'panels': [_panel(panel, place, peak) for panel in panels],
        }
        return DrawnRun(sections, data, width)


def shifted(segments: Sequence[DrawnSegment], epochs: Sequence[int]) -> list[DrawnSegment]:
    """Return segments with times for drawing, shifted so that clock epochs follow one another.

    Args:
        segments: segments in the order of recording.
        epochs: number of clock restarts before each.
    """
    found: list[DrawnSegment] = []
    shift, last = 0.0, None
    for part, epoch in zip(segments, epochs, strict=True):
        if found and epoch != last:
            shift = float(found[-1].time[-1]) + EPOCH_PAUSE - float(part.time[0])
        last = epoch
        found.append(DrawnSegment(part.time + shift, part.low, part.high))
    return found


def _with_gap(table: FloatArray) -> FloatArray:
    """Return the points of a segment with a NaN at the end, which interrupts the lines."""
    return np.vstack((table, np.full((1, table.shape[1]), np.nan)))


def _encoded(values: FloatArray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def _with_values(section: Section, peak: dict[Column, float]) -> Section:
    """Return a section without lines that have no known values."""

    def known(line: Line) -> bool:
        column = line.band if line.series is None else line.series
        return column is not None and bool(np.isfinite(peak[column]))

    panels = []
    for panel in section.panels:
        lines = tuple(line for line in panel.lines if known(line))
        if any(line.series is not None for line in lines):
            panels.append(Panel(panel.title, panel.quantity, panel.unit, lines))
    return Section(section.title, tuple(panels))


def _panel(panel: Panel, place: dict[Column, int], peak: dict[Column, float]) -> dict[str, Any]:
    largest = max(peak[line.series] for line in panel.lines if line.series is not None)
    factor, letter = scale_of(largest)
    return {
        'title': panel.title,
        'quantity': panel.quantity,
        'unit': typeset(letter + panel.unit),
        'factor': factor,
        'lines': [
            {
                'label': line.label,
                'series': None if line.series is None else place[line.series],
                'band': None if line.band is None else place[line.band],
                'colour': line.colour,
                'dash': line.dash,
                'width': line.width,
            }
            for line in panel.lines
        ],
    }


def typeset(unit: str) -> str:
    """Return a unit with superscript exponents and the micro sign."""
    raised = unit.replace('^2', '²').replace('^3', '³')
    return re.sub(r'^u(?=(m|rad|N)\b)', MICRO, raised)
