# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a run as a picture: recorded against recomputed, and what remains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kron_dynamics.bag.analysis import RunAnalysis
from kron_dynamics.bag.replay import Replay
from kron_dynamics.bag.results import JointResult, TipResult, peak
from kron_dynamics.bag.segment_replay import SegmentReplay
from kron_dynamics.bag.text_tables import scale_of
from kron_dynamics.typing import FloatArray

RECORDED = '#1f4e79'
RECOMPUTED = '#e07b00'
RESIDUAL = '#8c1c13'
PANEL_SIZE = (6.4, 3.7)
DPI = 110
# A nearly constant signal is shown with at least this share of its size as its range.
SMALLEST_RANGE = 0.02
# Pause drawn between two clock epochs, in s.
EPOCH_PAUSE = 1.0


@dataclass(frozen=True)
class _Panel:
    """What is drawn for one joint or for the tip, in SI units."""

    title: str
    quantity: str
    unit: str
    source: str
    recorded: FloatArray
    recomputed: FloatArray
    residual: FloatArray
    noise: float
    noise_dominates: bool

    @property
    def is_magnitude(self) -> bool:
        """Whether values have no sign."""
        return self.quantity.startswith('|')


def plot_run(run: RunAnalysis, title: str, path: Path) -> None:
    """Draw each joint's effort and residual, and the tip's acceleration, into a PNG file.

    Args:
        run: the analysed run.
        title: text above the picture.
        path: file to write.
    """
    replay = run.replay
    panels = [_joint_panel(replay, k, result) for k, result in enumerate(run.joints)]
    panels += [_tip_panel(replay, result) for result in run.tip]
    time = time_axis(replay.segments)
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    size = (PANEL_SIZE[0] * columns, PANEL_SIZE[1] * rows + 0.6)
    figure = Figure(figsize=size, layout='constrained')
    FigureCanvasAgg(figure)
    figure.suptitle(
        f'{title}\nwindow {replay.window:.3g} s; shaded: twice the standard deviation that the '
        "samples' noise causes",
        fontsize=10,
    )
    grid = figure.add_gridspec(2 * rows, columns, height_ratios=[2.2, 1.0] * rows)
    for index, panel in enumerate(panels):
        row, column = divmod(index, columns)
        upper = figure.add_subplot(grid[2 * row, column])
        lower = figure.add_subplot(grid[2 * row + 1, column], sharex=upper)
        _draw_signals(upper, time, panel)
        _draw_residual(lower, time, panel)
        for axes in (upper, lower):
            axes.grid(True, color='0.9', linewidth=0.8)
            axes.spines[['top', 'right']].set_visible(False)
            axes.ticklabel_format(axis='y', useOffset=False)
    figure.align_ylabels()
    figure.savefig(path, dpi=DPI)


def _joint_panel(replay: Replay, joint: int, result: JointResult) -> _Panel:
    segments = replay.segments
    if result.source == 'none':
        verdict = 'no effort recorded'
    elif result.noise_dominates:
        verdict = 'noise dominates'
    else:
        verdict = f'residual {100.0 * result.ratio:.2g} % of effort RMS'
    return _Panel(
        title=f'{result.name}: {verdict}',
        quantity='effort',
        unit=result.unit,
        source=result.source,
        recorded=_joined([part.recorded[:, joint] for part in segments], segments),
        recomputed=_joined([part.recomputed[:, joint] for part in segments], segments),
        residual=_joined([part.residual[:, joint] for part in segments], segments),
        noise=result.noise,
        noise_dominates=result.noise_dominates,
    )


def _tip_panel(replay: Replay, result: TipResult) -> _Panel:
    rows = slice(0, 3) if result.kind == 'linear' else slice(3, 6)

    def magnitude(tables: Sequence[FloatArray]) -> FloatArray:
        return _joined([np.linalg.norm(t[:, rows], axis=1) for t in tables], replay.segments)

    verdict = ''
    if result.noise_dominates:
        verdict = ': noise dominates'
    elif result.recorded_rms > 0.0:
        share = 100.0 * result.difference_rms / result.recorded_rms
        verdict = f': difference {share:.2g} % of RMS'
    return _Panel(
        title=f'{replay.frame}, {result.kind}{verdict}',
        quantity='|acceleration|',
        unit='m/s²' if result.kind == 'linear' else 'rad/s²',
        source='recorded',
        recorded=magnitude([part.tip_recorded for part in replay.segments]),
        recomputed=magnitude([part.tip_recomputed for part in replay.segments]),
        residual=magnitude([part.tip_recorded - part.tip_recomputed for part in replay.segments]),
        noise=result.noise,
        noise_dominates=result.noise_dominates,
    )


def _draw_signals(axes: Axes, time: FloatArray, panel: _Panel) -> None:
    has_record = panel.source != 'none'
    # Mostly noise: drawn thin, behind and cut off, or it would hide what was recorded.
    faint = panel.noise_dominates and has_record
    shown = panel.recorded if faint else np.concatenate((panel.recorded, panel.recomputed))
    shown = shown[np.isfinite(shown)]
    factor, letter = scale_of(peak(shown))
    if has_record:
        axes.plot(time, panel.recorded / factor, color=RECORDED, linewidth=2.6, label=panel.source)
    axes.plot(
        time,
        panel.recomputed / factor,
        color=RECOMPUTED,
        linewidth=0.4 if faint else 1.2,
        alpha=0.35 if faint else 1.0,
        zorder=1 if faint else 3,
        label='recomputed',
    )
    if len(shown):
        low, high = float(shown.min()), float(shown.max())
        margin = 0.12 * (high - low) + max(0.0, SMALLEST_RANGE * peak(shown) - (high - low))
        if margin > 0.0:
            axes.set_ylim((low - margin) / factor, (high + margin) / factor)
    axes.set_ylabel(f'{panel.quantity} [{letter}{panel.unit}]')
    axes.set_title(panel.title, fontsize=10, loc='left', color=RESIDUAL if faint else 'black')
    axes.tick_params(labelbottom=False)
    axes.legend(
        fontsize=8,
        frameon=False,
        ncols=2,
        handlelength=1.2,
        columnspacing=1.0,
        loc='lower right',
        bbox_to_anchor=(1.0, 1.0),
        borderaxespad=0.0,
    )


def _draw_residual(axes: Axes, time: FloatArray, panel: _Panel) -> None:
    finite = panel.residual[np.isfinite(panel.residual)]
    factor, letter = scale_of(max(2.0 * panel.noise, peak(finite) if len(finite) else 0.0))
    band = 2.0 * panel.noise / factor
    axes.axhspan(-band, band, color=RESIDUAL, alpha=0.12, linewidth=0.0)
    axes.plot(time, panel.residual / factor, color=RESIDUAL, linewidth=0.9)
    axes.margins(y=0.15)
    if panel.is_magnitude:
        axes.set_ylim(bottom=0.0)
    name = '|difference|' if panel.is_magnitude else 'residual'
    axes.set_ylabel(f'{name}\n[{letter}{panel.unit}]')
    axes.set_xlabel('time [s]')


def time_axis(segments: Sequence[SegmentReplay]) -> FloatArray:
    """Return times in s for drawing, shape (M,): each clock epoch follows the one before.

    Args:
        segments: the segments; each is followed by one time more, where the line is broken.
    """
    pieces: list[FloatArray] = []
    shift, epoch, end = 0.0, segments[0].epoch, 0.0
    for part in segments:
        if part.epoch != epoch:
            shift, epoch = end + EPOCH_PAUSE - float(part.time[0]), part.epoch
        pieces.append(part.time + shift)
        end = float(part.time[-1]) + shift
        pieces.append(np.array([end]))
    return np.concatenate(pieces)


def _joined(parts: Sequence[FloatArray], segments: Sequence[SegmentReplay]) -> FloatArray:
    """Return segments one after another, parted by NaN so that no line is drawn between."""
    pieces: list[FloatArray] = []
    for part, segment in zip(parts, segments, strict=True):
        pieces += [np.where(segment.valid, part, np.nan), np.array([np.nan])]
    return np.concatenate(pieces)
